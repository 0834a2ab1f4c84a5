"""HTTP for people, over the network that the task was given: what programs use of the library of this name."""
from . import adapters, auth, cookies, exceptions, models, sessions, structures
from .exceptions import (
    ConnectionError, ConnectTimeout, HTTPError, InvalidURL, JSONDecodeError, MissingSchema, ReadTimeout, RequestException, Timeout, TooManyRedirects,
)  # fmt: skip
from .models import PreparedRequest, Request, Response, codes
from .sessions import Session, session

__version__ = "2.32.0"


def request(method, url, **named):
    with Session() as own:
        return own.request(method, url, **named)


def get(url, params=None, **named):
    return request("GET", url, params=params, **named)


def options(url, **named):
    return request("OPTIONS", url, **named)


def head(url, **named):
    named.setdefault("allow_redirects", False)
    return request("HEAD", url, **named)


def post(url, data=None, json=None, **named):
    return request("POST", url, data=data, json=json, **named)


def put(url, data=None, **named):
    return request("PUT", url, data=data, **named)


def patch(url, data=None, **named):
    return request("PATCH", url, data=data, **named)


def delete(url, **named):
    return request("DELETE", url, **named)

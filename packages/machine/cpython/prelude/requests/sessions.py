"""Requests that share headers, cookies and whatever else is set once."""
import datetime
import time
from http.cookiejar import CookieJar
from urllib.parse import urlsplit

from fermata import _network

from . import cookies as _cookies
from .adapters import HTTPAdapter
from .exceptions import ConnectionError, ReadTimeout, TooManyRedirects
from .models import Request, Response, encoding_in, next_url
from .structures import CaseInsensitiveDict

DEFAULT_REDIRECT_LIMIT = 30


class Session:
    def __init__(self):
        self.headers = CaseInsensitiveDict({"User-Agent": "python-requests (fermata)", "Accept": "*/*"})
        self.auth, self.params, self.cookies, self.verify, self.proxies = None, {}, {}, True, {}
        self.max_redirects, self.adapters, self.trust_env, self.stream, self.cert = DEFAULT_REDIRECT_LIMIT, {}, False, False, None
        self.hooks = {"response": []}

    @property
    def cookies(self):
        return self._jar

    @cookies.setter
    def cookies(self, given):
        self._jar = given if isinstance(given, CookieJar) else _cookies.joined(given)

    def mount(self, prefix, adapter):
        self.adapters[prefix] = adapter

    def get_adapter(self, url):
        return HTTPAdapter()

    def request(
        self, method, url, params=None, data=None, headers=None, cookies=None, files=None, auth=None, timeout=None,
        allow_redirects=True, proxies=None, hooks=None, stream=None, verify=None, cert=None, json=None,
    ):  # fmt: skip
        given = params if isinstance(params, (str, bytes)) else {**self.params, **dict(params or {})}
        asked = Request(method, url, {**self.headers, **CaseInsensitiveDict(headers or {})}, files, data, given, auth or self.auth, _cookies.joined(self.cookies, cookies), None, json)
        return self.send(asked.prepare(), timeout=timeout, allow_redirects=allow_redirects)

    def prepare_request(self, request):
        request.headers = {**self.headers, **CaseInsensitiveDict(request.headers)}
        request.cookies = _cookies.joined(self.cookies, request.cookies)
        return request.prepare()

    def send(self, request, timeout=None, allow_redirects=True, **_):
        began, history = time.monotonic(), []
        while True:
            response = self._answered(request, timeout)
            response.elapsed = datetime.timedelta(seconds=time.monotonic() - began)
            response.history = list(history)
            if not allow_redirects or not response.is_redirect:
                return response
            history.append(response)
            if len(history) > self.max_redirects:
                raise TooManyRedirects(f"Exceeded {self.max_redirects} redirects.", response=response)
            request = self._redirected(request, response)

    def _answered(self, request, timeout):
        seconds = timeout[1] if isinstance(timeout, tuple) else timeout
        try:
            answer = _network.request(request.method, request.url, request.headers.items(), request.body, seconds)
        except TimeoutError as error:
            raise ReadTimeout(error.strerror, request=request) from None
        except OSError as error:
            raise ConnectionError(error.strerror or str(error), request=request) from error
        response = Response()
        response.status_code, response.url, response.request = answer["status"], answer["url"], request
        response.reason, response._content = _network.reason(answer["status"]), answer["body"]
        for name, value in answer["headers"]:
            response.headers[name] = f"{response.headers[name]}, {value}" if name in response.headers else value
        response.encoding = encoding_in(response.headers)
        set_cookies = [value for name, value in answer["headers"] if name == "set-cookie"]
        for jar in (response.cookies, self.cookies, request.sent_cookies):
            _cookies.take(jar, answer["url"], set_cookies)
        return response

    def _redirected(self, request, response):
        url, method, body, headers = next_url(response), request.method, request.body, request.headers.copy()
        if (response.status_code == 303 and method != "HEAD") or (response.status_code in (301, 302) and method == "POST"):
            method, body = "GET", None
            for name in ("Content-Type", "Content-Length", "Transfer-Encoding"):
                headers.pop(name, None)
        jar = request.sent_cookies
        if urlsplit(url)[:2] != urlsplit(request.url)[:2]:
            headers.pop("Authorization", None)
        if urlsplit(url).hostname != urlsplit(request.url).hostname:
            jar = _cookies.without_domainless(jar)
        headers.pop("Cookie", None)
        following = Request(method, url, headers, cookies=jar).prepare()
        following.body = body
        return following

    def get(self, url, **named):
        return self.request("GET", url, **named)

    def options(self, url, **named):
        return self.request("OPTIONS", url, **named)

    def head(self, url, **named):
        named.setdefault("allow_redirects", False)
        return self.request("HEAD", url, **named)

    def post(self, url, data=None, json=None, **named):
        return self.request("POST", url, data=data, json=json, **named)

    def put(self, url, data=None, **named):
        return self.request("PUT", url, data=data, **named)

    def patch(self, url, data=None, **named):
        return self.request("PATCH", url, data=data, **named)

    def delete(self, url, **named):
        return self.request("DELETE", url, **named)

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


session = Session

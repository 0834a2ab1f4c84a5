"""Requests and what answers them."""
import datetime
import http
import io
import json as jsonlib
import re
import uuid
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit, urlunsplit

from . import cookies as _cookies
from .auth import HTTPBasicAuth
from .exceptions import HTTPError, InvalidJSONError, InvalidSchema, InvalidURL, JSONDecodeError, MissingSchema, StreamConsumedError
from .structures import CaseInsensitiveDict


class _Codes:
    def __getattr__(self, name):
        try:
            return http.HTTPStatus[name.upper()].value
        except KeyError:
            raise AttributeError(name) from None

    __getitem__ = __getattr__


codes = _Codes()
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f]|[^\x00-\x7f]")


class Request:
    def __init__(self, method=None, url=None, headers=None, files=None, data=None, params=None, auth=None, cookies=None, hooks=None, json=None):
        self.method, self.url, self.headers, self.files, self.data = method, url, headers or {}, files, data
        self.params, self.auth, self.cookies, self.json = params, auth, cookies, json

    def prepare(self):
        return PreparedRequest(self)

    def __repr__(self):
        return f"<Request [{self.method}]>"


class PreparedRequest:
    def __init__(self, request):
        self.method = request.method.upper()
        self.url = _url(request.url, request.params)
        self.headers = CaseInsensitiveDict({key: value for key, value in (request.headers or {}).items() if value is not None})
        self.body, kind = _body(request.data, request.files, request.json)
        if kind is not None:
            self.headers.setdefault("Content-Type", kind)
        self.sent_cookies = _cookies.joined(request.cookies)
        sent = _cookies.header(self.sent_cookies, self.url)
        if sent is not None:
            self.headers.setdefault("Cookie", sent)
        auth = request.auth
        if auth is None:
            auth, self.url = _auth_in(self.url)
        if auth:
            (HTTPBasicAuth(*auth) if isinstance(auth, tuple) else auth)(self)

    @property
    def path_url(self):
        parts = urlsplit(self.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def __repr__(self):
        return f"<PreparedRequest [{self.method}]>"


def _url(url, params):
    url = (url.decode() if isinstance(url, bytes) else str(url)).lstrip()
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise InvalidURL(f"{url!r}: {error}") from None
    if not parts.scheme:
        raise MissingSchema(f"Invalid URL {url!r}: No scheme supplied. Perhaps you meant https://{url}?")
    if parts.scheme.lower() not in ("http", "https"):
        raise InvalidSchema(f"No connection adapters were found for {url!r}")
    if not host:
        raise InvalidURL(f"Invalid URL {url!r}: No host supplied")
    query = parts.query
    if params:
        more = params if isinstance(params, str) else params.decode() if isinstance(params, bytes) else urlencode(_pairs(params))
        query = f"{query}&{more}" if query else more
    spelled = lambda text: _UNSAFE.sub(lambda found: quote(found[0]), text)  # noqa: E731
    return urlunsplit((parts.scheme.lower(), parts.netloc, spelled(parts.path) or "/", spelled(query), ""))


def _pairs(data):
    items = data.items() if hasattr(data, "items") else data
    return [(key, one) for key, value in items for one in (value if isinstance(value, (list, tuple)) else [value]) if one is not None]


def _auth_in(url):
    parts = urlsplit(url)
    if parts.username is None:
        return None, url
    return (parts.username, parts.password or ""), urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _body(data, files, json):
    if files:
        return _multipart(data or {}, files)
    if data:
        if isinstance(data, str):
            return data.encode(), None if not parse_qsl(data) else "application/x-www-form-urlencoded"
        if isinstance(data, (bytes, bytearray)):
            return bytes(data), None
        if hasattr(data, "read"):
            content = data.read()
            return content.encode() if isinstance(content, str) else content, None
        if hasattr(data, "items") or isinstance(data, (list, tuple)):
            return urlencode(_pairs(data)).encode(), "application/x-www-form-urlencoded"
        return b"".join(part.encode() if isinstance(part, str) else part for part in data), None
    if json is not None:
        try:
            return jsonlib.dumps(json, allow_nan=False).encode(), "application/json"
        except ValueError as error:
            raise InvalidJSONError(error) from None
    return None, None


def _multipart(data, files):
    boundary, parts = uuid.uuid4().hex, []
    for name, value in _pairs(data):
        parts.append((f'name="{name}"', None, value if isinstance(value, bytes) else str(value).encode()))
    for name, given in files.items() if hasattr(files, "items") else files:
        given = given if isinstance(given, tuple) else (getattr(given, "name", name), given)
        content = given[1].read() if hasattr(given[1], "read") else given[1]
        title = str(given[0]).rpartition("/")[2]
        parts.append((f'name="{name}"; filename="{title}"', given[2] if len(given) > 2 else None, content.encode() if isinstance(content, str) else content))
    out = io.BytesIO()
    for disposition, kind, content in parts:
        out.write(f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n".encode())
        out.write(f"Content-Type: {kind}\r\n\r\n".encode() if kind else b"\r\n")
        out.write(content + b"\r\n")
    out.write(f"--{boundary}--\r\n".encode())
    return out.getvalue(), f"multipart/form-data; boundary={boundary}"


class Response:
    def __init__(self):
        self.status_code, self.reason, self.url, self.request = None, None, None, None
        self.headers, self.history, self.cookies, self.elapsed = CaseInsensitiveDict(), [], _cookies.RequestsCookieJar(), datetime.timedelta(0)
        self.encoding, self._content, self._streamed = None, b"", False

    @property
    def content(self):
        return self._content

    @property
    def ok(self):
        return self.status_code < 400

    def __bool__(self):
        return self.ok

    @property
    def apparent_encoding(self):
        try:
            self._content.decode()
            return "utf-8"
        except UnicodeDecodeError:
            return "windows-1252"

    @property
    def text(self):
        try:
            return self._content.decode(self.encoding or self.apparent_encoding, "replace")
        except LookupError:
            return self._content.decode("utf-8", "replace")

    def json(self, **named):
        try:
            return jsonlib.loads(self._content.decode("utf-8-sig") if self.encoding in (None, "utf-8") else self.text, **named)
        except jsonlib.JSONDecodeError as error:
            raise JSONDecodeError(error.msg, error.doc, error.pos) from None
        except UnicodeDecodeError:
            return jsonlib.loads(self.text, **named)

    @property
    def is_redirect(self):
        return "location" in self.headers and self.status_code in (301, 302, 303, 307, 308)

    @property
    def is_permanent_redirect(self):
        return "location" in self.headers and self.status_code in (301, 308)

    @property
    def links(self):
        found = {}
        for url, rest in re.findall(r"<([^>]*)>([^,<]*)", self.headers.get("link", "")):
            link = {"url": url, **{key: value for key, value in re.findall(r';\s*(\w+)="?([^";]*)"?', rest)}}
            found[link.get("rel", url)] = link
        return found

    @property
    def raw(self):
        return io.BytesIO(self._content)

    def iter_content(self, chunk_size=1, decode_unicode=False):
        if self._streamed:
            raise StreamConsumedError()
        size = chunk_size or max(1, len(self._content))
        content = self.text if decode_unicode else self._content
        return (content[at : at + size] for at in range(0, len(content), size))

    def iter_lines(self, chunk_size=512, decode_unicode=False, delimiter=None):
        content = self.text if decode_unicode else self._content
        return iter(content.split(delimiter) if delimiter else content.splitlines())

    def __iter__(self):
        return self.iter_content(128)

    def raise_for_status(self):
        if self.status_code >= 400:
            whose = "Client" if self.status_code < 500 else "Server"
            raise HTTPError(f"{self.status_code} {whose} Error: {self.reason} for url: {self.url}", response=self)

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<Response [{self.status_code}]>"


def encoding_in(headers):
    kind, _, rest = headers.get("content-type", "").partition(";")
    found = re.search(r"""charset=["']?([^\s;"']+)""", rest, re.IGNORECASE)
    if found:
        return found[1]
    kind = kind.strip().lower()
    return "ISO-8859-1" if kind.startswith("text/") else "utf-8" if kind == "application/json" else None


def next_url(response):
    return urljoin(response.url, response.headers["location"])


__all__ = ["PreparedRequest", "Request", "Response", "codes", "encoding_in", "next_url"]

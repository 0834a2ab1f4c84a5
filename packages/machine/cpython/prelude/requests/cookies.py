"""Cookies, each kept for the host that set it and sent to no other, by the rules of `http.cookiejar`."""
import re
from collections.abc import MutableMapping
from email.message import Message
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit


class CookieConflictError(RuntimeError):
    """Two cookies have the name that was asked for: say of which domain or path."""


_ADDRESS = re.compile(r"[\d.]+|.*:.*")


class _Policy(DefaultCookiePolicy):
    def __init__(self):
        super().__init__(strict_domain=True)  # refuses cookies for all of `co.uk` and the like

    def set_ok_domain(self, cookie, request):
        host = request.origin_req_host
        if cookie.domain_specified and _ADDRESS.fullmatch(host) and cookie.domain.removeprefix(".") != host:
            return False  # the end of an address is no domain that it belongs to
        return super().set_ok_domain(cookie, request)


class RequestsCookieJar(CookieJar, MutableMapping):
    """A jar that is also a mapping from names to values. What is set here without a domain goes along to every host that the
    program itself asks, and to none that it is only redirected to."""

    def __init__(self, policy=None):
        super().__init__(policy or _Policy())

    def get(self, name, default=None, domain=None, path=None):
        found = self._found(name, domain, path)
        if len({cookie.value for cookie in found}) > 1:
            raise CookieConflictError(f"There are multiple cookies with name, {name!r}")
        return found[0].value if found else default

    def set(self, name, value, **named):
        if value is None:
            self._remove(name, named.get("domain"), named.get("path"))
            return None
        cookie = create_cookie(name, value, **named)
        self.set_cookie(cookie)
        return cookie

    def __getitem__(self, name):
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __setitem__(self, name, value):
        self.set(name, value)

    def __delitem__(self, name):
        if not self._remove(name):
            raise KeyError(name)

    def __contains__(self, name):
        return any(cookie is name or cookie.name == name for cookie in self)

    def _found(self, name, domain=None, path=None):
        return [one for one in self if one.name == name and (domain is None or one.domain == domain) and (path is None or one.path == path)]

    def _remove(self, name, domain=None, path=None):
        found = self._found(name, domain, path)
        for cookie in found:
            self.clear(cookie.domain, cookie.path, cookie.name)
        return bool(found)

    def keys(self):
        return [cookie.name for cookie in self]

    def values(self):
        return [cookie.value for cookie in self]

    def items(self):
        return [(cookie.name, cookie.value) for cookie in self]

    iterkeys = lambda self: iter(self.keys())  # noqa: E731
    itervalues = lambda self: iter(self.values())  # noqa: E731
    iteritems = lambda self: iter(self.items())  # noqa: E731

    def get_dict(self, domain=None, path=None):
        return {one.name: one.value for one in self if (domain is None or one.domain == domain) and (path is None or one.path == path)}

    def list_domains(self):
        return list(dict.fromkeys(cookie.domain for cookie in self))

    def list_paths(self):
        return list(dict.fromkeys(cookie.path for cookie in self))

    def update(self, other=(), **named):
        if isinstance(other, CookieJar):
            for cookie in other:
                self.set_cookie(cookie)
        else:
            super().update(other, **named)

    def copy(self):
        copied = RequestsCookieJar(self._policy)
        copied.update(self)
        return copied


def create_cookie(name, value, domain="", path="/", **named):
    """A cookie as programs set them: without a domain it is for all hosts."""
    fields = {"version": 0, "port": None, "secure": False, "expires": None, "discard": True, "comment": None, "comment_url": None, "rest": {"HttpOnly": None}, "rfc2109": False}
    strange = sorted(set(named) - set(fields))
    if strange:
        raise TypeError(f"create_cookie() got unexpected keyword arguments: {strange}")
    fields.update(named)
    return Cookie(
        name=name, value=str(value), domain=domain, path=path, port_specified=bool(fields["port"]), domain_specified=bool(domain),
        domain_initial_dot=domain.startswith("."), path_specified=bool(path), **fields,
    )  # fmt: skip


def cookiejar_from_dict(given, cookiejar=None, overwrite=True):
    jar = RequestsCookieJar() if cookiejar is None else cookiejar
    for name, value in dict(given or {}).items():
        if overwrite or all(cookie.name != name for cookie in jar):
            jar.set_cookie(create_cookie(name, value))
    return jar


def dict_from_cookiejar(jar):
    return {cookie.name: cookie.value for cookie in jar}


def joined(*given):
    """A jar of its own with the cookies of all these jars and mappings, the later ones first in case of doubt."""
    jar = RequestsCookieJar()
    for more in given:
        if isinstance(more, CookieJar):
            jar.update(more)
        else:
            cookiejar_from_dict(more, jar)
    return jar


def without_domainless(jar):
    """What of it may go to a host that the program did not name itself."""
    kept = RequestsCookieJar()
    for cookie in jar:
        if cookie.domain:
            kept.set_cookie(cookie)
    return kept


def header(jar, url):
    """The value of the `Cookie` header of a request for this URL, or None."""
    asked = _Asked(url)
    jar.add_cookie_header(asked)
    return asked.added.get("Cookie")


def take(jar, url, set_cookies):
    """Keeps what an answer from this URL sets, as far as it may set it."""
    answer = _Answer(set_cookies)
    jar.extract_cookies(answer, _Asked(url))


class _Asked:
    """A request, as `http.cookiejar` wants to see it."""

    unverifiable = False

    def __init__(self, url):
        parts = urlsplit(url)
        self._url, self.type, self.host, self.origin_req_host = url, parts.scheme, parts.netloc.rpartition("@")[2], parts.hostname or ""
        self.added = {}

    def get_full_url(self):
        return self._url

    def has_header(self, name):
        return name in self.added

    def get_header(self, name, default=None):
        return self.added.get(name, default)

    def add_unredirected_header(self, name, value):
        self.added[name] = value


class _Answer:
    def __init__(self, set_cookies):
        self._headers = Message()
        for value in set_cookies:
            self._headers["Set-Cookie"] = value

    def info(self):
        return self._headers

"""The network, as far as the task has one: HTTP requests, each a call of the host, which judges, makes and records it.

`http.client` and what stands on it, `urllib.request` among them, speak to a connection that takes the bytes of a request
and gives back those of the answer. `requests` asks here directly."""
from fermata._private import builtins as __builtins__
import errno
import io
from fermata import _calls

_READS = {"GET", "HEAD", "OPTIONS"}
_SENDS = {"POST", "PUT", "PATCH", "DELETE"}
NO_NETWORK = "this machine has no network: use a tool, or give the task network access to the host"


def request(method, url, headers, body=None, timeout=None):
    """Blocks until there is an answer: a record of `url`, `status`, `headers` (a list of pairs) and `body`. Raises OSError."""
    if method not in _READS and method not in _SENDS:
        raise OSError(errno.EPROTONOSUPPORT, f"the method {method} cannot be used")
    args = {"url": url, "method": method, "headers": [[str(name), str(value)] for name, value in headers]}
    if body:
        args["body"] = bytes(body)
    if timeout is not None:
        args["timeout_ms"] = max(1.0, float(timeout) * 1000)
    reply = _calls.block_on(_calls.start("network.get" if method in _READS else "network.send", args))
    if "error" in reply:
        raise _error(reply["error"])
    return reply["ok"]


def _error(failure):
    name, message = failure["name"], failure["message"]
    if name == "UnknownTool":
        return OSError(errno.ENETUNREACH, NO_NETWORK)
    if name == "NetworkTimeout":
        return TimeoutError(errno.ETIMEDOUT, message)
    if name in ("NetworkDenied", "PolicyViolation", "ApprovalRejected", "ApprovalExpired"):
        return PermissionError(errno.EACCES, message)
    return ConnectionError(errno.ECONNABORTED, message)


class Connection:
    """Takes the place of a connected socket under `http.client`."""

    def __init__(self, address, timeout=None, source_address=None, **_):
        self._host, self._port = address[0], int(address[1])
        self._timeout = timeout if isinstance(timeout, (int, float)) else None
        self._secure = False
        self._sent = bytearray()
        self._answer = b""

    def secure(self):
        self._secure = True

    def sendall(self, data, flags=0):
        self._sent += data
        asked = _whole(self._sent)
        if asked is None:
            return
        self._sent = bytearray()
        method, target, headers, body = asked
        host = f"[{self._host}]" if ":" in self._host else self._host
        url = target if "://" in target else f"{'https' if self._secure else 'http'}://{host}:{self._port}{target}"
        self._answer = _as_bytes(method, request(method, url, headers, body, self._timeout))

    def send(self, data, flags=0):
        self.sendall(data, flags)
        return len(data)

    def makefile(self, mode="r", *_, **named):
        answer, self._answer = io.BytesIO(self._answer), b""
        return answer if "b" in mode else io.TextIOWrapper(answer, encoding=named.get("encoding"))

    def settimeout(self, timeout):
        self._timeout = timeout

    def gettimeout(self):
        return self._timeout

    def setsockopt(self, *_):
        pass

    def shutdown(self, how):
        pass

    def close(self):
        pass

    def fileno(self):
        return -1

    def getpeername(self):
        return self._host, self._port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _whole(sent):
    """Method, target, headers and body of a request of which all has been sent, else None."""
    head, end, body = bytes(sent).partition(b"\r\n\r\n")
    if not end:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    said = {name.lower(): value for name, value in headers}
    if said.get("transfer-encoding", "").lower() == "chunked":
        return (method, target, headers, _joined(body)) if body.endswith(b"0\r\n\r\n") else None
    length = int(said.get("content-length", 0))
    return (method, target, headers, body[:length]) if len(body) >= length else None


def _joined(chunked):
    stream, parts = io.BytesIO(chunked), []
    while size := int(stream.readline().partition(b";")[0], 16):
        parts.append(stream.read(size))
        stream.readline()
    return b"".join(parts)


# They speak of the connection between host and server, which the program does not see.
_NOT_OURS = {"connection", "keep-alive", "transfer-encoding", "trailer", "upgrade"}


def _as_bytes(method, answer):
    body = b"" if method == "HEAD" else answer["body"]
    lines = [f"HTTP/1.1 {answer['status']} {reason(answer['status'])}"]
    for name, value in answer["headers"]:
        if name not in _NOT_OURS and (name != "content-length" or method == "HEAD"):
            lines.append(f"{name}: {value}")
    if method != "HEAD" and answer["status"] not in (204, 304):
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1", "replace") + body


def reason(status):
    import http

    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return ""

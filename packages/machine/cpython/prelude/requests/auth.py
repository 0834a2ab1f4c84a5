"""Who asks."""
import base64


class AuthBase:
    def __call__(self, request):
        raise NotImplementedError("Auth hooks must be callable.")


class HTTPBasicAuth(AuthBase):
    def __init__(self, username, password):
        self.username, self.password = username, password

    def __call__(self, request):
        pair = f"{self.username}:{self.password}".encode()
        request.headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
        return request

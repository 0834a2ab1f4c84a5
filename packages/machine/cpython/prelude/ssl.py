"""What `http.client` and others want of TLS. The host makes the connections, and always checks certificates; here is nothing to set."""
import enum


class SSLError(OSError):
    """Something about TLS is wrong."""


class SSLZeroReturnError(SSLError):
    pass


class SSLWantReadError(SSLError):
    pass


class SSLWantWriteError(SSLError):
    pass


class SSLSyscallError(SSLError):
    pass


class SSLEOFError(SSLError):
    pass


class SSLCertVerificationError(SSLError, ValueError):
    pass


CertificateError = SSLCertVerificationError


class VerifyMode(enum.IntEnum):
    CERT_NONE = 0
    CERT_OPTIONAL = 1
    CERT_REQUIRED = 2


class Purpose(enum.Enum):
    SERVER_AUTH = "serverAuth"
    CLIENT_AUTH = "clientAuth"


class TLSVersion(enum.IntEnum):
    MINIMUM_SUPPORTED = -2
    TLSv1_2 = 771
    TLSv1_3 = 772
    MAXIMUM_SUPPORTED = -1


CERT_NONE, CERT_OPTIONAL, CERT_REQUIRED = VerifyMode
PROTOCOL_TLS, PROTOCOL_TLS_CLIENT, PROTOCOL_TLS_SERVER = 2, 16, 17
HAS_SNI = HAS_ALPN = True
OPENSSL_VERSION = "none: the host makes the connections"
OPENSSL_VERSION_INFO = (0, 0, 0, 0, 0)


class SSLContext:
    def __init__(self, protocol=PROTOCOL_TLS_CLIENT):
        self.protocol, self.check_hostname, self.verify_mode, self.post_handshake_auth = protocol, True, CERT_REQUIRED, None
        self.minimum_version, self.maximum_version, self.options, self.verify_flags = TLSVersion.TLSv1_2, TLSVersion.MAXIMUM_SUPPORTED, 0, 0

    def _accept(self, *_, **__):
        pass

    load_default_certs = load_verify_locations = set_default_verify_paths = set_alpn_protocols = set_ciphers = _accept

    def load_cert_chain(self, *_, **__):
        raise SSLError("this machine makes no TLS connections itself, so it cannot show a certificate of its own")

    def wrap_socket(self, sock, *_, **__):
        if not hasattr(sock, "secure"):
            raise SSLError("this machine makes no TLS connections itself; https addresses are asked for by urllib.request, http.client and requests")
        sock.secure()
        return sock


class SSLSocket:
    def __init__(self, *_, **__):
        raise SSLError("this machine makes no TLS connections itself")


SSLObject = MemoryBIO = SSLSocket


def create_default_context(purpose=Purpose.SERVER_AUTH, *, cafile=None, capath=None, cadata=None):
    return SSLContext()


def _create_unverified_context(*_, **__):
    return SSLContext()


_create_default_https_context = _create_stdlib_context = create_default_context

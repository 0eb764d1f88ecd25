"""What the environment's proxies and certificates do to a connection, for a person to mend."""

from __future__ import annotations

import os
from ipaddress import ip_address
from urllib.parse import urlsplit

from longjudge.errors import UsageError

_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def connection_faults() -> tuple[type[Exception], ...]:
    """What making an HTTP client raises where the environment cannot be used.

    A proxy that is no address, one that needs a package that is not there, lost certificates.
    """
    import httpx2

    return (httpx2.InvalidURL, ValueError, ImportError, OSError)


def unusable_connection(error: Exception, endpoint: str) -> UsageError:
    """Names the variables to mend; never their text, which may hold a password."""
    if isinstance(error, OSError):
        named = _set_among(_CERTIFICATES) or "the system's certificates"
        return UsageError(f"{named}: the certificates cannot be read; mend it, or unset it")
    named = _set_among(_VARIABLES) or "the system's proxy"
    fault = "no address of a proxy"
    if isinstance(error, ImportError):
        fault = "a SOCKS proxy, which needs the package socksio"
    return UsageError(f"{named}: {fault}; mend or unset it to reach {endpoint}")


def proxy_hint(endpoint: str) -> str:
    """What to do about a proxy before this computer itself; empty where none is in the way.

    The HTTP library sends even loopback requests through a proxy of the environment.
    """
    host = _host(endpoint)
    if not _is_loopback(host) or not _proxy_variable(endpoint):
        return ""
    return f"a proxy is set in the environment: add {host} to NO_PROXY"


def unreachable_hint(endpoint: str) -> str:
    """What stands between this computer and an address that gave no reply; empty if nothing."""
    variable = _proxy_variable(endpoint)
    through = f"the way there is the proxy that {variable} names: check it" if variable else ""
    return proxy_hint(endpoint) or through


def _host(endpoint: str) -> str:
    try:
        return urlsplit(endpoint).hostname or ""
    except ValueError:
        return ""


def _proxy_variable(endpoint: str) -> str:
    """The variable whose proxy requests to an address go through; empty where none is."""
    host, scheme = _host(endpoint), endpoint.partition(":")[0]
    named = _set_among((f"{scheme}_proxy",)) or _set_among(("all_proxy",))
    entries = [entry.strip().partition(":")[0] for entry in _variable("no_proxy").split(",")]
    domains = [entry.lstrip(".") for entry in entries if entry.strip(".")]
    if "*" in domains or any(host == name or host.endswith(f".{name}") for name in domains):
        return ""
    return named


def _variable(name: str) -> str:
    return os.environ.get(name) or os.environ.get(name.upper()) or ""


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _set_among(names: tuple[str, ...]) -> str:
    spelt = [each for name in names for each in (name.upper(), name.lower())]
    return ", ".join(name for name in spelt if os.environ.get(name))

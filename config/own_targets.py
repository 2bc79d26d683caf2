"""Services of a user's that already run: their addresses, from what a plan or flags name. docs/own-service.md."""

import re

from config.own import LAST_PORT, Target
from core.errors import BadInput

MOST_PATH_BYTES = 107  # what a Unix socket's address has room for. Source: unix(7)
_HOST = r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*)"
_TCP = re.compile(rf"(?P<host>{_HOST}):(?P<port>[0-9]{{1,5}})", re.ASCII)
_HTTP = re.compile(rf"//(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?(?P<path>/[!-~]*)?", re.ASCII)
HTTP_PORT = "80"


def target(name: str, url: str, protocol: str = "http") -> Target:
    """From http://host:port/path, unix:/path or tcp:host:port. Raises BadInput."""
    kind, _, rest = url.partition(":")
    address, prefix = "", ""
    if kind == "unix":
        address = _path(rest)
    elif kind == "tcp":
        address = _address(_TCP.fullmatch(rest))
    elif kind == "http" and protocol == "http" and not {"?", "#"} & set(rest):
        found = _HTTP.fullmatch(rest)
        address, prefix = _address(found), (found["path"] or "").rstrip("/") if found else ""
    if not address:
        raise BadInput(
            f"target {name} is {url} ({protocol}); it must be http://HOST:PORT/PATH without a query, "
            f"unix:/PATH of at most {MOST_PATH_BYTES} bytes or tcp:HOST:PORT, with a port from 1 to {LAST_PORT}. "
            "Framed targets are unix: or tcp:, and TLS is not spoken."
        )
    return Target(name=name, url=url, protocol=protocol, address=address, prefix=prefix)


def _path(text: str) -> str:
    """The path of a Unix socket; empty where it cannot be one."""
    fits = text.startswith("/") and text.isprintable() and len(text.encode()) <= MOST_PATH_BYTES
    return text if fits else ""


def _address(found: re.Match[str] | None) -> str:
    """host:port; empty where it is none."""
    port = int(found["port"] or HTTP_PORT) if found else 0
    return f"{found['host'].lower()}:{port}" if found and 1 <= port <= LAST_PORT else ""

"""The addresses of services that already run, from the URLs that a plan or flags give."""

import re

from config.options import Given
from config.user_service.hidden import hidden, mask_url
from config.user_service.service import LAST_PORT
from core.errors import BadInput
from core.secret import HIDDEN, Secret, Text, revealed
from core.user_service import HTTP, Target

MOST_PATH_BYTES = 107  # what a Unix socket's address has room for. Source: unix(7)
_HOST = r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*)"
_TCP = re.compile(rf"(?P<host>{_HOST}):(?P<port>[0-9]{{1,5}})", re.ASCII)
_HTTP = re.compile(rf"//(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?(?P<path>/[!-~]*)?", re.ASCII)
HTTP_PORT = "80"


def target(name: str, url: str, protocol: str = HTTP) -> Target:
    """From http://host:port/path, unix:/path or tcp:host:port; {env:NAME} in it is a secret. Raises BadInput."""
    text = hidden(Given(value=url, name=f"--target or --arm {name}"), mask_url)
    url = revealed(text)
    scheme, _, rest = url.partition(":")
    address, prefix = "", ""
    if scheme == "unix":
        address = _path(rest)
    elif scheme == "tcp":
        address = _address(_TCP.fullmatch(rest))
    elif scheme == "http" and protocol == HTTP and not {"?", "#"} & set(rest):
        match = _HTTP.fullmatch(rest)
        address, prefix = _address(match), (match["path"] or "").rstrip("/") if match else ""
    if not address:
        raise BadInput(
            "target {name} is {url} ({protocol}); it must be http://HOST:PORT/PATH without a query, unix:/PATH of at "
            "most {most} bytes or tcp:HOST:PORT, with a port from 1 to {last}. With framed it must be unix: or tcp:. "
            "TLS is not supported.",
            name=name,
            url=str(text),
            protocol=protocol,
            most=MOST_PATH_BYTES,
            last=LAST_PORT,
        )
    return Target(name=name, url=text, protocol=protocol, address=_part(text, address), prefix=_part(text, prefix))


def _part(url: Text, part: str) -> Text:
    """A part of a URL: as secret as that."""
    return Secret(HIDDEN, name=url.name, value=part) if isinstance(url, Secret) and part else part


def _path(text: str) -> str:
    """The path of a Unix socket; empty where it cannot be one."""
    fits = text.startswith("/") and text.isprintable() and len(text.encode()) <= MOST_PATH_BYTES
    return text if fits else ""


def _address(match: re.Match[str] | None) -> str:
    """host:port; empty where it is none."""
    port = int(match["port"] or HTTP_PORT) if match else 0
    return f"{match['host'].lower()}:{port}" if match and 1 <= port <= LAST_PORT else ""

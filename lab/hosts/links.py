"""The stream to an agent: read, write, kill. A link is two file descriptors, whatever carries them."""

import os
import select
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import GilscopeError
from core.hosts import Host
from core.messages import Message, message, verbatim
from core.printable import for_terminal
from lab.hosts import archive
from lab.hosts.frames import LEASE_S
from lab.output import Kept

BOOT = Path(__file__).with_name("boot.py")
PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")
CONNECT_S = 8.0
NO_PYTHON = 86
_FIND = """by_uv=$(PATH="$PATH:$HOME/.local/bin" uv python find --no-project '>=3.11' 2>/dev/null)
for p in {candidates} "$by_uv"; do
[ -n "$p" ] && command -v "$p" >/dev/null 2>&1 \
&& "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
&& exec "$p" -I -S -c {boot} {digests}
done
exit {no_python}"""


class LinkLost(GilscopeError):
    """There is no connection to a host, or no longer; the text says why."""


@dataclass(kw_only=True)
class Link:
    """A started command on a host, or here. complaints: what it, or ssh, writes to stderr.

    kill() ends what carries it; status() is the command's exit status, None while that is not known
    """

    read_fd: int
    write_fd: int
    kill: Callable[[], None]
    status: Callable[[], int | None]
    complaints: Kept = field(default_factory=Kept)

    def read(self) -> bytes:
        """What has come; nothing at the end. Raises LinkLost."""
        try:
            data = os.read(self.read_fd, 1 << 20)
        except OSError as error:
            raise LinkLost("{error}", error=error.strerror) from None
        return data

    def read_in_time(self, deadline_s: float) -> bytes:
        """The same; raises LinkLost where nothing has come by then."""
        poll = select.poll()
        poll.register(self.read_fd, select.POLLIN)
        if not poll.poll(deadline_s * 1000):
            raise LinkLost("nothing came for {wait_s:.0f} s", wait_s=deadline_s)
        return self.read()

    def is_writable(self) -> bool:
        """Whether write() would begin at once."""
        poll = select.poll()
        poll.register(self.write_fd, select.POLLOUT)
        return bool(poll.poll(0))

    def write(self, data: bytes) -> None:
        """All of it. Raises LinkLost, also where the other side takes nothing for its lease."""
        view, poll = memoryview(data), select.poll()
        poll.register(self.write_fd, select.POLLOUT)
        while view:
            if not poll.poll(LEASE_S * 1000):
                raise LinkLost("it took nothing for {wait_s:.0f} s", wait_s=LEASE_S)
            try:
                view = view[os.write(self.write_fd, view) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise LinkLost("{error}", error=error.strerror) from None


def start_command(host: Host) -> str:
    """The shell command that starts an agent: POSIX sh, with nothing secret in it."""
    words = {
        "candidates": " ".join(
            map(shlex.quote, (*host.python, *(PYTHONS if host.via != "here" else (sys.executable,))))
        ),
        "boot": shlex.quote(BOOT.read_text("utf-8")),
        "digests": shlex.quote(_digests()),
        "no_python": NO_PYTHON,
    }
    return f"exec sh -c {shlex.quote(_FIND.format(**words))}"


def _digests() -> str:
    plain, native = archive.archive(native=False), archive.archive(native=True)
    return f"any={plain.digest},{archive.machine()}={native.digest}"


def why_ended(link: Link) -> Message:
    """What the carrier said last, or how it ended."""
    status = link.status()
    if status == NO_PYTHON:
        return message("it has no Python of at least 3.11; install one there, such as: uv python install 3.14")
    lines = link.complaints.kept().decode(errors="replace").split("\n")
    text = " ".join(" ".join(line for line in lines if line.strip()).split())[-500:]
    return verbatim(for_terminal(text).rstrip(".")) if text else message("the connection ended")

"""The byte streams to and from an agent: stdin and stdout of `ssh`, or of a shell if the agent is on this machine."""

import os
import select
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from core.errors import GilscopeError
from core.hosts import Host
from core.languages import for_terminal
from core.messages import Message, message, verbatim
from lab.hosts.protocol import KEPT_ALIVE_COUNT, KEPT_ALIVE_S, LEASE_S, SESSION
from lab.output import HeadTailBuffer

BOOT = Path(__file__).with_name("boot.py")
PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")
CONNECT_S = 8.0
LAST_WORDS_S = 1.0
NO_PYTHON = 86
SSH_FAILED = 255  # the exit status of ssh itself: ssh(1)
_FIND = """by_uv=$(PATH="$PATH:$HOME/.local/bin" uv python find --no-project '>=3.11' 2>/dev/null)
for p in {candidates} "$by_uv"; do
[ -n "$p" ] && command -v "$p" >/dev/null 2>&1 \
&& "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
&& exec "$p" -I -S -c {boot}
done
exit {no_python}"""


class HostLost(GilscopeError):
    """The error that connecting to a host failed, or that the connection was lost. Its message says why."""


class AgentStream:
    """A process, such as ssh, whose stdin and stdout are connected to the agent on a host.

    complaints: its stderr, with that of ssh
    """

    def __init__(self, host: Host, process_group: int) -> None:
        """Start the command that runs the agent. Raises HostLost if it cannot be started."""
        command = _here(host) if host.via == "here" else _ssh(host)
        self.complaints = HeadTailBuffer()
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=process_group,
                bufsize=0,
            )
        except OSError as error:
            raise HostLost("{program} cannot be started: {error}", program=command[0], error=error.strerror) from None
        assert self._process.stdin
        assert self._process.stdout
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)
        self._complaining = threading.Thread(target=self._complain, name="complaints", daemon=True)
        self._complaining.start()

    def read(self, wait_s: float) -> bytes | None:
        """Return new data; b"" at the end of the stream, None if no data came within *wait_s*. Raises HostLost."""
        if not _is_ready(self._out, select.POLLIN, wait_s):
            return None
        try:
            return os.read(self._out.fileno(), 1 << 20)
        except OSError as error:
            raise HostLost("{error}", error=error.strerror) from None

    def write(self, data: bytes) -> None:
        """Write all of *data* to the agent. Raises HostLost, for example if the agent accepts no data for LEASE_S."""
        view = memoryview(data)
        while view:
            if not self.is_writable(LEASE_S):
                raise HostLost("the host accepted no data for {wait_s:.0f} s", wait_s=LEASE_S)
            try:
                view = view[os.write(self._in.fileno(), view) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise HostLost("{error}", error=error.strerror) from None

    def is_writable(self, wait_s: float = 0.0) -> bool:
        """Return whether the agent process on the host accepts data on its stdin within *wait_s*."""
        return _is_ready(self._in, select.POLLOUT, wait_s)

    def kill(self) -> None:
        """Kill the command, and close its streams."""
        self._process.kill()
        self._process.wait()
        self._complaining.join(LAST_WORDS_S)
        self._in.close()
        self._out.close()

    def why_ended(self) -> Message:
        """Return why the agent's command ended: the last part of its stderr, or a known reason."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_WORDS_S)
            self._complaining.join(LAST_WORDS_S)
        if self._process.returncode == NO_PYTHON:
            return message(
                "the host has no Python 3.11 or newer. Install Python on the host with: uv python install 3.14"
            )
        text = for_terminal(" ".join(self.complaints.content().decode(errors="replace").split())[-500:]).rstrip(".")
        if not text:
            return message("the connection ended without an error message")
        if self._process.returncode == SSH_FAILED:
            return message(
                "{error}. Log in once by hand with ssh, because ssh may ask for a password or about a host key",
                error=text,
            )
        return verbatim(text)

    def _complain(self) -> None:
        assert self._process.stderr
        with self._process.stderr as stream:
            while data := os.read(stream.fileno(), 1 << 16):
                self.complaints.add(data)


def _is_ready(stream: IO[bytes], event: int, wait_s: float) -> bool:
    poll = select.poll()
    poll.register(stream, event)
    return bool(poll.poll(wait_s * 1000))


def _here(host: Host) -> list[str]:
    """Return the command that starts an agent on this machine, without SSH."""
    return ["env", "-u", SESSION, "sh", "-c", _start_command((*host.python, sys.executable))]


def _ssh(host: Host) -> list[str]:
    """Return the ssh command that starts an agent on another machine. ~/.ssh/config can add options."""
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": f"{CONNECT_S:.0f}",
        "ServerAliveInterval": f"{KEPT_ALIVE_S:.0f}",
        "ServerAliveCountMax": f"{KEPT_ALIVE_COUNT}",
        "ControlPath": "none",
        **({"IdentityFile": host.identity_file, "IdentitiesOnly": "yes"} if host.identity_file else {}),
        **({"UserKnownHostsFile": host.known_hosts} if host.known_hosts else {}),
    }
    user, name, port = split_ssh_address(host.ssh)
    place = [*(["-p", port] if port else []), *(["-l", user] if user else []), "--", name]
    flags = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    return ["ssh", "-T", *flags, *place, _start_command((*host.python, *PYTHONS))]


def split_ssh_address(text: str) -> tuple[str, str, str]:
    """Split user@host:port into user, host and port; missing parts are "". An IPv6 address must be in brackets."""
    user, _, place = text.rpartition("@")
    name, _, port = place[1:].partition("]") if place.startswith("[") else place.partition(":")
    return user, name, port.removeprefix(":")


def _start_command(candidates: Iterable[str]) -> str:
    """Return the POSIX shell command that starts an agent. It contains no secrets."""
    words = {
        "candidates": " ".join(map(shlex.quote, candidates)),
        "boot": shlex.quote(BOOT.read_text("utf-8")),
        "no_python": NO_PYTHON,
    }
    return f"exec sh -c {shlex.quote(_FIND.format(**words))}"

"""The byte streams to and from an agent: stdin and stdout of `ssh`, or of a shell if the agent is on this machine."""

import select
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.errors import GilscopeError
from core.hosts import Host
from core.languages import for_terminal
from core.messages import Message, message, verbatim
from lab.hosts.protocol import KEPT_ALIVE_COUNT, KEPT_ALIVE_S, LEASE_S, SESSION, MessageReader
from lab.output import ProcessOutput
from record.decode import Misfit

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
    """A process, such as ssh, whose stdin and stdout are connected to the agent on a host."""

    def __init__(self, host: Host, process_group: int) -> None:
        """Start the command that runs the agent. Raises HostLost if it cannot be started."""
        command = _here(host) if host.via == "here" else ssh_command(host)
        self._reader, self._complaints = MessageReader(), ProcessOutput()
        self._in, theirs = socket.socketpair()
        self._in.settimeout(LEASE_S)
        self._out = self._in.dup()  # so that receiving has another timeout than sending
        with theirs:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=self._complaints.write_end,
                    process_group=process_group,
                )
            except OSError as error:
                self._close()
                raise HostLost(
                    "{program} cannot be started: {error}", program=command[0], error=error.strerror
                ) from None
        self._complaints.close_write_end()

    def receive(self, wait_s: float, take: Callable[[dict[str, Any]], object]) -> bool:
        """Call *take* with each message that the agent sent. Return whether any data came within *wait_s*.

        Raises HostLost if the stream has ended, or if a message is malformed.
        """
        self._complaints.drain()
        try:
            self._in.settimeout(wait_s)
            data = self._in.recv(1 << 20)
            for message_of_agent in self._reader.feed(data):
                take(message_of_agent)
        except TimeoutError:
            return False
        except OSError as error:
            raise HostLost("{error}", error=error.strerror) from None
        except (ValueError, KeyError, TypeError, Misfit) as error:
            raise HostLost("the host sent bytes that are not a valid message: {text}", text=str(error)[:100]) from None
        if not data:
            raise HostLost(self._why_ended())
        return True

    def write(self, data: bytes) -> None:
        """Write all of *data* to the agent. Raises HostLost, for example if the agent accepts no data for LEASE_S."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._out.send(view) :]
        except TimeoutError:
            raise HostLost("the host accepted no data for {wait_s:.0f} s", wait_s=LEASE_S) from None
        except OSError as error:
            raise HostLost("{error}", error=error.strerror) from None

    def is_writable(self) -> bool:
        """Return whether the agent process on the host accepts data on its stdin now."""
        poll = select.poll()
        with suppress(ValueError):  # the stream was closed meanwhile
            poll.register(self._out, select.POLLOUT)
        return bool(poll.poll(0))

    def kill(self) -> None:
        """Kill the command, and close its streams."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        for end in (self._in, self._out, self._complaints):
            end.close()

    def _why_ended(self) -> Message:
        """Return why the agent's command ended: the last part of its output, or a known reason."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_WORDS_S)
        if self._process.returncode == NO_PYTHON:
            return message(
                "the host has no Python 3.11 or newer. Install Python on the host with: uv python install 3.14"
            )
        words = (self._reader.noise.text() + self._complaints.text()).split()
        text = for_terminal(" ".join(words)[-500:]).rstrip(".")
        if not text:
            return message("the connection ended without an error message")
        if self._process.returncode == SSH_FAILED:
            return message(
                "{error}. Log in once by hand with ssh, because ssh may ask for a password or ask you to confirm a "
                "host key",
                error=text,
            )
        return verbatim(text)


def _here(host: Host) -> list[str]:
    """Return the command that starts an agent on this machine, without SSH."""
    return ["env", "-u", SESSION, "sh", "-c", _start_command((*host.python, sys.executable))]


def ssh_command(host: Host) -> list[str]:
    """Return the ssh command that starts an agent on another machine. ~/.ssh/config can add options."""
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": f"{CONNECT_S:.0f}",
        "ServerAliveInterval": f"{KEPT_ALIVE_S:.0f}",
        "ServerAliveCountMax": f"{KEPT_ALIVE_COUNT}",
        "ControlPath": "none",
        **({"IdentityFile": f'"{host.identity_file}"', "IdentitiesOnly": "yes"} if host.identity_file else {}),
        **({"UserKnownHostsFile": f'"{host.known_hosts}"'} if host.known_hosts else {}),
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

"""A carrier: a command, such as ssh, that starts the agent on a host and carries its stdin, stdout and stderr.

The carrier starts `sh`, which reads a script that finds a Python. So no text of ours is on a command line.
"""

import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.errors import GilscopeError
from core.hosts import Host
from core.languages import for_terminal
from core.messages import Message, message, verbatim
from lab.hosts.protocol import LEASE_S, MessageReader
from lab.output import ProcessOutput
from record.decode import Misfit

BOOT = Path(__file__).with_name("boot.py")
PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")
LAST_WORDS_S = 1.0
NO_PYTHON = 86
SSH_FAILED = 255  # the exit status of ssh itself: ssh(1)
# One compound command: some shells read a line at a time, and the agent reads what follows.
_FIND = """{{
by_uv=$(PATH="$PATH:$HOME/.local/bin" uv python find --no-project '>=3.11' 2>/dev/null </dev/null)
for p in {candidates} "$by_uv"; do
[ -n "$p" ] && command -v "$p" >/dev/null 2>&1 \
&& "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null </dev/null \
&& exec "$p" -I -S -c {boot}
done
exit {no_python}
}}
"""


class HostLost(GilscopeError):
    """The error that connecting to a host failed, or that the connection was lost. Its message says why."""


class Carrier:
    """A process whose stdin and stdout are connected to the agent on a host."""

    def __init__(self, host: Host, process_group: int) -> None:
        """Start the command. Raises HostLost if it cannot be started."""
        self._host, command = host, [*host.carrier, "sh"]
        self._messages, self._complaints = MessageReader(), ProcessOutput()
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
            for message_of_agent in self._messages.feed(data):
                take(message_of_agent)
        except TimeoutError:
            return False
        except OSError:
            raise HostLost(self._why_ended()) from None
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
        except OSError:
            raise HostLost(self._why_ended()) from None

    def kill(self) -> None:
        """Kill the command, and close its streams."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        for end in (self._in, self._out, self._complaints):
            end.close()

    def _why_ended(self) -> Message:
        """Return why the command ended: the last part of its output, or a known reason."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_WORDS_S)
        if self._process.returncode == NO_PYTHON:
            return message(
                "the host has no Python 3.11 or newer. Install Python on the host with: uv python install 3.14"
            )
        words = (self._messages.noise.text() + self._complaints.text()).split()
        text = for_terminal(" ".join(words)[-500:]).rstrip(".")
        if not text:
            return message("the connection ended without an error message")
        if self._host.via == "ssh" and self._process.returncode == SSH_FAILED:
            return message(
                "{error}. Log in once by hand with ssh, because ssh may ask for a password or ask you to confirm a "
                "host key",
                error=text,
            )
        return verbatim(text)


def start_script(host: Host) -> bytes:
    """Return the POSIX shell script that replaces its shell by the first code of the agent."""
    others = (sys.executable,) if host.via == "here" else PYTHONS
    boot = shlex.quote(BOOT.read_text("utf-8"))
    return _FIND.format(candidates=shlex.join([*host.python, *others]), boot=boot, no_python=NO_PYTHON).encode()

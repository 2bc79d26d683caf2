"""A carrier: a command, such as ssh, that starts the agent on a host and carries its stdin, stdout
and stderr.

The carrier starts `sh`, which reads a script that finds a Python and runs lab/hosts/boot.py, which
reads an archive of gilscope's files. So no text of ours is on the carrier's command line.
lab/hosts/connection.py has one Carrier for each host. docs/hosts.md lists the carriers, and
core/layout.py has their commands. The script needs a POSIX shell, and its exit status NO_PYTHON
says that no Python on the host suits.
"""

import os
import select
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from core.languages import for_terminal
from core.layout import Host
from core.messages import ChildFailed, Message, message, verbatim
from lab import native_builds
from lab.digests import files_in
from lab.hosts.protocol import MessageReader
from lab.places import REPOSITORY
from lab.run.children import Process
from lab.user_service.service_files import packed
from record.decode import Misfit

# Whatever the agent, the worker and the children of a host import must be in these folders.
FOLDERS = ("core", "services", "clients", "systems", "experiments", "record", "lab", "requirements")
# code, and files of requirements
SUFFIXES = (".py", ".txt")
# core.program recognises a checkout by this file; the agent's files look like a checkout
CHECKOUT = "pyproject.toml"
BOOT = Path(__file__).with_name("boot.py")
GREETING = """
import json, platform, sys
if sys.version_info < (3, 11):
    sys.exit(1)
print("gilscope", json.dumps({"machine": platform.machine()}))
"""
# the names that the script looks for on the host, in this order
PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")
# how long the command may take to end after it has closed its stdout
LAST_WORDS_S = 1.0
# the exit status of the script if it finds no Python 3.11 or newer
NO_PYTHON = 86
SSH_FAILED = 255  # the exit status of ssh itself: ssh(1)
# The Python that fits prints a message of lab/hosts/protocol.py, so that the runner knows which
# archive it needs. One compound command: some shells read a line at a time, and the agent reads
# what follows.
_FIND = """{{
by_uv=$(PATH="$PATH:$HOME/.local/bin" uv python find --no-project '>=3.11' 2>/dev/null </dev/null)
for p in {candidates} "$by_uv"; do
[ -n "$p" ] && command -v "$p" >/dev/null 2>&1 \
&& "$p" -c {greeting} 2>/dev/null </dev/null \
&& exec "$p" -I -S -c {boot}
done
exit {no_python}
}}
"""


class Carrier(Process):
    """A process whose stdin and stdout are connected to the agent on a host.

    Only one thread may call receive() at a time: the one that connects, then the listener.
    """

    def __init__(self, host: Host, process_group: int) -> None:
        """Start the command. Raises ChildFailed if it cannot be started."""
        self._host, command = host, [*host.carrier, "sh"]
        self._messages = MessageReader()
        try:
            super().__init__(command, process_group, {})
        except OSError as error:
            raise ChildFailed(
                "{program} cannot be started: {error}", program=command[0], error=error.strerror
            ) from None
        self._poll = select.poll()
        self._poll.register(self, select.POLLIN)

    def receive(self, wait_s: float, take: Callable[[Any], object]) -> bool:
        """Call *take* with each message that the agent sent. Return whether any data came within
        *wait_s*.

        Raises ChildFailed if the stream has ended, or if a message is malformed.
        """
        self._output.drain()
        if not self._poll.poll(wait_s * 1e3):
            return False
        try:
            data = self.read()
            for message_of_agent in self._messages.feed(data):
                take(message_of_agent)
        except (ValueError, KeyError, TypeError, RecursionError, Misfit) as error:
            raise ChildFailed(
                "the host sent bytes that are not a valid message: {text}", text=str(error)[:100]
            ) from None
        if not data:
            raise ChildFailed(self._why_ended())
        return True

    def write(self, data: bytes) -> None:
        """Write to the agent, and wait until the command takes the data. If the command has ended,
        do nothing.
        """
        with suppress(ValueError):  # it was closed meanwhile
            super().write(data)

    def close(self) -> None:
        """Kill the command, and close its streams."""
        self.kill()
        super().close()
        self._output.close()

    def _why_ended(self) -> Message:
        """Return why the command ended: the last part of its output, or a known reason."""
        status = self.wait(LAST_WORDS_S)
        if status == NO_PYTHON:
            return message(
                "the host has no Python 3.11 or newer. Install Python on the host with: uv python "
                "install 3.14"
            )
        words = (self._messages.noise.text() + self._output.text()).split()
        text = for_terminal(" ".join(words)[-500:]).rstrip(".")
        if not text:
            return message("the connection ended without an error message")
        if self._host.via == "ssh" and status == SSH_FAILED:
            return message(
                "{error}. Log in once by hand with ssh, because ssh may ask for a password or ask "
                "you to confirm a host key",
                error=text,
            )
        return verbatim(text)


def start_script(host: Host) -> bytes:
    """Return the POSIX shell script that replaces its shell by the first code of the agent.

    It tries the interpreters that the user named for the host first, then PYTHONS, or on this
    machine the Python that runs gilscope.
    """
    others = (sys.executable,) if host.via == "here" else PYTHONS
    return _FIND.format(
        candidates=shlex.join([*host.python, *others]),
        greeting=shlex.quote(GREETING),
        boot=shlex.quote(BOOT.read_text("utf-8")),
        no_python=NO_PYTHON,
    ).encode()


@cache
def agent_files(*, native: bool) -> bytes:
    """Return an archive of the files that an agent needs. Raises ChildFailed if one cannot be read.
    It is made once per process, so it lacks later changes of the files.

    native: include native programs, for a host of this architecture
    """
    sources = [Path(path) for folder in FOLDERS for path in files_in(REPOSITORY / folder, SUFFIXES)]
    built = [name for name in native_builds.FOR_HOSTS if native and not native_builds.missing(name)]
    files = [
        (CHECKOUT, Path(os.devnull)),  # an empty file is enough
        *((path.relative_to(REPOSITORY).as_posix(), path) for path in sources),
        *((f"native/bin/{name}", native_builds.BUILDS[name].program) for name in built),
    ]
    try:
        return packed(files)
    except OSError as error:
        raise ChildFailed(
            "gilscope's own files cannot be read: {error}. Check their permissions, or install "
            "gilscope again",
            error=str(error),
        ) from error

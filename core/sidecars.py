"""Declare the programs that a plan starts beside the measured services, such as a database.

They are the key `beside` of a plan. config/sidecar_options.py reads it, and
lab/run/running_sidecars.py starts the programs. lab/user_service uses filled() and has_place() for
the command of a user's service, too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PORT, SOCKET = "port", "socket"  # values of Beside.ready, and names of placeholders
START_DEADLINE_S = 30.0  # the default of Beside.start_deadline_s
HOST = "127.0.0.1"  # where the programs listen
PLACE = re.compile(r"\{([a-z_]+)\}")  # the placeholders of gilscope
_NAMED = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")  # also the settings of a user's service


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A program that gilscope starts once for a run. Its command and config may contain
    placeholders such as {port}.

    name: the name in reports
    command: starts the program. first: commands that run before it, such as the one that makes its
        data folder
    ready: `port` or `socket` if the program is ready when that accepts a connection. Otherwise a
        command that exits with 0 when the program is ready
    environment: variables that tell the services its address. config: the text of the file {config}
    pin: the CPUs on which it runs; empty for all
    start_deadline_s: the time within which it must be ready
    stop: the name of the signal that ends it
    users: if gilscope runs as root, the program runs as the first of these users that exists.
        Empty: as root
    """

    name: str
    command: str
    first: tuple[str, ...] = ()
    ready: str = PORT
    environment: Mapping[str, str] = field(default_factory=dict)
    config: str = ""
    pin: tuple[int, ...] = ()
    start_deadline_s: float = START_DEADLINE_S
    stop: str = "SIGTERM"
    users: tuple[str, ...] = ()

    def variables(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables with *values* in place of the placeholders."""
        return {name: filled(text, values) for name, text in self.environment.items()}


def filled(text: str, values: Mapping[str, str]) -> str:
    """Replace each placeholder in *text* whose name is a key of *values*. Keep all others."""
    return _NAMED.sub(lambda match: values.get(match[1], match[0]), text)


def has_place(text: str, name: str) -> bool:
    """Return whether *text* contains the placeholder *name*."""
    return f"{{{name}}}" in text

"""A program that stands beside the services of a run, such as their database, as a plan keeps it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PORT, SOCKET = "port", "socket"
START_DEADLINE_S = 30.0
HOST = "127.0.0.1"
PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A program that gilscope starts once for a run. Of all texts the places are filled in, such as {port}.

    name: as reports show it
    command: how it starts. first: commands that run before, which make its data folder
    ready: when it is ready: its `port` or its `socket` accepts a connection, or this command exits with 0
    environment: variables by which the services find it. config: the text of the file {config}
    pin: CPUs that it is held to; empty where the kernel chooses
    start_deadline_s: how long it may take until it is ready
    stop: the name of the signal that ends it
    users: where gilscope is root, it runs as the first of these users that exists; empty for root itself
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
        """Return its environment variables, with *values* in their places."""
        return {name: filled(text, values) for name, text in self.environment.items()}


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return *text* with *values* in its places; others stay as they are."""
    return PLACE.sub(lambda match: values.get(match[1], match[0]), text)

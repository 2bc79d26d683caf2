"""What watches services on another host (lab.profile.watchers), through its agent."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from core.errors import ChildFailed
from core.messages import message
from lab.profile.watchers import FACTS

WATCHED_S = 300.0  # for perf, which reads its recording


class WatcherThere:
    """A watcher of that kind on the services' host. ask: call() of the connection there."""

    def __init__(self, ask: Callable[..., Any], kind: str, told: Mapping[str, Any]) -> None:
        """Raises ChildFailed."""
        self._ask, self._kind = ask, kind
        self.facts: Any = None
        ask("watcher", WATCHED_S, kind=kind, told=dict(told))

    def listening(self, pid: int) -> None:
        """A service listens, and no client knows of it."""
        self._ask("listening", pid=pid)

    @contextmanager
    def watch(self, pid: int) -> Iterator[None]:
        """While clients call."""
        self._ask("watch", pid=pid)
        try:
            yield
        except BaseException:
            with suppress(ChildFailed):
                self._ask("watched", WATCHED_S)
            raise
        facts = self._ask("watched", WATCHED_S)
        try:
            self.facts = msgspec.convert(facts, FACTS[self._kind])
        except msgspec.ValidationError as error:
            raise ChildFailed(message("The services' host answered {error}", error=str(error)[:200])) from None

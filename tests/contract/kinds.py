"""The kinds of service that speak frames: systems 1, 2 and 4, their ways of waiting, and every runtime."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from tests.conftest import RUNTIMES, runtime_or_skip
from tests.contract.serving import Serving, serving

READ_DEADLINE_S = 120.0  # of system 1 here: no peer is closed for what the machine holds up
PATIENT = f"import services.threaded; services.threaded.READ_DEADLINE_S = {READ_DEADLINE_S}"
PROMPT_S = 30.0  # below it: who is answered within it did not wait for that
SILENT_PEERS = 300
SERVICES: dict[str, tuple[str, dict[str, Any]]] = {
    "1 unix": ("1", {"TRANSPORT": "unix"}),
    "1 tcp": ("1", {"TRANSPORT": "tcp"}),
    "2 unix": ("2", {"TRANSPORT": "unix"}),
    "2 tcp": ("2", {"TRANSPORT": "tcp"}),
    "4 unix": ("4", {"TRANSPORT": "unix"}),
    "4 tcp": ("4", {"TRANSPORT": "tcp"}),
}
OTHER_WATCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "2 poll": ("2", {"SELECTOR": "poll"}),
    "4 select": ("4", {"SELECTOR": "select"}),
    "4 single": ("4", {"SELECT_MODE": "single"}),
    "4 single select": ("4", {"SELECT_MODE": "single", "SELECTOR": "select"}),
    "2 leader": ("2", {"DISPATCH": "leader"}),
    "2 owned poll": ("2", {"DISPATCH": "owned", "SELECTOR": "poll"}),
    "4 owned tcp": ("4", {"DISPATCH": "owned", "TRANSPORT": "tcp"}),
    "4 auto": ("4", {"DISPATCH": "auto"}),
    "4 leader single": ("4", {"DISPATCH": "leader", "SELECT_MODE": "single"}),
}
KINDS = [(runtime, name) for runtime in RUNTIMES for name in SERVICES]
KINDS += [(runtime, name) for runtime in ("3.14", "3.14t") for name in OTHER_WATCHES]
CACHED = [kind for kind in KINDS if not kind[1].startswith("1")]
LARGE = [kind for kind in KINDS if kind[1] in ("1 unix", "2 tcp", "4 unix")]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A system with some of its parameters, under a runtime."""

    runtime: Runtime
    number: str
    params: dict[str, Any]

    def serving(self, sandbox: Sandbox, first: str = "", **more: Any) -> AbstractContextManager[Serving]:
        """A service of this kind."""
        if self.number == "1":
            first = f"{PATIENT}\n{first}"
        return serving(self.number, self.runtime, sandbox, first=first, **self.params, **more)


def kind_or_skip(runtime: str, name: str) -> Kind:
    """That kind; where its runtime is missing the test is skipped."""
    number, params = {**SERVICES, **OTHER_WATCHES}[name]
    return Kind(runtime=runtime_or_skip(runtime), number=number, params=params)

"""What makes a cell invalid: the Python of a child, its GIL or its JIT is not what the runtime promises."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.cell import Cell
from core.messages import AND, Message, listed, message
from core.system import System
from lab.gil.notice import switching_modules
from lab.gil.switching import switching
from lab.run.children import Child, failed
from lab.run.runtimes import AnyRuntime, UserServiceRuntime

WHEN = {"ready": message("when ready"), "end": message("at the end")}
PARTS = {"gil_enabled": "GIL", "jit_enabled": "JIT"}
ENOUGH_REQUESTS = 2  # of each worker: then every service has been asked


def client_faults(
    runtime: AnyRuntime, system: System, clients: Sequence[Child], results: Sequence[Mapping[str, Any]]
) -> list[Message]:
    """Clients whose GIL or JIT was another way than their runtime and system promise."""
    gil = {"gil_enabled": True} if system.turns_gil_on and not runtime.name.native else {}
    return state_faults({**runtime.name.promises, **gil}, clients, results)


def service_faults(
    runtime: AnyRuntime, system: System, services: Sequence[Child], results: Sequence[Mapping[str, Any]]
) -> list[Message]:
    """The same for services. A user's own may run another Python; one that already runs has promised nothing."""
    if not isinstance(runtime, UserServiceRuntime):
        return state_faults(runtime.name.promises, services, results)
    if runtime.runtime is None:
        return []
    faults = state_faults(runtime.name.promises, services, results)
    if faults and not runtime.name.gil_enabled and not any(_named(child) for child in services):
        faults += switching(Path(runtime.python(system)))
    return [*python_faults(runtime.expected_python, services, results), *faults]


def expect_all_asked(
    cell: Cell,
    system: System,
    services: Sequence[Child],
    client_results: Sequence[Mapping[str, Any]],
    service_results: Sequence[Mapping[str, Any]],
) -> None:
    """Raises ChildFailed for a service that got no request while all were answered: somebody else was asked for it.

    Two services that share a port by SO_REUSEPORT look like that. Where there are fewer connections than services, or
    too few requests to reach them all, it says nothing; nor does it of services that do not count, nor of a client
    that may ask whom it likes.
    """
    shares = "NUM_CONNECTIONS_PER_CLIENT" in cell.reads
    workers = cell.num_clients * (cell.num_connections_per_client if shares else len(services))
    answered = sum(client["answered"] for client in client_results)
    too_few = workers < len(services) or answered < ENOUGH_REQUESTS * max(workers, len(services))
    if (
        too_few
        or (system.client and not shares)
        or any(client["errors"] or client["wrong"] for client in client_results)
    ):
        return
    for child, result in zip(services, service_results, strict=True):
        if result.get("counted", True) and not result["requests"]:
            fault = message(
                "got none of the {requests} requests that were answered: another process answers at its address.",
                requests=answered,
            )
            raise failed(child, fault)


def python_faults(expected: str, services: Iterable[Child], results: Iterable[Mapping[str, Any]]) -> list[Message]:
    """User's services in which Pythons were found, and none of them is the one that is measured.

    expected: its label (lab.gil.probe); "" if none is promised
    """
    return [
        message(
            "{child} runs under {pythons}; {expected} was expected",
            child=child.label,
            pythons=listed(result["pythons"], last=AND),
            expected=expected,
        )
        for child, result in zip(services, results, strict=True)
        if expected and result.get("pythons") and expected not in result["pythons"]
    ]


def state_faults(
    promises: Mapping[str, bool], children: Iterable[Child], results: Iterable[Mapping[str, Any]]
) -> list[Message]:
    """Children whose GIL or JIT was another way than promised, with the module that did it if CPython named one."""
    faults = []
    for child, result in zip(children, results, strict=True):
        for state, promised in promises.items():
            wrong = [when for key, when in WHEN.items() if result.get(f"{state}_{key}", False) is not promised]
            if wrong:
                faults.append(_fault(state, promised, child, listed(wrong, last=AND)))
    return faults


def _fault(state: str, promised: bool, child: Child, when: Message) -> Message:
    part = PARTS[state]
    if promised:
        return message("the {part} of {child} was off {when}", part=part, child=child.label, when=when)
    fault = message("the {part} of {child} was on {when}", part=part, child=child.label, when=when)
    modules = _named(child) if state == "gil_enabled" else []
    if not modules:
        return fault
    return message("{fault}: it was enabled to load module {module}", fault=fault, module=repr(modules[0]))


def _named(child: Child) -> list[str]:
    return switching_modules(child.stderr_tail())

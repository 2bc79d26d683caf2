"""What makes a cell invalid: the Python of a child, or its GIL, is not what the runtime promises."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.cell import Cell
from core.messages import AND, Message, listed, message
from core.system import System
from lab.gil.audit import switching
from lab.gil.notice import switching_modules
from lab.run.children import Child, failed
from lab.run.runtimes import AnyRuntime, UserServiceRuntime

ENOUGH_REQUESTS = 2  # of each worker: then every service has been asked


def client_faults(
    runtime: AnyRuntime, system: System, clients: Sequence[Child], results: Sequence[Mapping[str, Any]]
) -> list[Message]:
    """Clients whose GIL was another way than their runtime and system promise."""
    promised = runtime.name.gil_enabled or (system.turns_gil_on and not runtime.name.native)
    return gil_faults(promised, clients, results)


def service_faults(
    runtime: AnyRuntime, system: System, services: Sequence[Child], results: Sequence[Mapping[str, Any]]
) -> list[Message]:
    """The same for services. A user's own may run another Python; one that already runs has promised nothing."""
    if not isinstance(runtime, UserServiceRuntime):
        return gil_faults(runtime.name.gil_enabled, services, results)
    if runtime.runtime is None:
        return []
    faults = gil_faults(runtime.name.gil_enabled, services, results)
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


def gil_faults(promised: bool, children: Iterable[Child], results: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Children whose GIL was another way than *promised*, with the module that did it if CPython named one."""
    faults = []
    for child, result in zip(children, results, strict=True):
        states = {message("when ready"): result["gil_enabled_ready"], message("at the end"): result["gil_enabled_end"]}
        wrong = [when for when, enabled in states.items() if enabled is not promised]
        if wrong:
            faults.append(_gil_fault(promised, child, listed(wrong, last=AND)))
    return faults


def _gil_fault(promised: bool, child: Child, when: Message) -> Message:
    if promised:
        return message("the GIL of {child} was off {when}", child=child.label, when=when)
    fault = message("the GIL of {child} was on {when}", child=child.label, when=when)
    modules = _named(child)
    if not modules:
        return fault
    return message("{fault}: it was enabled to load module {module}", fault=fault, module=repr(modules[0]))


def _named(child: Child) -> list[str]:
    return switching_modules(child.stderr_tail())

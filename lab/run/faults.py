"""What makes a cell invalid: the Python of a child, or its GIL, is not what the runtime promises."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.messages import AND, Message, listed, message
from core.system import System
from lab.gil.audit import switching
from lab.gil.notice import switching_modules
from lab.run.children import Child
from lab.run.runtimes import AnyRuntime, UserServiceRuntime


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

"""Find faults that make a cell invalid: a child process whose Python, GIL or JIT differs from its runtime's."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.messages import AND, Message, listed, message
from core.runtime import JIT
from core.system import System
from lab.gil.switching import find_switching_modules, switching_modules
from lab.run.children import Child
from lab.run.instrumentation import Instrumentation
from lab.run.runtimes import AnyRuntime, UserServiceRuntime

WHEN = {"ready": message("after the process had started"), "end": message("at the end of the measurement")}
MOST_JIT_BYTES = 64
PARTS = {"gil_enabled": "GIL", "jit_enabled": "JIT"}


def client_faults(runtime: AnyRuntime, system: System, clients: Sequence[Child]) -> list[Message]:
    """Return a fault for each client whose GIL or JIT is on although it should be off, or the reverse.

    The runtime says which state it should have, but some benchmarked systems turn the GIL on.
    """
    gil = {"gil_enabled": True} if system.turns_gil_on and not runtime.name.native else {}
    return _state_faults({**runtime.name.promises, **gil}, clients)


def service_faults(runtime: AnyRuntime, system: System, services: Sequence[Child]) -> list[Message]:
    """Return a fault for each service whose GIL, JIT or Python differs from what its runtime promises.

    Only a user's service can run another Python. A service that already runs has no promises.
    """
    if not isinstance(runtime, UserServiceRuntime):
        return _state_faults(runtime.name.promises, services)
    if runtime.runtime is None:
        return []
    faults = _state_faults(runtime.name.promises, services)
    if faults and not runtime.name.gil_enabled and not any(_named(child) for child in services):
        faults += find_switching_modules(Path(runtime.python(system)))
    expected = runtime.runtime.interpreter.label
    others = [
        message(
            "{child} runs under {pythons}, but {expected} was expected",
            child=child.label,
            pythons=listed(pythons, last=AND),
            expected=expected,
        )
        for child in services
        if (pythons := child.result.get("pythons")) and expected not in pythons
    ]
    return [*others, *faults]


def _state_faults(promises: Mapping[str, bool], children: Iterable[Child]) -> list[Message]:
    """Return a fault for each child process with an unexpected GIL or JIT state, and its cause if known."""
    faults = []
    for child in children:
        for state, promised in promises.items():
            wrong = [when for key, when in WHEN.items() if child.result.get(f"{state}_{key}", False) is not promised]
            if wrong:
                faults.append(_fault(state, promised, child, listed(wrong, last=AND)))
    return faults


def _fault(state: str, promised: bool, child: Child, when: Message) -> Message:
    part = PARTS[state]
    if promised:
        return message("in {child}, Python's {part} was off {when}", part=part, child=child.label, when=when)
    fault = message("in {child}, Python's {part} was on {when}", part=part, child=child.label, when=when)
    modules = _named(child) if state == "gil_enabled" else []
    if not modules:
        return fault
    return message(
        "{fault}: CPython switched the GIL on in order to load the module {module}",
        fault=fault,
        module=repr(modules[0]),
    )


def _named(child: Child) -> list[str]:
    return switching_modules(child.stderr_tail())


def jit_parts(runtime: AnyRuntime) -> dict[str, dict[str, Any]]:
    """Return the instrumentation that reports the JIT state of a user's service; {} if its Python has no JIT."""
    own = runtime.runtime if isinstance(runtime, UserServiceRuntime) else None
    return {JIT: {}} if own and own.interpreter.has_jit else {}


def jit_states(runtime: AnyRuntime, instruments: Sequence[Instrumentation]) -> list[bool]:
    """Return for each user's service whether its JIT is on. An unknown state counts as the one that is expected.

    Processes of other interpreters do not count.
    """
    if not isinstance(runtime, UserServiceRuntime) or runtime.runtime is None:
        return []
    promised, version = runtime.name.jit_enabled, runtime.runtime.version.encode()
    unexpected = b"%s %d" % (version, not promised)
    return [promised ^ (unexpected in inside.files(JIT, MOST_JIT_BYTES).values()) for inside in instruments]


def add_jit_states(services: Sequence[Child], ready: Sequence[bool], end: Sequence[bool]) -> None:
    """Store in each service's result whether its JIT was on when the service was ready and at the end."""
    for service, is_on_ready, is_on_end in zip(services, ready, end, strict=False):
        service.result |= {"jit_enabled_ready": is_on_ready, "jit_enabled_end": is_on_end}

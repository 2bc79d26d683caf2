"""What makes a cell invalid: the Python of a child, or its GIL, is not what the runtime promises."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.system import System
from lab.gil.culprits import switching
from lab.run.children import Child
from lab.run.runtimes import AnyRuntime, Hosted

_CULPRIT = re.compile(r"GIL\) has been enabled to load module '([^']+)'")


def client_faults(
    runtime: AnyRuntime, system: System, clients: Sequence[Child], results: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Clients whose GIL was another way than their runtime and system promise."""
    promised = runtime.name.gil_enabled or (system.turns_gil_on and not runtime.name.native)
    return gil_faults(promised, clients, results)


def service_faults(
    runtime: AnyRuntime, system: System, services: Sequence[Child], results: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The same of services. A user's own may run another Python; one that already runs has promised nothing."""
    if not isinstance(runtime, Hosted):
        return gil_faults(runtime.name.gil_enabled, services, results)
    if runtime.runtime is None:
        return []
    faults = gil_faults(runtime.name.gil_enabled, services, results)
    if faults and not runtime.name.gil_enabled and not any(_was_named(child) for child in services):
        faults += switching(Path(runtime.python(system)))
    return [*python_faults(runtime.expected_python, services, results), *faults]


def python_faults(expected: str, services: Iterable[Child], results: Iterable[Mapping[str, Any]]) -> list[str]:
    """What is wrong with the Pythons that were seen in a user's service: none of them is the one that is measured.

    expected: its label (lab.gil.probe); "" where none is promised. Where no Python was seen, nothing is known.
    """
    return [
        f"{child.label} runs under {' and '.join(result['pythons'])}; it was to be {expected}"
        for child, result in zip(services, results, strict=True)
        if expected and result.get("pythons") and expected not in result["pythons"]
    ]


def gil_faults(promised: bool, children: Iterable[Child], results: Iterable[Mapping[str, Any]]) -> list[str]:
    """Children whose GIL was another way than *promised*, with the module that did it where CPython named one."""
    faults = []
    for child, result in zip(children, results, strict=True):
        states = {"when ready": result["gil_enabled_ready"], "at the end": result["gil_enabled_end"]}
        wrong = [when for when, enabled in states.items() if enabled is not promised]
        if wrong:
            culprit = _CULPRIT.search(child.complaints())
            by = f": it was enabled to load module {culprit[1]!r}" if culprit else ""
            state = "off" if promised else "on"
            faults.append(f"the GIL of {child.label} was {state} {' and '.join(wrong)}{by}")
    return faults


def _was_named(child: Child) -> bool:
    return bool(_CULPRIT.search(child.complaints()))

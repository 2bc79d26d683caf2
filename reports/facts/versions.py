"""Which version each row was measured with, as programs, packages and interpreters said it in the run itself. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.record import Client, Program, Service
from core.result import Run
from core.runtime import NATIVE
from reports.document.model import ABSENT
from reports.facts.summary import Row


def service_version(run: Run, row: Row) -> str:
    """`libuv 1.44.2`; of a Python service `uvloop 0.23.0, CPython 3.14.7`; `-` where the run does not say.

    Of a program its libraries, and the Java that ran it; its own version where it names none.
    """
    if row.runtime != NATIVE:
        return _python(run.runtimes.get(row.runtime, {}), row.system)
    program = _program(row.good[0].services) if row.good else Program()
    return _packages(program) or _version(program)


def client_version(row: Row) -> str:
    """Of a load generator, its own; `-` where the run does not say."""
    return _version(_program(row.good[0].clients)) if row.good else ABSENT


def _program(processes: Sequence[Client | Service]) -> Program:
    return processes[0].get("program", {}) if processes else {}


def _packages(program: Program) -> str:
    java = {"Java": program["java"]} if program.get("java") else {}
    return ", ".join(f"{name} {version}" for name, version in {**program.get("packages", {}), **java}.items())


def _version(program: Program) -> str:
    return program.get("version") or ABSENT


def _python(facts: Mapping[str, Any], system: str) -> str:
    """The interpreter, and before it those packages that the system has its name from."""
    installed = {name: version for listing in facts.get("packages", {}).values() for name, version in listing.items()}
    parts = [f"{name} {version}" for name, version in installed.items() if name in system]
    return ", ".join([*parts, *([f"CPython {facts['version']}"] if facts.get("version") else [])]) or ABSENT

"""Where builds of one or several runs differ. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from core.messages import COMMA, Message, listed, message, verbatim
from core.runtime import NATIVE

YES, NO, UNKNOWN = message("yes"), message("no"), message("unknown")


def _flag(name: str) -> Callable[[Mapping[str, Any]], Message]:
    def read(facts: Mapping[str, Any]) -> Message:
        flags = facts.get("flags", {})
        return UNKNOWN if name not in flags else YES if flags[name] else NO

    return read


def _fact(name: str) -> Callable[[Mapping[str, Any]], Message]:
    return lambda facts: verbatim(str(facts[name])) if facts.get(name) else UNKNOWN


FACTS: Mapping[str, tuple[Message, Callable[[Mapping[str, Any]], Message]]] = {
    "version": (message("version"), _fact("version")),
    "compiler": (message("compiler"), _fact("compiler")),
    "pgo": (message("PGO"), _flag("pgo")),
    "lto": (message("LTO"), _flag("lto")),
    "shared": (message("shared library"), _flag("shared")),
    "debug": (message("debug"), _flag("debug")),
    "tail_call": (message("tail calls"), _flag("tail_call")),
    "jit": (message("JIT"), _flag("jit")),
}


def unlike(facts: Mapping[Message, Mapping[str, Message]], joint: Message = COMMA) -> list[Message]:
    """A line for each fact that is not the same everywhere. facts: its value by name"""
    lines = (_by_value(label, values, joint) for label, values in facts.items())
    return [line for line in lines if line]


def _by_value(label: Message, values: Mapping[str, Message], joint: Message) -> Message | None:
    """'PGO: yes (3.11), no (3.14t)', where *values* by name are not all the same."""
    names: dict[Message, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    if len(names) < 2:
        return None
    each = [message("{value} ({names})", value=value, names=", ".join(who)) for value, who in names.items()]
    return message("{label}: {values}", label=label, values=listed(each, joint))


def differences(facts: Mapping[str, Mapping[str, Any]]) -> list[Message]:
    """Where the builds called so differ: version, compiler and flags; native programs aside."""
    builds = {name: known for name, known in facts.items() if name != NATIVE}
    return unlike({label: {name: read(known) for name, known in builds.items()} for label, read in FACTS.values()})


def packages(facts: Mapping[str, Any]) -> dict[str, str]:
    """Name and version of what is installed beside an interpreter."""
    return {name: version for files in facts.get("packages", {}).values() for name, version in files.items()}

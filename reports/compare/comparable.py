"""Whether two saved runs may be compared, and what differs between them that may. Pure."""

from collections.abc import Mapping
from typing import Any

from core.messages import SEMICOLON, Message, listed, message, verbatim
from core.method import Method, Warmup
from reports.compare.samples import Saved
from reports.facts.builds import UNKNOWN, differences, packages

# What was measured elsewhere, or in another way, says nothing about the services.
MACHINE = {
    "cpu": message("the CPU"),
    "cores": message("the number of cores"),
    "cores_usable": message("the number of usable cores"),
    "cores_quota": message("the CPU quota, in cores"),
}
SURROUNDINGS = {
    "os": message("the operating system"),
    "kernel": message("the kernel"),
    "governor": message("the frequency governor"),
}
_METHOD = {  # neighbours change what is said of a run, and nothing of what is measured
    "warmup": message("the warm-up"),
    "duration_s": message("the duration in seconds"),
    "client_runtime": message("the clients' runtime"),
    "pin_services": message("the services' CPUs"),
    "pin_clients": message("the clients' CPUs"),
}
NONE = message("none")


def obstacles(a: Saved, b: Saved) -> list[Message]:
    """Why the two must not be compared: 'the CPU is X in A and Y in B'; empty if they may."""
    in_a, in_b = conditions(a.machine, a.method), conditions(b.machine, b.method)
    return [line for label in in_a if (line := _unlike(label, in_a[label], in_b[label]))]


def conditions(machine: Mapping[str, Any], method: Method) -> dict[Message, Message]:
    """What runs must have in common to be compared: {the CPU: EPYC, the warm-up: none, ...}."""
    facts = {label: _value(machine.get(name)) for name, label in MACHINE.items()}
    return facts | {label: _value(getattr(method, name)) for name, label in _METHOD.items()}


def remarks(a: Saved, b: Saved) -> list[Message]:
    """What differs and may: interpreters, packages, surroundings; a sentence each."""
    names = [name for name in a.runtimes if name in b.runtimes]
    unlike = {name: _unlike_interpreters(a.runtimes[name], b.runtimes[name]) for name in names}
    runtimes = [
        message(
            "{name} is not the same in both, which may be what is compared: {differences}.",
            name=name,
            differences=listed(lines, SEMICOLON),
        )
        for name, lines in unlike.items()
        if lines
    ]
    surroundings = [
        _unlike(label, _value(a.machine.get(name)), _value(b.machine.get(name))) for name, label in SURROUNDINGS.items()
    ]
    return [*runtimes, *(message("Also, {difference}.", difference=line) for line in surroundings if line)]


def _keys(digests: frozenset[str]) -> set[str]:
    return {digest.partition(":")[0] for digest in digests}


def _unlike(label: Message, a: Message, b: Message) -> Message | None:
    return None if a == b else message("{label} is {a} in A and {b} in B", label=label, a=a, b=b)


def _value(value: Any) -> Message:
    if isinstance(value, Warmup):
        text = f"{100 * value.share:g} %" if value.share else f"{value.seconds:g} s" if value.seconds else ""
        return verbatim(text) or NONE
    if isinstance(value, tuple):
        return verbatim(", ".join(map(str, value))) or NONE
    return UNKNOWN if value is None else NONE if value == 0 else verbatim(str(value))


def _unlike_interpreters(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Message]:
    """Version, compiler and flags; the build's own name where these are alike; packages."""
    build = _unlike(message("build"), _value(a.get("build")), _value(b.get("build")))
    in_a, in_b = packages(a), packages(b)
    builds: list[Message | None] = [*differences({"A": a, "B": b})] or [build]
    unlike = [
        *builds,
        *(_unlike(verbatim(name), verbatim(in_a[name]), verbatim(in_b[name])) for name in sorted({*in_a} & {*in_b})),
    ]
    return [line for line in unlike if line]

"""Whether two saved runs may be compared, and what differs between them that may. Pure."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from core.method import Method, Warmup
from reports.compare.samples import Saved
from reports.words.notes import differences

# What was measured elsewhere, or in another way, says nothing about the services.
MACHINE = {
    "cpu": "the CPU",
    "cores": "the number of cores",
    "cores_usable": "the number of usable cores",
    "cores_quota": "the cores' worth of time granted",
}
SURROUNDINGS = {"os": "The operating system", "kernel": "The kernel", "governor": "The frequency governor"}
_METHOD = {
    "warmup": "the warm-up",
    "duration_s": "the duration in seconds",
    "client_runtime": "the clients' runtime",
    "pin_services": "the services' CPUs",
    "pin_clients": "the clients' CPUs",
}


def obstacles(a: Saved, b: Saved) -> list[str]:
    """Why the two must not be compared: 'the CPU is X in A and Y in B'; empty if they may."""
    method = [one.name for one in fields(Method)]
    unlike_method = [
        _unlike(_METHOD.get(name, name), getattr(a.method, name), getattr(b.method, name)) for name in method
    ]
    return [*_unlike_facts(MACHINE, a, b), *filter(None, unlike_method)]


def conditions(machine: Mapping[str, Any], method: Method) -> dict[str, str]:
    """What runs must have in common to be compared, in words: {'the CPU': 'EPYC', 'the warm-up': 'none', ...}."""
    facts = {label: _words(machine.get(name)) for name, label in MACHINE.items()}
    return facts | {_METHOD.get(one.name, one.name): _words(getattr(method, one.name)) for one in fields(Method)}


def remarks(a: Saved, b: Saved) -> list[str]:
    """What differs and may: interpreters, packages, surroundings; a sentence each."""
    names = [name for name in a.runtimes if name in b.runtimes]
    found = [(name, _unlike_interpreters(a.runtimes[name], b.runtimes[name])) for name in names]
    runtimes = [
        f"{name} is not the same in both, which may be what is compared: {'; '.join(how)}."
        for name, how in found
        if how
    ]
    return [*runtimes, *(f"{line}." for line in _unlike_facts(SURROUNDINGS, a, b))]


def _unlike_facts(labels: Mapping[str, str], a: Saved, b: Saved) -> list[str]:
    lines = [_unlike(label, a.machine.get(name), b.machine.get(name)) for name, label in labels.items()]
    return [line for line in lines if line]


def _unlike(label: str, a: Any, b: Any) -> str:
    return "" if a == b else f"{label} is {_words(a)} in A and {_words(b)} in B"


def _words(value: Any) -> str:
    if isinstance(value, Warmup):
        return f"{100 * value.share:g} %" if value.share else f"{value.seconds:g} s" if value.seconds else "none"
    if isinstance(value, tuple):
        return ", ".join(str(one) for one in value) or "none"
    return "unknown" if value is None else "none" if value == 0 else str(value)


def _unlike_interpreters(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """Version, compiler and flags; the build's own name where these are alike; packages."""
    build = _unlike("build", a.get("build"), b.get("build"))
    found = differences({"A": a, "B": b}) or ([build] if build else [])
    installed_a, installed_b = _packages(a), _packages(b)
    names = sorted(installed_a.keys() & installed_b.keys())
    return found + list(filter(None, (_unlike(name, installed_a[name], installed_b[name]) for name in names)))


def _packages(facts: Mapping[str, Any]) -> dict[str, str]:
    return {name: version for one in facts.get("packages", {}).values() for name, version in one.items()}

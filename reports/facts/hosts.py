"""Runs across hosts: how many cores services and clients had, and what hosts differ in. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.messages import Message, message, verbatim
from core.result import Run
from core.system import CLIENT, SERVICE
from reports.facts.builds import build_facts, by_label, known, packages, unlike
from reports.facts.steps import MISSING, Step

MACHINE: Mapping[str, Message] = {
    "cpu": message("CPU"),
    "cores_usable": message("cores"),
    "kernel": message("kernel"),
    "governor": message("governor"),
}


def cores_of(run: Run, *roles: str) -> int:
    """Cores that the children of *roles* may run on, of all of their hosts together; 0 where that is not known."""
    method, layout = run.plan.get("method", {}), run.plan.get("layout")
    pins = {SERVICE: method.get("pin_services", ()), CLIENT: method.get("pin_clients", ())}
    if not layout:
        return _cores(run.machine, (), [pins[role] for role in roles])
    names = {SERVICE: (layout["services_on"],), CLIENT: layout["clients_on"]}
    by_host: dict[str, list[Sequence[int]]] = {}
    for role in roles:
        for name in names[role]:
            by_host.setdefault(name, []).append(pins[role])
    facts = run.machine.get("hosts") or {}
    cores = [_cores(facts.get(name, {}), layout["hosts"][name].get("cpus", ()), by_host[name]) for name in by_host]
    return sum(cores) if all(cores) else 0


def _cores(machine: Mapping[str, Any], own: Sequence[int], pins: Sequence[Sequence[int]]) -> int:
    everywhere = len(own) or machine.get("cores_usable") or machine.get("cores") or 0
    return len({cpu for cpus in pins for cpu in cpus}) if all(pins) else everywhere


def have_cores_of_their_own(run: Run) -> bool:
    """Whether no client runs on a core of a service: they are pinned apart, or on other hosts."""
    method, layout = run.plan.get("method", {}), run.plan.get("layout")
    services, clients = set(method.get("pin_services", ())), set(method.get("pin_clients", ()))
    is_apart = bool(services and clients and not services & clients)
    return is_apart or (layout is not None and layout["services_on"] not in layout["clients_on"])


def host_confounds(step: Step, run: Run) -> list[Message]:
    """Return where the hosts differ, as machines and in the two runtimes of the step; nothing for one machine."""
    hosts = run.machine.get("hosts") or {}
    facts = by_label({name: known(host, MACHINE) for name, host in hosts.items()})
    for runtime in (step.denominator, step.numerator):
        builds = {name: (host.get("builds") or {}).get(runtime, {}) for name, host in hosts.items()}
        installed = {
            name: {verbatim(package): verbatim(version) for package, version in sorted(packages(build).items())}
            for name, build in builds.items()
        }
        of_builds = by_label({name: build_facts(build) for name, build in builds.items()})
        for label, values in {**of_builds, **by_label(installed, MISSING)}.items():
            facts[message("{runtime}, {fact}", runtime=runtime, fact=label)] = values
    return [message("hosts differ in {difference}", difference=line) for line in unlike(facts)]

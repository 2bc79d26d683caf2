"""Facts about runs on several hosts: cores of services and clients, and host differences."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from analysis.builds import build_facts, by_label, known, packages, unlike
from analysis.steps import MISSING, Step
from core.messages import Message, message, verbatim
from core.system import CLIENT, SERVICE
from record.run import Run

MACHINE: Mapping[str, Message] = {
    "cpu": message("CPU"),
    "cores_usable": message("cores"),
    "kernel": message("kernel"),
    "governor": message("frequency governor"),
}
ALONE: Mapping[str, Any] = {"hosts": {"": {}}, "services_on": "", "clients_on": [""]}  # the layout of one machine


def cores_of(run: Run, *roles: str) -> int:
    """Return on how many cores, over all hosts, the processes of *roles* may run; 0 if unknown."""
    layout, pins = run.plan.get("layout") or ALONE, _pins(run)
    names = {SERVICE: [layout["services_on"]], CLIENT: layout["clients_on"]}
    facts = {"": run.machine, **(run.machine.get("hosts") or {})}
    cores = []
    for host in dict.fromkeys(name for role in roles for name in names[role]):
        pinned, machine = [pins[role] for role in roles if host in names[role]], facts.get(host, {})
        if all(pinned):
            cores.append(len(set().union(*pinned)))
        else:
            own = len(layout["hosts"][host].get("cpus", ()))
            cores.append(own or machine.get("cores_usable") or machine.get("cores") or 0)
    return sum(cores) if all(cores) else 0


def _pins(run: Run) -> dict[str, Sequence[int]]:
    method = run.plan.get("method", {})
    return {SERVICE: method.get("pin_services", ()), CLIENT: method.get("pin_clients", ())}


def host_confounds(step: Step, run: Run) -> list[Message]:
    """Return how the hosts of a run differ in hardware and in their builds of the two compared runtimes.

    Empty for a run on one machine.
    step: the comparison, which names the two runtimes
    """
    hosts = run.machine.get("hosts") or {}
    facts = by_label({name: known(host, MACHINE) for name, host in hosts.items()})
    for runtime in (step.denominator, step.numerator):
        builds = {name: (host.get("builds") or {}).get(runtime, {}) for name, host in hosts.items()}
        installed = {name: verbatim(name) for name in sorted({*chain(*map(packages, builds.values()))})}
        of_hosts = by_label(
            {name: build_facts(build) | known(packages(build), installed, MISSING) for name, build in builds.items()}
        )
        for label, values in of_hosts.items():
            facts[message("{runtime}, {fact}", runtime=runtime, fact=label)] = values
    return [message("hosts differ in {difference}", difference=line) for line in unlike(facts)]

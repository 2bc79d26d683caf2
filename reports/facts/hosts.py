"""Facts about runs on several hosts: cores of services and clients, each host's work, and host differences. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from core.messages import Message, message, verbatim
from core.result import CellResult, Run
from core.system import CLIENT, SERVICE
from reports.facts.builds import build_facts, by_label, known, packages, unlike
from reports.facts.figures import cpu_ns
from reports.facts.steps import MISSING, Step

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


def have_cores_of_their_own(run: Run) -> bool:
    """Return whether services and clients share no cores, because they are pinned apart or run on different hosts."""
    layout, pins = run.plan.get("layout") or ALONE, _pins(run)
    are_pinned_apart = all(pins.values()) and {*pins[SERVICE]}.isdisjoint(pins[CLIENT])
    return are_pinned_apart or layout["services_on"] not in layout["clients_on"]


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """The work that one host did in a run: its processes, answered requests and CPU time over all measured cells.

    services, clients: the largest number of processes in a cell
    answered: the requests of the host's clients that were answered; share: their share of all requests, 0..1
    cpu_ns:   CPU time of the host's services and clients; None if any of them is unknown
    late_ns:  how long after the common start the host's last client began, at most; None without clients
    error_ns: the maximum error of the host's clock offset; None if unknown
    """

    services: int
    clients: int
    answered: int
    share: float
    cpu_ns: int | None
    late_ns: int | None
    error_ns: int | None


def contributions(run: Run) -> dict[str, Contribution]:
    """Return what each host contributed to a run, by host name: its processes, answered requests and CPU time.

    Empty for a run on one machine or without measured cells.
    """
    cells = [cell for cell in run.cells if cell.clients]
    return {name: _contribution(name, cells) for name in run.machine.get("hosts") or {} if cells}


def _contribution(name: str, cells: Sequence[CellResult]) -> Contribution:
    services: list[list[Mapping[str, Any]]] = [_on(name, cell.services) for cell in cells]
    clients = [_on(name, cell.clients) for cell in cells]
    answered = sum(one.get("answered", 0) for of_cell in clients for one in of_cell)
    late_ns, error_ns = (
        max((host[key] for cell in cells if key in (host := cell.hosts.get(name, {}))), default=None)
        for key in ("late_ns", "error_ns")
    )
    return Contribution(
        services=max(map(len, services)),
        clients=max(map(len, clients)),
        answered=answered,
        share=answered / max(1, sum(cell.answered for cell in cells)),
        cpu_ns=cpu_ns(list(chain(*services, *clients))),
        late_ns=late_ns,
        error_ns=error_ns,
    )


def _on(name: str, processes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [one for one in processes if one.get("host") == name]


def host_confounds(step: Step, run: Run) -> list[Message]:
    """Return how the hosts of a run differ in hardware and in their builds of the two compared runtimes.

    Empty for a run on one machine.
    step: the comparison, which names the two runtimes
    """
    hosts = run.machine.get("hosts") or {}
    facts = by_label({name: known(host, MACHINE) for name, host in hosts.items()})
    for runtime in (step.denominator, step.numerator):
        builds = {name: (host.get("builds") or {}).get(runtime, {}) for name, host in hosts.items()}
        of_builds = by_label({name: build_facts(build) for name, build in builds.items()})
        installed = by_label(
            {
                name: {verbatim(one): verbatim(version) for one, version in packages(build).items()}
                for name, build in builds.items()
            },
            MISSING,
        )
        for label, values in (*of_builds.items(), *sorted(installed.items(), key=lambda one: str(one[0]))):
            facts[message("{runtime}, {fact}", runtime=runtime, fact=label)] = values
    return [message("hosts differ in {difference}", difference=line) for line in unlike(facts)]

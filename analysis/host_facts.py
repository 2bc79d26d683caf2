"""Facts about runs on several hosts: cores of services and clients, and host differences.

A host is a machine of the run, by name; the name "" is the machine that runs gilscope. Roles are
SERVICE and CLIENT (core/system.py). analysis/gates.py needs the cores, and analysis/comparing.py
lists differences of hosts among the confounds.
"""

from collections.abc import Mapping

from analysis.builds import build_facts, by_label, known, unlike
from analysis.steps import Step
from core.layout import Host, Layout
from core.messages import Message, message
from core.runtime import RuntimeFacts
from core.system import CLIENT, SERVICE
from record.saved_plan import MachineFacts
from record.saved_run import Run

# labels of the fields of record/saved_plan.py: HostFacts that hosts must have in common
MACHINE: Mapping[str, Message] = {
    "cpu": message("CPU"),
    "cores_usable": message("cores"),
    "kernel": message("kernel"),
    "governor": message("frequency governor"),
}
ALONE = Layout(
    hosts={"": Host(name="", address="")}, services_on="", clients_on=("",)
)  # the layout of one machine


def cores_of(run: Run, *roles: str) -> int:
    """Return on how many cores, over all hosts, the processes of *roles* may run; 0 if unknown.

    On a host where all of the roles are pinned (--pin), only the pinned cores count.
    """
    layout, method = run.plan.layout or ALONE, run.plan.method
    pins = {SERVICE: method.pin_services, CLIENT: method.pin_clients}
    names = {SERVICE: (layout.services_on,), CLIENT: layout.clients_on}
    facts: dict[str, MachineFacts] = {"": run.machine, **run.machine.hosts}
    cores = []
    for host in dict.fromkeys(name for role in roles for name in names[role]):
        pinned, machine = (
            [pins[role] for role in roles if host in names[role]],
            facts.get(host, MachineFacts()),
        )
        if all(pinned):
            cores.append(len(set().union(*pinned)))
        else:
            cores.append(len(layout.hosts[host].cpus) or machine.available_cores)
    return sum(cores) if all(cores) else 0


def host_confounds(step: Step, run: Run) -> list[Message]:
    """Return how the hosts of a run differ in hardware and in their builds of the two compared
    runtimes.

    Empty for a run on one machine.
    step: the comparison, which names the two runtimes
    """
    hosts = run.machine.hosts
    facts = by_label({name: known(vars(host), MACHINE) for name, host in hosts.items()})
    for runtime in (step.denominator, step.numerator):
        builds = {name: host.builds.get(runtime, RuntimeFacts()) for name, host in hosts.items()}
        of_hosts = by_label({name: build_facts(build) for name, build in builds.items()})
        for label, values in of_hosts.items():
            facts[message("{runtime}, {fact}", runtime=runtime, fact=label)] = values
    return [message("hosts differ in {difference}", difference=line) for line in unlike(facts)]

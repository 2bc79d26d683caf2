"""The command hosts: show whether the hosts can be used for a run, and which runtimes are missing
on them.

It connects to all hosts in the file, and measures nothing but the network link. A run uses the same
HostCluster (lab/hosts/cluster.py) for its hosts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain

from commands.output import output
from config.flags import value_of
from config.host_options import HOSTS
from config.options import Option
from config.plan_options import DEFAULT_RUNTIMES, JSON, RUNTIMES
from core.layout import Layout
from core.messages import BadInput, Json, Message, listed, message
from core.method import Method
from core.runtime import NATIVE
from lab.hosts.cluster import HostCluster
from lab.machine.machine_rules import judge_machine

INSTALL = Option("--install", "Install missing runtimes on the hosts with uv.")


def main(arguments: Sequence[str]) -> int:
    """Run the command hosts. Return its exit status: 0 if all hosts are usable and have all
    runtimes, else 1.
    """
    parser = output.parser("hosts")
    parser.add_group("several hosts", HOSTS)
    parser.add_group("runtimes", RUNTIMES, INSTALL)
    parser.add_group("what to print", JSON)
    given = parser.parse(arguments)
    wanted = [name for name in value_of(RUNTIMES, given, DEFAULT_RUNTIMES) if name != NATIVE]
    named = value_of(HOSTS, given, {})
    if not named:
        raise BadInput(
            "--hosts is missing. Name the file that describes the hosts (see docs/hosts.md)."
        )
    # only for this check: all hosts are used, and the first is the other end of every network link
    layout = Layout(hosts=named, services_on=next(iter(named)), clients_on=tuple(named))
    # closing() rather than the cluster's own `with`, which raises an error at the first lost host
    with closing(HostCluster(layout, Method())) as spread:
        failures = spread.connect()
        spread.find(wanted)
        refused = {}
        if given["install"]:
            refused = spread.on_each(lambda place: place.install(wanted))
            spread.find(wanted)
        facts = spread.facts()
    if given["json"]:
        errors = {name: {"error": output.text(why)} for name, why in failures.items()}
        print(json.dumps(facts | errors, indent=2))
    else:
        for line in _lines(spread, facts, failures, wanted):
            output.print_line(line)
        for reason in chain.from_iterable(refused.values()):
            output.note(reason)
    return int(bool(failures) or any(_missing(host, wanted) for host in facts.values()))


def _missing(facts: Json, wanted: Sequence[str]) -> list[str]:
    return [name for name in wanted if name not in facts["runtimes"]]


def _lines(
    spread: HostCluster,
    facts: Json,
    failures: Mapping[str, Message],
    wanted: Sequence[str],
) -> Iterator[Message]:
    for name, host in spread.layout.hosts.items():
        reached = spread.connected[name].host if name in spread.connected else host
        yield message("{host}, {address}", host=name, address=reached.address)
        if name in failures:
            yield message("  This host cannot be used: {reason}", reason=failures[name])
            continue
        known = facts[name]
        yield message(
            "  machine   {cpu}, {cores} cores, {kernel}",
            cpu=known["cpu"],
            cores=known["cores"],
            kernel=known["kernel"],
        )
        runtimes = [f"{runtime} ({version})" for runtime, version in known["runtimes"].items()]
        yield message("  runtimes  {names}", names=listed(runtimes) if runtimes else "-")
        if missing := _missing(known, wanted):
            yield message(
                "  missing   runtimes {names}. Install these runtimes with --install.",
                names=missing,
            )
        for finding in judge_machine(known["quiet"] or {}):
            if finding.good is False:
                yield message(
                    "  noise     {name}: {value}. {remedy}",
                    name=finding.name,
                    value=finding.value,
                    remedy=finding.remedy,
                )
        if link := known["link"]:
            yield message(
                "  network   The round trip to the host {services} takes {trip_us:.0f} us. "
                "The transfer rate is {rate:.0f} MB/s.",
                trip_us=link["median_ns"] / 1e3,
                services=spread.layout.services_on,
                rate=link["bytes_per_s"] / 1e6,
            )

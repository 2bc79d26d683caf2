"""Ends the processes of a cell, judges what they say, and makes the fields of its result.

lab/run/cell_run.py calls this after the last turn. lab/run/contract.py checks the lines of the
processes, and lab/run/cell_results.py adds them up. lab/run/slow.py explains slow requests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from msgspec import structs

from core.child import Slice
from core.messages import NOTHING, ChildFailed, Json, Message, chained, message
from core.request_plan import ANSWER_DEADLINE_S
from core.system import CLIENT, SERVICE
from lab.run.cell_places import Converted
from lab.run.cell_processes import CellProcesses
from lab.run.cell_results import (
    add_slices,
    client_faults,
    client_fields,
    counted_share,
    counted_usage,
    littles_law,
    machine_fields,
    service_faults,
    service_results,
)
from lab.run.children import Child
from lab.run.contract import check_latencies, check_load, check_times, take_service_result
from lab.run.core_waits import STEAL, CumulativeTime
from lab.run.instrumentation import TimeWindow
from lab.run.slow import COLLECTION, Collections, Counters, collections_within, slow_requests
from record.child_lines import ClientLine, ServiceLine, Turns

STARVED = "starved"  # the code of the reason if connections got no answer although others did


class Turn(NamedTuple):
    """The time during which the clients of one runtime or service send requests, and the checked
    result of each client.

    window: from the release to the last result line, on the orchestrator's clock
    part: the time slice; None if the runtimes or services do not alternate
    """

    window: TimeWindow
    part: Slice | None
    results: Mapping[Child, ClientLine]

    @property
    def answered(self) -> int:
        """Return how many answers the clients got, in the counted part of a slice."""
        return sum(line.answered for line in self.results.values())


class CellEnd(NamedTuple):
    """What the processes of a cell said, with times on the clocks of their hosts.

    turns: at least one
    services: their results, with the CPU time of what counts
    clients: their results, each added up over the turns
    """

    processes: CellProcesses
    turns: Sequence[Turn]
    services: Mapping[Child, ServiceLine]
    clients: Mapping[Child, ClientLine]

    @classmethod
    def of(cls, processes: CellProcesses, turns: Sequence[Turn]) -> "CellEnd":
        """End the services, and check all results. Raises ChildFailed if they contradict each
        other, or memory was short.
        """
        lines = processes.end_services(clients_first=turns[0].part is not None)
        redactor = processes.redactor
        served = {
            service: take_service_result(service, redactor.json(line))
            for service, line in lines.items()
        }
        clients = {client: _client_result(processes, turns, client) for client in processes.clients}
        by_client = [*clients.values()]
        check_load(by_client, [*served.values()])
        if processes.group.exceeded:
            raise ChildFailed(processes.group.exceeded)
        share = counted_share(by_client)
        counted = {
            service: counted_usage(line, share, service.idle_ns) for service, line in served.items()
        }
        return cls(processes, turns, counted, clients)

    def fields(
        self,
        machines: Mapping[str, Json],
        marks: Sequence[Mapping[str, Counters]],
        waits: Mapping[Any, CumulativeTime],
        tail_ns: int,
    ) -> dict[str, Any]:
        """Judge the cell, and return the fields of its CellResult.

        This sets `timed` of the processes.
        machines: what CellPlaces.end() returned
        marks: the garbage collections before the first turn (slow.read_counters)
        waits: CoreWaitSampler.timelines
        tail_ns: length of the longest requests that matter
        """
        processes, part, windows = self.processes, self.turns[0].part, self._windows()
        collected = self._collections(windows, marks)
        clients, hosts, faults = self._judged(windows)
        figures = client_fields(clients, faults, windows)
        if figures["status"] == "failed":
            figures["reason"] = self._explained(figures["reason"])
        said = [line.slow for line in clients.values()]
        timelines = self._timelines(waits, collected)
        own_ns = sum(turn.window.length_ns for turn in self.turns)
        return {
            **figures,
            **machine_fields(machines, own_ns),
            "hosts": hosts,
            "start_ns": processes.ready_ns,
            "slow": slow_requests(said, timelines, figures["latency"], windows),
            "turns": self._turns_summary(part, own_ns, tail_ns) if part else Turns(),
            "services": service_results(
                self.services, [pauses for pauses, _ in collected], processes.redactor
            ),
        }

    @property
    def _whole(self) -> TimeWindow:
        """The time from the first turn's start to the last one's end, on the orchestrator's
        clock.
        """
        first, last = self.turns[0].window, self.turns[-1].window
        return TimeWindow(first.start_ns, last.end_ns)

    def _windows(self) -> list[TimeWindow]:
        """Return the time windows in which answers are counted, on the orchestrator's clock."""
        if parts := [turn.part for turn in self.turns if turn.part]:
            return [TimeWindow(part.counts_from_ns, part.until_ns) for part in parts]
        released_ns = self._whole.start_ns
        ends_ns = [
            line.finished_ns - child.place.before.to_host_clock(released_ns)
            for child, line in self.clients.items()
        ]
        return [TimeWindow(released_ns, released_ns + max(ends_ns, default=0))]

    def _collections(
        self, windows: Sequence[TimeWindow], marks: Sequence[Mapping[str, Counters]]
    ) -> list[Collections]:
        """Return the garbage collections of each service in *windows*, and note when the service
        was timed.
        """
        processes, window = self.processes, self.processes.services[0].place.window
        processes.timed = window(self._whole.start_ns, windows[-1].end_ns)
        counted = [window(*one) for one in windows]
        return collections_within(
            counted, processes.instruments, marks, lambda now_ns: window(0, now_ns).end_ns
        )

    def _judged(self, windows: Sequence[TimeWindow]) -> Converted:
        """Return the clients' results on the orchestrator's clock, facts about each host's clock,
        and what makes the cell invalid.
        """
        processes, clients = self.processes, self.clients
        faults = service_faults(processes.runtimes[SERVICE], self.services)
        faults += client_faults(processes.runtimes[CLIENT], processes.system, clients)
        converted, hosts, late = processes.places.convert_times(clients, self._whole.start_ns)
        if self.turns[0].part and converted and not processes.cell.rate:
            faults += littles_law([*converted.values()], windows)
        return converted, hosts, [processes.redactor.message(fault) for fault in (*faults, *late)]

    def _timelines(
        self, waits: Mapping[Any, CumulativeTime], collected: Sequence[Collections]
    ) -> dict[str, list[CumulativeTime | None]]:
        """Return by cause the time that it took from each service, or from each client."""
        services, clients = self.processes.services, self.processes.clients
        timelines: dict[str, list[CumulativeTime | None]] = {
            COLLECTION: [],
            SERVICE: [*map(waits.get, services)],
            CLIENT: [*map(waits.get, clients)],
            STEAL: [waits.get(STEAL)] * len(services),
        }
        for pauses, spans in collected:
            timelines[COLLECTION].append(CumulativeTime.of_spans(spans) if pauses else None)
        return timelines

    def _turns_summary(self, part: Slice, own_ns: int, tail_ns: int) -> Turns:
        """Return a summary of the time slices of this runtime or service for result.json.

        part: one of the slices, which are all equally long
        own_ns: how long its clients sent requests, with the lead-ins
        """
        return Turns(
            slices=len(self.turns),
            length_ns=part.length_ns,
            lead_ns=part.lead_ns,
            answered=[turn.answered for turn in self.turns],
            tail_ns=tail_ns,
            idle_ns=max(0, self._whole.length_ns - own_ns),
            idle_cpu_ns=sum(child.idle_ns for child in self.processes.children.started),
        )

    def _explained(self, reason: Message) -> Message:
        """Return the reason of a failed cell with what is known about its cause."""
        raised = next(filter(None, (line.raised for line in self.services.values())), "")
        if raised:
            note = message("the service raised {error}", error=raised)
            reason = chained([reason, self.processes.redactor.message(note)])
        starvation = self._starvation()
        return replace(chained([reason, starvation]), code=STARVED) if starvation else reason

    def _starvation(self) -> Message:
        """Return the cause if some connections to a user's service got no answer at all, but others
        did.
        """
        cell, system = self.processes.cell, self.processes.system
        starved = sum(client.starved or 0 for client in self.clients.values())
        connections = cell.num_clients * cell.num_connections_per_client
        if not 0 < starved < connections or not system.user_service:
            return NOTHING
        return message(
            "{starved} of {connections} connections got no answer within {limit_s:g} s, although "
            "others did: the service has fewer threads than connections, limits the number of "
            "connections, has a full listen queue (backlog), or takes longer for these requests. "
            "Use at most {most} connections (NUM_CLIENTS x NUM_CONNECTIONS_PER_CLIENT), or give "
            "the service more threads",
            starved=starved,
            connections=connections,
            limit_s=system.child_config["own"].get("answer_deadline_s", ANSWER_DEADLINE_S),
            most=connections - starved,
        )


def _client_result(processes: CellProcesses, turns: Sequence[Turn], client: Child) -> ClientLine:
    """Return the checked result of a client, added up over its turns."""
    services, redactor, results = len(processes.services), processes.redactor, []
    for turn in turns:
        line = turn.results[client]
        check_times(client, line, client.place.window(*turn.window), services)
        check_latencies(client, line, processes.cell, processes.system, services)
        results.append(line)
    total, known = add_slices(results), dict[str, Any]()
    if parts := [turn.part for turn in turns if turn.part]:
        known["completion_ns"] = sum(part.length_ns for part in parts)
    if len(parts) > 1:  # between its turns, other arms had theirs
        known["slices"] = None
    if first := total.first_wrong:  # its request is only a name, and has no secrets
        known["first_wrong"] = structs.replace(
            first, got=redactor.text(first.got), expected=redactor.text(first.expected)
        )
    return structs.replace(total, **known)

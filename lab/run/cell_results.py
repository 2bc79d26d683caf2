"""Add up what clients report, over their time slices and over all clients, and judge the result of
a cell.

A cell is invalid if the Python, GIL or JIT of a child process differs from what its runtime
promises.

lab/run/cell_end.py calls this when a cell ends. Lines of clients and services
(record/child_lines.py) come in after lab/run/contract.py has checked them. Fields of CellResult
(record/saved_run.py) go out. A new field of ClientLine needs an entry in ADDED, unless its last
value may stand for the sum.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from http import HTTPStatus
from operator import itemgetter, mul
from statistics import mean
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import asdict, replace

from core.child import AN_ANSWER
from core.histogram import Histogram, Slices, SparseHistogram
from core.messages import AND, NOTHING, Json, Message, chained, listed, message, plural
from core.secret import Redactor
from core.system import System
from lab.machine import machine_rules as doctor
from lab.process_output import switching_modules
from lab.run.cell_places import HERE
from lab.run.children import Child
from lab.run.instrumentation import TimeWindow
from lab.run.measured_runtimes import AnyRuntime, UserServiceRuntime
from record.child_lines import (
    ClientCounts,
    ClientLine,
    ClientResult,
    PauseCounts,
    ProcessUsage,
    RouteCounts,
    ServiceLine,
    ServiceResult,
    Sliced,
    SlowRequests,
)
from record.result_parts import AnswersByTime
from record.saved_run import Status

LITTLE = 0.03  # the largest deviation from Little's law, as a share (docs/statistics.md)
LOGIN = "login"  # the code of a request whose login (a request with `first`) failed
OTHERS = "others"  # a key of what lab.machine.quiet.between() returns
# fields of ClientLine and ServiceLine that the children count over whole slices, with the lead-ins
CPU = ("cpu_user_ns", "cpu_system_ns")
USED = (*CPU, "voluntary_switches", "involuntary_switches", "run_queue_ns")
AT_EDGES = {
    "own_ns": 1,
    "held_ns": 1,
    "beyond_ns": -1,
}  # added to the latencies: the time of all connections
# Fields of ClientLine by how add_up() combines them: by their sum, ...
SUMS = (
    *("requests", "answered", "wrong", "calc_ns", *USED, *AT_EDGES),
    *("reconnects", "resent", "uncounted", "completion_ns", "overdue"),
    *("sent_bytes", "received_bytes"),
)
# ... by the first value, or ...
FIRST = ("started_ns", "gil_enabled_ready", "jit_enabled_ready", "first_wrong")
# ... by merging histograms
HISTOGRAMS = ("latency", "connect", "waiting", "lag")
# the sum for a cell without clients; a completion_ns of 0 is not allowed
NO_CLIENTS = ClientLine(
    requests=0, answered=0, wrong=0, errors={}, completion_ns=1, latency=SparseHistogram()
)

# by the end and by the beginning of the names of ProcessUsage's fields, such as gil_enabled_ready
WHEN = {
    "ready": message("after the process had started"),
    "end": message("at the end of the measurement"),
}
PARTS = {"gil_enabled": "GIL", "jit_enabled": "JIT"}
Counts = TypeVar("Counts", ClientLine, RouteCounts)
Used = TypeVar("Used", ClientLine, ServiceLine)


def add_up(results: Sequence[Counts]) -> Counts:
    """Add up the results of one client in several time slices, or of several clients: at least one.

    What cannot be added up, such as finished_ns, has the last value. What is unknown (None) is left
    out, so a sum is that of the results that know it.
    """
    kind, total = type(results[0]), {}
    for name in kind.__struct_fields__:
        known = [value for result in results if (value := getattr(result, name)) is not None]
        if known:
            total[name] = ADDED.get(name, itemgetter(-1))(known)
    return kind(**total)


def _merge_histograms(parts: Iterable[Histogram]) -> Histogram:
    total = SparseHistogram()
    for part in parts:
        total.merge(part)
    return total


def _merge_slices(parts: Iterable[Sliced]) -> Sliced | None:
    total = Slices()
    for part in parts:
        total.merge(Slices.from_json(asdict(part)))
    counted = total.to_json()
    return Sliced(**counted) if counted else None


def _merge_slow(parts: Sequence[SlowRequests]) -> SlowRequests:
    requests = [request for part in parts for request in part.requests]
    return SlowRequests(above_ns=max(part.above_ns for part in parts), requests=requests)


def _add_routes(parts: Sequence[Sequence[RouteCounts]]) -> list[RouteCounts]:
    """Add up the counts of each route, from several clients or from one client's slices."""
    return [add_up(of_route) for of_route in zip(*parts, strict=True)]


# how add_up() combines the known values of a field; a field that is not here keeps the last value
ADDED: Mapping[str, Callable[[list[Any]], Any]] = {
    **dict.fromkeys(SUMS, sum),
    **dict.fromkeys(FIRST, itemgetter(0)),
    **dict.fromkeys(HISTOGRAMS, _merge_histograms),
    "slices": _merge_slices,
    "slow": _merge_slow,
    "routes": _add_routes,
    "errors": lambda parts: dict(sum(map(Counter, parts), Counter())),
    "offered_rate": mean,
}


class Pace(NamedTuple):
    """How long the requests of a cell take.

    cycle_ns: mean time from one request of a connection to its next
    tail_ns: the length of its longest requests that matter: Histogram.tail_ns
    """

    cycle_ns: int = 0
    tail_ns: int = 0

    @classmethod
    def of(cls, counts: ClientLine, think_ns: int = 0, least_ns: int = 0) -> "Pace":
        """Return the pace of the requests in a client's result.

        think_ns: the think time, which a short trial need not hold
        least_ns: how long requests take at least if none was answered, which is then the tail
        """
        latency = counts.latency
        if not latency.count:
            return cls(tail_ns=least_ns)
        own_ns = max(think_ns, (counts.own_ns or 0) // latency.count)
        return cls(cycle_ns=latency.mean_ns + own_ns, tail_ns=latency.tail_ns)

    def grown(self, seen: "Pace", factor: float) -> "Pace":
        """Return this pace, with those times of *seen* that are more than *factor* times as long as
        its own.
        """
        return Pace(
            cycle_ns=seen.cycle_ns if seen.cycle_ns > factor * self.cycle_ns else self.cycle_ns,
            tail_ns=seen.tail_ns if seen.tail_ns > factor * self.tail_ns else self.tail_ns,
        )


def add_slices(results: Sequence[ClientLine]) -> ClientLine:
    """Add up the results that a client sent, one per time slice, and return the sum.

    CPU time and context switches are multiplied by the share of answers that count.
    """
    total = add_up(results)
    return counted_usage(total, counted_share([total]))


def counted_share(clients: Sequence[ClientLine]) -> Fraction:
    """Return the share (0..1) of the clients' answers that count: they came after the lead-in of
    their time slice.
    """
    answered = sum(client.answered for client in clients)
    uncounted = sum(client.uncounted or 0 for client in clients)
    return Fraction(answered, answered + uncounted) if answered else Fraction(1)


def counted_usage(result: Used, share: Fraction, idle_cpu_ns: int = 0) -> Used:
    """Return the result of a child process with its CPU time and context switches for the counted
    part of its time slices.

    share: the share of its answers that were counted, because they came after the lead-ins of its
        slices. The values are multiplied by it
    idle_cpu_ns: the CPU time that it used between its time slices, which is left out
    """
    cpu_ns = sum(getattr(result, name) or 0 for name in CPU)
    busy = share * Fraction(max(0, cpu_ns - idle_cpu_ns), cpu_ns or 1)
    shares = dict.fromkeys(USED, share) | dict.fromkeys(CPU, busy)
    known = {name: used for name, used in asdict(result).items() if used is not None}
    counted = {name: round(known[name] * part) for name, part in shares.items() if name in known}
    return replace(result, **counted)


def littles_law(clients: Sequence[ClientLine], windows: Sequence[TimeWindow]) -> list[Message]:
    """Return a fault if throughput and latency of a closed loop contradict each other.

    By Little's law, throughput x mean cycle / connections is 1 within LITTLE, where a cycle is the
    latency of a request and the client's own time per request. Of requests that reach over the ends
    of the windows, their time in the windows counts. So the law holds if the clients count every
    request once, and all the time between requests.
    clients: the checked results of the clients
    windows: the times in which requests counted
    """
    total, connections = add_up(clients), sum(client.connections or 0 for client in clients)
    at_edges = [getattr(total, name) for name in AT_EDGES]
    if not connections or total.errors or not total.answered or None in at_edges:
        return []
    latency, wall_ns = total.latency, sum(window.length_ns for window in windows)
    spent_ns = latency.total_ns + sum(map(mul, AT_EDGES.values(), at_edges))
    found = spent_ns / wall_ns
    if abs(found / connections - 1) <= LITTLE:
        return []
    return [
        message(
            "throughput and latency contradict each other: {throughput:.1f} requests/s, at "
            "{cycle:.2f} ms from one request to the next on the same connection, would need "
            "{found:.2f} connections, but there are {connections}",
            throughput=latency.count * 1e9 / wall_ns,
            cycle=spent_ns / latency.count / 1e6,
            found=found,
            connections=connections,
        )
    ]


def client_fields(
    clients: Mapping[Child, ClientLine], faults: list[Message], windows: Sequence[TimeWindow]
) -> dict[str, Any]:
    """Return the fields of CellResult that come from the clients: counts, histograms, status and
    reason.

    clients: their checked results
    faults: what makes the cell invalid if nothing else has failed
    windows: the times in which answers counted: from the release to the last answer, or the slices
        of the arm
    """
    total = add_up([*clients.values()]) if clients else NO_CLIENTS
    names = ("requests", "answered", "wrong", "calc_ns", "errors", *HISTOGRAMS, "routes")
    fields = {name: getattr(total, name) for name in names}
    if total.slices and all(line.slices for line in clients.values()):
        fields["slices"] = AnswersByTime(
            width_ns=total.slices.width_ns,
            # from the first window on; negative if the first slice begins before the window
            start_ns=total.slices.start_ns - windows[0].start_ns,
            counts=total.slices.counts,
        )
    fields["status"], fields["reason"] = _judged(total, faults, idle=not clients)
    fields["wall_ns"] = sum(window.length_ns for window in windows)
    fields["clients"] = [
        ClientResult(client_id=number, **_stored(child, line, ClientCounts))
        for number, (child, line) in enumerate(clients.items())
    ]
    return fields


def service_results(
    services: Mapping[Child, ServiceLine], pauses: Sequence[PauseCounts | None], redactor: Redactor
) -> list[ServiceResult]:
    """Return the results of the services as result.json has them.

    pauses: the garbage collections of each service
    """
    return [
        ServiceResult(
            service_id=number,
            pauses=counts,
            notices=[*map(redactor.text, child.notices())],
            **_stored(child, line, ServiceLine),
        )
        for number, ((child, line), counts) in enumerate(zip(services.items(), pauses, strict=True))
    ]


def _stored(child: Child, line: ProcessUsage, kind: type[ProcessUsage]) -> Json:
    """Return what *line* has of the keys of *kind*, with what the orchestrator knows of the
    child.
    """
    own = {name: getattr(line, name) for name in kind.__struct_fields__}
    return {**own, "host": child.place.name, "program": child.program}


def machine_fields(machines: Mapping[str, Json], own_ns: int) -> dict[str, Any]:
    """Return the fields of CellResult that describe the machines' activity in the timed window, and
    disturbances.

    machines: by host name, the activity of the machine (quiet.between)
    own_ns: how long the clients of this cell sent requests, with the lead-ins of slices
    """
    disturbances = []
    for name, window in machines.items():
        for one in doctor.disturbances(window, own_ns):
            named = message("host {host}: {disturbance}", code=one.code, host=name, disturbance=one)
            disturbances.append(named if name else one)
    return {
        "machine": {
            name: value for name, value in machines.get(HERE, {}).items() if name != OTHERS
        },
        "others": {name: window[OTHERS] for name, window in machines.items() if window[OTHERS]},
        "disturbances": disturbances,
    }


NOT_FOUND = f"status {HTTPStatus.NOT_FOUND}"  # how FirstWrong.got begins
LIKE_WEBSOCKET = message(
    "check the path; a WebSocket route, too, gives this answer to a request without the headers of "
    "an upgrade (docs/own-service.md)"
)


def _judged(total: ClientLine, invalid: list[Message], *, idle: bool) -> tuple[Status, Message]:
    # each possible fault, with a value that is true if the cell has the fault
    requests, refused = total.requests, total.errors.get(LOGIN, 0)
    # a request whose login failed was not sent, or was answered by a refusal
    unanswered = requests - total.answered - refused
    codes = sorted(total.errors.items())
    errors = listed(f"{number} x {code}" for code, number in codes if code != LOGIN)
    possible = {
        plural(
            "{count} of {requests} requests was not answered",
            "{count} of {requests} requests were not answered",
            count=unanswered,
            requests=requests,
        ): unanswered > 0,
        plural(
            "{count} of {requests} requests failed, because its login failed",
            "{count} of {requests} requests failed, because their logins failed",
            count=refused,
            requests=requests,
        ): refused,
        message("no request was answered in the time that counts for the result"): not requests
        and not idle,
        plural(
            "{count} answer was wrong", "{count} answers were wrong", count=total.wrong
        ): total.wrong,
        message("errors: {errors}", errors=errors): errors,
    }
    faults = [fault for fault, is_there in possible.items() if is_there]
    if first := total.first_wrong:
        wrong = message(
            "the first wrong answer to {request} was {got}, expected {expected}", **asdict(first)
        )
        if first.expected == AN_ANSWER:
            wrong = message(
                "the first failed request, {request}, got {got}",
                request=first.request, got=first.got,
            )  # fmt: skip
        faults.append(wrong)
        faults += [LIKE_WEBSOCKET] * first.got.startswith(NOT_FOUND)
    if faults:
        return "failed", chained(faults)
    return ("invalid", chained(invalid)) if invalid else ("ok", NOTHING)


# ---- faults of children --------------------------------------------------------------------------


def client_faults(
    runtime: AnyRuntime, system: System, clients: Mapping[Child, ClientLine]
) -> list[Message]:
    """Return a fault for each client whose GIL or JIT is on although it should be off, or the
    reverse.

    The runtime says which state it should have, but some benchmarked systems turn the GIL on.
    """
    gil = {"gil_enabled": True} if system.turns_gil_on and not runtime.name.native else {}
    return _state_faults({**runtime.name.promises, **gil}, clients)


def service_faults(runtime: AnyRuntime, services: Mapping[Child, ServiceLine]) -> list[Message]:
    """Return a fault for each service whose GIL, JIT or Python differs from what its runtime
    promises.

    Only a user's service can run another Python. A service that already runs has no promises.
    """
    faults: list[Message] = []
    if isinstance(runtime, UserServiceRuntime):
        if runtime.runtime is None:
            return faults
        expected = runtime.runtime.interpreter.label
        for child, result in services.items():
            if result.pythons and expected not in result.pythons:
                fault = message(
                    "{child} runs under {pythons}, but {expected} was expected",
                    child=child.label,
                    pythons=listed(result.pythons, last=AND),
                    expected=expected,
                )
                faults.append(fault)
    return faults + _state_faults(runtime.name.promises, services)


def _state_faults(
    promises: Mapping[str, bool], children: Mapping[Child, ProcessUsage]
) -> list[Message]:
    """Return a fault for each child process with an unexpected GIL or JIT state, and its cause if
    known.
    """
    faults = []
    for child, result in children.items():
        for state, promised in promises.items():
            wrong = [
                when
                for key, when in WHEN.items()
                if getattr(result, f"{state}_{key}") is (not promised)
            ]
            if not wrong:
                continue
            known: Json = {
                "part": PARTS[state],
                "child": child.label,
                "when": listed(wrong, last=AND),
            }
            if promised:
                fault = message("in {child}, Python's {part} was off {when}", **known)
            else:
                fault = message("in {child}, Python's {part} was on {when}", **known)
                if state == "gil_enabled" and (modules := switching_modules(child.stderr_tail())):
                    fault = message(
                        "{fault}: CPython switched the GIL on in order to load the module {module}",
                        fault=fault,
                        module=repr(modules[0]),
                    )
            faults.append(fault)
    return faults

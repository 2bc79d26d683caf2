"""Checks the JSON lines that children send: the value of each key, and whether values of several
keys agree.

A child may be anybody's program. A line that breaks docs/child-contract.md fails the cell, and does
not reach result.json. The error names the child.

The modules cell_processes.py, cell_run.py and cell_end.py beside this file call this for each line.
`lines` are decoded JSON objects by child, as Children.await_lines() returns them.
record/child_lines.py declares the keys and bounds. A rule that changes here also changes in
docs/child-contract.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import convert
from msgspec.structs import asdict, replace

from core.cell import Cell
from core.messages import Arg, ChildFailed, Json, message, verbatim
from core.system import System
from lab.run.cell_results import add_up
from lab.run.children import RESULT, Child, failed
from lab.run.instrumentation import TimeWindow
from lab.run.measured_runtimes import AnyRuntime
from record.child_lines import (
    Addresses,
    ChildRuntime,
    ClientLine,
    Count,
    NativeProgram,
    RouteCounts,
    ServiceLine,
)
from record.decode import Kind, Misfit, decoded, shown, shown_key

Result = TypeVar("Result", ClientLine, ServiceLine)
# by how much a client's times may lie outside of its window, because other load generators round
# their seconds
CLOCK_SLACK_NS = 10_000_000
ROUTES = "routes"  # a key of a client's result
GIL = ("gil_enabled_ready", "gil_enabled_end")  # must be sent; null only if nobody can know
# keys that a result must have, also those for which record/child_lines.py declares a default
CLIENT_MUST = (
    "finished_ns",
    "requests",
    "answered",
    "wrong",
    "completion_ns",
    "errors",
    "latency",
    *GIL,
)
SERVICE_MUST = ("requests", *GIL)


def addresses(lines: Mapping[Child, Json]) -> list[list[str]]:
    """Return the addresses in each service's `ready` line. Raises ChildFailed if they are missing
    or malformed.

    Two services at one address are an error, because either service might get a request.
    """
    listening = []
    owners: dict[str, Child] = {}
    for child, line in lines.items():
        _expect(child, line, ("addresses",))
        listening.append(_decoded(child, "addresses", line["addresses"], Addresses))
        for address in listening[-1]:
            if (owner := owners.setdefault(address, child)) is not child:
                fault = message(
                    "listens at {address}, but {other} also listens at this address.",
                    address=address,
                    other=owner.label,
                )
                raise failed(child, fault)
    return listening


def check_done(lines: Mapping[Child, Json], word: str) -> None:
    """Raise ChildFailed if a child does not answer the command `warm` or `reset` with true."""
    for child, line in lines.items():
        _check(line[word] is True, child, word, line[word], message("true"))


def check_runtime(runtime: AnyRuntime, lines: Mapping[Child, Json]) -> None:
    """Raise ChildFailed if a Python child does not run the expected version. Store the facts of
    native programs in Child.program.
    """
    for child, line in lines.items():
        expected = child.place.version(runtime)
        _expect(child, line, ("runtime",))
        if "pid" in line:
            _decoded(child, "pid", line["pid"], Count)
        facts = _decoded(child, "runtime", line["runtime"], ChildRuntime, all_known=False)
        if expected and facts.implementation == "cpython" and facts.version != expected:
            fault = message(
                "runs Python {version}, but Python {expected} was expected.",
                version=shown_key(facts.version),
                expected=expected,
            )
            raise failed(child, fault)
        if facts.program:
            child.program = convert(facts, NativeProgram, from_attributes=True)


def take_client_result(child: Child, line: Json, routes: int = 0) -> ClientLine:
    """Check a client's result line, and return it decoded. Raises ChildFailed.

    Percentiles and means of histograms are ignored and recomputed.
    routes: how many routes the plan of a user's service has (RequestPlan.routes); 0 if its requests
        are not counted one by one
    """
    must = (*CLIENT_MUST, *[ROUTES] * bool(routes))
    result = _result(line, child, ClientLine, must)
    _check_routes(child, result, routes)
    answered, requests, timed = result.answered, result.requests, result.latency.count
    accepted = message(
        "a number of answered requests of at most {requests}, the client's total number of "
        "requests",
        requests=requests,
    )
    _check(answered <= requests, child, "answered", answered, accepted)
    accepted = message(
        "a number of wrong answers of at most {answered}, the total number of answers to the "
        "client",
        answered=answered,
    )
    _check(result.wrong <= answered, child, "wrong", result.wrong, accepted)
    # After errors a latency may be missing, or may have come too late.
    is_untimed = result.errors or (timed == 0 and result.said is not None)
    accepted = message("one latency for each of the client's {answered} answers", answered=answered)
    _check(timed == answered or is_untimed, child, "latency.count", timed, accepted)
    return result


def _check_routes(child: Child, result: ClientLine, routes: int) -> None:
    """Raise ChildFailed if a client has not as many *routes*, or if they do not add up to its
    counts.

    If requests failed, some requests of the client may belong to no route, because they were not
    sent.
    """
    accepted = message("one object for each of the {routes} routes of the plan", routes=routes)
    said = [*map(asdict, result.routes)]
    _check(len(said) == routes, child, ROUTES, said, accepted)
    if not routes:
        return
    totals, sums = _times_and_counts(result), _times_and_counts(add_up(result.routes))
    if result.errors:
        totals["requests"] = min(totals["requests"], sums["requests"])
    for key, total in totals.items():
        accepted = message(
            "a sum of {total}, the value for all requests, over all routes", total=shown(total)
        )
        _check(sums[key] == total, child, f"{ROUTES}: {key}", sums[key], accepted)


def _times_and_counts(result: ClientLine | RouteCounts) -> dict[str, Any]:
    """Return what routes and a client both count."""
    return {
        "requests": result.requests,
        "answered": result.answered,
        # without those that did not occur
        "errors": {code: count for code, count in result.errors.items() if count},
        "latency.count": result.latency.count,
        "latency.histogram.total_ns": result.latency.total_ns,
    }


def take_service_result(child: Child, line: Json) -> ServiceLine:
    """Check a service's last line, and return it decoded, with the state of its JIT as the
    orchestrator knows it. Raises ChildFailed.
    """
    return replace(_result(line, child, ServiceLine, SERVICE_MUST), **child.noted)


def check_times(client: Child, result: ClientLine, window: TimeWindow, services: int) -> None:
    """Raise ChildFailed if the times that a client reports are outside of its time window.

    This includes its slow requests, which must also name an existing service, and its answers by
    time.
    window: from the client's release to its result line, on the monotonic clock of its host
    services: the number of services
    """
    latest_ns = window.end_ns + CLOCK_SLACK_NS
    for key, low, high in (
        ("finished_ns", window.start_ns + 1, latest_ns),
        ("completion_ns", 1, latest_ns - window.start_ns),
    ):
        time_ns = getattr(result, key)
        accepted = message("a whole number from {low} to {high}", low=low, high=high)
        _check(low <= time_ns <= high, client, key, time_ns, accepted)
    for start_ns, latency_ns, service_id in result.slow.requests if result.slow else ():
        if service_id >= services or start_ns + latency_ns > latest_ns:
            accepted = message(
                "requests to services 0 to {last} that ended at {end} ns or earlier",
                last=services - 1,
                end=latest_ns,
            )
            slow = [start_ns, latency_ns, service_id]
            raise _refused(client, "slow", shown(slow), accepted)
    if said := result.slices:
        # Slices begin at multiples of their width, so the first may begin before the window.
        least_ns = window.start_ns - said.width_ns
        last_ns = said.start_ns + (len(said.counts) - 1) * said.width_ns
        count = result.latency.count
        is_within = least_ns <= said.start_ns <= last_ns <= latest_ns
        accepted = message(
            "at most {count} answers in total, in slices of its timed window, which begin "
            "between {low} ns and {high} ns on its monotonic clock",
            count=count,
            low=least_ns,
            high=latest_ns,
        )
        is_right = is_within and sum(said.counts) <= count
        _check(is_right, client, "slices", asdict(said), accepted)


def check_load(clients: Sequence[ClientLine], services: Sequence[ServiceLine]) -> None:
    """Raise ChildFailed if the services count more or fewer requests than the clients count
    answers, those of lead-ins included.

    This is checked if services count and every request got a right answer. Other load generators
    may stop with requests under way, so for them the services may count more.
    """
    is_whole = all(
        client.answered == client.requests and not (client.errors or client.wrong)
        for client in clients
    )
    if not clients or not is_whole or not all(service.counted for service in services):
        return
    answered = sum(client.answered + (client.uncounted or 0) for client in clients)
    requests = sum(service.requests for service in services)
    are_exact = all(client.said is None for client in clients)
    if requests < answered or (requests > answered and are_exact):
        raise ChildFailed(
            "The services counted {requests} answered requests, but the clients counted "
            "{answered} answers. Another process may answer at a service's address. End it, "
            "and measure again.",
            requests=requests,
            answered=answered,
        )


def check_latencies(
    client: Child, result: ClientLine, cell: Cell, system: System, services: int
) -> None:
    """Raise ChildFailed if a client's latencies add up to more time than its workers had.

    In a closed loop, each worker has one request under way. At a fixed rate, latency begins when a
    request is due, so it is not checked. Other load generators are not checked.
    """
    # gilscope's own clients have at most one request to each service under way
    workers = services
    if "NUM_CONNECTIONS_PER_CLIENT" in cell.reads:
        workers = cell.num_connections_per_client
    elif system.client:
        return  # it distributes its requests in its own way
    spent_ns = result.latency.total_ns
    had_ns = workers * (result.completion_ns + CLOCK_SLACK_NS)
    is_possible = spent_ns <= had_ns or cell.rate or result.said is not None
    accepted = message("at most {high} ns, the total time of the client's workers", high=had_ns)
    _check(is_possible, client, "latency.histogram.total_ns", spent_ns, accepted)


def _result(line: Json, child: Child, kind: type[Result], must: Sequence[str]) -> Result:
    said = line[RESULT]
    _check(isinstance(said, dict), child, RESULT, said, message("a JSON object"))
    _expect(child, said, must)
    result = _decoded(child, "", said, kind)
    for key in GIL:
        # nobody can read the state of some users' services
        is_known = getattr(result, key) is not None or not getattr(result, "counted", True)
        _check(is_known, child, key, None, message("true or false"))
    return result


def _expect(child: Child, line: Json, must: Sequence[str]) -> None:
    """Raise ChildFailed if a required key (*must*) is missing from *line*."""
    if missing := ", ".join(key for key in must if key not in line):
        raise failed(
            child,
            message("did not send {keys}, which docs/child-contract.md requires.", keys=missing),
        )


def _decoded(
    child: Child, key: str, value: Any, kind: type[Kind], *, all_known: bool = True
) -> Kind:
    try:
        return decoded(value, kind, key, all_known=all_known)
    except Misfit as misfit:
        raise _refused(child, misfit.place, misfit.value, verbatim(misfit.wanted)) from None


def _check(is_right: object, child: Child, key: str, value: Any, accepted: Arg) -> None:
    """Raise ChildFailed if the value that a child sent for a key is not right.

    accepted: what is right
    """
    if not is_right:
        raise _refused(child, key, shown(value), accepted)


def _refused(child: Child, place: str, value: str, wanted: Arg) -> ChildFailed:
    fault = message(
        "sent {value} as {key}, but docs/child-contract.md requires {kind}.",
        value=value,
        key=shown_key(place),
        kind=wanted,
    )
    return failed(child, fault)

"""Checks the JSON lines that children send: the value of each key, and whether values of several
keys agree.

A child may be anybody's program. A line that breaks docs/child-contract.md fails the cell, and does
not reach result.json. The error names the child.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.cell import Cell
from core.child import TIMEOUT
from core.errors import ChildFailed
from core.histogram import Histogram
from core.messages import Arg, Json, message, verbatim
from core.system import System
from lab.run.children import RESULT, Child, failed
from lab.run.instrumentation import TimeWindow
from lab.run.measured_runtimes import AnyRuntime
from record.child_lines import Addresses, ChildRuntime, ClientLine, Count, ServiceLine
from record.decode import Kind, Misfit, decoded, shown, shown_key

CLOCK_SLACK_NS = 10_000_000  # because other load generators round their seconds
ENOUGH_REQUESTS = 2  # requests per worker after which every service has been called
OURS = (
    "client_id",
    "service_id",
    "program",
    "notices",
    "pauses",
)  # keys that the orchestrator adds to a child's keys
HISTOGRAMS = ("latency", "connect", "waiting", "lag")
SLOW, SLICES, ROUTES = "slow", "slices", "routes"
GIL = ("gil_enabled_ready", "gil_enabled_end")
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
    listening: list[list[str]] = []
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
        if line[word] is not True:
            raise _unlike(child, word, line[word], message("true"))


def check_runtime(runtime: AnyRuntime, lines: Mapping[Child, Json]) -> None:
    """Raise ChildFailed if a Python child does not run the expected version. Store the facts of
    native programs.
    """
    for child, line in lines.items():
        expected = child.place.version(runtime)
        _expect(child, line, ("runtime",))
        if "pid" in line:
            _decoded(child, "pid", line["pid"], Count)
        facts = _decoded(child, "runtime", line["runtime"], ChildRuntime, all_known=False)
        implementation, version = facts.pop("implementation", ""), facts.get("version")
        if expected and implementation == "cpython" and version != expected:
            fault = message(
                "runs Python {version}, but Python {expected} was expected.",
                version=shown_key(str(version)),
                expected=expected,
            )
            raise failed(child, fault)
        if "program" in facts:
            child.noted["program"] = dict(facts)


def has_timed_out(line: Json) -> bool:
    """Return whether a result line, which is not yet checked, counts a request without an answer in
    time.
    """
    errors = line[RESULT].get("errors") if isinstance(line[RESULT], dict) else None
    return isinstance(errors, dict) and TIMEOUT in errors


def take_client_result(child: Child, line: Json, routes: int = 0) -> None:
    """Check a client's result line, and store it as the client's result. Raises ChildFailed.

    Percentiles and means of histograms are ignored and recomputed.
    routes: how many routes the plan of a user's service has (RequestPlan.routes)
    """
    must = (*CLIENT_MUST, *[ROUTES] * bool(routes))
    child.result = result = _result(line, child, ClientLine, must)
    for name in HISTOGRAMS:
        if name in result:
            _check_histogram(child, name, result[name])
    _check_routes(child, routes)
    answered, requests, timed = result["answered"], result["requests"], result["latency"]["count"]
    if answered > requests:
        accepted = message(
            "a number of answered requests of at most {requests}, the client's total number of "
            "requests",
            requests=requests,
        )
        raise _unlike(child, "answered", answered, accepted)
    if result["wrong"] > answered:
        accepted = message(
            "a number of wrong answers of at most {answered}, the total number of answers to the "
            "client",
            answered=answered,
        )
        raise _unlike(child, "wrong", result["wrong"], accepted)
    # After errors a latency may be missing, or may have come too late.
    if not result["errors"] and timed != answered and not (timed == 0 and "said" in result):
        raise _unlike(
            child,
            "latency.count",
            timed,
            message("one latency for each of the client's {answered} answers", answered=answered),
        )


def _check_histogram(child: Child, name: str, summary: Json) -> None:
    try:
        Histogram.check(summary)
    except ValueError as error:
        fault = message(
            "sent {key}, which is not a valid histogram: {error}.", key=name, error=error
        )
        raise failed(child, fault) from error


def _check_routes(child: Child, routes: int) -> None:
    """Raise ChildFailed if a client has not as many *routes*, or if they do not add up to its
    counts.

    If requests failed, some requests of the client may belong to no route, because they were not
    sent.
    """
    result = child.result
    told: Sequence[Json] = result.get(ROUTES, ())
    if len(told) != routes:
        accepted = message("one object for each of the {routes} routes of the plan", routes=routes)
        raise _unlike(child, ROUTES, told, accepted)
    if not told:
        return
    for place, route in enumerate(told):
        _check_histogram(child, f"{ROUTES}[{place}].latency", route["latency"])
    totals = _times_and_counts([result])
    if result["errors"]:
        totals["requests"] = min(totals["requests"], _times_and_counts(told)["requests"])
    for key, found in _times_and_counts(told).items():
        if found != totals[key]:
            accepted = message(
                "a sum of {total} over all routes, which is the value for all requests",
                total=shown(totals[key]),
            )
            raise _unlike(child, f"{ROUTES}: {key}", found, accepted)


def _times_and_counts(results: Sequence[Json]) -> dict[str, Any]:
    """Return the sums of what routes and a client both count."""
    errors = Counter[str]()
    for result in results:
        errors.update(result["errors"])
    latencies = [result["latency"] for result in results]
    return {
        "requests": sum(result["requests"] for result in results),
        "answered": sum(result["answered"] for result in results),
        "errors": dict(errors),
        "latency.count": sum(latency["count"] for latency in latencies),
        "latency.histogram.total_ns": sum(one["histogram"]["total_ns"] for one in latencies),
    }


def take_service_result(child: Child, line: Json) -> None:
    """Check a service's last line, and store it, with CPython's warnings, as the result. Raises
    ChildFailed.
    """
    child.result = _result(line, child, ServiceLine, SERVICE_MUST)
    if notices := child.notices():
        child.result["notices"] = notices


def check_times(client: Child, window: TimeWindow, services: int) -> None:
    """Raise ChildFailed if the times that a client reports are outside of its time window.

    This includes its slow requests, which must also name an existing service, and its answers by
    time.
    window: from the client's release to its result line, on the monotonic clock of its host
    services: the number of services
    """
    result, latest_ns = client.result, window.end_ns + CLOCK_SLACK_NS
    for key, low, high in (
        ("finished_ns", window.start_ns + 1, latest_ns),
        ("completion_ns", 1, latest_ns - window.start_ns),
    ):
        if not low <= result[key] <= high:
            raise _unlike(
                client,
                key,
                result[key],
                message("a whole number from {low} to {high}", low=low, high=high),
            )
    for request in result.get(SLOW, {}).get("requests", ()):
        start_ns, latency_ns, service_id = request
        if service_id >= services or start_ns + latency_ns > latest_ns:
            accepted = message(
                "requests to services 0 to {last} that ended at {end} ns or earlier",
                last=services - 1,
                end=latest_ns,
            )
            raise _unlike(client, SLOW, request, accepted)
    if SLICES in result:
        said, count = result[SLICES], result["latency"]["count"]
        width_ns, counts = said["width_ns"], said["counts"]
        least_ns, last_ns = (
            window.start_ns - width_ns,
            said["start_ns"] + (len(counts) - 1) * width_ns,
        )
        if not least_ns <= said["start_ns"] <= last_ns <= latest_ns or sum(counts) > count:
            accepted = message(
                "at most {count} answers in total, all in time slices that begin between {low} ns "
                "and {high} ns on the client's monotonic clock",
                count=count,
                low=least_ns,
                high=latest_ns,
            )
            raise _unlike(client, SLICES, said, accepted)


def check_load(
    cell: Cell, system: System, clients: Sequence[Child], services: Sequence[Child]
) -> None:
    """Raise ChildFailed if the results of the clients and services contradict each other.

    The results contradict each other in two cases: all requests were answered, but one service got
    none; or the services counted another number of requests than the clients.
    """
    said = [client.result for client in clients]
    if not said or any(client["errors"] or client["wrong"] for client in said):
        return  # there is nothing to compare, or the cell fails for that reason
    if workers := cell.num_clients * _workers(cell, system, len(services)):
        _expect_all_asked(said, services, workers)
    if all(client["answered"] == client["requests"] for client in said):
        _check_sums(said, services)


def check_latencies(client: Child, cell: Cell, system: System, services: int) -> None:
    """Raise ChildFailed if a client's latencies add up to more time than its workers had.

    In a closed loop, each worker has one request under way. At a fixed rate, latency begins when a
    request is due, so it is not checked. Other load generators are not checked.
    """
    workers = _workers(cell, system, services)
    spent_ns = client.result["latency"]["histogram"]["total_ns"]
    had_ns = workers * (client.result["completion_ns"] + CLOCK_SLACK_NS)
    if workers and spent_ns > had_ns and not cell.rate and "said" not in client.result:
        accepted = message("at most {high} ns, the total time of the client's workers", high=had_ns)
        raise _unlike(client, "latency.histogram.total_ns", spent_ns, accepted)


def _workers(cell: Cell, system: System, services: int) -> int:
    """Return how many requests a client has under way; 0 if a system's own client distributes them
    in its own way.
    """
    if "NUM_CONNECTIONS_PER_CLIENT" in cell.reads:
        return cell.num_connections_per_client
    return 0 if system.client else services


def _expect_all_asked(clients: Sequence[Json], services: Sequence[Child], workers: int) -> None:
    """Raise ChildFailed if a service got no request although all requests were answered.

    Then another process answered in its place, such as a second service that shares its port by
    SO_REUSEPORT, or none of its clients' threads ran in time.
    Not checked: fewer connections than services, too few requests to reach all
    services, services that do not count.
    """
    answered = sum(client["answered"] for client in clients)
    if workers < len(services) or answered < ENOUGH_REQUESTS * workers:
        return
    counted = sum(service.result["requests"] for service in services)
    for service in services:
        if service.result.get("counted", True) and not service.result["requests"]:
            fault = message(
                "received no request, but the clients received {answers} answers, and all services "
                "together counted {requests}. Another process may answer at the service's address, "
                "or the cores had no time for this service.",
                answers=_answers(clients),
                requests=counted,
            )
            raise failed(service, fault)


def _answers(clients: Sequence[Json]) -> int:
    """Return how many answers the clients received, those of lead-ins included."""
    return sum(client["answered"] + client.get("uncounted", 0) for client in clients)


def _check_sums(clients: Sequence[Json], services: Sequence[Child]) -> None:
    """Raise ChildFailed if the services count more or fewer requests than the clients count
    answers.

    This is checked if services count and every request got a right answer. Other load generators
    may stop with requests under way, so for them the services may count more.
    """
    if not all(service.result.get("counted", True) for service in services):
        return
    answered = _answers(clients)
    requests = sum(service.result["requests"] for service in services)
    if requests < answered or (
        requests > answered and not any("said" in client for client in clients)
    ):
        raise ChildFailed(
            "The services counted {requests} answered requests, but the clients counted {answered} "
            "answers. One of the two counts is wrong.",
            requests=requests,
            answered=answered,
        )


def _result(line: Json, child: Child, kind: type[Any], must: Sequence[str]) -> dict[str, Any]:
    said = line[RESULT]
    if not isinstance(said, dict):
        raise _unlike(child, RESULT, said, message("a JSON object"))
    _expect(child, said, must)
    result: dict[str, Any] = _decoded(
        child, "", {key: said[key] for key in said if key not in OURS}, kind
    )
    for key in GIL:
        if result[key] is None and result.get(
            "counted", True
        ):  # nobody can read the state of some users' services
            raise _unlike(child, key, None, message("true or false"))
    return {**result, **child.noted}


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


def _unlike(child: Child, key: str, value: Any, kind: Arg) -> ChildFailed:
    return _refused(child, key, shown(value), kind)


def _refused(child: Child, place: str, value: str, wanted: Arg) -> ChildFailed:
    fault = message(
        "sent {value} as {key}, but docs/child-contract.md requires {kind}.",
        value=value,
        key=shown_key(place),
        kind=wanted,
    )
    return failed(child, fault)

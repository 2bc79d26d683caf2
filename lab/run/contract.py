"""What children must send, checked before it is used: each key by itself (core.record), and what must fit together.

Children are other people's programs. What is not as docs/child-contract.md says it fails their cell, by name, and
nothing of it reaches result.json.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from core.cell import Cell
from core.decode import Kind, Misfit, decoded, shown, shown_key
from core.errors import ChildFailed
from core.histogram import Histogram
from core.messages import Arg, message, verbatim
from core.record import Addresses, ClientLine, Count, Runtime, ServiceLine
from core.system import System
from lab.run.children import RESULT, Child, failed
from lab.run.instrumentation import TimeWindow
from lab.run.runtimes import AnyRuntime

CLOCK_SLACK_NS = 10_000_000  # other load generators round their seconds
ENOUGH_REQUESTS = 2  # of each worker: then every service has been asked
OURS = ("client_id", "service_id", "program", "notices", "pauses")  # what the orchestrator puts beside a child's keys
HISTOGRAMS = ("latency", "connect", "waiting", "lag")
SLOW, SLICES = "slow", "slices"
GIL = ("gil_enabled_ready", "gil_enabled_end")
CLIENT_MUST = ("finished_ns", "requests", "answered", "wrong", "completion_ns", "errors", "latency", *GIL)
SERVICE_MUST = ("requests", *GIL)
HISTOGRAM_KEYS = ("count", "min_ns", "max_ns", "histogram")


def addresses(line: Mapping[str, Any], child: Child) -> list[str]:
    """Return the addresses in a service's ready line. Raises ChildFailed."""
    _expect(child, line, ("addresses",))
    return _decoded(child, "addresses", line["addresses"], Addresses)


def expect_distinct(services: Sequence[Child], sockets: Sequence[Sequence[str]]) -> None:
    """Raises ChildFailed for a service that listens where another one does: who is asked there is left to chance."""
    owners: dict[str, Child] = {}
    for child, listening in zip(services, sockets, strict=True):
        for address in listening:
            if address in owners:
                fault = message("listens at {address}, as {other} does.", address=address, other=owners[address].label)
                raise failed(child, fault)
        owners |= dict.fromkeys(listening, child)


def check_done(lines: Sequence[Mapping[str, Any]], children: Sequence[Child], word: str) -> None:
    """Raises ChildFailed if a child answers `warm` or `reset` with anything but that it is done."""
    for line, child in zip(lines, children, strict=True):
        if line[word] is not True:
            raise _unlike(child, word, line[word], message("true"))


def check_runtime(runtime: AnyRuntime, children: Sequence[Child], lines: Sequence[Mapping[str, Any]]) -> None:
    """Raises ChildFailed if a Python child does not run under the interpreter that it was started with.

    What a native child says it is stays with it.
    """
    for child, line in zip(children, lines, strict=True):
        expected = child.place.version(runtime)
        _expect(child, line, ("runtime",))
        if "pid" in line:
            _decoded(child, "pid", line["pid"], Count)
        facts = _decoded(child, "runtime", line["runtime"], Runtime, all_known=False)
        implementation = facts.pop("implementation", "")
        if expected and implementation == "cpython" and facts.get("version") != expected:
            version = shown_key(str(facts.get("version")))
            raise failed(
                child,
                message("runs under version {version}; {expected} was expected.", version=version, expected=expected),
            )
        if "program" in facts:
            child.program = dict(facts)


def take_client_result(child: Child, line: Mapping[str, Any]) -> None:
    """Keep what a client's line says as its result. Raises ChildFailed."""
    child.result = result = _result(line, child, ClientLine, CLIENT_MUST)
    for name in HISTOGRAMS:
        if name in result:
            _check_histogram(name, result[name], child)
    answered, requests, timed = result["answered"], result["requests"], result["latency"]["count"]
    if answered > requests:
        raise _unlike(child, "answered", answered, message("at most its {requests} requests", requests=requests))
    if result["wrong"] > answered:
        raise _unlike(child, "wrong", result["wrong"], message("at most its {answered} answers", answered=answered))
    # After errors a time may be missing or may have come too late.
    if not result["errors"] and timed != answered and not (timed == 0 and "said" in result):
        raise _unlike(
            child, "latency.count", timed, message("a time for each of its {answered} answers", answered=answered)
        )


def take_service_result(child: Child, line: Mapping[str, Any]) -> None:
    """Keep what a service's last line says, and the notices in its stderr, as its result. Raises ChildFailed."""
    child.result = _result(line, child, ServiceLine, SERVICE_MUST)
    if notices := child.notices():
        child.result["notices"] = notices


def check_times(client: Child, window: TimeWindow, services: int) -> None:
    """Raises ChildFailed for a client whose times do not lie in its window, from its release to its last line.

    Its slow requests and its answers by time must lie there as well, and go to one of so many services.
    window: on the monotonic clock of the client's host
    """
    result, latest_ns = client.result, window.end_ns + CLOCK_SLACK_NS
    for key, low, high in (
        ("finished_ns", window.start_ns + 1, latest_ns),
        ("completion_ns", 1, latest_ns - window.start_ns),
    ):
        if not low <= result[key] <= high:
            raise _unlike(client, key, result[key], message("a whole number from {low} to {high}", low=low, high=high))
    for request in result.get(SLOW, {}).get("requests", ()):
        start_ns, latency_ns, service_id = request
        if service_id >= services or start_ns + latency_ns > latest_ns:
            accepted = message("requests to services 0 to {last} that ended by {end}", last=services - 1, end=latest_ns)
            raise _unlike(client, SLOW, request, accepted)
    if SLICES in result:
        said, count = result[SLICES], result["latency"]["count"]
        width_ns, counts = said["width_ns"], said["counts"]
        least_ns, last_ns = window.start_ns - width_ns, said["start_ns"] + (len(counts) - 1) * width_ns
        if not least_ns <= said["start_ns"] <= last_ns <= latest_ns or sum(counts) > count:
            accepted = message(
                "at most {count} answers in slices from {low} to {high}", count=count, low=least_ns, high=latest_ns
            )
            raise _unlike(client, SLICES, said, accepted)


def check_load(cell: Cell, system: System, clients: Sequence[Child], services: Sequence[Child]) -> None:
    """Raises ChildFailed where requests took more time than there was, or a service got none, or somebody miscounts."""
    shares = "NUM_CONNECTIONS_PER_CLIENT" in cell.reads
    workers = cell.num_connections_per_client if shares else len(services)
    is_known = shares or not system.client  # else the client may call in its own way
    if is_known and not cell.rate:
        _check_latencies(clients, workers)
    if is_known and not any(client.result["errors"] or client.result["wrong"] for client in clients):
        _expect_all_asked(clients, services, cell.num_clients * workers)
    _check_sums(clients, services)


def _check_latencies(clients: Sequence[Child], workers: int) -> None:
    """Raises ChildFailed for a client whose requests took more time, all together, than its workers had.

    Each worker sends a request when it has the answer to the one before, but at a fixed rate: there a request's time
    begins when it is due. Nothing is known of other load generators.
    """
    for client in clients:
        spent_ns = Histogram.from_json(client.result["latency"]).total_ns
        had_ns = workers * (client.result["completion_ns"] + CLOCK_SLACK_NS)
        if spent_ns > had_ns and "said" not in client.result:
            accepted = message("at most {high}, the time that its workers had", high=had_ns)
            raise _unlike(client, "latency.histogram.total_ns", spent_ns, accepted)


def _expect_all_asked(clients: Sequence[Child], services: Sequence[Child], workers: int) -> None:
    """Raises ChildFailed for a service that got no request while all were answered: somebody else was asked for it.

    Two services that share a port by SO_REUSEPORT look like that. Where there are fewer connections than services, or
    too few requests to reach them all, it says nothing; nor does it of services that do not count.
    """
    answered = sum(client.result["answered"] for client in clients)
    if workers < len(services) or answered < ENOUGH_REQUESTS * max(workers, len(services)):
        return
    for service in services:
        if service.result.get("counted", True) and not service.result["requests"]:
            fault = message(
                "got none of the {requests} requests that were answered: another process answers at its address.",
                requests=answered,
            )
            raise failed(service, fault)


def _check_sums(clients: Sequence[Child], services: Sequence[Child]) -> None:
    """Raises ChildFailed if the services have answered fewer requests than clients have answers, or more.

    It must hold where services count, every request was answered right, and the clients are ours: another load
    generator may stop with requests under way.
    """
    said = [client.result for client in clients]
    if not clients or not all(service.result.get("counted", True) for service in services):
        return
    if any(client["errors"] or client["wrong"] or client["answered"] != client["requests"] for client in said):
        return  # the cell fails by that
    answered = sum(client["answered"] + client.get("uncounted", 0) for client in said)
    requests = sum(service.result["requests"] for service in services)
    if requests < answered or (requests > answered and not any("said" in client for client in said)):
        raise ChildFailed(
            "Services say that they answered {requests} requests; clients say that they had {answered} answers. "
            "One of them miscounts.",
            requests=requests,
            answered=answered,
        )


def _result(line: Mapping[str, Any], child: Child, kind: type[Any], must: Sequence[str]) -> dict[str, Any]:
    said = line[RESULT]
    if not isinstance(said, dict):
        raise _unlike(child, RESULT, said, message("an object"))
    _expect(child, said, must)
    told: dict[str, Any] = _decoded(child, "", {key: said[key] for key in said if key not in OURS}, kind)
    for key in GIL:
        if told[key] is None:
            raise _unlike(child, key, None, message("true or false"))
    return {**told, "program": child.program} if child.program else told


def _expect(child: Child, line: Mapping[str, Any], must: Sequence[str]) -> None:
    """Raises ChildFailed if *line* lacks any of these keys."""
    if missing := [key for key in must if key not in line]:
        raise failed(child, message("did not send {keys}, which the child contract requires.", keys=", ".join(missing)))


def _decoded(child: Child, key: str, value: Any, kind: type[Kind], *, all_known: bool = True) -> Kind:
    try:
        return decoded(value, kind, key, all_known=all_known)
    except Misfit as misfit:
        raise _refused(child, misfit.place, misfit.value, verbatim(misfit.wanted)) from None


def _unlike(child: Child, key: str, value: Any, kind: Arg) -> ChildFailed:
    return _refused(child, key, shown(value), kind)


def _refused(child: Child, place: str, value: str, wanted: Arg) -> ChildFailed:
    return failed(
        child,
        message(
            "sent {value} as {key}; the child contract requires {kind}.", value=value, key=shown_key(place), kind=wanted
        ),
    )


def _check_histogram(name: str, summary: Mapping[str, Any], child: Child) -> None:
    """Of what is read of it, that is: percentiles and the mean are worked out again."""
    try:
        Histogram.check({key: summary[key] for key in HISTOGRAM_KEYS if key in summary})
    except ValueError as error:
        fault = message("sent {key} that is not a histogram: {error}.", key=name, error=str(error))
        raise failed(child, fault) from error

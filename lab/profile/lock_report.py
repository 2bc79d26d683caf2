"""Build the part of result.json with a profile of locks and its summary sentence. Does no I/O.

lab/run/profiling.py calls to_json() with what lab/profile/lock_watcher.py recorded.
LocksProfile of record/result_parts.py declares the keys. Shares are 0..1, of three wholes. The
shares of waits and of lines are shares of the requests' time (*in_flight_ns*). In the
sentence, pauses are a share of the time that was watched, and reference counting is a share of CPU
time.
"""

from collections.abc import Sequence
from math import inf, sqrt
from statistics import mean, stdev

from core.messages import NOTHING, Json, Message, chained, message, plural
from lab.profile.frames import NO_OWNER, SourceLine
from lab.profile.lock_waits import UNREAD
from lab.profile.lock_watcher import LockFacts, Waiting
from lab.profile.stack_samples import LIBRARY

# what takes a smaller share is not worth a sentence of its own
LEAST_SHARE = 0.02
LEAST_SAMPLES = 20  # fewer samples of pauses or of reference counting are not reported
# quantile of the t distribution with lock_watcher.PARTS - 1 degrees of freedom, for a 95 % interval
STUDENT_95 = 2.093
# source lines of each kind in result.json
MOST_LINES = 20


def to_json(facts: LockFacts, requests: float, in_flight_ns: float) -> Json:
    """Return the profile for result.json: source lines with their shares, a summary sentence, and
    the totals.

    requests: the number of requests served during the profile; in_flight_ns: the sum of their
        latencies
    """
    return {
        **facts._asdict(),
        "requests": round(requests),
        "in_flight_ns": round(in_flight_ns),
        "contended": _lines(facts.contended, facts.waiting_ns / max(1.0, in_flight_ns)),
        "stopping": _lines(facts.stopping, facts.stopping_ns / max(1.0, in_flight_ns)),
        "sentence": sentence(facts, requests, in_flight_ns).to_json(),
    }


def sentence(facts: LockFacts, requests: float, in_flight_ns: float) -> Message:
    """Return a summary of pauses, contended locks and shared reference counts that cost LEAST_SHARE
    or more.

    requests, in_flight_ns: as in to_json()
    What has too few samples is said to be not known. The measured share of reference counts is a
    lower bound, so that it is never said to be small.
    """
    share = facts.waiting_ns / max(1.0, in_flight_ns)
    margin = share * _relative_margin(facts.contended) if share else 0.0
    stops, waits = _describe_stops(facts, requests), _describe_waits(facts, share, margin)
    counts, locks = _describe_counts(facts), message("contended locks")
    findings = [stops, waits, counts]
    small, unknown = [message("stop-the-world pauses")], []
    # `small` is used only if there is no finding. Then the pauses are small, too.
    if share + margin < LEAST_SHARE:
        small.append(locks)
    elif not waits:
        unknown.append(locks)
    if not counts and facts.count_share >= LEAST_SHARE:
        unknown.append(message("reference counts of shared objects"))
    if not any(findings):
        findings = [
            message(
                "each of these takes less than {share} of the time: {causes}",
                share=percent(LEAST_SHARE),
                causes=small,
            )
        ]
    if unknown:
        findings.append(
            message(
                "these are not known, because there are too few samples: {causes}", causes=unknown
            )
        )
    if facts.lost:
        findings.append(
            plural(
                "{count} probed call was not recorded",
                "{count:,} probed calls were not recorded",
                count=facts.lost,
            )
        )
    return chained(findings)


def _describe_stops(facts: LockFacts, requests: float) -> Message:
    share = facts.stood_ns / max(1, facts.watched_ns)
    if share < LEAST_SHARE:
        return NOTHING
    found = message(
        "each request causes {stops} stop-the-world pauses of {length_ms} ms, so threads are "
        "paused {share} of the time",
        stops=_figure(facts.stops / max(1.0, requests)),
        length_ms=_figure(facts.stood_ns / max(1, facts.stops) / 1e6),
        share=percent(share),
    )
    if sum(line.samples for line in facts.stopping) < LEAST_SAMPLES:
        return found
    return message(
        "{found}; {of_these} of the pause time is caused by code {place}",
        found=found,
        of_these=_percent_of_first(facts.stopping),
        place=_describe_place(facts.stopping[0]),
    )


def _describe_waits(facts: LockFacts, share: float, margin: float) -> Message:
    if share - margin < LEAST_SHARE:
        return NOTHING
    return message(
        "requests spend {share} [{low}, {high}] of their time waiting for contended locks; "
        "{of_these} of the waiting time is for {owner}, {place}",
        share=percent(share),
        low=percent(share - margin),
        high=percent(share + margin),
        of_these=_percent_of_first(facts.contended),
        owner=describe_owner(facts.contended[0].owner),
        place=_describe_place(facts.contended[0]),
    )


def _describe_counts(facts: LockFacts) -> Message:
    if facts.count_share < LEAST_SHARE or facts.cpu_samples * facts.count_share < LEAST_SAMPLES:
        return NOTHING
    return message(
        "at least {share} of CPU time is spent on counting references to objects that threads "
        "share",
        share=percent(facts.count_share),
    )


def describe_owner(name: str) -> Message:
    """Describe the owner of a mutex in words.

    name: as lab.profile.lock_waits.wait_samples() yields it
    """
    if name == UNREAD:
        return message("a lock that was freed before its name could be read")
    if name == NO_OWNER:
        return message("a mutex that belongs to no Python object")
    if name.startswith("["):
        return message("a mutex in a global variable of {file}", file=name.strip("[]"))
    return message("the mutex of a {type} object", type=name)


def _relative_margin(lines: Sequence[Waiting]) -> float:
    """Return the margin of error of the number of samples of lock waits, as a share of that number.

    It is half the width of the 95 % confidence interval of the mean. The confidence interval comes
    from the spread between the successive time intervals of Waiting.by_time.
    """
    times = [*map(sum, zip(*(line.by_time for line in lines), strict=True))]
    # unknown, so waits are neither reported nor called small
    if len(times) < 2 or not any(times):
        return inf
    return STUDENT_95 * stdev(times) / sqrt(len(times)) / mean(times)


def _percent_of_first(lines: Sequence[Waiting]) -> str:
    return percent(lines[0].samples / max(1, sum(line.samples for line in lines)))


def percent(share: float) -> str:
    """Format a share as a percentage of at most 100 %, such as '12 %'."""
    return f"{min(1.0, share) * 100:.0f} %"


def _figure(value: float) -> str:
    return f"{value:,.1f}" if value >= 1 else f"{value:.2g}"


def _describe_place(waiting: Waiting) -> Message:
    if not waiting.stack:
        return message("outside of Python")
    innermost = waiting.stack[0]
    here = _describe_line(innermost)
    above = next((line for line in waiting.stack if line.file != innermost.file), None)
    if above is None:
        return message("at the source line {here}", here=here)
    return message("at {here}, called from {there}", here=here, there=_describe_line(above))


def _describe_line(line: SourceLine) -> Message:
    return message("{file}:{line} in {function}", **_shown(line))


def _shown(line: SourceLine) -> Json:
    """Return a line with the short name of its file: 'django/utils/decorators.py' in a library,
    'app.py' elsewhere.
    """
    file, is_library = LIBRARY.subn("", line.file)
    return line._replace(file=file if is_library else file.rpartition("/")[2])._asdict()


def _lines(lines: Sequence[Waiting], share: float) -> list[Json]:
    """Return the first MOST_LINES source lines as JSON, each with the share of the requests' time
    that it takes.

    share: the share of the requests' time that all lines take together, 0..1
    """
    total = max(1, sum(line.samples for line in lines))
    return [
        {
            "owner": line.owner,
            "lock": describe_owner(line.owner).to_json(),
            "share": round(min(1.0, share) * line.samples / total, 4),
            "samples": line.samples,
            "stack": [*map(_shown, line.stack)],
        }
        for line in lines[:MOST_LINES]
    ]

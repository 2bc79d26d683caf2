"""Another host's monotonic clock against ours: an offset, and how wrong it can be; windows on one clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.messages import Message, message

LEAST_OVERLAP = 0.8


@dataclass(frozen=True, kw_only=True)
class RoundTrip:
    """A question and its answer: when it was sent and came back by our clock, and what the other clock said between."""

    sent_ns: int
    there_ns: int
    back_ns: int


@dataclass(frozen=True, kw_only=True)
class ClockOffset:
    """What to add to a time of our clock for theirs, at *at_ns* of ours; wrong by *error_ns* at most."""

    offset_ns: int
    error_ns: int
    at_ns: int

    def there(self, here_ns: int) -> int:
        """A time of our clock on theirs."""
        return here_ns + self.offset_ns


def estimate(trips: Sequence[RoundTrip]) -> ClockOffset:
    """By the trip with the least delay: the other clock was read in its middle, give or take half of it.

    Source: RFC 5905, section 8 and the clock filter of section 10.
    """
    best = min(trips, key=lambda trip: trip.back_ns - trip.sent_ns)
    middle_ns, half_ns = (best.sent_ns + best.back_ns) // 2, (best.back_ns - best.sent_ns + 1) // 2
    return ClockOffset(offset_ns=best.there_ns - middle_ns, error_ns=half_ns, at_ns=middle_ns)


def between(before: ClockOffset, after: ClockOffset) -> ClockOffset:
    """For the time between two estimates; its error covers what the clocks have drifted apart meanwhile."""
    drift_ns = after.offset_ns - before.offset_ns
    return ClockOffset(
        offset_ns=before.offset_ns + drift_ns // 2,
        error_ns=max(before.error_ns, after.error_ns) + (abs(drift_ns) + 1) // 2,
        at_ns=(before.at_ns + after.at_ns) // 2,
    )


def overlap_faults(by_client: Sequence[Mapping[str, Any]], error_ns: int) -> list[Message]:
    """Where clients' windows, which are on one clock give or take *error_ns*, do not overlap enough."""
    spans = [(result["finished_ns"] - result["completion_ns"], result["finished_ns"]) for result in by_client]
    if len(spans) < 2:
        return []
    starts, ends = zip(*spans, strict=True)
    share = (min(ends) - max(starts) - 2 * error_ns) / max(1, max(ends) - min(starts))
    if share >= LEAST_OVERLAP:
        return []
    return [
        message(
            "the clients' windows overlap by {share:.0%} of the time only, which must be at least {least:.0%}",
            share=max(0.0, share),
            least=LEAST_OVERLAP,
        )
    ]

"""Estimates the offset between two hosts' monotonic clocks, and checks that clients sent during the same time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.messages import Message, message

LEAST_OVERLAP = 0.8


@dataclass(frozen=True, kw_only=True)
class ClockOffset:
    """Another host's clock minus this host's clock, with an error of at most *error_ns*."""

    offset_ns: int
    error_ns: int

    def to_host_clock(self, here_ns: int) -> int:
        """Convert a time on this host's clock to the other host's clock."""
        return here_ns + self.offset_ns


def estimate(sent_ns: int, there_ns: int, back_ns: int) -> ClockOffset:
    """Estimate the clock offset, assuming that the other clock was read in the middle of the round trip.

    sent_ns: when the question was sent; there_ns: the other clock's time; back_ns: when the answer came
    Source: RFC 5905, section 8.
    """
    return ClockOffset(offset_ns=there_ns - (sent_ns + back_ns) // 2, error_ns=(back_ns - sent_ns + 1) // 2)


def between(before: ClockOffset, after: ClockOffset) -> ClockOffset:
    """Return the mean of two estimates of the clock offset, with an error that includes the drift of the clocks."""
    drift_ns = after.offset_ns - before.offset_ns
    return ClockOffset(
        offset_ns=before.offset_ns + drift_ns // 2,
        error_ns=max(before.error_ns, after.error_ns) + (abs(drift_ns) + 1) // 2,
    )


def overlap_faults(by_client: Sequence[Mapping[str, Any]], error_ns: int) -> list[Message]:
    """Return a fault if the clients' sending times overlap too little. All times are on one clock, +- *error_ns*."""
    spans = [(result["finished_ns"] - result["completion_ns"], result["finished_ns"]) for result in by_client]
    if len(spans) < 2:
        return []
    starts, ends = zip(*spans, strict=True)
    share = (min(ends) - max(starts) - 2 * error_ns) / max(1, max(ends) - min(starts))
    if share >= LEAST_OVERLAP:
        return []
    return [
        message(
            "all clients sent requests together for only {share:.0%} of the measured time, but at least {least:.0%} "
            "is required",
            share=max(0.0, share),
            least=LEAST_OVERLAP,
        )
    ]

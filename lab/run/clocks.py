"""The offset between the monotonic clocks of two hosts, and whether clients sent during the same
time.

lab/hosts/connection.py asks another host for its time, and estimates the offset before and after
the clients send. lab/run/cell_places.py converts times by these offsets. On this machine alone, the
offset is SAME_CLOCK. All times are of CLOCK_MONOTONIC (perf_counter_ns).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.messages import Message, message
from record.child_lines import ClientLine

# the share of the time from the first client's start to the last one's end, in which all must send
LEAST_OVERLAP = 0.8


@dataclass(frozen=True, kw_only=True)
class ClockOffset:
    """Another host's clock minus this host's clock, with an error of at most *error_ns*."""

    offset_ns: int
    error_ns: int

    def to_host_clock(self, here_ns: int) -> int:
        """Convert a time on this host's clock to the other host's clock."""
        return here_ns + self.offset_ns


SAME_CLOCK = ClockOffset(offset_ns=0, error_ns=0)


def estimate(sent_ns: int, there_ns: int, back_ns: int) -> ClockOffset:
    """Estimate the clock offset, assuming that the other clock was read in the middle of the round
    trip.

    sent_ns: when the question was sent; there_ns: the other clock's time; back_ns: when the answer
        came
    Source: RFC 5905, section 8.
    """
    return ClockOffset(
        offset_ns=there_ns - (sent_ns + back_ns) // 2, error_ns=(back_ns - sent_ns + 1) // 2
    )


def between(before: ClockOffset, after: ClockOffset) -> ClockOffset:
    """Return the mean of two estimates of the clock offset, with an error that includes the drift
    of the clocks.
    """
    drift_ns = after.offset_ns - before.offset_ns
    return ClockOffset(
        offset_ns=before.offset_ns + drift_ns // 2,
        error_ns=max(before.error_ns, after.error_ns) + (abs(drift_ns) + 1) // 2,
    )


def overlap_faults(by_client: Sequence[ClientLine], error_ns: int) -> list[Message]:
    """Return a fault if the clients sent at the same time for too short a time.

    All times are on one clock. *error_ns* is the most by which each of them may be wrong, so the
    overlap counts as shorter by twice as much.
    """
    if len(by_client) < 2:
        return []
    starts = [result.finished_ns - result.completion_ns for result in by_client]
    ends = [result.finished_ns for result in by_client]
    share = (min(ends) - max(starts) - 2 * error_ns) / max(1, max(ends) - min(starts))
    if share >= LEAST_OVERLAP:
        return []
    return [
        message(
            "all clients were sending requests at the same time for only {share:.0%} of the "
            "measured time, but at least {least:.0%} is required",
            share=max(0.0, share),
            least=LEAST_OVERLAP,
        )
    ]

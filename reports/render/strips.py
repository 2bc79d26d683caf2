"""Scales of strips, which are drawings in table lines: positions of values, and round values for ticks. Pure."""

from math import ceil, floor, log10

from reports.document.model import Strip

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def place(strip: Strip, value: float) -> float:
    """Return where *value* lies on the scale of a small drawing in a table, from 0 (left end) to 100 (right end).

    A value beyond an end of the scale is placed at this end.
    """
    held = min(max(value, strip.low), strip.high)
    if strip.high <= strip.low:
        return 50.0
    if strip.is_log:
        return 100 * log10(held / strip.low) / log10(strip.high / strip.low)
    return 100 * (held - strip.low) / (strip.high - strip.low)


def round_values(low: float, high: float, count: int = 6) -> list[float]:
    """Return about *count* round values between *low* and *high*, for the ticks of a linear scale."""
    if high <= low:
        return [low]
    rough = (high - low) / count
    size = 10.0 ** floor(log10(rough))
    step = next(size * factor for factor in STEPS if size * factor >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]

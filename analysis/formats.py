"""Format numbers: each kind of number has the same format everywhere in a report. Choose round
numbers for ticks.

The functions take raw values: ns, bytes, counts, or shares from 0 to 1. The numbers of all reports
go through them, so a change of one alters the expected outputs in tests/golden (`make golden`).
"""

from collections.abc import Callable
from math import ceil, floor, log10
from typing import NamedTuple

from core.messages import Message, message

Form = Callable[[float], str]  # formats a number as text
SMALL = 0.1  # a ratio or share below it is shown with more digits
LONG_NS = 1e7  # latencies from here on are shown in ms
MIB = 2**20
KIB = 2**10
# distances of ticks, as factors of a power of ten
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def scaled(template: str, unit: float = 1) -> Callable[[float], str]:
    """Return a function that formats a value with *template* after dividing it by *unit*."""
    return lambda value: template.format(value / unit)


milliseconds = scaled("{:,.2f}", 1e6)  # of ns
whole = scaled("{:,.0f}")  # a count or a rate: 14,717
tenths = scaled("{:,.1f}")
hundredths = scaled("{:.2f}")
thousandths = probability = scaled("{:.3f}")
percent = scaled("{:.1%}")  # of a share of 1
whole_percent = scaled("{:.0%}")
mib = scaled("{:,.1f}", MIB)  # of bytes, as the next
kib = scaled("{:,.1f}", KIB)


def seconds(value_ns: float) -> str:
    """Return nanoseconds as seconds, with the digits that are significant: '1.234', '123.4'."""
    value_s = value_ns / 1e9
    return f"{value_s:.3f}" if value_s < 100 else f"{value_s:,.1f}"


def duration(value_s: float) -> Message:
    """Return seconds as a rough duration: '45 s', '12 min' or '3.1 h'."""
    if value_s < 120:
        return message("{time:.0f} s", time=value_s)
    if value_s < 7200:
        return message("{time:.0f} min", time=value_s / 60)
    return message("{time:.1f} h", time=value_s / 3600)


def microseconds(value_ns: float) -> str:
    """Return nanoseconds as microseconds: '12.3', '1,234'."""
    value_us = value_ns / 1e3
    return f"{value_us:.1f}" if value_us < 100 else f"{value_us:,.0f}"


def three_digits(value_ns: float) -> str:
    """Return nanoseconds as milliseconds with three significant digits: '0.164',
    '12.3', '1,234'.
    """
    value_ms = value_ns / 1e6
    return f"{value_ms:.3g}" if value_ms < 100 else f"{value_ms:,.0f}"


class Scale(NamedTuple):
    """The unit in which numbers are shown: its name, its size in the unit of the numbers, and how
    they are written.
    """

    name: Message
    size: float
    form: Form


def latency_scale(most_ns: float) -> Scale:
    """Return the scale for latencies of which the longest is *most_ns*."""
    if most_ns < LONG_NS:
        return Scale(message("us"), 1e3, microseconds)
    if most_ns < LONG_NS * 1e3:
        return Scale(message("ms"), 1e6, three_digits)
    return Scale(message("s"), 1e9, seconds)


def ratio(value: float) -> str:
    """Return a ratio with its significant digits: '2.04', '0.057'."""
    return f"{value:.2f}" if value >= SMALL else f"{value:.2g}"


def size(value_bytes: float) -> str:
    """Return bytes with their unit: '512 B', '12.1 KiB', '24.3 MiB'."""
    if abs(value_bytes) < KIB:
        return f"{value_bytes:.0f} B"
    return f"{kib(value_bytes)} KiB" if abs(value_bytes) < MIB else f"{mib(value_bytes)} MiB"


def round_values(low: float, high: float, count: int = 6) -> list[float]:
    """Return about *count* round values from *low* to *high* (inclusive), for the ticks of a
    linear scale.
    """
    if high <= low:
        return [low]
    rough = (high - low) / count
    size = 10.0 ** floor(log10(rough))
    step = next(size * factor for factor in STEPS if size * factor >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]

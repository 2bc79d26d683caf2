"""How numbers are shown, each kind in one way everywhere. Pure."""

from collections.abc import Callable

from core.messages import Message, message

SMALL = 0.1
MIB = 2**20
KIB = 2**10


def scaled(template: str, unit: float = 1) -> Callable[[float], str]:
    """Return the form of a value in *unit*."""
    return lambda value: template.format(value / unit)


milliseconds = scaled("{:,.2f}", 1e6)  # of ns
whole = scaled("{:,.0f}")  # a count or a rate: 14,717
tenths = scaled("{:,.1f}")
hundredths = scaled("{:.2f}")
thousandths = probability = scaled("{:.3f}")
percent = scaled("{:.1%}")  # of a share of 1
whole_percent = scaled("{:.0%}")
mib = scaled("{:,.1f}", MIB)  # of bytes, as the next two
kib = scaled("{:,.1f}", KIB)
megabytes = scaled("{:.0f}", 1e6)


def seconds(value_ns: float) -> str:
    """Nanoseconds as seconds, with as many digits as a measurement bears."""
    value_s = value_ns / 1e9
    return f"{value_s:.3f}" if value_s < 100 else f"{value_s:,.1f}"


def duration(value_s: float) -> Message:
    """Seconds, roughly, as '45 s', '12 min' or '3.1 h'."""
    if value_s < 120:
        return message("{time:.0f} s", time=value_s)
    if value_s < 7200:
        return message("{time:.0f} min", time=value_s / 60)
    return message("{time:.1f} h", time=value_s / 3600)


def microseconds(value_ns: float) -> str:
    """Nanoseconds as microseconds."""
    value_us = value_ns / 1e3
    return f"{value_us:.1f}" if value_us < 100 else f"{value_us:,.0f}"


def ratio(value: float) -> str:
    """A ratio with as many digits as it bears: 2.04, 0.057."""
    return f"{value:.2f}" if value >= SMALL else f"{value:.2g}"


def times(value: float) -> str:
    """A ratio as a factor: × 1.69."""
    return f"× {ratio(value)}"


def size(value_bytes: float) -> str:
    """Bytes with their unit: 512 B, 12.1 KiB, 24.3 MiB."""
    if abs(value_bytes) < KIB:
        return f"{value_bytes:.0f} B"
    return f"{kib(value_bytes)} KiB" if abs(value_bytes) < MIB else f"{mib(value_bytes)} MiB"

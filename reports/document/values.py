"""How numbers are shown, each kind in one way everywhere. Pure."""

from core.messages import Message, message

SMALL = 0.1
MIB = 2**20
KIB = 2**10


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


def milliseconds(value_ns: float) -> str:
    """Nanoseconds as milliseconds."""
    return f"{value_ns / 1e6:,.2f}"


def whole(value: float) -> str:
    """A count or a rate: 14,717."""
    return f"{value:,.0f}"


def tenths(value: float) -> str:
    """One decimal: 45.1."""
    return f"{value:,.1f}"


def hundredths(value: float) -> str:
    """Two decimals, always: 0.98."""
    return f"{value:.2f}"


def thousandths(value: float) -> str:
    """Three decimals, always: 0.981."""
    return f"{value:.3f}"


def ratio(value: float) -> str:
    """A ratio with as many digits as it bears: 2.04, 0.057."""
    return f"{value:.2f}" if value >= SMALL else f"{value:.2g}"


def times(value: float) -> str:
    """A ratio as a factor: × 1.69."""
    return f"× {ratio(value)}"


def percent(value: float) -> str:
    """A share of 1: 6.2%."""
    return f"{value:.1%}"


def whole_percent(value: float) -> str:
    """A share of 1, roughly: 6%."""
    return f"{value:.0%}"


def probability(value: float) -> str:
    """A p."""
    return f"{value:.3f}"


def mib(value_bytes: float) -> str:
    """Bytes as MiB, without the unit."""
    return f"{value_bytes / MIB:,.1f}"


def kib(value_bytes: float) -> str:
    """Bytes as KiB, without the unit."""
    return f"{value_bytes / KIB:,.1f}"


def megabytes(value_bytes: float) -> str:
    """Bytes as MB (10**6), without the unit."""
    return f"{value_bytes / 1e6:.0f}"


def size(value_bytes: float) -> str:
    """Bytes with their unit: 512 B, 12.1 KiB, 24.3 MiB."""
    if abs(value_bytes) < KIB:
        return f"{value_bytes:.0f} B"
    return f"{kib(value_bytes)} KiB" if abs(value_bytes) < MIB else f"{mib(value_bytes)} MiB"

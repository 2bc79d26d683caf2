"""Strips: drawings within the lines of a table, as SVG. Widths are in percent and heights in pixels. Pure."""

from collections.abc import Sequence
from math import ceil, floor, log10

from markupsafe import Markup, escape

from reports.document.drawing import COUNT
from reports.document.model import Strip

HEIGHT = 22
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def place(strip: Strip, value: float) -> float:
    """Return the position of *value* in percent. Values beyond the scale are moved to its ends."""
    held = min(max(value, strip.low), strip.high)
    if strip.high <= strip.low:
        return 50.0
    if strip.is_log:
        return 100 * log10(held / strip.low) / log10(strip.high / strip.low)
    return 100 * (held - strip.low) / (strip.high - strip.low)


def drawn(strip: Strip) -> Markup:
    """Return a strip as SVG, or the labels of its scale if it has ticks."""
    if strip.ticks:
        return _svg(14, strip.tip, _ticks(strip))
    parts = [_rect(strip, *strip.band, "band", 0, HEIGHT)] if strip.band else []
    parts += [_upright(strip, value, kind, 0, HEIGHT) for value, kind in strip.lines]
    parts += [_rect(strip, start, end, kind, 4, 14) for start, end, kind in strip.bars]
    if strip.whisker:
        low, high = strip.whisker
        parts.append(_line(place(strip, low), place(strip, high), 11, 11, "whisker"))
        parts += [_upright(strip, end, "whisker", 7, 15) for end in strip.whisker if strip.low <= end <= strip.high]
    if strip.dot:
        value, kind = strip.dot
        parts.append(
            Markup('<circle cx="{:.2f}%" cy="11" r="4.5" class="estimate {}"/>').format(place(strip, value), kind)
        )
    if strip.look is not None:
        look = strip.look % COUNT
        parts += [
            Markup('<use href="#m{}" x="{:.2f}%" y="11" class="mark r{}"><title>{}</title></use>').format(
                look, place(strip, value), look, f"{value:,.4g}"
            )
            for value in strip.marks
        ]
    return _svg(HEIGHT, strip.tip, parts)


def _svg(height: int, label: str, parts: Sequence[Markup]) -> Markup:
    return Markup(
        '<svg class="strip" role="img" aria-label="{}" focusable="false" width="100%" height="{}">{}</svg>'
    ).format(label, height, Markup("").join(parts))


def _ticks(strip: Strip) -> list[Markup]:
    """Return the labels of a scale. Every second label, but never 1, is hidden on narrow screens."""
    kept = next((index for index, (_, text) in enumerate(strip.ticks) if text == "1"), 0) % 2
    return [
        Markup('<text x="{:.2f}%" y="11" class="{}">{}</text>').format(
            place(strip, value), "tick" if index % 2 == kept else "tick spare", text
        )
        for index, (value, text) in enumerate(strip.ticks)
    ]


def _rect(strip: Strip, start: float, end: float, kind: str, top: int, height: int) -> Markup:
    left, right = sorted((place(strip, start), place(strip, end)))
    fill = f' fill="url(#{escape(kind.rsplit(maxsplit=1)[-1])})"' if kind.startswith(("bar", "piece")) else ""
    return Markup('<rect x="{:.2f}%" width="{:.2f}%" y="{}" height="{}" class="{}"{}/>').format(
        left, max(right - left, 0.3), top, height, kind, Markup(fill)
    )


def _upright(strip: Strip, value: float, kind: str, top: int, bottom: int) -> Markup:
    return _line(place(strip, value), place(strip, value), top, bottom, kind)


def _line(left: float, right: float, top: int, bottom: int, kind: str) -> Markup:
    return Markup('<line x1="{:.2f}%" x2="{:.2f}%" y1="{}" y2="{}" class="{}"/>').format(left, right, top, bottom, kind)


def round_values(low: float, high: float, most: int = 6) -> list[float]:
    """Return about *most* round values between *low* and *high*, for the ticks of a linear scale."""
    if high <= low:
        return [low]
    rough = (high - low) / most
    size = 10.0 ** floor(log10(rough))
    step = next(size * factor for factor in STEPS if size * factor >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]

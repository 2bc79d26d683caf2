"""SVG that adapts to its place: across in per cent of the width, down in pixels, so that text keeps its size. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

Attribute = str | float | None
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
LOG_DIGITS = ((1, 2, 5), (1, 3), (1,))


class Html(str):
    """Text that is mark-up already. Templates and tag() write it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """What Jinja2 asks for before it escapes a value."""
        return str(self)


def text(value: str) -> Html:
    """Plain text as mark-up."""
    return Html(escape(value))


def tag(name: str, *children: Html, **attributes: Attribute) -> Html:
    """An element. Attributes that are None are left out; class_ is class, data_cells is data-cells."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>{''.join(children)}</{name}>")


def number(value: Attribute) -> str:
    """A length as short as a drawing needs it."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def percent(value: float) -> str:
    """A length across."""
    return f"{number(float(value))}%"


def joined(parts: Iterable[Html]) -> Html:
    """Elements one after the other."""
    return Html("".join(parts))


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Where values stand between *start* and *end*: per cent across, or pixels down."""

    low: float
    high: float
    start: float = 0.0
    end: float = 100.0
    is_log: bool = False

    def at(self, value: float) -> float:
        """The place of *value*; values beyond the ends stand at the ends."""
        held = min(max(value, self.low), self.high)
        if self.high <= self.low:
            return (self.start + self.end) / 2
        if self.is_log:
            share = log10(held / self.low) / log10(self.high / self.low)
        else:
            share = (held - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values between the ends, *most* or about as many."""
        return _log_ticks(self.low, self.high, most) if self.is_log else _ticks(self.low, self.high, most)


def _ticks(low: float, high: float, most: int) -> list[float]:
    if high <= low:
        return [low]
    rough = (high - low) / most
    size = 10.0 ** floor(log10(rough))
    step = next(size * one for one in STEPS if size * one >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    found: list[float] = []
    for digits in LOG_DIGITS:
        every = [digit * 10.0**decade for decade in decades for digit in digits]
        found = [round(one, 12) for one in every if low * 0.999 <= one <= high * 1.001]
        if len(found) <= most:
            break
    return found if len(found) > 1 else _ticks(low, high, most)


def path(points: Sequence[tuple[float, float]]) -> str:
    """The d of a line through *points*, whose x are per cent: in a box that is 1000 wide, without its decimals."""
    return "M" + "L".join(f"{round(x * 10)} {y:.1f}" for x, y in points)

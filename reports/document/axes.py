"""The axis of a parameter that varies, in every plot against one. Pure."""

from collections.abc import Sequence

from core.cell import PARAMETERS, Value
from core.messages import verbatim
from reports.document.model import Axis
from reports.rows.arrangement import value_text

LOG_FROM_RATIO = 8
MARGIN = 0.08
MOST_TICKS = 10


def places_of(values: Sequence[Value]) -> dict[Value, float]:
    """Where each value stands on the axis: at itself, or, if `none` is among them, one after the other."""
    numbers: dict[Value, float] = {value: float(value) for value in values if isinstance(value, int)}
    if len(numbers) == len(values):
        return numbers
    return {value: float(place) for place, value in enumerate([*sorted(numbers, key=numbers.__getitem__), None])}


def swept_axis(parameter: str, places: dict[Value, float]) -> Axis:
    """Logarithmic if the values span much; a label at each of them, if they are few. places: of the values."""
    low, high = min(places.values()), max(places.values())
    is_log = None not in places and low > 0 and high >= LOG_FROM_RATIO * low
    room = (high / low) ** MARGIN if is_log else MARGIN * (high - low)
    ticks = tuple((place, value_text(value)) for value, place in sorted(places.items(), key=lambda pair: pair[1]))
    return Axis(
        label=verbatim(PARAMETERS[parameter].label),
        low=low / room if is_log else low - room,
        high=high * room if is_log else high + room,
        is_log=is_log,
        ticks=ticks if len(ticks) <= MOST_TICKS else (),
    )

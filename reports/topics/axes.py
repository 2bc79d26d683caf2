"""The axis of a parameter that varies, in every plot against one. Pure."""

from collections.abc import Iterable, Mapping

from core.cell import Value
from core.messages import Message
from reports.document.drawing import Axis
from reports.facts.settings import value_text

LOG_FROM_RATIO = 8
MARGIN = 0.04
MOST_TICKS = 9


def places_of(values: Iterable[Value]) -> dict[Value, float]:
    """Where each value stands: at itself, or, if `none` is among them, one after the other."""
    different = list(dict.fromkeys(values))
    numbers = sorted(value for value in different if isinstance(value, int))
    if len(numbers) == len(different):
        return {value: float(value) for value in numbers}
    return {value: float(place) for place, value in enumerate([*numbers, None])}


def swept_axis(places: Mapping[Value, float], label: Message) -> Axis:
    """Logarithmic if the values span much; a label at each of them, if they are few."""
    low, high = min(places.values()), max(places.values())
    ticks = tuple((place, value_text(value)) for value, place in places.items()) if len(places) <= MOST_TICKS else ()
    if None not in places and low > 0 and high >= LOG_FROM_RATIO * low:
        room = (high / low) ** MARGIN
        return Axis(label=label, low=low / room, high=high * room, is_log=True, ticks=ticks)
    room = (high - low) * MARGIN
    return Axis(label=label, low=low - room, high=high + room, ticks=ticks)

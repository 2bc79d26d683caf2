"""The axis of a swept parameter, for the charts of topics."""

from collections.abc import Iterable, Mapping

from core.cell import Value
from core.messages import Message
from reports.document.model import Axis
from reports.facts.settings import value_text

LOG_FROM_RATIO = 8
MARGIN = 0.04
MOST_TICKS = 9


def places_of(values: Iterable[Value]) -> dict[Value, float]:
    """Return each parameter value's x position: the value itself, or its index if one of the values is no number."""
    different = [*dict.fromkeys(values)]
    numbers = sorted(value for value in different if type(value) is int)
    if len(numbers) == len(different):
        return {value: float(value) for value in numbers}
    others = [value for value in different if value not in numbers]
    return {value: float(place) for place, value in enumerate([*numbers, *others])}


def swept_axis(places: Mapping[Value, float], label: Message) -> Axis:
    """Return the x axis of a swept parameter: logarithmic for a wide range, with a tick per value for few values."""
    low, high = min(places.values()), max(places.values())
    ticks = tuple((place, value_text(value)) for value, place in places.items()) if len(places) <= MOST_TICKS else ()
    is_number = all(type(value) is int for value in places)
    if is_number and low > 0 and high >= LOG_FROM_RATIO * low:
        room = (high / low) ** MARGIN
        return Axis(label, low=low / room, high=high * room, is_log=True, ticks=ticks)
    room = (high - low) * MARGIN
    return Axis(label, low=low - room, high=high + room, ticks=ticks)

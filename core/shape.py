"""What a value of a JSON file must be: kinds with bounds. A misfit names place, value seen and what is accepted.

A kind is a function that raises Misfit, so that kinds are put together from kinds.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from reprlib import Repr
from typing import Any

from core.cell import PARAMETERS
from core.histogram import Histogram
from core.messages import Message, formatted, listed, message

Kind = Callable[[Any], None]

LARGEST = 2**63 - 1
SHOWN_CHARACTERS = 60
DEEPEST_MESSAGE = 16


class Misfit(Exception):
    """A value that is not of its kind. place: keys and positions, the innermost last."""

    def __init__(self, value: str, accepted: Message) -> None:
        super().__init__(value)
        self.value = value
        self.accepted = accepted
        self.place: list[str | int] = []

    @property
    def key(self) -> str:
        """Where it stands: cells[3].clients[0].completion_ns."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{shown_key(part)}" for part in self.place)
        return "".join(parts).removeprefix(".")


class _Short(Repr):
    """repr() that is short and safe for values of any size and depth."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = SHOWN_CHARACTERS


_SHORT = _Short()


def shown(value: Any) -> str:
    """*value* in few printable characters."""
    text = _SHORT.repr(value)
    return text if len(text) <= 2 * SHOWN_CHARACTERS else text[: 2 * SHOWN_CHARACTERS] + "..."


def shown_key(key: str) -> str:
    """A key of an object as it is, if it is plain; else quoted and short."""
    return key if len(key) <= SHOWN_CHARACTERS and key.isprintable() else shown(key)


def _require(fits: bool, value: Any, accepted: Message) -> None:
    if not fits:
        raise Misfit(shown(value), accepted)


def inside(key: str | int, kind: Kind, value: Any) -> None:
    """Check *value* of an object or a list, which stands there under *key*."""
    try:
        kind(value)
    except Misfit as misfit:
        misfit.place.insert(0, key)
        raise


def whole(low: int = 0, high: int = LARGEST) -> Kind:
    """A whole number in these bounds; true and false are none."""
    accepted = message("a whole number from {low} to {high}", low=low, high=high)
    return lambda value: _require(type(value) is int and low <= value <= high, value, accepted)


def choice(*words: str) -> Kind:
    """One of these words."""
    accepted = message("one of {choices}", choices=listed(words))
    return lambda value: _require(type(value) is str and value in words, value, accepted)


def number(value: Any) -> None:
    """A number that is finite and whose square is, too: it is reckoned with."""
    fits = type(value) in (int, float) and abs(value) < 1e100 and isfinite(value)
    _require(fits, value, message("a number"))


def share(value: Any) -> None:
    """A share above 0 and below 1."""
    _require(type(value) in (int, float) and 0 < value < 1, value, message("a number above 0 and below 1"))


def text(value: Any) -> None:
    """Text."""
    _require(type(value) is str, value, message("text"))


def flag(value: Any) -> None:
    """true or false."""
    _require(type(value) is bool, value, message("true or false"))


def mapping(value: Any) -> None:
    """An object, whatever is in it."""
    _require(type(value) is dict, value, message("an object"))


def nullable(kind: Kind) -> Kind:
    """null, or what *kind* accepts."""
    return lambda value: None if value is None else kind(value)


def array(kind: Kind, length: int | None = None) -> Kind:
    """A list of such values; of *length*, if it is given."""

    def check(value: Any) -> None:
        _require(type(value) is list and length in (None, len(value)), value, message("a list"))
        for position, item in enumerate(value):
            inside(position, kind, item)

    return check


def by_name(kind: Kind) -> Kind:
    """An object whose values are all of *kind*."""

    def check(value: Any) -> None:
        mapping(value)
        for key, item in value.items():
            inside(key, kind, item)

    return check


def record(must: Mapping[str, Kind] | None = None, may: Mapping[str, Kind] | None = None) -> Kind:
    """An object that has the keys of *must*, and where it has those of *may*, they are of their kind."""
    needed, known = must or {}, {**(must or {}), **(may or {})}

    def check(value: Any) -> None:
        mapping(value)
        for key in needed:
            if key not in value:
                misfit = Misfit("missing", message("there"))
                misfit.place.append(key)
                raise misfit
        for key, kind in known.items():
            if key in value:
                inside(key, kind, value[key])

    return check


def sentence(value: Any) -> None:
    """A message as Message.to_json() writes it, or text as earlier versions had it, that can be put into words."""
    fits = type(value) is str or (type(value) is dict and _is_message(value, DEEPEST_MESSAGE))
    _require(fits, value, message("a message"))


def _is_message(value: Mapping[str, Any], depth: int) -> bool:
    args = value.get("args", {})
    texts = all(type(value.get(key, "")) is str for key in ("msgid", "plural", "code", "text"))
    if not (texts and depth and type(args) is dict):
        return False
    if not all(_is_message(arg, depth - 1) if type(arg) is dict else type(arg) in _PLAIN for arg in args.values()):
        return False
    try:
        told = {name: "" if type(arg) is dict else arg for name, arg in args.items()}
        return bool(value.get("text")) or formatted(Message.from_json(value).template, told) is not None
    except (KeyError, ValueError, IndexError, TypeError):
        return False


_PLAIN = (str, int, float, bool, type(None))


def histogram(value: Any) -> None:
    """What Histogram.to_json() writes; {} where there is none."""
    mapping(value)
    try:
        if value:
            Histogram.check(value)
    except ValueError as error:
        raise Misfit(str(error), message("a histogram")) from error
    if value and value["count"]:
        _SUMMARY(value)


_SUMMARY = record(
    dict.fromkeys(("mean_ns", "p50_ns"), whole()), dict.fromkeys(("p90_ns", "p99_ns", "p999_ns"), whole())
)


def parameters(value: Any) -> None:
    """Values by parameter, each of the parameter's type; those of parameters that are not known are plain."""
    mapping(value)
    for name, given in value.items():
        known = PARAMETERS.get(name)
        if known is None:
            inside(name, _plain, given)
        elif not (given is None and (known.optional or known.same_as)) and not known.accepts(given):
            misfit = Misfit(shown(given), known.accepted)
            misfit.place.append(name)
            raise misfit


def _plain(value: Any) -> None:
    _require(type(value) in _PLAIN, value, message("a plain value"))

"""Decode JSON from files and children, checked once against the types of record.child_lines.

Only the orchestrator imports this module, because it needs msgspec.

lab/run/contract.py, lab/hosts, config/ and record/run_file.py call decoded(). What it returns has
valid types and bounds; that values agree with each other, its callers check.
"""

import re
from dataclasses import is_dataclass
from reprlib import Repr
from typing import Any, TypeVar

import msgspec

from core.cell import PARAMETERS
from core.histogram import Histogram, SparseHistogram
from core.messages import LONGEST_TEXT, BadInput, Json, Message, formatted
from record.child_lines import Summary

Kind = TypeVar("Kind")
SHOWN_CHARACTERS = 60  # of a wrong value in an error
MOST = 1e100  # for numbers whose type declares no bound
CONTAINERS = (dict, list, tuple)  # of JSON values, or of what they became
DEEPEST = 110  # nested lists; the stacks of a profile need many
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<place>\d+)\]|(?P<any>\[\.\.\.\])")


class Misfit(Exception):
    """The error of a value that does not fit its declared type.

    place: where the value is, such as cells[3].clients[0].completion_ns
    value: the value as short text
    """

    def __init__(self, place: str, value: Any, wanted: str) -> None:
        super().__init__(f"{place} is {shown(value)}: {wanted}")
        self.place = place.removeprefix(".")
        self.value = shown(value)
        self.wanted = wanted


def decoded(value: Any, kind: type[Kind], place: str = "", *, all_known: bool = True) -> Kind:
    """Convert the JSON value *value* to *kind*. Raises Misfit for a wrong type or a message that
    cannot be formatted.

    place:     where the value is, for errors
    all_known: whether a key that *kind* does not declare is an error
    """
    try:
        made = msgspec.convert(value, kind, dec_hook=decode_special)
        if isinstance(value, CONTAINERS):
            _check(value, made, place, all_known)
    except msgspec.ValidationError as error:
        raise _misfit(value, str(error), place) from None
    except RecursionError:
        raise Misfit(place, value, "a value with less nesting") from None
    return made


def decode_special(kind: type[Kind], value: Any) -> Kind:
    """Convert a JSON value to one of the types that msgspec does not know: RuntimeName, or
    Histogram. Raises ValueError for a value that does not fit.
    """
    if issubclass(kind, Histogram):
        return _histogram(value)  # type: ignore[return-value]
    try:
        return kind(value)  # type: ignore[call-arg]
    except (BadInput, TypeError) as error:
        raise ValueError(str(error)) from None


def _histogram(value: Any) -> Histogram:
    """Return the histogram that Histogram.to_json() encoded; an empty one for an empty object."""
    if value == {}:
        return SparseHistogram()
    try:
        return SparseHistogram.from_json(msgspec.convert(value, Summary))
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    except (KeyError, ValueError) as error:
        raise ValueError(f"Expected a valid histogram ({error})") from None


def expect_words(made: Message, place: str) -> None:
    """Raise Misfit if the message *made* cannot be formatted: its arguments do not fit, or its text
    is too long.
    """
    try:
        if len(formatted(made.template, made.args)) >= LONGEST_TEXT:
            raise Misfit(
                f"{place}.msgid", made.msgid, f"a message of less than {LONGEST_TEXT} characters"
            )
    except (KeyError, ValueError, IndexError, TypeError, RecursionError):
        raise Misfit(f"{place}.msgid", made.msgid, "a message whose arguments fit it") from None


def expect_parameters(values: Json, place: str) -> None:
    """Raise Misfit if *values*, parameter values by name, contains a value that its parameter does
    not accept.
    """
    for name, value in values.items():
        known = PARAMETERS.get(name)
        if known and not known.accepts(value):
            raise Misfit(f"{place}.{name}", value, str(known.accepted))


def _misfit(value: Any, said: str, place: str) -> Misfit:
    """Convert an error of msgspec, such as "Expected `int` >= 1 - at `$.cells[2].completion_ns`",
    to a Misfit.

    In a mapping with free keys, msgspec prints `[...]` in place of the key.
    """
    wanted, *places = said.split(" - at ")  # of a histogram, its place follows the one in it
    steps = "".join(inner.strip("`").removeprefix("$") for inner in reversed(places))
    for step in _STEP.finditer(steps):
        if step["any"]:
            break
        key: Any = step["key"] if step["key"] else int(step["place"])
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            break
        place += step[0]
    expected = wanted.removeprefix("Expected ")
    return Misfit(place, value, f"valid: {wanted}" if expected == wanted else expected)


def _check(given: Any, made: Any, place: str, all_known: bool) -> None:
    """Raise Misfit for faults of a JSON value that a check of its types does not find, such as
    unknown keys.

    given: the JSON value
    made: the object to which it was decoded
    """
    if place.count("[") > DEEPEST:
        raise Misfit(place[:SHOWN_CHARACTERS], given, "a value with less nesting")
    if isinstance(made, Message):
        expect_words(made, place)
    if place.endswith(".params"):
        expect_parameters(given, place)
    taken = _parts(made, given)
    is_object = isinstance(given, dict)
    for key, value in given.items() if is_object else enumerate(given):
        if is_object and key not in taken:
            if all_known:
                raise Misfit(place + _step(key), value, "a known key")
        elif isinstance(value, CONTAINERS):
            _check(value, taken[key], place + _step(key), all_known)
        elif isinstance(value, int | float) and abs(value) > MOST:
            raise Misfit(place + _step(key), value, f"a number up to {MOST:g}")


def _parts(made: Any, given: Any) -> Any:
    """Return the parts of a decoded object by key. *given* is its JSON value."""
    if isinstance(made, Histogram):
        return msgspec.convert(given, Summary)
    if isinstance(made, msgspec.Struct):
        return msgspec.structs.asdict(made)
    return vars(made) if is_dataclass(made) else made


def _step(key: str | int) -> str:
    return f"[{key}]" if isinstance(key, int) else f".{shown_key(key)}"


_SHORT = Repr()  # shortens values of any size and depth
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = SHOWN_CHARACTERS


def shown(value: Any) -> str:
    """Return *value* as short, printable text."""
    text = _SHORT.repr(value)
    return text if len(text) <= 2 * SHOWN_CHARACTERS else text[: 2 * SHOWN_CHARACTERS] + "..."


def shown_key(key: str) -> str:
    """Return the key of an object: unchanged if the key is short and printable, else quoted and
    shortened.
    """
    return key if len(key) <= SHOWN_CHARACTERS and key.isprintable() else shown(key)

"""JSON from outside, checked once against a type of core.record. Only the orchestrator imports this: msgspec."""

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from reprlib import Repr
from typing import Any, TypeVar

import msgspec

from core.messages import Message

Kind = TypeVar("Kind")
SHOWN_CHARACTERS = 60
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<place>\d+)\]|(?P<any>\[\.\.\.\])")


class Misfit(Exception):
    """A value that is not what it must be. place: such as cells[3].clients[0].completion_ns; value: as text"""

    def __init__(self, place: str, value: Any, wanted: str) -> None:
        super().__init__(f"{place} is {shown(value)}: {wanted}")
        self.place = place
        self.value = shown(value)
        self.wanted = wanted


def decoded(value: Any, kind: type[Kind], *, all_known: bool = True) -> Kind:
    """Return *value*, which is plain JSON, as *kind*. Raises Misfit, also for a message that cannot be put into words.

    all_known: whether a key that *kind* does not declare is an error
    """
    try:
        made = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _misfit(value, str(error)) from None
    except RecursionError:
        raise Misfit("", value, "nested too deep") from None
    if (unknown := _unknown(value, made)) and all_known:
        raise Misfit(unknown.removeprefix("."), _at(value, unknown)[1], "a key that is not known")
    return made


def sentence(value: Any) -> Message:
    """Return a message from outside. Raises Misfit."""
    return decoded(value, Message)


def _misfit(value: Any, said: str) -> Misfit:
    """msgspec says "Expected `int` >= 1 - at `$.cells[2].completion_ns`"; where keys are names it says `[...]`."""
    wanted, _, place = said.partition(" - at ")
    key, found = _at(value, place.strip("`").partition("$")[2])
    return Misfit(key, found, wanted)


def _at(value: Any, place: str) -> tuple[str, Any]:
    """How far *place* leads in *value*, and what is there."""
    went = ""
    for step in _STEP.finditer(place):
        if step["any"]:
            break
        key: Any = step["key"] if step["key"] else int(step["place"])
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            break
        went += step[0]
    return went.removeprefix("."), value


def _unknown(given: Any, made: Any) -> str:
    """Where *given* has a key that *made* did not take; empty if nowhere."""
    if isinstance(made, Message):
        _expect_words(made)
    if is_dataclass(made):
        made = vars(made)
    if isinstance(made, Mapping):
        for key, value in given.items():
            if key not in made:
                return f".{shown_key(key)}"
            if deeper := _unknown(value, made[key]):
                return f".{shown_key(key)}{deeper}"
    elif isinstance(made, list | tuple):
        for number, (value, taken) in enumerate(zip(given, made, strict=True)):
            if deeper := _unknown(value, taken):
                return f"[{number}]{deeper}"
    return ""


def _expect_words(made: Message) -> None:
    try:
        str(made)
    except (KeyError, ValueError, IndexError, TypeError, RecursionError):
        raise Misfit("msgid", made.msgid, "a message whose arguments fit it") from None


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

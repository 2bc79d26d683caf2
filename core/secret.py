"""Values that are written nowhere: of headers, environment, bodies, queries. Only a child's first line has them."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

HIDDEN = "..."


class Secret:
    """A text with parts that are not to be seen. str() and JSON have `shown`, in which these are `...`.

    name: the flag that gives it, as messages name it: "--header Authorization"
    """

    __slots__ = ("_value", "name", "shown")

    def __init__(self, shown: str, *, name: str, value: str | None = None) -> None:
        self.shown = shown
        self.name = name
        self._value = value

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Secret({self.shown!r}, name={self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and (self.key, self._value) == (other.key, other._value)

    def __hash__(self) -> int:
        return hash(self.key)

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, memo: object) -> "Secret":
        return self

    @property
    def key(self) -> tuple[str, str]:
        """What a file keeps of it."""
        return self.name, self.shown

    def reveal(self) -> str:
        """The text itself, for a child. Raises ValueError for one from a file, which does not have it."""
        if self._value is None:
            raise ValueError(f"the value of {self.name} is not known")
        return self._value

    def to_json(self) -> dict[str, str]:
        """For a file."""
        return {"hidden": self.shown, "name": self.name}


Text = str | Secret


def revealed(text: Text) -> str:
    """A text as it is sent."""
    return text.reveal() if isinstance(text, Secret) else text


def line_for_child(line: Mapping[str, Any]) -> str:
    """JSON in which secrets are what they are: the one place where they leave this process."""
    return json.dumps(line, default=revealed)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a JSON value in which *change* has replaced every part, outer parts first."""
    value = change(value)
    if isinstance(value, Mapping):
        return {name: mapped(part, change) for name, part in value.items()}
    return [mapped(part, change) for part in value] if isinstance(value, list | tuple) else value


def for_file(value: Any) -> Any:
    """Return a JSON value whose secrets are hidden."""
    return mapped(value, lambda part: part.to_json() if isinstance(part, Secret) else part)


def from_file(value: Any, known: Iterable[Secret] = ()) -> Any:
    """What for_file made, with secrets again. known: those whose values were given again, in the order of the file.

    One that is known once stands for all that have its name and show the same.
    """
    values = defaultdict[tuple[str, str], list[Secret]](list)
    for secret in known:
        values[secret.key].append(secret)

    def with_secret(part: Any) -> Any:
        if not isinstance(part, Mapping) or part.keys() != {"hidden", "name"}:
            return part
        stored = Secret(str(part["hidden"]), name=str(part["name"]))
        same = values[stored.key] or [stored]
        return same.pop(0) if len(same) > 1 else same[0]

    return mapped(value, with_secret)


def secrets_in(value: Any) -> Iterator[Secret]:
    """Every secret in a value, however deep."""
    parts: Iterable[Any] = value if isinstance(value, list | tuple) else ()
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, Mapping):
        parts = value.values()
    elif is_dataclass(value):
        parts = vars(value).values()
    for part in parts:
        yield from secrets_in(part)

"""Values that are written nowhere: of headers, environment, bodies, queries. Only a child's first line has them."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
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


def for_file(value: Any) -> Any:
    """A JSON value whose secrets are hidden."""
    if isinstance(value, Secret):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: for_file(part) for name, part in value.items()}
    return [for_file(part) for part in value] if isinstance(value, list | tuple) else value


def from_file(value: Any, known: Iterable[Secret] = ()) -> Any:
    """What for_file made, with secrets again. known: those whose values were given again, in the order of the file.

    One that is known once stands for all that have its name and show the same.
    """
    values = defaultdict[tuple[str, str], list[Secret]](list)
    for secret in known:
        values[secret.key].append(secret)
    return _with_secrets(value, values)


def _with_secrets(value: Any, known: Mapping[tuple[str, str], list[Secret]]) -> Any:
    if isinstance(value, list):
        return [_with_secrets(part, known) for part in value]
    if not isinstance(value, Mapping):
        return value
    if value.keys() != {"hidden", "name"}:
        return {name: _with_secrets(part, known) for name, part in value.items()}
    stored = Secret(str(value["hidden"]), name=str(value["name"]))
    same = known.get(stored.key) or [stored]
    return same.pop(0) if len(same) > 1 else same[0]


def secrets_in(value: Any) -> Iterator[Secret]:
    """Every secret in a value, however deep."""
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, Mapping):
        yield from secrets_in(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from secrets_in(part)
    elif is_dataclass(value):
        yield from secrets_in(tuple(getattr(value, field.name) for field in fields(value)))

"""Secrets: values of headers, environment variables, bodies and queries that are passed to children and never saved."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

HIDDEN = "..."


class Secret:
    """A text that contains secret parts. str() and JSON have only `shown`, in which the secret parts are `...`.

    name: the flag that gives the secret, as messages name it: "--header Authorization"
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
        """Return the two texts that a file stores in place of the secret: the secret's name and its masked text."""
        return self.name, self.shown

    def reveal(self) -> str:
        """Return the text with its secrets, for a child process. Raises ValueError if they are not known.

        They are not known if the object was read from a file, because files contain only the masked text.
        """
        if self._value is None:
            raise ValueError(f"the value of {self.name} is not known")
        return self._value

    def to_json(self) -> dict[str, str]:
        """Return the JSON that a file stores in place of the secret."""
        return {"hidden": self.shown, "name": self.name}


Text = str | Secret


def revealed(text: Text) -> str:
    """Return *text* as a plain string that includes its secrets."""
    return text.reveal() if isinstance(text, Secret) else text


def line_for_child(line: Mapping[str, Any]) -> str:
    """Encode *line* as JSON with its secrets. Only this function passes secrets to other processes."""
    return json.dumps(line, default=revealed)


def map_json(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a JSON value in which *change* has replaced every value, outer values before inner values."""
    value = change(value)
    if isinstance(value, Mapping):
        return {name: map_json(part, change) for name, part in value.items()}
    return [map_json(part, change) for part in value] if isinstance(value, list | tuple) else value


def for_file(value: Any) -> Any:
    """Return the JSON value *value* with its secrets hidden."""
    return map_json(value, lambda part: part.to_json() if isinstance(part, Secret) else part)


def from_file(value: Any, known: Iterable[Secret] = ()) -> Any:
    """Return a JSON value from a file, with a Secret object in place of each secret that for_file() hid.

    known: secrets whose values the user gave again, in the order of the file. If a name and shown text is given only
        once, that secret is used wherever they occur
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

    return map_json(value, with_secret)


def secrets_in(value: Any) -> Iterator[Secret]:
    """Yield every secret in *value*, at any depth."""
    parts: Iterable[Any] = value if isinstance(value, list | tuple) else ()
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, Mapping):
        parts = value.values()
    elif is_dataclass(value):
        parts = vars(value).values()
    for part in parts:
        yield from secrets_in(part)

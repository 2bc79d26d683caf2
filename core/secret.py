"""Values that are written nowhere: of headers, environment, bodies, queries. Only a child's first line has them."""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from core.secret_key import key, key_id

HIDDEN = "..."


class Secret:
    """A text with parts that are not to be seen. str() and JSON have `shown`, in which these are `...`.

    name: the flag that gives it, as messages name it: "--header Authorization"
    """

    __slots__ = ("_digest", "_value", "name", "shown")

    def __init__(self, shown: str, *, name: str, value: str | None = None, digest: str = "") -> None:
        self.shown = shown
        self.name = name
        self._value = value
        self._digest = digest

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Secret({self.shown!r}, name={self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and (self.name, self.digest) == (other.name, other.digest)

    def __hash__(self) -> int:
        return hash((self.name, self.digest))

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, memo: object) -> "Secret":
        return self

    @property
    def digest(self) -> str:
        """Tells whether it is the same value as before, to nobody but who has the key (core.secret_key)."""
        if not self._digest:
            made = hmac.new(key(), self.reveal().encode(errors="surrogatepass"), hashlib.sha256).hexdigest()[:32]
            self._digest = f"{key_id()}:{made}"
        return self._digest

    def reveal(self) -> str:
        """The text itself, for a child. Raises ValueError for one from a file, which does not have it."""
        if self._value is None:
            raise ValueError(f"the value of {self.name} is not known")
        return self._value

    def to_json(self) -> dict[str, str]:
        """For a file."""
        return {"hidden": self.shown, "name": self.name, "digest": self.digest}


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


def from_file(value: Any, values: Mapping[str, str] | None = None) -> Any:
    """What for_file made, with secrets again. values: what is known of them again, by digest."""
    if isinstance(value, Mapping):
        if value.keys() == {"hidden", "name", "digest"}:
            digest = str(value["digest"])
            known = (values or {}).get(digest)
            return Secret(str(value["hidden"]), name=str(value["name"]), value=known, digest=digest)
        return {name: from_file(part, values) for name, part in value.items()}
    return [from_file(part, values) for part in value] if isinstance(value, list) else value


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

"""Secrets: values of headers, environment variables, bodies and queries that are passed to children
and never saved.

In services' answers and children's output, `...` replaces them.

config/ makes a Secret of a flag or key, and it stays one until line_for_child() writes a child's
first line. reveal() must not reach a file, a message or the terminal: files get for_file(). lab/run
cleans all that services and clients say with a Redactor.
"""

import base64
import binascii
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, unquote_plus

from core.messages import Json, Message

HIDDEN = "..."


class Secret:
    """A text that contains secret parts. str() and JSON have only `shown`, in which the secret
    parts are `...`.

    name: the flag that gives the secret, as messages name it: "--header Authorization"
    """

    __slots__ = ("_value", "name", "shown")

    def __init__(self, shown: str, *, name: str, value: str | None = None) -> None:
        self.shown = shown
        self.name = name
        self._value = value

    def __str__(self) -> str:
        return self.shown

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and (self.key, self._value) == (other.key, other._value)

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[str, str]:
        """Return the two texts that a file stores in place of the secret: the secret's name and its
        masked text.
        """
        return self.name, self.shown

    def reveal(self) -> str:
        """Return the text with its secrets, for a child process. Raises ValueError if they are not
        known.

        They are not known if the object was read from a file, because files contain only the masked
        text.
        """
        if self._value is None:
            raise ValueError(f"the value of {self.name} is not known")
        return self._value


Text = str | Secret


def revealed(text: Text) -> str:
    """Return *text* as a plain string that includes its secrets."""
    return text.reveal() if isinstance(text, Secret) else text


def line_for_child(line: Json) -> str:
    """Encode *line* as JSON with its secrets. Only this function passes secrets to
    other processes.
    """
    return json.dumps(line, default=revealed)


def map_json(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a JSON value in which *change* has replaced every value, outer values before
    inner values.
    """
    value = change(value)
    if isinstance(value, Mapping):
        return {name: map_json(part, change) for name, part in value.items()}
    return [map_json(part, change) for part in value] if isinstance(value, list | tuple) else value


def for_file(value: Any) -> Any:
    """Return the JSON value *value* with its secrets hidden."""
    return map_json(value, _hidden)


def _hidden(part: Any) -> Any:
    return {"hidden": part.shown, "name": part.name} if isinstance(part, Secret) else part


def from_file(value: Any, known: Iterable[Secret] = ()) -> Any:
    """Return a JSON value from a file, with a Secret object in place of each secret that for_file()
    hid.

    known: secrets whose values the user gave again, in the order of the file. If a name and shown
        text is given only once, that secret is used wherever they occur
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
    return (part for part in _values_in(value) if isinstance(part, Secret))


def _values_in(value: Any) -> Iterator[Any]:
    """Yield *value* and all values in it, at any depth, if it is a list, a mapping or
    a dataclass.
    """
    yield value
    parts: Iterable[Any] = value if isinstance(value, list | tuple) else ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif is_dataclass(value):
        parts = vars(value).values()
    for part in parts:
        yield from _values_in(part)


def as_printed(text: str) -> str:
    """Return *text* with a space in place of each character that cannot be printed."""
    return "".join(map(_printed, text))


def _printed(character: str) -> str:
    return character if character.isprintable() else " "


SHORTEST = 4  # characters; hiding shorter secrets would hide parts of other words
# User name and password of a URL. A password may contain @, and / ? # although a URL should not
# have them there.
USERINFO = re.compile(
    r"(?<=//)(?:[^\s:/?#@\"'<>]{1,999}:[^\s\"'<>]{0,999}|[^\s/?#\"'<>]{1,999})(?=@)"
)
# name=value pairs of a form, a query or cookies
_PAIRS = re.compile(r"[^\s=&;]+=[^\s&;]*([&;]\s*[^\s=&;]+=[^\s&;]*)*")


class Redactor:
    """A filter that hides known secrets of at least SHORTEST characters, and the user name and
    password of any URL, in texts, messages and JSON values. Keys of mappings stay.

    cut_from: texts of at least so many characters may have been cut within a secret; 0: all may
    """

    def __init__(self, secrets: Iterable[str], cut_from: int = 0) -> None:
        self._cut_from = cut_from
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= SHORTEST}
        self._forms = sorted(forms, key=len, reverse=True)
        self._whole = re.compile("|".join(map(re.escape, self._forms))) if forms else None

    def text(self, text: str) -> str:
        """Return *text* without secrets, and without parts of a secret where the text was cut."""
        may_be_cut = len(text) >= self._cut_from  # before the text becomes shorter
        text = USERINFO.sub(HIDDEN, text)
        if self._whole is None:
            return text
        text = self._whole.sub(HIDDEN, text)
        for form in self._forms if may_be_cut else ():
            text = _without_cut(text, form)
        return text

    def message(self, message: Message) -> Message:
        """Return *message* with secrets removed from its arguments."""
        args = {name: self._clean(arg) for name, arg in message.args.items()}
        clean = replace(message, args=args, text="")
        with suppress(KeyError, ValueError, IndexError):
            # str() raises if the cleaned arguments no longer fit the template
            if message.msgid and str(clean) is not None:
                return clean
        return replace(clean, text=self.text(message.text))

    def json(self, value: Any) -> Any:
        """Return the JSON value *value* with secrets removed from its texts."""
        return map_json(value, self._clean)

    def _clean(self, value: Any) -> Any:
        if isinstance(value, Message):
            return self.message(value)
        return self.text(value) if isinstance(value, str) else value


def _without_cut(text: str, form: str) -> str:
    """Hide the beginning or end of a secret that remains in *text*, if *text* was cut within the
    secret.

    form: the secret, as it is or encoded, for example quoted for a URL
    """
    for length in range(min(len(form) - 1, len(text)), SHORTEST - 1, -1):
        if form[:length] + HIDDEN in text:
            text = text.replace(form[:length] + HIDDEN, HIDDEN)
        bare = text.rstrip(".'\"")  # dots or a quote may stand after the place of the cut
        if bare.endswith(form[:length]):
            text = bare[:-length] + HIDDEN
        if text.startswith(form[-length:]):
            text = HIDDEN + text[length:]
    return text


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret and its parts, each plain, as printed, quoted for URLs, as JSON and as a
    Python literal.
    """
    for part in {secret, secret.strip(), *_parts(secret)}:
        yield from (
            part,
            as_printed(part),
            unquote(part),
            unquote_plus(part),
            quote(part, errors="replace"),
        )
        yield from (
            quote(part, safe="", errors="replace"),
            json.dumps(part)[1:-1],
            repr(part)[1:-1],
        )


def _parts(secret: str) -> Iterator[str]:
    """Yield parts of a secret that a service may repeat without the rest, such as the password in a
    URL.

    These are a token without its scheme, and the values of cookies, forms, JSON and URLs.
    """
    scheme, _, token = secret.strip().partition(" ")
    if token and " " not in token:
        yield token
        with suppress(binascii.Error, ValueError):
            user, _, password = base64.b64decode(token, validate=True).decode().partition(":")
            yield from (f"{user}:{password}", password) if scheme.lower() == "basic" else ()
    query = secret.partition("?")[2] or secret
    if _PAIRS.fullmatch(query):
        yield from (value for _, value in parse_qsl(query.replace(";", "&")))
    for userinfo in USERINFO.findall(secret):
        yield from (userinfo, userinfo.partition(":")[2])
    with suppress(ValueError, RecursionError):
        for value in _values_in(json.loads(secret)):
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                yield str(value)

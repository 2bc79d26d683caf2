"""Replace secrets in services' answers and children's output by `...`."""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, unquote_plus

from core.messages import Arg, Message
from core.secret import HIDDEN, map_json

SHORTEST = 4
USERINFO = re.compile(r"(?<=//)[^\s/?#@\"'<>]+(?=@)")
_PAIRS = re.compile(r"[^\s=&;]+=[^\s&;]*([&;]\s*[^\s=&;]+=[^\s&;]*)*")


class Redactor:
    """A filter that removes known secrets from texts, messages and JSON values."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= SHORTEST}
        self._forms = sorted(forms, key=len, reverse=True)
        self._whole = re.compile("|".join(map(re.escape, self._forms))) if forms else None

    def text(self, text: str) -> str:
        """Return *text* without secrets, and without parts of a secret where the text was cut."""
        text = USERINFO.sub(HIDDEN, text)
        if self._whole is None:
            return text
        text = self._whole.sub(HIDDEN, text)
        for form in self._forms:
            text = _without_cut(text, form)
        return text

    def message(self, message: Message) -> Message:
        """Return *message* with secrets removed from its arguments."""
        args = {name: self._arg(arg) for name, arg in message.args.items()}
        clean = replace(message, args=args, text="")
        with suppress(KeyError, ValueError, IndexError):
            if message.msgid and str(clean) is not None:
                return clean
        return replace(clean, text=self.text(message.text))

    def json(self, value: Any) -> Any:
        """Return the JSON value *value* with secrets removed from its texts."""
        return map_json(value, lambda part: self.text(part) if isinstance(part, str) else part)

    def _arg(self, arg: Arg) -> Arg:
        if isinstance(arg, Message):
            return self.message(arg)
        return self.text(arg) if isinstance(arg, str) else arg


def _without_cut(text: str, form: str) -> str:
    """Hide the beginning or end of a secret that remains in *text*, if *text* was cut within the secret.

    form: the secret, as it is or encoded, for example quoted for a URL
    """
    for length in range(min(len(form) - 1, len(text)), SHORTEST - 1, -1):
        if form[:length] + HIDDEN in text:
            text = text.replace(form[:length] + HIDDEN, HIDDEN)
        bare = text.rstrip(".'\"")
        if bare.endswith(form[:length]):
            text = bare[:-length] + HIDDEN
        if text.startswith(form[-length:]):
            text = HIDDEN + text[length:]
    return text


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret and its parts, each plain, as printed, quoted for URLs, as JSON and as a Python literal."""
    for part in {secret, secret.strip(), *_parts(secret)}:
        printed = "".join(letter if letter.isprintable() else " " for letter in part)
        yield from (part, printed, unquote(part), unquote_plus(part), quote(part, errors="replace"))
        yield from (quote(part, safe="", errors="replace"), json.dumps(part)[1:-1], repr(part)[1:-1])


def _parts(secret: str) -> Iterator[str]:
    """Yield parts of a secret that a service may repeat without the rest, such as the password in a URL.

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
        yield from _leaves(json.loads(secret))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)

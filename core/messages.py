"""Messages: texts for people, kept as a template with named arguments until a renderer translates
and formats them. And errors that a user can fix, which have a message.

    message("Service {number} of {total} did not answer within {limit_s:g} s.", number=2, total=4,
    limit_s=5.0)

The msgid is the English text. `make messages` collects all msgids for the translators
(docs/architecture.md).

All packages use it, measured processes too. Code recognises a message by its code, never by its
text. The msgid with its names of arguments is the key of the translation in core/locale/zh.po.

All packages raise the errors; only runner.py prints them and exits. A fault of gilscope itself is
an ordinary exception.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from string import Formatter
from typing import Any, Union

Arg = Union[str, int, float, bool, None, "Message"]
Json = Mapping[str, Any]  # an object of JSON
Value = Union[
    Arg, "PathLike[str]", Exception, Iterable[Arg]
]  # paths and errors become texts, several values a list


@dataclass(frozen=True, kw_only=True)
class Message:
    """A sentence, a label or a part of a sentence, before it is translated and formatted.

    msgid:  English template with a {name} for each argument
    plural: template that is used if args["count"] is not 1
    args:   measured values, with their unit in the name, and other messages
    code:   identifier by which a program recognises the message; programs never parse the text
    text:   English text from a file; shown if the catalog does not have the msgid
    """

    msgid: str = ""
    args: Mapping[str, Arg] = field(default_factory=dict)
    plural: str = ""
    code: str = ""
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text or formatted(self.template, self.args)

    def __hash__(self) -> int:
        return hash((self.msgid, frozenset(self.args.items())))

    def __bool__(self) -> bool:
        return bool(self.msgid or self.text)

    @property
    def template(self) -> str:
        """Return the English template, singular or plural, that fits args["count"]."""
        return self.plural if self.plural and self.args.get("count") != 1 else self.msgid

    def to_json(self) -> Json:
        """Return the message as JSON for a file such as result.json: its code, msgid, arguments and
        English text.

        The English text is for programs that do not translate messages.
        """
        parts = {"code": self.code, "msgid": self.msgid, "plural": self.plural}
        inner = {name: arg.to_json() for name, arg in self.args.items() if isinstance(arg, Message)}
        return {
            **{name: value for name, value in parts.items() if value},
            "args": {**self.args, **inner},
            "text": str(self),
        }

    @classmethod
    def from_json(cls, stored: Json) -> "Message":
        """Decode a message that to_json() encoded. Return NOTHING for an empty object."""
        args = stored.get("args", {})
        inner = {name: cls.from_json(arg) for name, arg in args.items() if isinstance(arg, Mapping)}
        return cls(**{**stored, "args": {**args, **inner}})


def message(msgid: str, /, *, code: str = "", **args: Value) -> Message:
    """Return a message. *msgid* must be a literal, because `make messages` collects it from the
    code.
    """
    return Message(msgid=msgid, args=_as_args(args), code=code)


def as_message(text: str | Message, args: Mapping[str, Value] | None = None) -> Message:
    """Return *text*: a message as it is, a template from the code as a message with the arguments
    *args*.
    """
    return text if isinstance(text, Message) else Message(msgid=text, args=_as_args(args or {}))


def plural(singular: str, several: str, /, *, count: int, **args: Value) -> Message:
    """Return a message with singular and plural forms: plural("{count} block", "{count} blocks",
    count=3).
    """
    return Message(msgid=singular, plural=several, args={"count": count, **_as_args(args)})


def _as_args(values: Mapping[str, Value]) -> dict[str, Arg]:
    return {name: _as_arg(value) for name, value in values.items()}


def _as_arg(value: Value) -> Arg:
    if isinstance(value, Message | str | int | float | None):
        return value
    return listed(value) if isinstance(value, Iterable) else str(value)


def verbatim(text: str) -> Message:
    """Return a message that is never translated: a name, a path, or the output of
    another program.
    """
    return Message(msgid="{text}", args={"text": text}) if text else NOTHING


NOTHING = Message(msgid="")  # the empty message, which is false
# How listed() and chained() join two messages. A translation may change the signs.
COMMA = message("{start}, {end}")
SEMICOLON = message("{start}; {end}")
AND = message("{start} and {end}")
OR = message("{start} or {end}")
SENTENCES = message("{start} {end}")


def listed(items: Iterable[Arg], joint: Message = COMMA, last: Message | None = None) -> Message:
    """Join items to one message: listed(names) gives "a, b, c", and listed(names, last=AND) gives
    "a, b and c".
    """
    row = [*map(_as_message, items)]
    if not row:
        return NOTHING
    joints = [joint] * (len(row) - 2) + [last or joint]
    whole = row[0]
    for end, between in zip(row[1:], joints, strict=False):
        whole = Message(msgid=between.msgid, args={"start": whole, "end": end})
    return whole


def _as_message(item: Arg) -> Message:
    return item if isinstance(item, Message) else verbatim(str(item))


def chained(messages: Iterable[Message], joint: Message = SEMICOLON) -> Message:
    """Join all messages that are not empty to one message, such as "a; b; c". Return NOTHING if
    there are none.
    """
    return listed((part for part in messages if part), joint)


_END = re.compile(r"[^\s./][.。]$")  # of a sentence, but not of a path such as ../.
LONGEST_TEXT = (
    1 << 16
)  # characters that arguments may add to a text; a file could repeat one without end


class _PlainFields(Formatter):
    """A formatter of one text. A template from a file can neither read attributes of arguments nor
    fill the memory.
    """

    left = LONGEST_TEXT  # characters; formatted() makes a new formatter for each text

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        if not field_name.isidentifier():
            raise KeyError(field_name)
        return kwargs[field_name], field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        """Format *value*, cut to the room that is left. Raises ValueError for a padding width above
        99.
        """
        if any(len(number) > 2 for number in re.findall("[0-9]+", format_spec)):
            raise ValueError(format_spec)
        text = str(super().format_field(value, format_spec))[: self.left]
        self.left -= len(text)
        return text


def formatted(
    template: str, args: Mapping[str, Arg], text_of: Callable[[Message], str] = str
) -> str:
    """Return *template* filled with *args*. Raises KeyError for a missing argument, ValueError for
    a bad format.

    Arguments of more than LONGEST_TEXT characters together are cut.
    text_of: converts those arguments that are messages to text
    """
    if not args:
        return template
    texts = {
        **args,
        **{name: text_of(value) for name, value in args.items() if isinstance(value, Message)},
    }
    if (
        template == "{text}"
    ):  # the template of every name and path; this is much faster than the formatter
        return str(texts["text"])[:LONGEST_TEXT]
    for name, text in texts.items():
        if (
            isinstance(text, str)
            and _END.search(text)
            and re.search(rf"\{{{name}\}}[.。]", template)
        ):
            texts[name] = text[:-1]  # the template has the full stop
    return _PlainFields().vformat(template, (), texts)


# ---- errors --------------------------------------------------------------------------------------


class GilscopeError(Exception):
    """Base class of errors that name the problem, the value seen and the fix.

    BadInput("{value} is not a port (1-65535).", value=70000) gives a msgid with its arguments; a
    message works, too.
    exit_status: the status with which runner.py exits after this error
    """

    exit_status = 1

    def __init__(self, cause: str | Message, /, **args: Value) -> None:
        self.message = as_message(cause, args)
        super().__init__(str(self.message))


class BadInput(GilscopeError):
    """An error in a flag, a plan or a file of the user."""

    exit_status = 2


class ChildFailed(GilscopeError):
    """An error of a service or client: it died, broke the protocol or missed a deadline. Only its
    measurement fails.
    """


def did_you_mean(word: str, names: Iterable[str]) -> Message:
    """Return "Did you mean NAME? " with the most similar of *names*, or NOTHING if
    none is similar.
    """
    from difflib import (
        get_close_matches,
    )  # imported here because measured children import this module, too

    nearest = get_close_matches(word, [*names], n=1)
    return message("Did you mean {name}? ", name=nearest[0]) if nearest else NOTHING

"""What a person is told, as an id with named arguments; a Language makes text of it, at the edge and nowhere else.

    message("Service {number} of {total} did not answer within {limit_s:g} s.", number=2, total=4, limit_s=5.0)

The msgid is the English text. `make messages` collects all of them for the translators (docs/architecture.md).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, Union

Arg = Union[str, int, float, bool, None, "Message"]


@dataclass(frozen=True, kw_only=True)
class Message:
    """A sentence, a label or a part of one, before it is put into words.

    msgid: English, with a {name} for each argument; `plural` is that for counts other than 1, told by args["count"]
    args: values as they were measured, with their unit in the name; other messages
    code: what a program decides by, where one does; prose is never read
    text: English text from a file; shown where the msgid is not known any more
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
        """The English template that fits the count."""
        return self.plural if self.plural and self.args.get("count") != 1 else self.msgid

    def to_json(self) -> dict[str, Any]:
        """For a file: code, msgid, arguments, and the English text for whoever reads it without us."""
        parts = {"code": self.code, "msgid": self.msgid, "plural": self.plural}
        args = {name: arg.to_json() if isinstance(arg, Message) else arg for name, arg in self.args.items()}
        return {**{name: value for name, value in parts.items() if value}, "args": args, "text": str(self)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Message":
        """Return the message that to_json wrote; NOTHING for an empty object."""
        args = {
            name: cls.from_json(arg) if isinstance(arg, Mapping) else arg
            for name, arg in stored.get("args", {}).items()
        }
        return cls(**{**stored, "args": args})


def message(msgid: str, /, *, code: str = "", **args: Arg) -> Message:
    """A message; msgid is a literal, so that it can be collected for translation."""
    return Message(msgid=msgid, args=args, code=code)


def plural(singular: str, several: str, /, *, count: int, **args: Arg) -> Message:
    """A message that has another form for counts other than 1: plural("{count} block", "{count} blocks", count=3)."""
    return Message(msgid=singular, plural=several, args={"count": count, **args})


def verbatim(text: str) -> Message:
    """Text that is the same in every language: a name, a path, what somebody else's program printed."""
    return Message(msgid="{text}", args={"text": text}) if text else NOTHING


NOTHING = Message(msgid="")
COMMA = message("{start}, {end}")
SEMICOLON = message("{start}; {end}")
AND = message("{start} and {end}")
OR = message("{start} or {end}")
SENTENCES = message("{start} {end}")


def listed(items: Iterable[Arg], joint: Message = COMMA, last: Message | None = None) -> Message:
    """Items in a row: listed(names) "a, b, c"; listed(names, last=AND) "a, b and c"; listed(clauses, SEMICOLON)."""
    row = [item if isinstance(item, Message) else verbatim(str(item)) for item in items]
    if not row:
        return NOTHING
    joints = [joint] * (len(row) - 2) + [last or joint]
    whole = row[0]
    for end, between in zip(row[1:], joints, strict=False):
        whole = Message(msgid=between.msgid, args={"start": whole, "end": end})
    return whole


def chained(messages: Iterable[Message], joint: Message = SEMICOLON) -> Message:
    """Messages as one message: "a; b; c". NOTHING if there are none."""
    return listed((part for part in messages if part), joint)


class _PlainFields(Formatter):
    """Fields by name alone: a template from a file must not reach into what it is given."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        if not field_name.isidentifier():
            raise KeyError(field_name)
        return kwargs[field_name], field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        """A width of a file's template must not fill the memory."""
        if any(len(number) > 2 for number in re.findall("[0-9]+", format_spec)):
            raise ValueError(format_spec)
        return str(super().format_field(value, format_spec))


_FORMATTER = _PlainFields()


def formatted(template: str, args: Mapping[str, Arg], text_of: Callable[[Message], str] = str) -> str:
    """*template* with its arguments. Raises KeyError for a field that has none, ValueError for a bad format.

    text_of: what makes text of arguments that are messages themselves
    """
    if not args:
        return template
    texts = {name: text_of(value) if isinstance(value, Message) else value for name, value in args.items()}
    if template == "{text}":  # as every name and path is; the formatter takes much longer
        return str(texts["text"])
    return _FORMATTER.vformat(template, (), texts)

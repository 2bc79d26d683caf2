"""Text that others wrote, for people: it must not steer a terminal, nor speak to the program that keeps its output."""

import re
from dataclasses import replace

from core.languages import Language
from core.messages import Arg, Message

_WORKFLOW_COMMAND = re.compile(r"(?<!\S)(?:::(?=[A-Za-z-]+(?:\s[^\n]*?)?::)|##(?=\[))")


def printable(text: str) -> str:
    """Text without control characters and bidirectional ones; lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text)


def for_terminal(text: str) -> str:
    """The same without what GitHub takes for a workflow command (`::error::`), which it reads on any line of a job."""
    return _WORKFLOW_COMMAND.sub(lambda command: " ".join(command[0]), printable(text))


def on_one_line(text: str) -> str:
    """The same, for a cell of a table."""
    return for_terminal(" ".join(text.split()))


class Printable(Language):
    """A language whose texts are printable."""

    def __init__(self, language: Language) -> None:
        super().__init__(language.name, language.catalog)

    def text(self, value: Arg) -> str:
        """A message or a plain value as text, printable."""
        return printable(super().text(value))


def with_printable_args(message: Message) -> Message:
    """A message whose own arguments are printable; those that are messages are left as they are."""
    args = {name: printable(arg) if isinstance(arg, str) else arg for name, arg in message.args.items()}
    return replace(message, args=args, text=printable(message.text))

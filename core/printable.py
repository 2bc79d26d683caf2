"""Make text from other programs safe to print: it must not control a terminal or a CI system that reads the output."""

import re
from dataclasses import replace

from core.languages import Language
from core.messages import Arg, Message

_WORKFLOW_COMMAND = re.compile(r"(?<!\S)(?:::(?=[A-Za-z-]+(?:\s[^\n]*?)?::)|##(?=\[))")


def printable(text: str) -> str:
    """Replace control and bidirectional characters in *text*; line ends and tabs stay."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text)


def for_terminal(text: str) -> str:
    """Return printable text in which GitHub sees no workflow command, such as `::error::`.

    GitHub reads such commands on any line that a job prints.
    """
    return _WORKFLOW_COMMAND.sub(lambda command: " ".join(command[0]), printable(text))


def on_one_line(text: str) -> str:
    """Return text that is safe for a terminal on one line, for a cell of a table."""
    return for_terminal(" ".join(text.split()))


class Printable(Language):
    """A language for messages that replaces unprintable characters in every text."""

    def __init__(self, language: Language) -> None:
        super().__init__(language.name, language.catalog)

    def text(self, value: Arg) -> str:
        """Return a message or a plain value as printable text."""
        return printable(super().text(value))


def with_printable_args(message: Message) -> Message:
    """Return *message* with printable text arguments. Arguments that are messages stay as they are."""
    args = {name: printable(arg) if isinstance(arg, str) else arg for name, arg in message.args.items()}
    return replace(message, args=args, text=printable(message.text))

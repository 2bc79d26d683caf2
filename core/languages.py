"""Translate messages. Msgids are English; each catalog in core/locale adds a language.

Catalogs have gettext's format. `make messages` updates core/locale/*.po from the code, and polib
reads them. Text from other programs is made safe to print: it must not control a terminal, or a CI
system that reads the output.

config/, lab/hosts, reports/ and commands/ use it. Only the orchestrator imports this module,
because polib is no part of the standard library.
"""

import gettext
import re
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path

import polib  # type: ignore[import-untyped]

from core.messages import Arg, BadInput, Message, formatted

CATALOGS = Path(__file__).parent / "locale"  # a file zh.po for each language
LANGUAGES = ("en", *sorted(path.stem for path in CATALOGS.glob("*.po")))


@dataclass(frozen=True)
class Language:
    """A language into which messages are translated.

    name: `en` or `zh`
    """

    name: str
    catalog: gettext.NullTranslations

    def text(self, value: Arg) -> str:
        """Return a message or a plain value as text.

        The text is English if the catalog lacks the msgid, or if the translation needs an argument
        that is missing.
        """
        if not isinstance(value, Message):
            return str(value)
        template = self._template(value)
        if template is None:
            return value.text or formatted(value.template, value.args, self.text)
        try:
            return formatted(template, value.args, self.text)
        except (KeyError, ValueError, TypeError, IndexError):
            return str(value)

    def _template(self, value: Message) -> str | None:
        """Return the translated template, or None if there is no translation."""
        if value.plural:
            count = value.args.get("count")
            found = self.catalog.ngettext(
                value.msgid, value.plural, count if isinstance(count, int) else 0
            )
        else:
            found = self.catalog.gettext(value.msgid) if value.msgid else ""
        return None if found in (value.msgid, value.plural) else found


ENGLISH = Language("en", gettext.NullTranslations())


@cache
def language(name: str) -> Language:
    """Return the language called *name*. Raises BadInput if its catalog is missing or cannot be
    read.
    """
    if name == ENGLISH.name:
        return ENGLISH
    if name not in LANGUAGES:
        raise BadInput(
            "{name!r} is not a supported language. Use one of: {names}.",
            name=name,
            names=", ".join(LANGUAGES),
        )
    path = CATALOGS / f"{name}.po"
    try:
        compiled = polib.pofile(path.read_text("utf-8")).to_binary()
    except OSError as error:
        raise BadInput(
            "{path} cannot be read: {error}. Reinstall gilscope.", path=path, error=error
        ) from error
    return Language(name, gettext.GNUTranslations(BytesIO(compiled)))


# `::name parameters::`, or `##[`, at the beginning of a word
_WORKFLOW_COMMAND = re.compile(r"(?<!\S)(?:::(?=[A-Za-z-]+(?:\s[^\n]*?)?::)|##(?=\[))")


def printable(text: str) -> str:
    """Replace control and bidirectional characters in *text*; line ends and tabs stay."""
    if text.isprintable():
        return text
    bad = {sign for sign in text if not sign.isprintable()} - {"\n", "\t"}
    return text.translate(dict.fromkeys(map(ord, bad), "\N{REPLACEMENT CHARACTER}"))


def for_terminal(text: str) -> str:
    """Return printable text in which GitHub sees no workflow command, such as `::error::`.

    GitHub reads such commands on any line that a job prints.
    """
    return _WORKFLOW_COMMAND.sub(lambda command: " ".join(command[0]), printable(text))


def on_one_line(text: str) -> str:
    """Return text that is safe for a terminal on one line, for a cell of a table."""
    return for_terminal(" ".join(text.split()))


class Printable(Language):
    """A translator of messages into one language, which also replaces unprintable characters in
    every text.
    """

    def __init__(self, language: Language) -> None:
        super().__init__(language.name, language.catalog)

    def text(self, value: Arg) -> str:
        """Return a message or a plain value as printable text."""
        return printable(super().text(value))


def with_printable_args(message: Message) -> Message:
    """Return *message* with printable text arguments. Arguments that are messages stay
    as they are.
    """
    texts = {name: printable(arg) for name, arg in message.args.items() if isinstance(arg, str)}
    return replace(message, args={**message.args, **texts}, text=printable(message.text))

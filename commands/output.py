"""Print notes, errors and paths in the user's language. Notes and errors go to standard error.

All commands print with the one object `output`, which is shared state: runner.py sets its secrets
and language before a command starts, and hide() adds the secrets of a plan. Texts of errors and
notes must go through it, because they may contain secrets.
"""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import commands
from config.flags import Parser
from config.plan_options import LANG
from config.user_service.service_options import masked_arguments, secrets_in_arguments
from core.languages import ENGLISH, for_terminal, language
from core.messages import Arg, Message, Value, as_message, message
from core.program import PROGRAM
from core.secret import Redactor

if TYPE_CHECKING:
    from reports.document import Section

NO_VERDICT = 1  # exit status if --fail-if-slower cannot be decided
THRESHOLD_MISSED = 3  # exit status if --fail-if-slower fails
CUT_FROM = 200  # characters; shorter texts were not cut


class Output:
    """A printer of messages in the user's language. It hides secrets.

    redactor: replaces the secrets that hide() was told
    """

    def __init__(self) -> None:
        self.language = ENGLISH
        self._secrets: set[str] = set()
        self.redactor = Redactor(())

    def hide(self, secrets: Iterable[str]) -> None:
        """Print `...` in place of these secrets from now on, too."""
        self._secrets.update(secrets)
        self.redactor = Redactor(self._secrets, CUT_FROM)

    def hide_arguments(self, arguments: Sequence[str]) -> None:
        """Print `...` in place of the secrets of a command line, and of no others."""
        self._secrets.clear()
        self.hide(secrets_in_arguments(arguments))

    def masked(self, arguments: Sequence[str]) -> list[str]:
        """Return a command line without secrets."""
        return masked_arguments(arguments, self.redactor)

    def use_language(self, arguments: Sequence[str]) -> None:
        """Print in the language that the last --lang names. Raises BadInput for an unknown
        language.
        """
        names = [word.partition("=")[2] for word in arguments if word.startswith(f"{LANG.flag}=")]
        names += [name for flag, name in pairwise(arguments) if flag == LANG.flag]
        self.language = ENGLISH  # also for the error about an unknown language
        self.language = language(names[-1] if names else ENGLISH.name)

    def parser(self, command: str) -> Parser:
        """Return the parser of *command*, a key of commands.SUMMARIES."""
        return Parser(command, commands.SUMMARIES[command], self.language)

    def text(self, text: Arg) -> str:
        """Return *text* in the user's language."""
        return self.language.text(text)

    def note(self, text: str | Message, /, **args: Value) -> None:
        """Print a note on standard error."""
        with suppress(OSError):  # the terminal is closed, so nobody can read the note
            print(self._shown(as_message(text, args)), file=sys.stderr)

    def error(self, cause: Arg) -> None:
        """Print the error that ends a command, on standard error."""
        self.note("error: {cause}", cause=cause)

    def print_line(self, text: str | Message, /, **args: Value) -> None:
        """Print a line of a command's result on standard output."""
        print(self._shown(as_message(text, args)))

    def print_section(self, section: "Section") -> None:
        """Print a section of a report on standard output, as it is: no secrets are looked for."""
        from reports.render.console import terminal
        from reports.render.terminal import print_section

        print_section(section, terminal(), self.language)

    def _shown(self, text: Message) -> str:
        return for_terminal(self.text(self.redactor.message(text)))


output = Output()  # of this process


def short(path: Path) -> Path:
    """Return *path*. If it is inside the current folder, return the relative path."""
    return (
        path.resolve().relative_to(Path.cwd())
        if path.resolve().is_relative_to(Path.cwd())
        else path
    )


def no_run_in(folder: str) -> Message:
    """Return the message that *folder* holds no run yet, with the command that makes one."""
    return message(
        "There is no run in {folder} yet. Start one with: {program} --experiment quick",
        folder=folder,
        program=PROGRAM,
    )

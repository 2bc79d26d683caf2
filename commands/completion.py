"""The command completion: print code that lets a shell complete commands, flags and values, using argcomplete.

Source: https://kislyuk.github.io/argcomplete/
"""

import os
from collections.abc import Sequence
from typing import Any

import argcomplete
from argcomplete.completers import ChoicesCompleter
from argcomplete.lexers import split_line
from argcomplete.shell_integration import shellcode

import commands
from commands.output import output
from config.flags import ALL, Parser
from config.load import experiments
from config.options import Given
from config.plan import system_names
from core.program import SCRIPT
from core.runtime import NATIVE
from lab.python import interpreters

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
ASKED = "_ARGCOMPLETE"  # set by the shell: the number of the word in COMP_LINE that is the program, from 1
RUNTIMES = ("3.11", "3.14", "3.14t", "3.14t+gil", "3.15", "3.15t", "3.15t+gil", NATIVE)


def main(arguments: Sequence[str]) -> int:
    """Run the command `completion`, which prints completion code for a shell. Return its exit status: 0."""
    parser = output.parser("completion", arguments)
    parser.add_names("shell", "The shell: bash, zsh, fish, tcsh or powershell.")
    shell = Given(value=parser.parse(arguments)["shell"], name="SHELL").choice(SHELLS)
    print(shellcode([SCRIPT], shell=shell))
    return 0


def complete() -> None:
    """Print completions for a shell's command line, and exit. The parser of the named command provides the flags."""
    first = int(os.environ[ASKED])
    *_, words, _ = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))
    named = words[first] if len(words) > first else ""
    Parser.before_parsing = _complete
    if named in commands.NAMES:  # the parser of the command parses the words after the command
        os.environ[ASKED] = str(first + 1)
    commands.find(named if named in commands.NAMES else "run")([])


def _runtimes(prefix: str, **_: Any) -> list[str]:
    """Return runtime names to complete *prefix*. If *prefix* has two dots, they include installed patch releases."""
    releases = [one.label for one in interpreters.all_found()] if prefix.count(".") > 1 else []
    return [*RUNTIMES, *releases]


def _complete(parser: Parser) -> None:
    if parser.command == "":
        parser.add_argument("command", nargs="?", choices=commands.NAMES)
    values: dict[str, Any] = {
        "--experiment": experiments(),
        "--system": system_names(),
        "--help": (ALL,),
        "--runtime": _runtimes,
        **{option.flag: option.choices for option in parser.options if option.choices},
    }
    for action in parser._actions:
        for names in (values[flag] for flag in action.option_strings if flag in values):
            completer = names if callable(names) else ChoicesCompleter(names)
            action.completer = completer  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)

"""Read YAML with all scalars as text, so 3.10 stays 3.10, and files and flags are parsed alike.

All of config/ reads YAML with read_yaml(), and Option parsers convert the texts. commands/init.py
writes YAML with yaml_lines(). Aliases, duplicate keys, deep nesting and long files are refused, so
that no file can take much time or memory.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from core.messages import Arg, BadInput, message

if TYPE_CHECKING or not yaml.__with_libyaml__:
    from yaml import BaseLoader as _Loader
else:
    from yaml import CBaseLoader as _Loader

MOST_BYTES = 1 << 18  # of a file: 256 KiB
MOST_LEVELS = 100  # deeper nesting would take libyaml quadratic time and overflow the stack


class _TextLoader(_Loader):
    """A loader that reads scalars as strings and refuses duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str) or key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"key {key!r} is given twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def _expect_plain(text: str) -> None:
    """Raise YAMLError, before any object is built, if *text* is nested too deep, or has aliases,
    which could expand.
    """
    level = 0
    for event in yaml.parse(text, Loader=_Loader):
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(
            event, yaml.CollectionEndEvent
        )
        if level > MOST_LEVELS:
            raise yaml.YAMLError(f"it is nested deeper than {MOST_LEVELS} levels")
        if isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise yaml.YAMLError(f"line {line} has an alias, and aliases are not accepted")


def read_yaml(path: Path, flag: str) -> Any:
    """Return the content of the file that *flag* names. Raises BadInput if it is unreadable, too
    long or not YAML.

    flag: the flag that errors name
    Returns dicts, lists and texts; None for an empty file.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise _unreadable(
                path, flag, message("the file is longer than {most} bytes", most=MOST_BYTES)
            )
        text = data.decode()
        _expect_plain(text)
        return yaml.load(text, Loader=_TextLoader)
    except OSError as error:
        raise _unreadable(path, flag, str(error.strerror)) from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(
            "{path} is not valid YAML: {error}. Correct the file.", path=path, error=_cause(error)
        ) from None


def _cause(error: Exception) -> str:
    """Return the problem and position of a YAML error, but not the lines, because they may contain
    secrets.
    """
    if not isinstance(error, yaml.MarkedYAMLError):
        return " ".join(str(error).split())
    texts = []
    for what, mark in ((error.context, error.context_mark), (error.problem, error.problem_mark)):
        place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        texts.append(f"{what or ''}{place}".strip())
    return ", ".join(filter(None, texts))


def _unreadable(path: Path, flag: str, reason: Arg) -> BadInput:
    return BadInput(
        "{path} cannot be read: {reason}. Name a YAML file with {flag}.",
        path=path,
        reason=reason,
        flag=flag,
    )


def yaml_lines(key: str, value: Any) -> list[str]:
    """Return the YAML lines of one key and its value."""
    text = yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=1000, indent=2)
    first, *others = text.splitlines()
    # safe_dump() does not indent a list below its key
    indent = "  " if isinstance(value, list) else ""
    return [first, *(indent + line for line in others)]

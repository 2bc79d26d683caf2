"""Reading the docs: their code blocks, commands and tables."""

import json
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from config import flags
from config.plan_options import OF_A_RUN
from core.messages import message
from lab.places import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(REPOSITORY.glob("*.md"))]
NEW_FLAG = "--thread-stack-kib"  # of the parameter that add-a-system.md adds

OURS = re.compile(r"(?:\S*python \S*runner\.py|(?:uvx --from \S+ )?gilscope)(?= |$)(.*)")
PLACEHOLDER = re.compile(r"[A-Z_]{2,}|.*\.\.\..*")  # RUN, FILE, 3.14=...

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a page in that language."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^\1```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [dedent(text) for _, its_language, text in found if its_language == language]


def lines(page: Path) -> list[str]:
    """Return the lines of a page's blocks of commands, and the commands in its prose."""
    code = [*blocks(page, ""), *blocks(page, "sh"), *re.findall(r"(?<!`)`([^`\n]+)`(?!`)", page.read_text())]
    return [line.strip().removeprefix("$ ") for text in code for line in text.splitlines()]


def words_of(text: str) -> list[str]:
    """Return the words of a command, without its comment and what a shell does with its output."""
    words = shlex.split(text, comments=True)
    ends = [words.index(word) for word in (">", "&&", "&", "|") if word in words]
    return words[: min(ends, default=len(words))]


def ours(page: Path) -> list[list[str]]:
    """Return the arguments of every command of gilscope on a page that has no placeholder."""
    found_here = [words_of(match[1]) for line in lines(page) if (match := OURS.match(line))]
    return [words for words in found_here if not any(map(PLACEHOLDER.fullmatch, words))]


def run_parser() -> flags.Parser:
    """Return the parser of a run's flags, which `plan` shares."""
    parser = flags.Parser("", message("a test"))
    flags.add_run_flags(parser)
    parser.add_group("the run", *OF_A_RUN)
    return parser


def with_made(text: str, name: str, lines: str) -> str:
    """Return the text of a page with *lines* in place of the paragraph below `made from` *name*."""
    before, mark, after = text.partition(f"<!-- made from {name} -->\n\n")
    return before + mark + lines + "".join(after.partition("\n\n")[1:]).removeprefix("\n")


def with_table(text: str, name: str, table: Iterable[Sequence[str]]) -> str:
    """Return the text of a page with *table*, rows of cells, below the head that follows `made from` *name*."""
    head = re.search(rf"<!-- made from {name} -->\n\n(\|.*\n\|---.*\n)", text)
    assert head, f"the page has no table that is made from {name}"
    body = "".join(f"| {' | '.join(cells)} |\n" for cells in table).replace("|  |", "| |")
    return with_made(text, name, head[1] + body)


def expect(page: Path, made: str) -> None:
    """Expect the page to have the text *made*. GOLDEN=update, which `make golden` sets, writes it."""
    if os.environ.get("GOLDEN") == "update":
        page.write_text(made)
    assert made == page.read_text(), "make golden makes the tables anew"


def section(page: Path, heading: str) -> str:
    """Return the text under a heading, without fenced blocks."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    after = re.split(rf"^#+ {re.escape(heading)}$", prose, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(r"^#+ ", after, maxsplit=1, flags=re.MULTILINE)[0]


def listed(page: Path, heading: str) -> dict[str, str]:
    """Return the meaning of each key in the lists under a heading. Keys that stand together have the same."""
    found: dict[str, str] = {}
    for keys, meaning in re.findall(r"^- (`.*?`): (.*(?:\n  .*)*)", section(page, heading), re.MULTILINE):
        found.update(dict.fromkeys(re.findall(r"`(\w+)`", keys), meaning))
    return found


def rows(page: Path, heading: str) -> list[list[str]]:
    """The lines of the tables under a heading, without their heads, as cells."""
    bodies = re.findall(r"^\|[-|]+\|\n((?:\|.*\n)+)", section(page, heading), re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|\n").split(" | ")] for body in bodies for line in body.splitlines()]


def named(page: Path, heading: str, kind: str = "") -> list[str]:
    """The names in the first column of the tables under a heading. kind: only those with that second column."""
    kept = [row for row in rows(page, heading) if kind in ("", row[1])]
    return [name for row in kept for name in re.findall(r"`([^`]+)`", row[0])]


def lines_of(who: str) -> list[tuple[str, Any]]:
    """What *who*, a service or a client, reads (<) and writes (>) in child-contract.md: JSON values, or a word."""
    found = re.findall(rf"^{who} ([<>]) (.*)", "".join(blocks(DOCS / "child-contract.md", "text")), re.MULTILINE)
    return [(direction, json.loads(text) if text.startswith("{") else text) for direction, text in found]


def system_5() -> str:
    """The file that add-a-system.md shows."""
    return blocks(DOCS / "add-a-system.md", "python")[1]


def redis_system() -> str:
    """The file with a protocol of its own that add-a-system.md shows first."""
    return blocks(DOCS / "add-a-system.md", "python")[0]


def outside_system() -> str:
    """The same, as a file outside the repository declares it: by a name, without a number."""
    return system_5().replace('    number="5",\n    name="thread",\n', '    name="my-system",\n')

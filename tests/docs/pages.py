"""Reading the docs: their code blocks, commands and tables."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from lab.places import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(REPOSITORY.glob("*.md"))]
NEW_FLAG = "--thread-stack-kib"  # of the parameter that add-a-system.md adds


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[list[str]]:
    """The words after `python runner.py` of every command on a page that has no placeholder."""
    code = [*blocks(page, r"\w*"), *re.findall(r"(?<!`)`([^`\n]+)`(?!`)", page.read_text())]
    lines = [re.match(r"\s*(?:\$ )?\S*python runner\.py(.*)", line) for text in code for line in text.splitlines()]
    found = [shlex.split(line[1], comments=True) for line in lines if line]
    return [words for words in found if not re.search(r"\.\.\.|\b[A-Z]+\b", " ".join(words))]


def rows(page: Path, heading: str) -> list[list[str]]:
    """The lines of the tables under a heading, without their heads, as cells."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    section = re.split(rf"^#+ {re.escape(heading)}$", prose, maxsplit=1, flags=re.MULTILINE)[1]
    text = re.split(r"^#+ ", section, maxsplit=1, flags=re.MULTILINE)[0]
    bodies = re.findall(r"^\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|\n").split(" | ")] for body in bodies for line in body.splitlines()]


def named(page: Path, heading: str) -> list[str]:
    """The names in the first column of the tables under a heading."""
    return [name for row in rows(page, heading) for name in re.findall(r"`([^`]+)`", row[0])]


def needed(page: Path, heading: str) -> list[str]:
    """The names in the first column of the lines under a heading that are a must."""
    return [name for row in rows(page, heading) if row[1] == "must" for name in re.findall(r"`([^`]+)`", row[0])]


def lines_of(who: str) -> list[tuple[str, Any]]:
    """What *who*, a service or a client, reads (<) and writes (>) in child-contract.md: JSON values, or a word."""
    found = re.findall(rf"^{who} ([<>]) (.*)", "".join(blocks(DOCS / "child-contract.md", "text")), re.MULTILINE)
    return [(direction, json.loads(text) if text.startswith("{") else text) for direction, text in found]


def system_5() -> str:
    """The file that add-a-system.md shows."""
    return blocks(DOCS / "add-a-system.md", "python")[0]


def outside_system() -> str:
    """The same, as a file outside the repository declares it: by a name, without a number."""
    return system_5().replace('    number="5",\n    name="thread",\n', '    name="my-system",\n')

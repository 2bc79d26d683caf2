"""Both READMEs lead to the same pages and name the same experiments."""

import re
from pathlib import Path

from lab.places import REPOSITORY

READMES = [REPOSITORY / name for name in ("README.md", "README.zh.md")]


def links(page: Path) -> set[str]:
    """What a page links to in this repository, but for the other README."""
    found = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return {one for one in found if not one.startswith("README")}


def experiments(page: Path) -> set[str]:
    """The experiments in the table of those that stand beside the four systems."""
    table = page.read_text(encoding="utf-8").partition("| `--experiment` |")[2].partition("\n\n")[0]
    return set(re.findall(r"`([a-z-]+)`", "\n".join(line.split("|")[1] for line in table.splitlines()[2:])))


def headings(page: Path) -> int:
    return len(re.findall(r"^## ", page.read_text(encoding="utf-8"), re.MULTILINE))


def test_both_readmes_name_the_same_pages_chapters_and_experiments() -> None:
    english, chinese = READMES
    assert links(english) == links(chinese) >= {"docs/measure-your-service.md", "docs/evidence.md"}
    assert headings(english) == headings(chinese)
    assert experiments(english) == experiments(chinese) >= {"echo", "league", "topology"}

"""Print 150 random texts of the project without context, so that a fresh reader can rate how plain they are.

Usage: python -m tests.strength.plain [--seed SEED]. The default seed is the hash of the current commit. There are 50
messages, 50 first lines of docstrings and 50 sentences of documentation. docs/reliability.md says how they are rated.
"""

import argparse
import ast
import re
import subprocess
from pathlib import Path
from random import Random

import polib  # type: ignore[import-untyped]

OF_EACH = 50
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NOT_SAMPLED = {"tests", "benchmarks", "decisions", "measurements", "record", "findings", "result.md"}
NOT_PROSE = re.compile(r"^```.*?^```|^ *[#|<>].*?$|^---.*?$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def main() -> None:
    """Print the sample as a numbered list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default=_git("rev-parse", "HEAD")[0])
    chance = Random(parser.parse_args().seed)
    files = [path for path in map(Path, _git("ls-files")) if NOT_SAMPLED.isdisjoint(path.parts)]
    sample = []
    for suffix, texts in {".po": _messages, ".py": _first_lines, ".md": _sentences}.items():
        found = {text for path in files if path.suffix == suffix for text in texts(path)}
        sample += chance.sample(sorted(found), OF_EACH)
    chance.shuffle(sample)
    print(*(f"{number}. {text}" for number, text in enumerate(sample, 1)), sep="\n")


def _messages(path: Path) -> list[str]:
    return [" ".join(entry.msgid.split()) for entry in polib.pofile(str(path)) if not entry.obsolete]


def _first_lines(path: Path) -> list[str]:
    nodes = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, DOCUMENTED))
    return [text.splitlines()[0] for text in map(ast.get_docstring, nodes) if text]


def _sentences(path: Path) -> list[str]:
    """Return the sentences of a page of documentation, without links, code blocks, headings and tables."""
    prose = LINK.sub(r"\1", NOT_PROSE.sub("\n\n", path.read_text("utf-8"))) if path.parts[0] == "docs" else ""
    paragraphs = re.split(r"\n\s*\n|^ *(?:[-*]|\d+\.) ", prose, flags=re.MULTILINE)
    sentences = (re.split(r"(?<=[.!?:]) +(?=[A-Z`*])", " ".join(paragraph.split())) for paragraph in paragraphs)
    return [sentence for part in sentences for sentence in part if sentence.count(" ") >= 3]


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.splitlines()


if __name__ == "__main__":
    main()

"""Print 150 random texts of the project without context, so that a fresh reader can rate how plain they are.

Usage: python -m tests.strength.plain [--seed SEED]. The default seed is the hash of the current commit. There are 50
messages, 50 first lines of docstrings and 50 sentences of documentation. docs/reliability.md says how they are rated.
"""

import argparse
import ast
import re
import subprocess
from collections.abc import Iterator
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
    kinds = (_messages(), _docstrings(), _sentences())
    sample = [text for kind in kinds for text in chance.sample(sorted(set(kind)), OF_EACH)]
    chance.shuffle(sample)
    for number, text in enumerate(sample, 1):
        print(f"{number}. {text}")


def _messages() -> Iterator[str]:
    for file in _files(".po"):
        yield from (" ".join(entry.msgid.split()) for entry in polib.pofile(file))


def _docstrings() -> Iterator[str]:
    for file in _files(".py"):
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                yield text.splitlines()[0]


def _sentences() -> Iterator[str]:
    """Yield the sentences of the documentation, without links, code blocks, headings and tables."""
    for file in _files(".md", "docs/"):
        prose = LINK.sub(r"\1", NOT_PROSE.sub("\n\n", Path(file).read_text(encoding="utf-8")))
        for paragraph in re.split(r"\n\s*\n|^ *(?:[-*]|\d+\.) ", prose, flags=re.MULTILINE):
            sentences = re.split(r"(?<=[.!?:]) +(?=[A-Z`*])", " ".join(paragraph.split()))
            yield from (sentence for sentence in sentences if sentence.count(" ") >= 3)


def _files(suffix: str, folder: str = "") -> list[str]:
    files = _git("ls-files", f"{folder}*{suffix}")
    return [file for file in files if NOT_SAMPLED.isdisjoint(Path(file).parts)]


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.splitlines()


if __name__ == "__main__":
    main()

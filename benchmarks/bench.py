"""Functions for all benchmarks: parse options, run gilscope, alternate measurements, and print
Markdown tables.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from core.messages import ChildFailed
from lab.places import REPOSITORY
from record.run_file import load
from record.saved_run import Run

RUNNER = (sys.executable, str(REPOSITORY / "runner.py"))
Item = TypeVar("Item")


def options(
    doc: str | None,
    *places: str,
    words: Sequence[str] | None = None,
    **defaults: str | float | bool,
) -> argparse.Namespace:
    """Parse the command line, or *words*.

    places: names of the positional arguments
    defaults: the options with their defaults, which also give the types
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in places:
        parser.add_argument(name)
    for name, default in defaults.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        else:
            parser.add_argument(
                flag, type=type(default), default=default, help="default: %(default)s"
            )
    return parser.parse_args(words)


def run_of(*flags: str, folder: Path = REPOSITORY) -> Run:
    """Run runner.py with *flags* in *folder*, and return what it saved. Raises ChildFailed if it
    saved nothing.
    """
    with TemporaryDirectory() as place:
        out = Path(place) / "run"
        command = [*RUNNER, *flags, "--quiet", "--out", str(out)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if not (out / "result.json").exists():
            raise ChildFailed(
                f"{' '.join(command)} exited with {done.returncode}: {done.stdout}{done.stderr}"
            )
        return load(out)


def in_turns(repeats: int, measures: Mapping[str, Callable[[], Item]]) -> dict[str, list[Item]]:
    """Call each of *measures* once per repeat, in reverse order in every other repeat. Return the
    results by name.
    """
    results: dict[str, list[Item]] = {name: [] for name in measures}
    for repeat in range(repeats):
        for name in list(measures)[:: -1 if repeat % 2 else 1]:
            results[name].append(measures[name]())
    return results


def print_table(head: str, rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table, and each row as soon as it is measured. head: titles,
    separated by |
    """
    titles = [title.strip() for title in head.split("|")]
    for row in chain((titles, ["---"] * len(titles)), rows):
        print(f"| {' | '.join(row)} |", flush=True)
    print()

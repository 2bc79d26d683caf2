"""Mutants: one small change of the code each. Do the tests that run the changed line notice it?

    python -m tests.strength.mutants --data FOLDER --junit FILE  plays those that OUT has no line for

A mutant is named by file, qualified function, kind and ordinal, so that the same seed takes the same ones as far as the
code is the same. --data holds combined coverage with contexts, --junit the seconds of each test (docs/reliability.md).
"""

import argparse
import ast
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from tests.test_import_table import PACKAGES, sources

ROOT = Path(__file__).resolve().parents[2]
SEED, COUNT = 27, 300
OUT = ROOT / ".venv" / "mutants.jsonl"
LIMIT_S = 40.0
MOST_TESTS = 40
MOST_GOLDEN = 3
MOST_S = 15.0  # of all tests of a mutant, as they were timed: beyond that a busy machine alone would reach LIMIT_S
# Each operator of Python, and what takes its place. Source: the abstract grammar in the documentation of ast.
OPERATORS = """
Lt LtE
LtE Lt
Gt GtE
GtE Gt
Eq NotEq
NotEq Eq
In NotIn
NotIn In
Is IsNot
IsNot Is
Add Sub
Sub Add
Mult FloorDiv
Div Mult
FloorDiv Mult
Mod Add
LShift RShift
RShift LShift
BitOr BitAnd
BitAnd BitOr
"""
OTHERS = dict(line.split() for line in OPERATORS.strip().splitlines())


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change. start, end: what is replaced, in bytes of the file; line: where it begins"""

    name: str
    file: str
    line: int
    start: int
    end: int
    text: str


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    offsets = [0]
    for line in source.encode().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    seen: dict[str, int] = {}
    for place, node in _nodes(ast.parse(source), ""):
        for kind, old, text in _changes(node):
            key = f"{file}:{place or '<module>'}:{kind}"
            seen[key] = seen.get(key, 0) + 1
            start = offsets[old.lineno - 1] + old.col_offset
            end = offsets[(old.end_lineno or 0) - 1] + (old.end_col_offset or 0)
            name = f"{key}:{seen[key]}"
            yield Mutant(name=name, file=file, line=old.lineno, start=start, end=end, text=text)


def _nodes(node: ast.AST, place: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield each node with the qualified name of its function. Texts, annotations and imports are not changed."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.arg):
            continue
        if child in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            continue
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        inside = f"{place}.{child.name}".lstrip(".") if named else place  # type: ignore[attr-defined]
        yield place, child
        yield from _nodes(child, inside)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:  # noqa: C901  a table of kinds
    """Yield the kinds of change of a node, with what is replaced by which text."""
    match node:
        case ast.Compare(left=left, ops=[only], comparators=[right]):
            yield "comparison", node, f"({ast.unparse(ast.Compare(left, [_other(only)], [right]))})"
        case ast.BinOp(left=left, op=operator, right=right) if type(operator).__name__ in OTHERS:
            yield "arithmetic", node, f"({ast.unparse(ast.BinOp(left, _other(operator), right))})"
        case ast.Constant(value=bool(value)):
            yield "constant", node, str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "constant", node, f"({value + 1!r})"
        case ast.BoolOp(op=operator, values=values):
            other = ast.And() if isinstance(operator, ast.Or) else ast.Or()
            yield "boolean", node, f"({ast.unparse(ast.BoolOp(other, values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "boolean", node, f"({ast.unparse(operand)})"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "condition", test, f"(not ({ast.unparse(test)}))"
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield "return", node, "return None"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            yield "removal", node, "pass"
        case ast.Continue() | ast.Break():
            yield "removal", node, "pass"


def _other(operator: ast.AST) -> Any:
    """Return the operator that takes the place of *operator*."""
    return getattr(ast, OTHERS[type(operator).__name__])()


def chosen() -> list[Mutant]:
    """Return COUNT mutants, those whose names have the lowest digests: a change of code moves no other mutant."""
    files = sources(*PACKAGES, "gilscope", "runner")
    every = [one for file, source in files.items() for one in mutants(file, source)]
    return sorted(every, key=lambda one: hashlib.sha256(f"{SEED} {one.name}".encode()).digest())[:COUNT]


def play(mutant: Mutant, tests: Sequence[str]) -> str:
    """Return killed, survived or timeout of the tests on the changed file, which is put back afterwards."""
    path = ROOT / mutant.file
    whole = path.read_bytes()
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=no", *tests]
    try:
        path.write_bytes(whole[: mutant.start] + mutant.text.encode() + whole[mutant.end :])
        done = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            status = done.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(done.pid, 9)
            done.wait()
            return "timeout"
        return {0: "survived", 5: "no test"}.get(status, "killed")
    finally:
        path.write_bytes(whole)


def covering(data: Path, seconds: Mapping[str, float], failing: set[str]) -> Callable[[Mutant], list[str]]:
    """Return what finds the tests that run a mutant's line, or its file if the line runs when the file is imported.

    They are the fastest MOST_TESTS as far as MOST_S goes, then the MOST_GOLDEN fastest golden ones, which see most.
    data: coverage with contexts; seconds: of each test
    """
    from coverage import CoverageData

    covered = CoverageData(str(data))
    covered.read()

    def tests(mutant: Mutant) -> list[str]:
        file = next((one for one in covered.measured_files() if one.endswith(f"/{mutant.file}")), mutant.file)
        contexts = covered.contexts_by_lineno(file)
        of_line = {*contexts.get(mutant.line, ())} - {""}
        if not of_line and mutant.line in contexts:
            of_line = {*chain(*contexts.values())} - {""}
        able = {one.partition("|")[0] for one in of_line} - failing
        by_time = sorted(able, key=lambda one: seconds.get(one, LIMIT_S))
        golden = [one for one in by_time if one.startswith("tests/golden/")][:MOST_GOLDEN]
        ordered = [one for one in by_time if one not in golden][:MOST_TESTS]
        together = accumulate(seconds.get(one, LIMIT_S) for one in ordered)
        quick = [one for one, spent in zip(ordered, together, strict=True) if spent <= MOST_S or one == ordered[0]]
        return [*quick, *golden]

    return tests


def timed(junit: Path) -> tuple[dict[str, float], set[str]]:
    """Return the seconds of each test of a JUnit file by its node id, and those that failed or were skipped."""
    seconds, failing = {}, set()
    for case in ET.parse(junit).iter("testcase"):
        name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        seconds[name] = float(case.get("time", 0))
        if any(case.find(kind) is not None for kind in ("failure", "error", "skipped")):
            failing.add(name)
    return seconds, failing


def main() -> None:
    """Play the mutants that have no line yet, and print the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--junit", type=Path, required=True)
    flags = parser.parse_args()
    taken = chosen()
    played = map(json.loads, OUT.read_text().splitlines()) if OUT.exists() else ()
    known = {one["name"]: one["outcome"] for one in played}
    tests_of = covering(flags.data, *timed(flags.junit))
    for mutant in taken:
        if mutant.name in known:
            continue
        tests = tests_of(mutant)
        known[mutant.name] = play(mutant, tests) if tests else "not covered"
        with OUT.open("a") as out:
            print(json.dumps({"name": mutant.name, "outcome": known[mutant.name], "tests": len(tests)}), file=out)
    outcomes = Counter(known[one.name] for one in taken)
    print(*(f"{outcome}: {count}" for outcome, count in sorted(outcomes.items())), sep="\n")
    print(f"{outcomes['killed']} of {len(taken)} killed, {outcomes['timeout']} timed out")


if __name__ == "__main__":
    main()

"""Every command in the docs runs as it stands, or is parsed if it takes hours, other hosts or a package index."""

import argparse
import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import commands as command_line
from config import flags
from config.load import load_plan
from config.user_service.request_options import load_requests
from lab.places import REPOSITORY
from record.run_file import RunFile
from tests.analysis.timed_cells import steady
from tests.docs.pages import (
    DOCS,
    OURS,
    PAGES,
    blocks,
    each_page,
    lines,
    ours,
    outside_system,
    redis_system,
    run_parser,
    words_of,
)
from tests.reports.sample import run_of

BENCHMARK = re.compile(r"python -m (benchmarks\.\w+)(.*)")
MAKE = re.compile(r"make(?= |$)(.*)")
OTHERS = (  # programs that are not ours, what needs network namespaces, and native programs
    *("apt-get install ", "export GILSCOPE=", "uv ", "uvx ", "ssh me@", "python -m pyperf compare_to "),
    "native/bin/",
)
ONLY_PARSED = (  # these commands do not run here, for these reasons
    "",  # measures; the cells of its plan are listed
    "audit",  # asks a package index
    "hosts",  # needs other hosts
    "init",  # test_measure_your_service runs it
    "native",  # builds for minutes
    "plan",  # asks every interpreter; the cells of its plan are listed
    "runtimes",  # asks every interpreter; tests/test_runner.py runs it
    "setup",  # downloads interpreters
    "stress",  # takes a minute
)
SAVED = (
    *("docs/example-run", "docs/record", "reports/out/main", "reports/out/branch", "reports/out/other-machine"),
    *("run-base", "run-head"),
)
PARSE_ARGS = argparse.ArgumentParser.parse_known_args
NO_PLANS = ("asked.yml", "hosts.yaml")
SYSTEM_5 = {"5", "2,5"}  # which test_examples measures in a copy
VARIABLES = {name for page in PAGES for name in re.findall(r"\{env:(\w+)\}", page.read_text())}
COMMANDS = {
    tuple(words) for page in PAGES for words in ours(page) if not SYSTEM_5.intersection(words) and "--help" not in words
}


class Parsed(Exception):
    """The arguments of a command were accepted, and the command was stopped there."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages' commands name."""
    return fill(tmp_path_factory.mktemp("pages"))


def fill(folder: Path) -> Path:
    """Write YAML examples, saved runs and applications to *folder*, and return it."""
    for page in PAGES:
        for text in blocks(page, "yaml"):
            (folder / text.partition("\n")[0].removeprefix("# ")).write_text(text)
    (folder / "my_system.py").write_text(outside_system())
    (folder / "redis_system.py").write_text(redis_system())
    for name in ("requirements.txt", "our-ca.pem"):
        (folder / name).touch()
    (folder / "tests").symlink_to(REPOSITORY / "tests")
    for name in SAVED:
        RunFile(folder / name).save(run_of(steady("3.14", 2000) + steady("3.14t", 1000)))
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That folder as the current one, with the variables that the pages name."""
    for name in VARIABLES:
        monkeypatch.setenv(name, "x")
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize("words", sorted(COMMANDS), ids=" ".join)
def test_a_command_of_gilscope_runs_or_is_accepted(
    words: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = words[0] if words and not words[0].startswith("-") else ""
    assert command in (*command_line.NAMES, "")
    rest = words[bool(command) :]
    if command in ("", "plan") and "--resume" not in rest:  # whose cells are in the folder
        accept(rest)
    if command in ONLY_PARSED:
        monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", parse_and_stop)
        with pytest.raises(Parsed):
            command_line.find(command or "run")(rest)
    else:
        ended = command_line.find(command)(rest)
        assert ended in ((0, 1, 3) if "--fail-if-slower" in words else (0,))


def accept(words: Sequence[str]) -> None:
    """Expect that the flags of a run choose cells."""
    given = run_parser().parse(words)
    given["server"] = given["server"] or ("gunicorn" if given["app"] else None)  # which a run chooses by importing it
    if given["plan"] and not Path(given["plan"]).exists():  # a plan that is named and not shown
        given["plan"] = "workers.yaml"
    assert flags.plan_from(given).cells()


def parse_and_stop(parser: argparse.ArgumentParser, words: Sequence[str] | None = None, _: Any = None) -> Any:
    """Expect that a command accepts its arguments, and stop it there."""
    assert PARSE_ARGS(parser, words)[1] == []
    raise Parsed


@each_page
def test_other_commands_of_the_repository_exist_with_their_flags(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", parse_and_stop)
    targets = re.findall(r"^([\w-]+):.*##", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    for line in lines(page):
        if match := MAKE.match(line):
            assert {word for word in words_of(match[1]) if "=" not in word} <= set(targets)
        if (match := BENCHMARK.match(line)) and not line.startswith(OTHERS):
            monkeypatch.setattr(sys, "argv", [match[1], *words_of(match[2])])
            with pytest.raises(Parsed):
                importlib.import_module(match[1]).main()


@pytest.mark.parametrize("page", [one for one in PAGES if one.parent in (DOCS, DOCS / "measurements", DOCS / "record")])
def test_blocks_of_commands_hold_nothing_else(page: Path) -> None:
    known = (OURS, BENCHMARK, MAKE)
    block_lines = "".join([*blocks(page, ""), *blocks(page, "sh")]).splitlines()
    rest = [line.strip() for line in block_lines if not line.strip().startswith(OTHERS)]
    assert [line for line in rest if not any(one.match(line) for one in known)] == []


def test_plans_and_a_session_load(folder: Path) -> None:
    plans = [path for path in sorted(folder.glob("*.yaml")) if path.name not in NO_PLANS]
    loaded = {path.name: len(load_plan(path).cells()) for path in plans}
    assert loaded["workers.yaml"] == 52  # plans.md says so
    assert all(cells > 0 for cells in loaded.values())
    assert [one.first for one in load_requests(folder / "session.yml").requests] == [True, False, False]


def test_python_of_report_runs(folder: Path) -> None:
    (code,) = blocks(DOCS / "report.md", "python")
    seen: dict[str, Any] = {}
    exec(code, seen)
    assert len(seen["cells"])

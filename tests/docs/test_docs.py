"""Examples in the docs run, their tables say what the code says, and their links lead somewhere."""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import runner
import systems
from config import flags
from config.load import PLAN_KEYS, ROW_KEYS, load_plan
from core.cell import NONE, PARAMETERS, Parameter
from core.histogram import bounds_ns, bucket_of
from core.result import CellResult, Run
from core.system import System
from core.work import answer
from lab.runtimes import REPOSITORY
from reports import seed
from tests.docs.pages import DOCS, NEW_FLAG, PAGES, blocks, commands, named, rows, system_5

DECISIONS = sorted((DOCS / "decisions").glob("[0-9]*.md"))

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))


@pytest.fixture
def with_system_5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process knows system 5, too."""
    (tmp_path / "s5_thread.py").write_text(system_5())
    monkeypatch.setattr(systems, "__path__", [*systems.__path__, str(tmp_path)])
    systems.every.cache_clear()
    yield
    sys.modules.pop("systems.s5_thread", None)
    systems.every.cache_clear()


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the current one, with the YAML examples of all pages under the names in their first lines."""
    for page in PAGES:
        for text in blocks(page, "yaml"):
            (tmp_path / text.partition("\n")[0].removeprefix("# ")).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each_page
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    here = [target.partition("#")[0] for target in targets if not re.match(r"https?:|#", target)]
    assert [target for target in here if not (page.parent / target).exists()] == []


@each_page
def test_commands_are_accepted(page: Path, examples: Path, with_system_5: None) -> None:
    for words in commands(page):
        if NEW_FLAG not in words:
            accept(words)


def accept(words: list[str]) -> None:
    """Parse the words after `python runner.py` as it does. Raises BadInput, or fails."""
    command = words[0] if words and not words[0].startswith("-") else ""
    assert command in (*runner.COMMANDS, "")
    parser = flags.Parser(prog="runner.py")
    parser.add_argument("--json", action="store_true")
    if command in ("report", "setup"):
        return
    if command == "runtimes":
        flags.add_runtime_flags(parser)
        parser.parse_args(words[1:])
        return
    flags.add_plan_flags(parser)
    for flag in ("--seed", "--out", "--resume") if not command else ():
        parser.add_argument(flag)
    given = vars(parser.parse_args(words[1:] if command else words))
    if given["plan"] and not given["plan"].exists():  # a plan that is named and not shown
        given["plan"] = Path("workers.yaml")
    cells = flags.plan_from(given).cells()
    assert len(cells) == 1 or command != "serve"


def test_plans_load(examples: Path, with_system_5: None) -> None:
    loaded = {path.name: len(load_plan(path).cells()) for path in sorted(examples.glob("*.yaml"))}
    assert loaded["workers.yaml"] == 52  # plans.md says so
    assert all(cells > 0 for cells in loaded.values())


@each_page
def test_json_lines_are_json(page: Path) -> None:
    for line in "".join(blocks(page, "json")).splitlines():
        json.loads(line)


@each_page
def test_answers_are_those_of_the_services(page: Path) -> None:
    lines = "".join(blocks(page, "text")).splitlines()
    requests = [line.removeprefix("-> ") for line in lines if line.startswith("-> ")]
    answers = [json.loads(line.removeprefix("<- ")) for line in lines if line.startswith("<- ")]
    assert [_untimed(json.loads(answer(request.encode()))) for request in requests] == list(map(_untimed, answers))


def _untimed(reply: dict[str, Any]) -> dict[str, Any]:
    return {**reply, "calc_ns": None}


@pytest.mark.parametrize("row", rows(DOCS / "child-contract.md", "A histogram"), ids=lambda row: row[0])
def test_buckets_are_those_of_the_histogram(row: list[str]) -> None:
    value, bucket = int(row[0]), int(row[1])
    low, high = bounds_ns(bucket)
    assert bucket_of(value) == bucket
    assert row[2] == (str(low) if high == low + 1 else f"{low} to {high - 1}")


@pytest.mark.parametrize(
    ("heading", "kind"), [("The run", Run), ("A cell", CellResult), ("What the fields mean", System)]
)
def test_documented_keys_are_the_fields(heading: str, kind: type[Run | CellResult | System]) -> None:
    page = DOCS / ("add-a-system.md" if kind is System else "result.md")
    first_table = [name for name in named(page, heading) if not name.startswith("clients.")]
    assert sorted(first_table) == sorted(one.name for one in fields(kind))


def test_keys_of_plans_are_documented() -> None:
    assert sorted(set(named(DOCS / "plans.md", "A plan of your own"))) == sorted({*PLAN_KEYS, *ROW_KEYS, "NUM_CLIENTS"})


def test_the_parameters_are_those_declared() -> None:
    assert rows(DOCS / "systems.md", "Parameters") == [_parameter_row(one) for one in PARAMETERS.values()]


def _parameter_row(one: Parameter) -> list[str]:
    default = f"as {one.same_as}" if one.same_as else NONE if one.default is None else str(one.default).lower()
    readers = ", ".join(system.key for system in systems.every() if one.name in system.parameters)
    return [one.label, default, one.accepted, readers, one.help]


def test_the_seeds_figures_are_those_it_published() -> None:
    published = {
        (one.system, *row.seconds.values()) for one in seed.SYSTEMS for table in one.tables for row in table.rows
    }
    shown = {(row[0], *filter(None, row[2:])) for row in rows(DOCS / "systems.md", "The seed's figures")}
    assert shown == {figures for figures in published if len(figures) > 1}


def test_decisions_are_numbered_listed_and_whole() -> None:
    index = (DOCS / "decisions" / "README.md").read_text()
    assert [page.name[:3] for page in DECISIONS] == [f"{number:03}" for number in range(1, len(DECISIONS) + 1)]
    for page in DECISIONS:
        headings = re.findall(r"^#+ (.*)", page.read_text(), re.MULTILINE)
        title = headings[0].removeprefix(f"{page.name[:3]}: ")
        assert headings == [f"{page.name[:3]}: {title}", "Context", "Decision", "Consequence"]
        assert f"| [{page.name[:3]}]({page.name}) | {title} |" in index


def test_the_changelog_has_this_version() -> None:
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    assert f"## [{version}]" in (REPOSITORY / "CHANGELOG.md").read_text()

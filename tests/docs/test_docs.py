"""Examples in the docs run, their tables say what the code says, and their links lead somewhere."""

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import pytest

from config.user_service.service import PLACES, SERVERS
from core.work import answer
from lab.machine import machine_rules as doctor
from lab.machine import quiet
from lab.places import REPOSITORY
from lab.run.contract import CLIENT_MUST, SERVICE_MUST
from record.child_lines import ClientLine, ServiceLine
from record.comparison import StepName, Word
from record.saved_run import Status
from reports.parts import best_settings as best
from reports.parts import comparison_table as comparisons
from reports.parts import swept_values as values
from reports.sections import costs, limit, memory
from reports.view import View
from tests.docs.pages import DOCS, blocks, each_page, lines_of, listed, named, rows
from tests.reports.reading import every_chapter


@each_page
def test_links_lead_to_files_and_to_headings_in_them(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)", page.read_text())
    targets = [(page.parent / name if name else page, heading) for name, heading in links]
    assert [str(file) for file, _ in targets if not file.exists()] == []
    assert [heading for file, heading in targets if heading and heading not in anchors(file)] == []


def test_pages_that_other_files_name_exist() -> None:
    command = ["git", "grep", "-hoE", r"\bdocs/[a-z/-]+\.md\b", "--", ":!docs", ":!CHANGELOG.md", ":!tests/golden"]
    named_there = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert [name for name in set(named_there.split()) if not (REPOSITORY / name).exists()] == []


def anchors(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in headings]


@each_page
def test_json_is_json_and_answers_are_those_of_the_services(page: Path) -> None:
    for line in "".join(blocks(page, "json")).splitlines():
        json.loads(line)
    lines = "".join(blocks(page, "text")).splitlines()
    requests = [line.removeprefix("-> ") for line in lines if line.startswith("-> ")]
    answers = [json.loads(line.removeprefix("<- ")) for line in lines if line.startswith("<- ")]
    assert [_untimed(json.loads(answer(request.encode()))) for request in requests] == list(map(_untimed, answers))


def _untimed(reply: dict[str, Any]) -> dict[str, Any]:
    return {**reply, **{key: None for key in ("calc_ns", "begun_ns") if key in reply}}


RESULT, PAGE, CONTRACT = (DOCS / name for name in ("result.md", "own-service.md", "child-contract.md"))
QUIET = quiet.facts(0)


def values_of(heading: str, key: str) -> list[str]:
    """Return the values that result.md names for a key."""
    return re.findall(r"`(\w+)`", listed(RESULT, heading)[key])


NAMED: list[tuple[Iterable[str], Iterable[str]]] = [  # names in the docs, and those of the code
    (named(DOCS / "machine.md", "What each line means"), [str(one.name) for one in doctor.judge_machine(QUIET)]),
    (named(DOCS / "evidence.md", "Steps"), get_args(StepName)),
    (named(PAGE, "A command"), PLACES),
    (listed(RESULT, "How quiet it was"), QUIET),
    (listed(RESULT, "A window"), QUIET["window"]),
    (values_of("A cell", "status"), get_args(Status)),
    (values_of("A comparison", "step"), get_args(StepName)),
    (values_of("A comparison", "verdict"), get_args(Word)),
    (named(CONTRACT, "The result of a service", "must"), SERVICE_MUST),
    (named(CONTRACT, "The result of a client", "must"), CLIENT_MUST),
]


@pytest.mark.parametrize(("documented", "declared"), NAMED)
def test_names_in_the_docs_are_those_of_the_code(documented: Iterable[str], declared: Iterable[str]) -> None:
    assert sorted(documented) == sorted(declared)


def test_sections_and_columns_of_a_report_are_explained() -> None:
    page, view = DOCS / "evidence.md", View(every_chapter())
    for module in (best, limit, memory, values):
        assert f"\n## {module.section(view).title}\n" in page.read_text()
    heads = {str(cost.head) for cost in (*costs.TIMES, *costs.MORE)}
    assert {*named(page, "Where the time goes")} <= {*heads, *get_args(StepName)}
    tables = comparisons.section(view).tables
    shown = {str(column.head).lower() for table in tables for column in table.columns if not column.is_strip}
    assert shown | {"ratio [95 %]", *get_args(Word)} == {*named(page, "Verdicts")}


def test_servers_are_documented_with_the_page_that_their_options_come_from() -> None:
    shown = {row[0]: (row[1], row[2] == "yes") for row in rows(PAGE, "An application: WSGI or ASGI")}
    assert shown == {
        f"[{name}]({one.source})": (", ".join(one.interfaces), "{workers}" in one.command)
        for name, one in SERVERS.items()
    }


@pytest.mark.parametrize(
    ("who", "kind", "of_the_cell"),
    [("service", ServiceLine, set()), ("client", ClientLine, {"cell_id", "system", "runtime", "params"})],
)
def test_keys_of_the_contract_are_those_that_children_are_told_and_may_say(
    who: str, kind: type[Any], of_the_cell: set[str]
) -> None:
    documented = {*named(CONTRACT, f"The result of a {who}"), *listed(RESULT, f"A {who}")}
    documented |= {*listed(RESULT, "What a process used")}
    assert {*kind.__annotations__} - {"client_id", "host", "program", "processes"} <= documented
    ((_, told), (_, ready), *_, (_, said)) = lines_of(who)
    assert {*named(CONTRACT, f"What a {who} is told"), *of_the_cell} == set(told)
    assert set(named(CONTRACT, "A service is ready")) == set(ready)
    assert set(said["result"]) <= documented


def outline(page: Path) -> tuple[set[str], set[str], int]:
    """Return what a README links to but for the other README, its experiments, and how many chapters it has."""
    text = page.read_text(encoding="utf-8")
    links = {one for one in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) if not one.startswith("README")}
    table = text.partition("| `--experiment` |")[2].partition("\n\n")[0].splitlines()[2:]
    experiments = re.findall(r"`([a-z-]+)`", " ".join(line.split("|")[1] for line in table))
    return links, set(experiments), text.count("\n## ")


def test_both_readmes_name_the_same_pages_chapters_and_experiments() -> None:
    links, experiments, _ = english = outline(REPOSITORY / "README.md")
    assert english == outline(REPOSITORY / "README.zh.md")
    assert links >= {"docs/measure-your-service.md", "docs/evidence.md"}
    assert experiments >= {"echo", "league", "topology"}

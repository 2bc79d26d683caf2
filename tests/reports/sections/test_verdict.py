"""What the headline and the next step of a run say, and how they call a user's service."""

import re
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from shlex import split
from typing import Any

import pytest

from analysis.capacity_ratios import CapacityRatio
from analysis.comparison_words import Comparison
from config.user_service.service_options import masked_arguments
from core.languages import ENGLISH
from core.messages import NOTHING, message
from core.program import ROOT
from core.request_plan import Request, RequestPlan
from core.resume import resume_command
from core.secret import Redactor, secrets_in
from core.user_service import App, Command, UserService
from record.comparison import JudgedRatio
from record.run_file import RunFile, load
from reports.document import Document, Section, Table, arm, plain_table
from reports.parts.headline import gains, headline, main_headline
from reports.parts.run_words import absent_sentences, command_line, more_blocks_command
from reports.render.html import page
from reports.sections import verdict
from reports.sections.capacity import section, verdict_text
from reports.view import View
from tests.analysis.searches import searched, steep
from tests.analysis.timed_cells import in_blocks, steady
from tests.config.planning import COMMAND_LINE, planned, service_of
from tests.reports.sample import run_of, set_plan, with_load
from tests.reports.sections.test_answer import several
from tests.tables import each_row

BELOW = message(
    "p is {p} after correction for {count} comparisons, which is above {alpha}", p=0.054, count=6, alpha=0.05
)
BUSY: dict[str, Any] = {"": {"share": 0.5, "cores": 2, "window_ns": 10**9, "busiest": {"make": 0.5}, "neighbours": {}}}

ITEMS = UserService(
    name="own",
    start=App(command="{python} -m gunicorn web:app", app="web:app", server="gunicorn", interface="wsgi"),
    requests=RequestPlan(requests=(Request(path="/items"),)),
)


def one(**more: Any) -> Comparison:
    known: dict[str, Any] = {
        "system": "4", "params": {}, "numerator": "3.14t", "denominator": "3.14", "step": "other", "blocks": 8,
        "ratio": 0.85, "low": 0.77, "high": 0.95, "verdict": "inconclusive", "why": BELOW, "obstacle": BELOW,
    }  # fmt: skip
    return Comparison(**known | more)


@each_row
def test_a_headline_names_the_causes_the_doubt_and_what_p99_does(
    tails: dict[str, Any], changed: dict[str, Any], said: str
) -> None:
    judged = {key: JudgedRatio(**tail) for key, tail in tails.items()}
    assert said in str(headline(one(**changed, tails=judged), {}))


def test_a_command_to_copy_prints_its_result() -> None:
    run = replace(run_of([]), command=["runner.py", "--quiet", "--system", "4", "--json"])
    assert command_line(run) == "python runner.py --system 4"


def test_a_quiet_machine_and_an_interval_without_1_are_no_doubts() -> None:
    quiet = one(verdict="faster", others=0.01)
    assert re.search("busy|chance", f"{headline(quiet, {})} {quiet.word} {headline(one(), {})}") is None
    assert str(one(verdict="slower", others=0.47).word) == "slower on a busy machine"


def test_effects_in_several_systems_on_a_busy_machine_say_so() -> None:
    run = several()
    run.cells = [with_load(cell, 0.5) for cell in run.cells]
    assert str(gains(View(run))[0]).startswith("On a busy machine: With one process, removing the GIL ")


@each_row
def test_a_service_is_called_by_its_program_and_requests(command: str, label: str) -> None:
    assert replace(ITEMS, start=Command(command=command)).label == label
    assert replace(ITEMS, name="shop").label == "shop"


def test_topologies_are_called_as_typed_and_have_no_mean() -> None:
    cells = []
    for processes, threads, times in ((2, 1, {"3.14": 600, "3.14t": 700}), (1, 8, {"3.14": 600, "3.14t": 300})):
        values = {"NUM_API_SERVICES": processes, "NUM_WORKERS_PER_API_SERVICE": threads, "NUM_CLIENTS": 8}
        for runtime, ms in times.items():
            cells += in_blocks(runtime, range(ms, ms + 6), values)
    run = run_of([replace(cell, system="own") for cell in cells], blocks=6)
    set_plan(run, name="own", own=ITEMS.to_json())
    view = View(run)
    assert [*dict.fromkeys(str(view.settings.where(row)) for row in view.rows)] == [
        "web:app GET /items, 2x1", "web:app GET /items, 1x8",
    ]  # fmt: skip
    said = str(main_headline(view.compared, view.names))
    assert said.startswith("web:app GET /items: 3.14t serves 0.86x")
    assert "(2x1, inconclusive) to 1.99x" in said
    assert "mean" not in said


def test_one_ratio_at_every_value_is_said_once() -> None:
    """The headline went from 0.36x to 0.36x, depending on the value."""
    cells = []
    for count in (1, 2):
        for runtime, ms in {"3.14": 600, "3.14t": 300}.items():
            cells += in_blocks(runtime, range(ms, ms + 3), {"NUM_CLIENTS": count})
    said = str(main_headline(View(run_of(cells)).compared, {}))
    assert said.endswith("3.14t serves 2.00x the requests of 3.14 at every value of NUM_CLIENTS, inconclusive."), said


def test_the_verdict_on_two_variants_under_one_runtime_is_drawn_with_its_reason() -> None:
    """The section had an empty strip and only the checks: the comparison was far below."""
    start = Command(command="{python} app.py --port {port}")
    cells = []
    for name, ms in {"before": 600, "after": 700}.items():
        made = in_blocks("3.14", range(ms, ms + 3), {"NUM_CLIENTS": 1})
        cells += [replace(cell, system="own", params={**cell.params, "variant": name}) for cell in made]
    run = run_of(cells, blocks=3)
    set_plan(run, name="own", own=replace(ITEMS, variants={"before": start, "after": start}).to_json())
    shown = verdict.section(View(run))
    (line,) = shown.tables[0].lines
    assert str(line[0].words) == "variant before → after: 3.14"
    assert line[2].value == pytest.approx(602 / 702, abs=0.001)
    assert str(shown.notes[0]).startswith("Reasons why there is no verdict yet: ")


def test_a_service_that_was_not_measured_is_called_as_elsewhere() -> None:
    """It was called by its command line here, and by its program and requests in tables."""
    run = run_of([])
    absent = [{"system": "own", "runtime": "3.14t", "reason": BELOW.to_json()}]
    set_plan(run, name="own", own=ITEMS.to_json(), absent=absent)
    (said,) = map(str, absent_sentences(View(run, {"own": "{python} -m gunicorn web:app"})))
    assert said.startswith("Not measured: web:app GET /items under 3.14t. Reason: ")


def test_a_run_goes_on_in_its_own_folder_also_after_it_was_moved(tmp_path: Path) -> None:
    RunFile(tmp_path / "first").save(run_of([]))
    (tmp_path / "first").rename(tmp_path / "a b")
    moved = load(tmp_path / "a b")
    assert more_blocks_command(moved, 3) == f"python runner.py --resume '{tmp_path / 'a b'}' --blocks +3"


@each_row
def test_a_command_that_goes_on_says_what_must_be_given_again(line: str, again: str) -> None:
    run = run_of([])
    plan = planned(f"{COMMAND_LINE} {line}")
    known = Redactor(one.reveal() for one in secrets_in(plan.user_service))
    set_plan(run, name="own", own=service_of(plan).to_json())
    run.command = masked_arguments(["runner.py", *split(f"{COMMAND_LINE} {line}")], known)
    assert resume_command("a b", run.command, run.plan.own) == f"python runner.py --resume 'a b' {again}".strip()


@pytest.mark.parametrize("flag", ["--plan", "--requests"])
def test_it_names_the_file_that_has_the_secrets(flag: str) -> None:
    run = run_of([])
    set_plan(run, name="own", own=service_of(planned(f"{COMMAND_LINE} --body hunter2")).to_json())
    run.command = ["runner.py", flag, "shop.yaml", "--blocks", "3"]
    assert more_blocks_command(run, 2).endswith(f" --blocks +2 {flag} shop.yaml")


def test_commands_to_copy_work_outside_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    known = run_path(str(ROOT / "core/program.py"))
    assert known["PROGRAM"] == f"python {ROOT / 'runner.py'}"
    assert known["RUNS_FOLDER"] == str(ROOT / "reports/out")


def test_a_name_with_an_underscore_beside_a_marker_is_no_mark_up() -> None:
    shown = plain_table(message("Runs"), [message("Run")], [[arm("A: tmp/cmp_a", 0)]])
    document = Document(name="", title=NOTHING, about=(), sections=[Section("runs", NOTHING, tables=[shown])])
    assert "cmp_<wbr>a" in page(document, ENGLISH)


def test_latencies_at_the_capacity_have_their_unit_also_where_the_terminal_has_short_heads() -> None:
    (shown,) = [part for part in section(View(searched(steep, 600))).terminal if isinstance(part, Table)]
    heads = [(str(one.brief), str(one.over)) for one in shown.columns]
    assert [one for one in heads if one[0] in ("p50", "p99")] == [("p50", "latency us"), ("p99", "latency us")]
    assert {over for brief, over in heads if brief not in ("p50", "p99")} == {""}


def test_a_search_on_a_busy_machine_says_so_beside_its_verdict() -> None:
    found = CapacityRatio(below=Any, above=Any, ratio=2.1, low=2.0, high=2.2, verdict="faster")  # type: ignore[arg-type]
    for share, said in ((0.5, "faster on a busy machine"), (0.0, "faster")):
        view = View(run_of([with_load(cell, share) for cell in steady("3.14", 600)]))
        assert str(verdict_text(found, view)) == said

"""How many times its floor a service takes: figures by hand."""

from dataclasses import replace

import pytest

from core.messages import message
from core.result import Run
from reports.rows.floor import floors
from reports.rows.summary import rows
from reports.sections.floor import section
from reports.view import View
from tests.reports.sample import MS, run_of
from tests.reports.sweeps import served

WORK = {"calc_target": 1000, "payload_bytes": 0}
FLOORS = [  # 25 us each, by the shortest round
    {"runtime": name, **WORK, "answers": 1000, "rounds_ns": [90 * MS, 25 * MS, 26 * MS]} for name in ("3.11", "3.14t")
]


def a_run(*runtimes: str) -> Run:
    """At 1000 requests/s for 2 s a request takes 60 us of services' CPU under Python, 5 us natively."""
    cells = [
        replace(cell, services=[{**cell.services[0], "cpu_user_ns": cpu_ns, "cpu_system_ns": 0}])
        for runtime in runtimes
        for block in range(1, 7)
        for cpu_ns in [(10 if runtime == "native" else 120) * MS]
        for cell in [served(runtime, block, 1000.0, {}, system="4")]
    ]
    return replace(run_of(cells, blocks=6, runtimes=runtimes), floors=FLOORS)


def test_the_floor_is_the_answers_alone_and_the_native_service() -> None:
    run = a_run("3.11", "3.14t", "native")
    for floor in floors(run, rows(run)):
        assert [floor.service_ns, floor.answer_ns, floor.native_ns] == pytest.approx([60e3, 25e3, 5e3])
        assert [floor.times.value, floor.times.low, floor.times.high] == pytest.approx([2.0, 2.0, 2.0])


def test_without_the_native_service_it_is_the_answers_alone_and_that_is_said() -> None:
    made = section(View(a_run("3.11", "3.14t")))
    (sentence,) = made.sentences
    assert str(sentence) == (
        "Services take 2.40 [2.40, 2.40] (System 4, 3.11) to 2.40 [2.40, 2.40] (System 4, 3.14t) times the CPU time of "
        "the floor: their answers in a loop."
    )
    assert "Where the native service was not measured, the floor is the answers alone." in map(str, made.notes)


def test_why_a_floor_was_not_measured_is_said() -> None:
    run = replace(a_run("3.11"), floors=[{"runtime": "3.11", **WORK, "reason": message("It ended.").to_json()}])
    assert [str(line) for line in section(View(run)).sentences] == ["3.11: the floor was not measured. It ended."]


def test_a_run_of_an_earlier_version_has_no_such_section() -> None:
    assert not section(View(replace(a_run("3.11"), floors=[])))

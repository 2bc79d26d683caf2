"""The league: who is ranked where, and what is said of it."""

from dataclasses import replace

import pytest

from record.saved_plan import Machine
from record.saved_run import Run
from tests.reports.contestants import sentences
from tests.reports.sample import MS, TITLES, cell_of, measured, run_of, set_plan

NAMES = {**TITLES, "alt-socketserver": "socketserver", "alt-waitress": "Waitress"}
TIMES_MS = {"2": 100, "4": 80, "alt-socketserver": 50, "alt-waitress": 400}


def a_run(times_ms: dict[str, int], blocks: int = 6, runtimes: tuple[str, ...] = ("3.14", "3.14t")) -> Run:
    """Every system takes its time, 1 % more in each further block."""
    cells = [
        measured(cell_of(system, runtime), block, [(time_ms + time_ms * block // 100) * MS])
        for block in range(1, blocks + 1)
        for system, time_ms in times_ms.items()
        for runtime in runtimes
    ]
    run = run_of(cells, name="league", blocks=blocks, runtimes=runtimes)
    run = replace(run, run_id="r", started_at="", finished_at="", machine=Machine(), runtimes={})
    return set_plan(run, view="league")


@pytest.mark.parametrize(
    ("times_ms", "blocks", "start", "end"),
    [
        # 2 alternatives: p is 2 x 2 ** -12 / 0.02. 400,000 requests in 80 ms and 1 to 13 % more, and a ms of our own:
        # the median is that of 85 ms + 1 ms. Waitress and system 2 are slower, and are not named.
        (
            TIMES_MS,
            13,
            "runtime 3.14t: Multi-socket pool serves 4,651,163",
            (
                "the highest rate among gilscope's systems; faster servers outside of gilscope: "
                "socketserver (1.59 [1.58, 1.59])."
            ),
        ),
        (
            {"2": 100, "4": 80, "alt-waitress": 400},
            12,
            "runtime 3.14t: Multi-socket pool serves ",
            "the highest rate among gilscope's systems; no server outside of gilscope is significantly faster.",
        ),
    ],
)
def test_only_an_alternative_that_is_faster_than_the_better_of_ours_is_named(
    times_ms: dict[str, int], blocks: int, start: str, end: str
) -> None:
    (said,) = sentences(a_run(times_ms, blocks, ("3.14t",)), NAMES)
    assert said.startswith(start)
    assert said.endswith(end)


def test_without_a_system_of_ours_nobody_is_called_faster() -> None:
    assert sentences(a_run({"alt-socketserver": 50, "alt-waitress": 400}, blocks=12), NAMES) == []


def test_too_few_blocks_to_find_a_faster_server_are_told() -> None:
    *_, said = sentences(a_run(TIMES_MS), NAMES)
    assert said.startswith("6 blocks of measurements are too few")

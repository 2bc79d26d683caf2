"""The league: who is ranked where, and what is said of it."""

import pytest

from core.result import Run
from tests.reports.contestants import sentences
from tests.reports.sample import MS, TITLES, cell_of, measured

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
    params = {system: cell_of(system, runtimes[0]).params for system in times_ms}
    plan = {
        "name": "league",
        "view": "league",
        "blocks": blocks,
        "runtimes": list(runtimes),
        "aa": False,
        "rows": [{"system": system, "params": own} for system, own in params.items()],
    }
    return Run(run_id="r", started_at="", seed=1, command=[], plan=plan, machine={}, runtimes={}, cells=cells)


def told(run: Run) -> list[str]:
    return sentences(run, NAMES)


def test_an_alternative_that_is_faster_than_the_better_of_ours_is_named() -> None:
    (said,) = told(a_run(TIMES_MS, runtimes=("3.14t",), blocks=13))  # 2 alternatives: p is 2 x 2 ** -12 / 0.02
    # 400,000 requests in 80 ms and 1 to 13 % more, and a ms of our own: the median is that of 85 ms + 1 ms
    assert said.startswith("runtime 3.14t: Multi-socket pool serves 4,651,163")
    assert " requests/s, the most of gilscope's systems; faster servers outside of gilscope: socketserver (1.5" in said
    assert "Waitress" not in said
    assert "Single socket" not in said


@pytest.mark.parametrize(
    ("times_ms", "end"),
    [
        (
            {"2": 100, "4": 80, "alt-waitress": 400},
            "the most of gilscope's systems; no server outside of gilscope serves more requests/s.",
        ),
        # 400,000 requests in 54 and 54 ms, the middle two of twelve blocks
        (
            {"alt-socketserver": 50, "alt-waitress": 400},
            "the most: 7,407,407 requests/s. Systems 2 and 4 have no figures.",
        ),
    ],
)
def test_where_ours_are_first_or_not_there_the_sentence_says_so(times_ms: dict[str, int], end: str) -> None:
    (said,) = told(a_run(times_ms, blocks=12, runtimes=("3.14",)))
    assert said.endswith(end)

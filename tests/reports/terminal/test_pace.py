"""How long a run has still to go: cells that are left times what those behind took, counting down."""

import pytest

from reports.terminal.progress import Pace, time_left


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_nothing_is_known_before_a_cell_has_ended(clock: Clock) -> None:
    pace = Pace(clock=clock)
    assert pace.left_s(10) is None
    pace.started(0)
    assert pace.left_s(10) is None


def test_what_is_left_takes_as_long_as_what_is_behind(clock: Clock) -> None:
    pace = Pace(clock=clock)
    pace.started(0)
    clock.now_s += 8
    pace.ended(2)
    assert pace.left_s(12) == 40


def test_the_time_counts_down_while_a_cell_runs_and_ends_at_0(clock: Clock) -> None:
    pace = Pace(clock=clock)
    pace.started(0)
    clock.now_s += 5
    pace.ended(1)
    clock.now_s += 3
    assert pace.left_s(3) == 7
    clock.now_s += 30
    assert pace.left_s(3) == 0


def test_cells_of_a_run_that_goes_on_do_not_count_as_fast(clock: Clock) -> None:
    pace = Pace(clock=clock)
    pace.started(90)
    clock.now_s += 6
    pace.ended(91)
    pace.started(91)
    assert pace.left_s(100) == 54


def test_a_run_without_an_end_has_no_time_left_and_no_total(clock: Clock) -> None:
    pace = Pace(open_ended=True, clock=clock)
    pace.started(0)
    clock.now_s += 6
    pace.ended(1)
    assert pace.left_s(10_000) is None
    assert str(pace.place(1, 10_000)) == "1 done"


@pytest.mark.parametrize(
    ("left_s", "text"),
    [
        (None, ""),
        (0.4, "0 s left"),
        (99, "99 s left"),
        (100, "2 min left"),
        (7140, "119 min left"),
        (11_100, "3 h 05 min left"),
    ],
)
def test_time_left_is_said_in_the_unit_that_suits(left_s: float | None, text: str) -> None:
    assert str(time_left(left_s)) == text

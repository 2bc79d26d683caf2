"""How many workers serve at once, found out on services whose throughput at each number is known."""

from collections.abc import Callable
from random import Random

import pytest

from services.climb import LONGEST_WAIT, WINDOW_NS, Climb

MOST = 25
WINDOWS = 400


def climbed(throughput: Callable[[int], float], noise: float = 0.0, windows: int = WINDOWS) -> list[int]:
    """How many were active in each window of a service with *throughput* (requests/s by how many are active)."""
    climb, random, served, now_ns, seen = Climb(MOST), Random(5), 0.0, WINDOW_NS, []
    for _ in range(windows):
        served += throughput(climb.active) * random.gauss(1, noise) * WINDOW_NS / 1e9
        now_ns += WINDOW_NS
        seen.append(climb.active)
        climb.observe(round(served), now_ns)
    return seen


def under_a_lock(active: int) -> float:
    return 30_000 / (1 + 0.4 * min(active - 1, 3))


def on_four_cores(active: int) -> float:
    return 30_000 * min(active, 4)


def waiting_for_others(active: int) -> float:
    return 20_000 * active


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_one_leader_stays_where_more_hold_each_other_up(noise: float) -> None:
    seen = climbed(under_a_lock, noise)
    assert seen.count(1) > 0.85 * WINDOWS
    assert set(seen) <= {1, 2}


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_as_many_serve_as_there_are_cores(noise: float) -> None:
    seen = climbed(on_four_cores, noise)
    assert seen.index(4) < 20
    assert seen[20:].count(4) > 0.8 * (WINDOWS - 20)


def test_all_serve_where_each_waits_for_something_else() -> None:
    assert climbed(waiting_for_others)[-LONGEST_WAIT:].count(MOST) > 0.9 * LONGEST_WAIT


def test_a_load_that_changes_is_learnt_anew() -> None:
    loads = iter([under_a_lock] * WINDOWS + [waiting_for_others] * WINDOWS)

    def changing(active: int) -> float:
        return next(loads)(active)

    seen = climbed(changing, windows=2 * WINDOWS)
    assert seen[WINDOWS - 10 : WINDOWS].count(1) >= 8
    assert seen[WINDOWS + 100] >= 8


def test_hardly_any_load_changes_nothing() -> None:
    assert set(climbed(lambda active: 100.0)) == {1}


@pytest.mark.parametrize(("fixed", "active"), [(1, 1), (7, 7), (99, MOST)])
def test_a_fixed_number_stays(fixed: int, active: int) -> None:
    climb = Climb(MOST, fixed)
    for window in range(50):
        climb.observe(1000 * window, WINDOW_NS * window)
    assert climb.active == active

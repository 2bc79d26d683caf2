"""How many workers serve at once, found out on services whose throughput at each number is known."""

from collections.abc import Callable
from random import Random

import pytest

from services.climb import LONGEST_WAIT, LONGEST_WINDOW_NS, WINDOW_NS, Climb

MOST = 25
CONNECTIONS = 40
WINDOWS = 400


def climbed(
    throughput: Callable[[int], float],
    noise: float = 0.0,
    windows: int = WINDOWS,
    connections: int = CONNECTIONS,
    window_ns: int = WINDOW_NS,
    seed: int = 5,
) -> list[int]:
    """How many were active in each window of a service with *throughput* (requests/s by how many are active)."""
    climb, random, served, now_ns, seen = Climb(MOST), Random(seed), 0.0, WINDOW_NS, []
    for _ in range(windows):
        served += throughput(climb.active) * random.gauss(1, noise) * window_ns / 1e9
        now_ns += window_ns
        seen.append(climb.active)
        climb.observe(round(served), now_ns, connections)
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
    assert seen.index(1) < 5  # the first trial
    assert seen.count(1) > 0.95 * WINDOWS
    assert set(seen[5:]) <= {1, 2}


@pytest.mark.parametrize("noise", [0.1, 0.2, 0.4])
def test_few_serve_where_more_raise_nothing_however_much_windows_differ(noise: float) -> None:
    """As among many services on few cores: how much each serves is settled by the others."""
    assert sum(climbed(lambda active: 20_000.0, noise)[-100:]) < 100 * MOST / 4


def test_few_serve_soon_though_a_window_lasts_a_second_and_says_little() -> None:
    """One alone is tried again where it failed by little, while of 20 windows only a few are of trials."""
    seen = [climbed(lambda active: 800.0, 0.3, 20, window_ns=10**9, connections=20, seed=seed) for seed in range(100)]
    assert sum(map(sum, seen)) / 2000 < 12
    assert sum(active[-1] == 1 for active in seen) > 40


def test_looks_that_come_late_are_learnt_from_too() -> None:
    assert climbed(under_a_lock, window_ns=5 * LONGEST_WINDOW_NS)[-1] == 1


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_as_many_serve_as_cores_have_work_for_and_fewer_than_twice_as_many(noise: float) -> None:
    seen = climbed(on_four_cores, noise)[50:]
    assert sum(4 <= active < 8 for active in seen) > 0.8 * len(seen)


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
    assert set(climbed(lambda active: 100.0)) == {MOST}


def test_no_more_workers_are_tried_than_there_are_connections_to_serve() -> None:
    assert {1, 2, 5, MOST} >= set(climbed(waiting_for_others, connections=5))
    assert {1, 2, MOST} >= set(climbed(under_a_lock, connections=2))


def test_a_trial_that_is_disturbed_ends_as_if_it_had_not_been_made() -> None:
    climb = Climb(MOST)
    for window in range(1, 9):
        climb.observe(1000 * window, WINDOW_NS * window, CONNECTIONS)
        if climb.active == 1:
            climb.pause()
            break
    assert climb.active == MOST
    assert window < 8


def test_a_machine_that_is_disturbed_for_some_windows_makes_no_trial_succeed() -> None:
    disturbed = iter([False, False, False, *[True, True, False, False] * WINDOWS])

    def throughput(active: int) -> float:
        return under_a_lock(active) * (0.6 if next(disturbed) else 1.0)

    seen = climbed(throughput)
    assert [2, 2, 2] not in [seen[place : place + 3] for place in range(WINDOWS)]  # a trial takes two


@pytest.mark.parametrize(("fixed", "active"), [(1, 1), (7, 7), (99, MOST)])
def test_a_fixed_number_stays(fixed: int, active: int) -> None:
    climb = Climb(MOST, fixed)
    for window in range(50):
        climb.observe(1000 * window, WINDOW_NS * window, CONNECTIONS)
    assert climb.active == active

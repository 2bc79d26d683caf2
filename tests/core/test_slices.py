"""In which slice of time an answer is counted. native/loadgen/src/engine/slices.rs counts alike."""

import random
from collections import Counter

from core.histogram import MOST_KEPT, WIDTH_NS, Slices


def sliced(times_ns: list[int]) -> Slices:
    """As the timed loop does it."""
    slices, slice_end_ns = Slices(), 0
    for answered, time_ns in enumerate(times_ns):
        if time_ns >= slice_end_ns:
            slice_end_ns = slices.turn(time_ns, answered)
    slices.close(len(times_ns))
    return slices


def test_answers_are_counted_in_the_slice_they_came_in() -> None:
    slices = sliced([120_000_000, 149_999_999, 150_000_000, 260_000_000])
    assert slices.to_json() == {"width_ns": 50_000_000, "start_ns": 100_000_000, "counts": [2, 1, 0, 1]}
    assert Slices().to_json() == {}


def test_of_more_slices_than_there_may_be_two_are_made_one() -> None:
    said = sliced([place * WIDTH_NS for place in range(1300)]).to_json()
    assert (said["width_ns"], said["counts"]) == (4 * WIDTH_NS, [4] * 325)


def test_threads_and_processes_are_added_up_whatever_their_width() -> None:
    chance, total, every = random.Random(1), Slices(), []
    for seconds in (1, 40, 200):
        times_ns = sorted(chance.randrange(10**12, 10**12 + seconds * 10**9) for _ in range(2000))
        total.merge(Slices.from_json(sliced(times_ns).to_json()))
        every += times_ns
    said = total.to_json()
    expected = Counter(time_ns // said["width_ns"] - said["start_ns"] // said["width_ns"] for time_ns in every)
    assert {place: count for place, count in enumerate(said["counts"]) if count} == expected
    assert len(said["counts"]) <= MOST_KEPT


def test_what_was_counted_in_the_warm_up_is_forgotten() -> None:
    slices = sliced([1, 2, 3])
    slices.clear()
    assert slices.to_json() == {}

"""What the report says of the seed is what the seed published: its tables, typed from the records 000 and 001."""

from reports.contests.seed_http import FAULTS, HELD, RELEASED, seed_tables

# Language, library, Mean, P99, P999, Max, LMean, Bench. Before the extension released the GIL:
BEFORE = """
C++    beast    0.18  0.45  2.56  2.59  17.93  18.46
Rust   reqwest  0.17  0.33  1.57  1.57  16.65  23.63
Python requests 3.28 10.04 14.55 15.34 328.27 336.20
Python beast    0.06  0.09  5.87 11.48   5.64  39.68
Python aiohttp  0.47  0.63  1.36  1.48  47.45  48.34
Python reqwest  0.38  1.06  2.15  2.44  37.94  40.20
"""
AFTER = """
C++    beast    0.16 0.27 1.45 1.48  15.77  16.23
Rust   reqwest  0.14 0.37 0.62 0.64  13.88  18.01
Python requests 3.07 6.12 7.04 7.95 307.41 314.91
Python beast    0.15 0.28 0.40 0.53  15.54  16.36
Python aiohttp  0.47 0.78 1.37 1.50  47.50  48.49
Python reqwest  0.38 0.90 1.87 2.13  38.35  40.42
"""
KINDS = ["sync", "async", "sync", "sync", "async", "async"]  # 001 says it of the first table


def typed(text: str) -> list[list[str]]:
    """The words of each line."""
    return [line.split() for line in text.strip().splitlines()]


def test_the_seeds_figures_with_the_gil_held_are_those_published() -> None:
    assert [list(line[:-1]) for line in HELD] == typed(BEFORE)


def test_the_seeds_figures_with_the_gil_released_are_those_published() -> None:
    assert [list(line[:-1]) for line in RELEASED] == typed(AFTER)


def test_the_seeds_rows_are_threads_or_tasks_as_it_says() -> None:
    assert [line[-1] for line in HELD] == KINDS
    assert [line[-1] for line in RELEASED] == KINDS


def test_the_seeds_own_finding_can_be_read_from_its_tables() -> None:
    """Bench / LMean of Python over Beast is 39.68 / 5.64 = 7.04 with the GIL held, 16.36 / 15.54 = 1.05 without."""
    held, released = (next(line for line in lines if line[:2] == ("Python", "beast")) for lines in (HELD, RELEASED))
    assert [round(float(line[7]) / float(line[6]), 2) for line in (held, released)] == [7.04, 1.05]


def test_the_seeds_tables_are_said_to_be_another_machines_and_what_was_wrong_with_them() -> None:
    title, *parts, last = seed_tables()
    assert title == "## The seed's own figures: an Apple M2's"
    assert [part for part in parts if not part.startswith("|")] == ["GIL held:", "GIL released:"]
    assert last == FAULTS
    assert all(word in FAULTS for word in ("Apple M2", "one run", "fixed order", "warm-up", "connect", "body"))

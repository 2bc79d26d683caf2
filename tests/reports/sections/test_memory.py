"""The memory of services by number of clients: the chart, its sentence, and when there is none."""

from collections.abc import Callable, Sequence

import pytest

from analysis.formats import KIB, MIB
from record.saved_run import Run
from reports.sections.memory import growths, section
from reports.view import View
from tests.reports.sample import run_of
from tests.reports.sweeps import served

COUNTS = (0, 25, 50, 75, 100, 125, 150, 175, 200)


def shared_pages(clients: int) -> float:
    """Proportional set size of one service beside so many clients of the same interpreter: 4 KiB more for each."""
    return 10 * MIB + 4 * KIB * clients + 8 * MIB / (clients + 1)


def memory_run(
    counts: Sequence[int] = COUNTS, size: Callable[[int], float] = shared_pages, key: str = "pss_bytes"
) -> Run:
    cells = []
    for count in counts:
        values = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": count, "PAYLOAD_BYTES": 0}
        rate = 1000 if count else 0
        cells += [served("3.14", block, rate, values, services=[{key: round(size(count))}]) for block in (1, 2)]
    return run_of(cells, name="memory", blocks=2)


def test_the_chart_connects_the_medians_and_marks_each_measurement() -> None:
    shown = section(View(memory_run()))
    (curve,) = shown.figures[0].panels[0].curves
    assert [count for count, _ in curve.line] == [*COUNTS]
    assert [taken for _, taken in curve.line] == pytest.approx([shared_pages(count) / MIB for count in COUNTS])
    assert [mark.x for mark in curve.marks] == [count for count in COUNTS for _ in (1, 2)]
    (sentence,) = shown.sentences
    assert str(sentence) == "3.14: the memory of the service is 18.0 MiB with 0 clients and 10.8 MiB with 200 clients."


def test_without_proportional_sizes_it_is_the_peak() -> None:
    sizes = {0: 10 * MIB, 1: 13 * MIB, 2: 13 * MIB}
    (services,) = growths(View(memory_run([0, 1, 2], lambda count: sizes[count], "max_rss_bytes")))
    assert services.sizes == {count: [sizes[count]] * 2 for count in sizes}


def test_two_numbers_of_clients_are_no_sweep() -> None:
    shown = section(View(memory_run([0, 25])))
    assert (shown.sentences, shown.figures, shown.notes) == ((), (), ())

"""Three runs to compare: two of one machine, whose figures one can work out by hand, and one of another."""

from dataclasses import replace
from functools import cache

from record.saved_run import Run
from reports.compare import members
from reports.compare.compared_runs import compare_runs, document
from reports.document import Document
from reports.view import View
from tests.reports.sample import MS, SMALL, TITLES, cell_of, measured, run_of

ARMS = ("3.14t+gil", "3.14t")


def one_run(day: int, gil_ms: int, free_ms: int, *, also: tuple[str, ...] = ()) -> Run:
    """Systems 1 and *also* under two runtimes: block b takes b ms more. It began on that day of May 2026."""
    cells = [
        measured(cell_of(system, arm, SMALL), block, [(took_ms + block) * MS])
        for system in ("1", *also)
        for arm, took_ms in zip(ARMS, (gil_ms, free_ms), strict=True)
        for block in range(1, 8)
    ]
    made = run_of(cells, blocks=7)
    return replace(made, run_id=f"run-of-day-{day}", started_at=f"2026-05-{day:02}T10:00:00+00:00")


@cache
def trio() -> tuple[View, ...]:
    """Medians are those of block 4: A 4.004 s and 2.004 s, B 4.004 s and 3.004 s, C 8.004 s and 4.004 s. Made once."""
    first, second = one_run(1, 4000, 2000), one_run(2, 4000, 3000, also=("2",))
    second.machine = replace(second.machine, commit="b64bdb9aa110")
    third = one_run(3, 8000, 4000)
    third.machine = replace(third.machine, cpu="Other CPU", kernel="Linux 7.0")
    for run, tornado in ((first, "6.5"), (second, "6.6"), (third, "6.5")):
        run.runtimes["3.14t"] = replace(run.runtimes["3.14t"], packages={"x.txt": {"tornado": tornado}})
    known = second.runtimes["3.14t"]
    second.runtimes["3.14t"] = replace(known, build="other", version="3.14.3", flags=replace(known.flags, lto=True))
    return tuple(View(run, TITLES) for run in (first, second, third))


def compared_trio() -> Document:
    """The comparison of the three runs, although one is of another machine."""
    return document(compare_runs(members(trio(), ("first", "second", "third")), anyway=True))

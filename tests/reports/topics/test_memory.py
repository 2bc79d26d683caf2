"""Slopes of memory: known lines, shared pages, and how often the interval holds the truth."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from core.result import Run
from reports.document.model import Section
from reports.document.values import KIB, MIB
from reports.topics.memory import growths, section
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
    cells = [
        served(
            "3.14",
            block,
            1000 if count else 0,
            {"NUM_API_SERVICES": 1, "NUM_CLIENTS": count, "PAYLOAD_BYTES": 0},
            services=[{key: round(size(count))}],
            clients=[{key: 12 * MIB}] * count,
        )
        for count in counts
        for block in (1, 2)
    ]
    return run_of(cells, name="memory", blocks=2, runtimes=["3.14"])


def made(run: Run) -> Section:
    return section(View(run))


def sentences(run: Run) -> list[str]:
    return [str(sentence) for sentence in made(run).sentences]


def test_pages_shared_with_the_clients_are_no_part_of_the_slope() -> None:
    """The service grows by 4 KiB for each client, yet a plain line through its proportional sizes falls."""
    services, clients = growths(View(memory_run()))
    assert services.slope.value == pytest.approx(4 * KIB, rel=1e-3)
    assert services.at(0) == pytest.approx(18 * MIB, rel=1e-3)
    counts, sizes = np.array(services.points).T
    assert np.polyfit(counts, sizes, 1)[0] < 0
    assert clients.slope.value == pytest.approx(12 * MIB)


def test_without_proportional_sizes_it_is_the_plain_line() -> None:
    """Through (0, 10), (1, 13), (2, 13) MiB, twice each: slope 1.5, intercept 10.5."""
    sizes = {0: 10 * MIB, 1: 13 * MIB, 2: 13 * MIB}
    services = growths(View(memory_run([0, 1, 2], lambda count: sizes[count], "max_rss_bytes")))[0]
    assert services.slope.value == pytest.approx(1.5 * MIB)
    assert services.at(0) == pytest.approx(10.5 * MIB)
    assert len(services.fit) == 2


def test_no_growth_is_claimed_where_the_interval_includes_0() -> None:
    rng = np.random.default_rng(2)
    run = memory_run(size=lambda count: 10 * MIB + MIB * rng.standard_normal())
    assert "the memory does not grow significantly (" in sentences(run)[0]


def profile(runtime: str, objects_mib: float, **more: int) -> dict[str, Any]:
    """A service that had grown by its objects after the load, with 2 MiB of files and 1 of stacks all the time."""
    sizes = {"files": 2 * MIB, "stacks": MIB, "c_heap": 0, "processes": 1, "threads": 9}
    moments = {"start": {"files": MIB, "objects": MIB}, "before": {**sizes, "objects": 4 * MIB}}
    moments |= {moment: {**sizes, "objects": round(objects_mib * MIB), **more} for moment in ("after", "idle")}
    params = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 25, "PAYLOAD_BYTES": 0}
    of_cell = {"kind": "memory", "system": "2", "runtime": runtime, "params": params}
    return {**of_cell, "sentence": {"msgid": "x"}, "moments": moments}


def test_what_a_runtime_takes_beyond_its_twin_is_told_by_kind() -> None:
    run = memory_run((25,))
    run.profiles = [profile("3.14", 6, in_use=5 * MIB, free=MIB), profile("3.14t", 16.5)]
    run.profiles += [{**profile("3.14", 1), "kind": "perf"}, {**profile("3.14", 1), "moments": {}}]
    said = made(run)
    difference, why = map(str, said.sentences)
    assert difference.endswith(
        "after the load test, the first service uses 19.5 MiB under 3.14t and 9.0 MiB under 3.14. The difference by "
        "part: Python's allocator +10.5 MiB."
    )
    assert "A default build takes Python objects of more than 512 bytes from malloc" in why
    lines = said.tables[1].lines
    assert [str(line[1].words) for line in lines[:4]] == [
        "when the Python interpreter has started",
        "connections open, before the load test",
        "after the load test",
        "2 s after the load test",
    ]
    assert [datum.value for datum in lines[2][2:]] == [9 * MIB, 6 * MIB, 0, MIB, 2 * MIB, 5 * MIB, MIB, 9, None]
    assert [datum.value for datum in lines[6][7:9]] == [None, None]


@pytest.mark.parametrize(("sockets", "is_divided"), [(17, True), (10, False), (1, False)])
def test_memory_beyond_that_before_any_client_is_divided_among_connections_that_are_enough(
    sockets: int, is_divided: bool
) -> None:
    of_one, run = profile("3.14", 6), memory_run((25,))
    of_one["moments"] |= {"listening": {"files": 2 * MIB, "stacks": MIB, "objects": 3 * MIB, "sockets": 1}}
    of_one["moments"]["before"] |= {"sockets": sockets}
    run.profiles = [of_one]
    said = [str(sentence).partition(": ")[2] for sentence in made(run).sentences]
    divided = (
        "each of the 16 open, idle connections adds 64.0 KiB to the memory of the first service. After the load test, "
        "each connection adds 192.0 KiB, and 2 s later 192.0 KiB. These additions are relative to the memory before "
        "any client connected."
    )
    assert said == ([divided] if is_divided else [])

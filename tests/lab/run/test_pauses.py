"""Collections of real processes, and of files that nobody should believe."""

import json
import os
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.inside.pauses import HEADER_BYTES, MAGIC, RECORDS, SIZE_BYTES
from lab.run.instrumentation import TimeWindow
from lab.run.measured_runtimes import Runtime
from lab.run.slow import DEFAULT, UNKNOWN, Collections, collections_within, read_counters
from record.child_lines import PauseCounts
from tests.lab.run.test_instrumentation import instrumentation_in
from tests.started import started

EVER = TimeWindow(start_ns=0, end_ns=1 << 62)
COLLECTS = """
import gc, json, os, sys, time
gc.disable()
print(flush=True)
sys.stdin.readline()
began = time.perf_counter_ns()
for generation in (0, 0, 1, 2, 2, 2):
    gc.collect(generation)
print(json.dumps([began, time.perf_counter_ns()]), flush=True)
if os.fork() == 0:
    gc.collect()
    os._exit(0)
os.wait()
print(flush=True)
sys.stdin.readline()
"""


def test_collections_of_a_process_and_its_children_are_counted_also_when_it_is_killed(
    runtime: Runtime, tmp_path: Path
) -> None:
    inside = instrumentation_in(tmp_path, DEFAULT)
    environment = {"PATH": os.environ["PATH"], **runtime.variables, **inside.variables}
    with started(runtime.interpreter.executable, "-W", "ignore", "-c", COLLECTS, env=environment) as process:
        before = read_counters([inside])
        process.say("")
        began_ns, ended_ns = json.loads(process.hear())
        assert process.hear() == "\n"
    ((summary, spans),) = collections_within([EVER], [inside], before, int)
    assert summary
    assert (summary.processes, summary.collections) == (2, [2, 1, 4])
    assert sum(began_ns <= start_ns and end_ns <= ended_ns for start_ns, end_ns in spans) == 6
    assert summary.longest_ns == max(end_ns - start_ns for start_ns, end_ns in spans) > 0
    assert sum(summary.total_ns) == sum(end_ns - start_ns for start_ns, end_ns in spans)
    assert summary.unkept == 0


def file(*records: tuple[int, int], magic: int = MAGIC, count: int | None = None, size: int = SIZE_BYTES) -> bytes:
    """A file whose generation 0 has these (start, length)."""
    total_ns = sum(length_ns for _, length_ns in records)
    head = struct.pack("=7Q", magic, len(records) if count is None else count, total_ns, *[0] * 4)
    return (head + b"".join(struct.pack("=QQ", *record) for record in records)).ljust(size, b"\0")


def collected(
    tmp_path: Path, *contents: bytes, windows: Sequence[TimeWindow] = (EVER,), before: bytes = b""
) -> Collections:
    inside = instrumentation_in(tmp_path, DEFAULT)
    assert inside.folder
    (inside.folder / "pauses-1.0").write_bytes(before)
    mark = read_counters([inside]) if before else [{}]
    for pid, content in enumerate(contents, 1):
        (inside.folder / f"pauses-{pid}.0").write_bytes(content)
    (pauses_of_service,) = collections_within(windows, [inside], mark, int)
    return pauses_of_service


def test_only_what_lies_in_counted_time_counts(tmp_path: Path) -> None:
    """Of two turns, 100 to 200 and 300 to 400 count. What is between them, in a lead and after it, does not.

    The collection at 190 goes on for 20 after the first window, the one at 290 begins 10 before the second.
    """
    records = ((10, 5), (100, 20), (190, 30), (250, 7), (290, 15), (350, 3), (401, 40))
    windows = [TimeWindow(start_ns=100, end_ns=200), TimeWindow(start_ns=300, end_ns=400)]
    summary, spans = collected(tmp_path, file(*records), windows=windows, before=file(records[0]))
    assert spans == [(100, 120), (190, 220), (250, 257), (290, 305), (350, 353), (401, 441)]
    total_ns = [20 + 10 + 5 + 3, 0, 0]
    assert summary == PauseCounts(processes=1, collections=[3, 0, 0], total_ns=total_ns, longest_ns=30, unkept=0)


def test_collections_whose_times_were_overwritten_are_spread_over_turns_like_the_others(tmp_path: Path) -> None:
    """Half of the recorded ones began in counted time, so half of those that were overwritten count, too."""
    records = [(start, 1) for start in range(1, RECORDS + 1)]
    window = TimeWindow(start_ns=1, end_ns=1 + RECORDS // 2)
    summary, _ = collected(tmp_path, file(*records, count=2 * RECORDS), windows=[window])
    assert summary
    assert (summary.collections, summary.unkept) == ([RECORDS, 0, 0], RECORDS // 2)
    summary, _ = collected(tmp_path, file(*records, count=RECORDS + 7))
    assert summary
    assert (summary.collections, summary.unkept) == ([RECORDS + 7, 0, 0], 7)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * SIZE_BYTES,
        file((5, 5), magic=7),
        file((5, 5), size=SIZE_BYTES - 1),
        file((5, 5))[:HEADER_BYTES],
        file((1 << 63, 1 << 63)),
        file((5, 1 << 60)),
        file((5, 5), count=1 << 62),
    ],
)
def test_a_file_that_cannot_be_true_leaves_the_service_unknown(tmp_path: Path, content: bytes) -> None:
    assert collected(tmp_path, file((5, 5)), content) == UNKNOWN


def test_of_fewer_collections_than_before_or_of_no_file_nothing_is_known_and_who_has_just_begun_counts_none(
    tmp_path: Path,
) -> None:
    assert collected(tmp_path, file((5, 5)), before=file((5, 5), (20, 5))) == UNKNOWN
    assert collections_within([EVER], [instrumentation_in(tmp_path, DEFAULT)], [{}], int) == [UNKNOWN]
    begun, _ = collected(tmp_path, bytes(SIZE_BYTES), file((5, 5)))
    assert begun
    assert begun.collections == [1, 0, 0]

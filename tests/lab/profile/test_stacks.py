"""What samplers wrote, read with bounds and added up: files by hand, and figures that one can count."""

import json
from typing import Any

import pytest

from core.inside import SLICE_NS, stacks_threads
from lab.profile import stack_samples as stacks
from lab.profile.stack_samples import LONGEST_NAME, Samples, read, to_json

STACKS = b"""\
{"frame": ["/srv/app.py", 31, "Cache.get"]}
{"frame": ["/usr/lib/python3.14/functools.py", 56, "update_wrapper"]}
{"frame": ["/srv/app.py", 9, "main"]}
{"frame": ["", 0, ""]}
{"stack": [0, 2]}
{"stack": [1, 2]}
{"stack": [3]}
{"stack": [2]}
"""


def slice_at(number: int, counts: str, **more: int) -> dict[str, Any]:
    """One slice. counts: state, stack and samples, and so on"""
    rows = (one.split() for one in counts.split(", "))
    return {"at": number * SLICE_NS, "counts": [(one, int(stack), int(count)) for one, stack, count in rows], **more}


def lines(*values: dict[str, Any]) -> bytes:
    """Lines of JSON."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def samples_of(*slices: dict[str, Any], stacks: bytes = STACKS, rest: bytes = b"", processes: int = 1) -> Samples:
    """Of the slices from 1 to 3 in the file of each process."""
    written = stacks + lines(*slices) + rest
    return read([written] * processes, SLICE_NS, 4 * SLICE_NS, "/srv")


def test_shares_are_of_the_time_at_work_in_the_timed_window() -> None:
    told = to_json(
        samples_of(
            slice_at(0, "run 0 99", cpu_ns=5_000_000),
            slice_at(1, "lock 0 6, run 0 2, idle 3 8"),
            slice_at(2, "lock 1 1, io 2 1", missed=4, cpu_ns=20_000_000),
            slice_at(4, "gil 0 99", cpu_ns=90_000_000),
        )
    )
    assert told["states"] == {"run": 0.2, "ready": 0.0, "gil": 0.0, "lock": 0.7, "io": 0.1}
    assert (told["samples"], told["processes"], told["batches"]) == (10, 1, [8, 2, 0])
    assert told["idle_share"] == pytest.approx(8 / 18, abs=1e-4)
    assert told["missed_share"] == pytest.approx(4 / 30, abs=1e-4)
    assert told["sampler_cores"] == pytest.approx(0.05)


def test_lines_that_wait_most_for_a_lock_come_first_with_who_called_a_librarys() -> None:
    lines = to_json(samples_of(slice_at(1, "lock 1 3, run 3 5"), slice_at(3, "lock 0 1")))["lines"]
    assert [(line["function"], line["file"], line["line"], line["caller"]) for line in lines] == [
        ("update_wrapper", "functools.py", 56, "main (app.py:9)"),
        ("Cache.get", "app.py", 31, ""),
        ("main", "app.py", 9, ""),
    ]
    assert [line["waits"] for line in lines] == [{"lock": [3, 0, 0]}, {"lock": [0, 0, 1]}, {}]


def test_processes_are_added_up_slice_by_slice() -> None:
    samples = samples_of(slice_at(1, "lock 0 2"), processes=2)
    assert (samples.processes, [batch.total() for batch in samples.batches]) == (2, [4, 0, 0])


# Threads of uvicorn --workers 2, as --profile python saw them: a worker's answer to pings, the resource tracker of
# multiprocessing, the worker's main thread, which runs below the supervisor's frames, and a request's wait for a pool.
SUPERVISED = b"""\
{"frame": ["/usr/lib/python3.14/multiprocessing/connection.py", 416, "wait"]}
{"frame": ["/usr/lib/python3.14/multiprocessing/connection.py", 260, "wait"]}
{"frame": ["/usr/lib/python3.14/uvicorn/supervisors/multiprocess.py", 59, "wait"]}
{"frame": ["/usr/lib/python3.14/multiprocessing/resource_tracker.py", 441, "wait"]}
{"frame": ["<string>", 1, "wait"]}
{"frame": ["/usr/lib/python3.14/sqlalchemy/engine/default.py", 9, "wait"]}
{"frame": ["/usr/lib/python3.14/uvicorn/server.py", 75, "wait"]}
{"frame": ["/usr/lib/python3.14/uvicorn/supervisors/multiprocess.py", 72, "wait"]}
{"frame": ["/usr/lib/python3.14/shop/web.py", 31, "wait"]}
{"stack": [0, 1, 2]}
{"stack": [3, 4]}
{"stack": [5, 6, 7]}
{"stack": [0, 8, 7]}
"""


def test_threads_that_wait_for_a_supervisor_are_idle_and_those_that_wait_below_one_are_not() -> None:
    counts = "io 0 45, io 1 23, io 2 8, io 3 4, run 0 1"
    samples = samples_of(slice_at(1, counts), stacks=SUPERVISED)
    states = [state for state, _ in samples.total]
    assert (states, [*samples.total.values()]) == (["idle", "idle", "io", "io", "run"], [45, 23, 8, 4, 1])


@pytest.mark.parametrize(
    "rest",
    [
        b'{"at": 100000000, "counts": [["lock", 0',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b'{"at": 100000000, "counts": [["lock", 77, 1], ["lock", -1, 1], ["lock", 0, -5], ["dance", 0, 1]]}\n',
        b'{"at": "soon"}\n{"at": 100000000, "counts": [["lock", 0, 1]]}\n',
        b'{"stack": [99, -1]}\n{"at": 100000000, "counts": [["lock", 4, 1]]}\n',
    ],
)
def test_what_a_file_should_not_have_counts_for_nothing(rest: bytes) -> None:
    samples = samples_of(slice_at(1, "run 0 1"), rest=rest)
    assert samples.total.total() == 1


def test_collapsed_stacks_and_the_tree_of_a_flame_graph_have_the_outermost_frame_first_and_the_state_last() -> None:
    """The tree holds the time at work."""
    samples = samples_of(slice_at(1, "lock 1 2"), slice_at(2, "run 0 1, idle 3 4"))
    main, get, update = "main (app.py:9)", "Cache.get (app.py:31)", "update_wrapper (functools.py:56)"
    assert stacks.folded(samples) == f"{main};{get};[run] 1\n{main};[idle] 4\n{main};{update};[lock] 2\n"
    tree = stacks.tree(samples)
    (child,) = tree["children"]
    assert (tree["value"], child["name"], child["value"]) == (3, "main (app.py)", 3)
    assert {one["name"]: one["children"][0]["name"] for one in child["children"]} == {update: "[lock]", get: "[run]"}


def test_long_names_and_lines_below_zero_are_cut() -> None:
    written = lines({"frame": ["/srv/" + "x" * 999 + ".py", -1, "f" * 999]}, {"stack": [0]})
    samples = samples_of(slice_at(1, "run 0 1"), stacks=written)
    (line,) = to_json(samples)["lines"]
    assert (len(line["function"]), len(line["file"]), line["line"]) == (LONGEST_NAME, LONGEST_NAME, 0)


@pytest.mark.parametrize("error", [RuntimeError("Invalid tlbc_index"), SystemError("returned NULL"), OSError("gone")])
def test_a_stack_that_cannot_be_read_is_a_lost_sample_and_no_lost_profile(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unwinder:
        def get_stack_trace(self) -> list[object]:
            raise error

    monkeypatch.setattr(stacks_threads, "_unwinder", lambda pid: Unwinder())
    assert stacks_threads.StackReader(1).stacks() == {}

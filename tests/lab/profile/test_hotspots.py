"""Functions and locks, from what perf script says. The stacks were captured by perf 6.1 from a 3.11 service."""

from pathlib import Path

import pytest

from lab.profile.hotspots import HotSpots, Sample, attribute, count_hot_spots, lock_kind, parse_samples

CAPTURED = Path(__file__).with_name("perf-script.txt").read_text(encoding="utf-8")
TAKE_GIL, DROP_GIL, LOOP, WAIT, SLEEP_FOR_THE_GIL, SLEEP = CAPTURED.strip().split("\n\n")


def profile(*texts: str) -> HotSpots:
    return count_hot_spots(parse_samples("\n\n".join(texts).splitlines(keepends=True)))


ALL = profile(TAKE_GIL, DROP_GIL, LOOP, LOOP, LOOP, WAIT, WAIT, WAIT, SLEEP_FOR_THE_GIL, SLEEP)


def sample(*symbols: str, weight: int = 1, event: str = "cycles") -> Sample:
    """With these frames, innermost first; a symbol that begins with k: is the kernel's."""
    frames = [(name[2:], "[kernel.kallsyms]") if name.startswith("k:") else (name, "/bin/python3") for name in symbols]
    return Sample(event=event, weight=weight, stack=tuple(frames))


def test_a_captured_profile_names_the_hottest_function_and_the_lock_with_its_shares() -> None:
    assert ALL.samples == 8
    assert [(one.symbol, one.dso, one.share, one.switch_share, one.lock) for one in ALL.hot] == [
        ("epoll_wait", "libc.so.6", 0.375, 0.5, ""),
        ("_PyEval_EvalFrameDefault", "python3.11", 0.375, 0, ""),
        ("take_gil", "python3.11", 0.125, 0.5, "gil"),
        ("drop_gil", "python3.11", 0.125, 0, "gil"),
    ]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (
            ALL,
            (
                "the hottest function is epoll_wait (38 % of CPU time); the hottest lock is the GIL "
                "(take_gil, drop_gil: 25 % of CPU time, 50 % of context switches); based on 8 samples"
            ),
        ),
        (  # of which there are many: named by its function
            count_hot_spots([sample("k:futex_wait", "_PyParkingLot_Park", "_PyMutex_LockTimed", "f"), sample("f")]),
            "the hottest lock is _PyMutex_LockTimed (a PyMutex: 50 % of CPU time)",
        ),
        (  # which only sleeps
            count_hot_spots([sample("f"), sample("take_gil", event="switches"), sample("f", event="switches")]),
            "the GIL (take_gil: 0 % of CPU time, 50 % of context switches)",
        ),
        (
            count_hot_spots([sample("f", weight=999), sample("take_gil", weight=1)]),
            "; no lock accounts for 1 % or more of CPU time or context switches;",
        ),
        (count_hot_spots([sample("f", event="cpu-clock:uH")]), "without kernel samples"),
    ],
)
def test_the_hottest_function_and_lock_are_told_with_their_shares(found: HotSpots, told: str) -> None:
    assert told in str(found.sentence())


def test_a_profile_is_kept_with_its_hottest_alone() -> None:
    kept = profile(TAKE_GIL, LOOP, LOOP, WAIT).to_json(limit=2)
    assert [one["symbol"] for one in kept["hot"]] == ["_PyEval_EvalFrameDefault", "epoll_wait"]


FRAMES = """\
[unknown] ([unknown]) -> [unknown] in [unknown]
f(int, char) (/usr/lib/libx.so) -> f(int, char) in /usr/lib/libx.so
f (/tmp/old.so (deleted)) -> f in /tmp/old.so (deleted)
py::work:/srv/a b.py (/tmp/perf-7.map) -> py::work:/srv/a b.py in /tmp/perf-7.map
dict_lookup.isra.0.cold ([vdso]) -> dict_lookup in [vdso]"""


@pytest.mark.parametrize("line", FRAMES.splitlines())
def test_a_frame_is_a_symbol_and_what_it_is_in(line: str) -> None:
    written, frame = line.split(" -> ")
    (one,) = parse_samples([" 1 cycles:P: \n", f"\t  f267e {written}\n", "\n"])
    ((symbol, dso),) = one.stack
    assert (one.event, one.weight, f"{symbol} in {dso}") == ("cycles:P", 1, frame)


OWNERS = """\
f g -> f
k:copy_page recv f -> recv
k:copy_page k:do_fault -> copy_page
k:_raw_spin_lock k:do_fault f -> _raw_spin_lock
[unknown] f -> f
sem_wait PyThread_acquire_lock_timed acquire_timed f -> acquire_timed
 -> [unknown]"""


@pytest.mark.parametrize("line", OWNERS.splitlines())
def test_a_sample_belongs_to_its_outermost_lock_or_else_to_its_innermost_function(line: str) -> None:
    symbols, owner = line.split(" -> ")
    assert attribute(sample(*symbols.split()).stack)[0] == owner


LOCKS = """\
take_gil gil
stop_the_world stop_the_world
_PyCriticalSection_BeginSlow critical_section
lock_PyThread_acquire_lock threading_lock
_PyMutex_LockSlow mutex
native_queued_spin_lock_slowpath kernel_lock
_raw_spin_lock kernel_lock
__mutex_lock.constprop.0 kernel_lock
rwsem_down_read_slowpath kernel_lock
futex_wait lock
__lll_lock_wait lock
sem_wait lock
std::sys::sync::mutex::futex::Mutex::lock_contended lock
PyEval_RestoreThread
_raw_spin_unlock_irqrestore
block_read"""


@pytest.mark.parametrize("line", LOCKS.splitlines())
def test_locks_are_known_by_the_names_of_their_functions(line: str) -> None:
    symbol, _, lock = line.partition(" ")
    (frame,) = next(parse_samples([" 1 cycles: \n", f"\t 1 {symbol} (/x)\n", "\n"])).stack
    assert lock_kind(frame[0]) == lock

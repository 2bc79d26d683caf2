"""The sampler on a process whose threads do what is known, under every runtime."""

import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from select import select
from subprocess import check_output
from time import monotonic_ns
from types import SimpleNamespace
from typing import Any

import pytest

from core import inside
from core.inside.stacks_sampler import Sampler
from core.inside.stacks_threads import is_parked_on_a_lock, is_spinning
from lab.profile.stack_samples import Stack, read
from lab.run.instrumentation import SOURCE
from lab.run.measured_runtimes import Runtime
from tests.conftest import runtime_or_skip
from tests.started import started
from tests.tables import each_row

KNOWN = """
import json, queue, socket, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
lock, jobs, ends, work = threading.Lock(), queue.SimpleQueue(), socket.socketpair(), ThreadPoolExecutor(1)
def burn():
    while True: pass
def hold():
    while True:
        with lock:
            time.sleep(0.004)
def receive(): ends[0].recv(1)
def take(): jobs.get()
work.submit(len, ()).result()
for name, count in json.loads(sys.argv[1]).items():
    for _ in range(count):
        threading.Thread(target=globals()[name], daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""
LATE = """
import os, sys, threading, time
gate = os.pipe()
def leaf():
    os.write(1, b"%d\\n" % threading.get_native_id())
    time.sleep(600)
def worker(number):
    if number:
        os.write(1, b"waits\\n")
        os.read(gate[0], 1)
    leaf()
for number in range(18):
    threading.Thread(target=worker, args=(number,), daemon=True).start()
sys.stdin.readline()
os.write(gate[1], b"x" * 17)
sys.stdin.read()
"""
REPLACED = "import os; print('ready', flush=True); input(); os.execvp('sh', ['sh', '-c', 'echo other; read word'])"
# Reads the stacks of a program when it has printed a number of lines, and again after its next lines.
READS = """
import subprocess, sys
from core.inside.stacks_threads import StackReader
program, *numbers = sys.argv[1:]
with subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1, text=True) as process:
    reader = None
    for number in map(int, numbers):
        for _ in range(number):
            process.stdout.readline()
        reader = reader or StackReader(process.pid)
        print(*sorted(reader.frames(stack)[0][2] for stack in reader.stacks().values()), sep=",")
        process.stdin.write("on\\n")
        process.stdin.flush()
    process.kill()
"""
DEADLINE_NS = 60 * 10**9
ENOUGH_SAMPLES = 100  # for each thread: of a second


def states(runtime: Runtime, folder: Path, threads: dict[str, int]) -> dict[str, Counter[str]]:
    """How often each function was in which state, in a process that has *threads* and is killed at the end."""
    written = folder / "written"
    written.mkdir()
    (written / inside.OPTIONS).write_text(json.dumps({"stacks": {}}))
    (folder / "known.py").write_text(KNOWN)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), inside.FOLDER: str(written)}
    environment |= runtime.variables
    command = (runtime.interpreter.executable, folder / "known.py", json.dumps(threads))
    with started(*command, env=environment) as process:
        began_ns, until_ns = monotonic_ns(), monotonic_ns() + DEADLINE_NS
        seen: Counter[tuple[str, Stack]] = Counter()
        while seen.total() < ENOUGH_SAMPLES * sum(threads.values()):
            assert monotonic_ns() < until_ns, [path.read_text() for path in written.iterdir()]
            select([], [], [], 0.05)
            files = [file.read_bytes() for file in written.glob(f"stacks-{process.pid}.0")]
            seen = read(files, began_ns, until_ns, "").total
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for (state, stack), count in seen.items():
        counted[stack[0].function][state] += count
    return counted


def share(counts: Counter[str], *names: str) -> float:
    return sum(counts[name] for name in names) / counts.total()


def test_waits_for_a_lock_for_io_and_for_work_are_told_apart(tmp_path: Path) -> None:
    """Of four threads that hold one lock in turn through a sleep, three wait for it.

    On a busy machine one of them may have been woken in vain, and be ready without a core; the holder may be seen less.
    """
    seen = states(runtime_or_skip("3.14t"), tmp_path, {"hold": 4, "receive": 1, "take": 2})
    assert share(seen["hold"], "lock") > 0.4
    assert share(seen["receive"], "io") > 0.9
    assert share(seen["take"], "idle") > 0.9
    assert share(seen["_worker"], "idle") > 0.9


@pytest.mark.parametrize("runtime", ["3.14", "3.14t+gil", "3.14t"], indirect=True)
def test_threads_that_burn_wait_for_the_gil_where_there_is_one(runtime: Runtime, tmp_path: Path) -> None:
    """One of four can hold it. Who waits for it wakes to ask: on a busy machine it is ready without a core then."""
    seen = states(runtime, tmp_path, {"burn": 4})
    everything = sum(seen.values(), Counter[str]())
    waiting, ready = (everything[state] / (everything.total() - everything["idle"]) for state in ("gil", "ready"))
    if not runtime.name.gil_enabled:
        assert everything["gil"] == 0
        assert share(seen["burn"], "run", "ready") > 0.8
    else:
        assert waiting > 0.05
        assert waiting + ready > 0.6
        assert everything["lock"] < 0.05 * everything.total()


def functions_read(program: str, *lines: int) -> list[list[str]]:
    """The innermost function of each thread of *program* after each of these numbers of its lines."""
    command = [str(runtime_or_skip("3.14t").interpreter.executable), "-c", READS, program, *map(str, lines)]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
    written = check_output(command, text=True, env=environment)
    return [line.split(",") for line in written.splitlines()]


def test_threads_that_call_a_function_later_than_others_are_read() -> None:
    """Each has a copy of its bytecode there, for which the unwinder's own array is too short: python/cpython#157660."""
    before, after = functions_read(LATE, 18, 17)
    assert (before.count("leaf"), after.count("leaf")) == (1, 18)


def test_a_process_that_became_another_program_has_no_stacks_and_is_no_failure() -> None:
    assert functions_read(REPLACED, 1, 1) == [["<module>"], [""]]


@each_row
def test_who_waits_for_work_is_known_by_the_line(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, _, rest = line.partition(": ")
    text, _, state = rest.partition(" -> ")
    file, function = place.split()
    monkeypatch.setattr("linecache.getline", lambda *_: text)
    assert is_parked_on_a_lock((file, 7, function)) is (state == "waits")


@each_row
def test_a_thread_that_is_preempted_does_not_spin(line: str) -> None:
    switches, ran_us, state = line.partition(":")[0].split()
    assert is_spinning(int(switches), int(ran_us) * 1000) is (state == "spins")


@each_row
def test_the_only_thread_of_a_process_waits_for_no_other(threads: int, state: str) -> None:
    """Even if it yields its core as often as one that spins. All threads are in one line."""
    sampler = Sampler.__new__(Sampler)
    frame, stacks = ("/srv/app.py", 7, "serve"), dict.fromkeys(range(threads), ("frame",))
    output = SimpleNamespace(counts=Counter(), missed=0)
    fields: dict[str, Any] = {
        "_reader": SimpleNamespace(stacks=lambda: stacks), "_output": output, "_gil": 0,
        "_is_parked": lambda frame: False, "_stacks": {("frame",): (frame, 1)}, "_unknown": (frame, 0),
        "_threads": stacks, "_states": lambda: dict.fromkeys(stacks, ("spin", 0)),
    }  # fmt: skip
    vars(sampler).update(fields)
    sampler._sample()
    assert output.counts == {(state, 1): threads}

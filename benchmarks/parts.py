"""Measure the time of the parts of a request: calculation, kernel, JSON, framing, recording of
latencies, the rest.

Usage: python -m benchmarks.parts [--runtime 3.11,3.14,3.14t+gil,3.14t] [--repeats 5] [--start-up]

Parts that can run alone are timed in a process of the runtime. The rest is the additional time of a
whole cell of system 2 (2 services, 2 clients, reused connections).

--start-up: measure the time until 20 services and 20 clients are ready, for each system, in place
    of the parts
"""

import json
import subprocess
from collections.abc import Sequence
from statistics import median

from benchmarks.bench import options, print_table, run_of
from core.runtime import RuntimeName
from lab.places import REPOSITORY
from lab.processes import scrubbed_environment
from record.saved_run import Run

PARTS = """
import json, timeit
from core.histogram import Histogram
from core.wire import Frames, frame
from core.work import answer, calc
from clients.channel import framed_message
from clients.tally import Slowest
from core.cell import Cell
message = framed_message(Cell(system="2", runtime="", reads=(), calc_target=0))
frames, body, record = Frames(), message[4:], Histogram().record
slowest = Slowest()
slowest.floor_ns = 100_000
def compare(latency_ns):
    if latency_ns > slowest.floor_ns:
        slowest.note(latency_ns, 0)
def us(call, number=20000):
    return min(timeit.repeat(call, number=number, repeat=5)) / number * 1e6
print(json.dumps({
    "calc loop": us(lambda: calc(1000), 1000),
    "JSON and framing": us(lambda: frame(answer(frames.feed(message)[0]))),
    "record": us(lambda: record(81234)) - us(lambda: None),
    "slow?": us(lambda: compare(81234)) - us(lambda: None),
}))
"""
RUNTIMES = "3.11,3.14,3.14t+gil,3.14t"
SIZE = "--num-api-services 2 --num-clients 2 --num-requests-per-client 3000"
MANY = "--num-api-services 20 --num-clients 20 --num-requests-per-client 1 --calc-target 0"


def main() -> None:
    """Print a Markdown table of times in us per request, or of start-up times."""
    given = options(__doc__, runtime=RUNTIMES, repeats=5, start_up=False)
    names = given.runtime.split(",")
    if given.start_up:
        head = "runtime | system | spawn to all ready s | all around the timed window s"
        print_table(
            head, (_start_up(name, system, given.repeats) for name in names for system in "1234")
        )
        return
    print_table(
        "runtime | calc loop | service: JSON, framing | service: kernel | service: rest | client: "
        "user | client: kernel | record | slow?",
        (_line(name, given.repeats) for name in names),
    )


def _measured(runtime: str, system: str, repeats: int, sizes: str) -> Run:
    return run_of(
        "--runtime", runtime, "--system", system, "--blocks", str(repeats), *sizes.split()
    )


def _cpu_us(run: Run, side: str, key: str) -> float:
    """Return the CPU time of all services or all clients per request in us: the median."""
    per_request: list[float] = []
    for cell in run.cells:
        spent_ns = sum(child[key] for child in getattr(cell, side))
        per_request.append(spent_ns / cell.requests / 1e3)
    return median(per_request)


def _line(runtime: str, repeats: int) -> Sequence[str]:
    run = _measured(runtime, "2", repeats, SIZE)
    alone = _alone(runtime, run.runtimes[runtime].executable)
    user, kernel = (_cpu_us(run, "services", key) for key in ("cpu_user_ns", "cpu_system_ns"))
    client_user, client_kernel = (
        _cpu_us(run, "clients", key) for key in ("cpu_user_ns", "cpu_system_ns")
    )
    rest = user - alone["calc loop"] - alone["JSON and framing"]
    of_service = [alone["calc loop"], alone["JSON and framing"], kernel, rest]
    return [
        runtime,
        *(f"{us:.1f}" for us in (*of_service, client_user, client_kernel)),
        f"{alone['record']:.2f}",
        f"{alone['slow?']:.3f}",
    ]


def _start_up(runtime: str, system: str, repeats: int) -> Sequence[str]:
    """Return the start-up time of a system under a runtime, and the total time outside of the timed
    window.
    """
    cells = _measured(runtime, system, repeats, MANY).cells
    start_s = median(cell.start_ns for cell in cells) / 1e9
    around_s = median(cell.overhead_ns for cell in cells) / 1e9
    return runtime, system, f"{start_s:.2f}", f"{around_s:.2f}"


def _alone(runtime: str, executable: str) -> dict[str, float]:
    printed = subprocess.check_output(
        [executable, "-s", "-c", PARTS],
        cwd=REPOSITORY,
        env=scrubbed_environment() | RuntimeName(runtime).variables,
    )
    parts: dict[str, float] = json.loads(printed)
    return parts


if __name__ == "__main__":
    main()

"""Measure the time of the parts of a request: calculation, kernel, JSON, framing, recording of latencies, the rest.

Usage: python -m benchmarks.parts [--runtime 3.11,3.14,3.14t+gil,3.14t] [--repeats 5] [--start-up]

Parts that can run alone are timed in a process of the runtime. The rest is the additional time of a whole cell of
system 2 (2 services, 2 clients, reused connections).

--start-up: measure the time until 20 services and 20 clients are ready, for each system, in place of the parts
"""

import json
import subprocess
from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.bench import RUNTIMES, cell_of, measured, opened, options, print_table, runtimes
from lab.places import REPOSITORY
from lab.processes import scrubbed_environment
from lab.run.runtimes import Runtime

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
SIZE = {"NUM_API_SERVICES": 2, "NUM_CLIENTS": 2, "NUM_REQUESTS_PER_CLIENT": 3000}


MANY = {"NUM_API_SERVICES": 20, "NUM_CLIENTS": 20, "NUM_REQUESTS_PER_CLIENT": 1, "CALC_TARGET": 0}


def main() -> None:
    """Print a Markdown table of times in us per request, or of start-up times."""
    given = options(__doc__, runtime=RUNTIMES, repeats=5, start_up=False)
    if given.start_up:
        head = "runtime | system | spawn to all ready s | all around the timed window s"
        print_table(head, _start_up(given.runtime, given.repeats))
        return
    print_table(
        "runtime | calc loop | service: JSON, framing | service: kernel | service: rest | client: user"
        " | client: kernel | record | slow?",
        (_line(runtime, given.repeats) for runtime in runtimes(given.runtime)),
    )


def _line(runtime: Runtime, repeats: int) -> Sequence[str]:
    alone = _alone(runtime)
    with opened(runtime) as bench:
        results = [measured(cell_of("2", runtime, SIZE), bench) for _ in range(repeats)]
    user, kernel, client_user, client_kernel = (
        median(sum(child[key] for child in getattr(result, side)) / result.requests / 1e3 for result in results)
        for side in ("services", "clients")
        for key in ("cpu_user_ns", "cpu_system_ns")
    )
    rest = user - alone["calc loop"] - alone["JSON and framing"]
    times = (alone["calc loop"], alone["JSON and framing"], kernel, rest, client_user, client_kernel)
    return [str(runtime.name), *(f"{us:.1f}" for us in times), f"{alone['record']:.2f}", f"{alone['slow?']:.3f}"]


def _start_up(names: str, repeats: int) -> Iterator[Sequence[str]]:
    """Yield for each runtime and system the start-up time, and the total time outside of the timed window."""
    for runtime in runtimes(names):
        with opened(runtime) as bench:
            for system in ("1", "2", "3", "4"):
                results = [measured(cell_of(system, runtime, MANY), bench) for _ in range(repeats)]
                start_s = median(result.start_ns for result in results) / 1e9
                around_s = median(result.overhead_ns for result in results) / 1e9
                yield str(runtime.name), system, f"{start_s:.2f}", f"{around_s:.2f}"


def _alone(runtime: Runtime) -> dict[str, float]:
    command = [str(runtime.interpreter.executable), "-s", "-c", PARTS]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        cwd=REPOSITORY,
        env=scrubbed_environment() | runtime.variables,
    )
    parts: dict[str, float] = json.loads(done.stdout)
    return parts


if __name__ == "__main__":
    main()

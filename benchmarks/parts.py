"""What the parts of a request cost: the calc loop, the kernel, JSON, framing, the record, whether it is slow, the rest.

Usage: python -m benchmarks.parts [--runtime 3.11,3.14,3.14t+gil,3.14t] [--repeats 5]

The parts that run alone are timed in a process of that runtime; the rest is what a whole cell of system 2
(2 services, 2 clients, reuse) spends beyond them.
"""

import argparse
import json
import subprocess

from benchmarks.bench import cell_of, cpu_us, measured, middle, opened, runtime_called
from lab.places import REPOSITORY
from lab.python.interpreters import scrubbed_environment
from lab.run.runtimes import Runtime

PARTS = """
import json, timeit
from core.histogram import Histogram
from core.wire import Frames, frame
from core.work import answer, calc
from clients.channel import framed_message
from clients.slowest import Slowest
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


def main() -> None:
    """Print a Markdown table, in us per request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", default="3.11,3.14,3.14t+gil,3.14t")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print("| runtime | calc loop | service: JSON, framing | service: kernel | service: rest | client: user | ", end="")
    print("client: kernel | record | slow? |\n|---|---|---|---|---|---|---|---|---|")
    for name in given.runtime.split(","):
        runtime = runtime_called(name)
        alone = _alone(runtime)
        with opened(runtime) as bench:
            results = [measured(cell_of("2", name, SIZE), bench) for _ in range(given.repeats)]
        user, kernel, client_user, client_kernel = (
            middle([cpu_us(result, side, key) for result in results])
            for side in ("services", "clients")
            for key in ("cpu_user_ns", "cpu_system_ns")
        )
        rest = user - alone["calc loop"] - alone["JSON and framing"]
        print(
            f"| {name} | {alone['calc loop']:.1f} | {alone['JSON and framing']:.1f} | {kernel:.1f} | {rest:.1f} ",
            end="",
        )
        print(f"| {client_user:.1f} | {client_kernel:.1f} | {alone['record']:.2f} | {alone['slow?']:.3f} |", flush=True)


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

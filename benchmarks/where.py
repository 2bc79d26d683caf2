"""Where a request's time goes in a service: system calls by strace, CPU time by the kernel's accounting and by perf.

Usage: python -m benchmarks.where [--system 2,4,alt-uvloop] [--runtime 3.14,3.14t] [--dispatch auto] [--clients 4]
                                  [--target 0] [--duration 1]

One service, four connections by the native client. strace slows every call, so only its counts are shown, from a window
of their own; perf samples another one. Needs both commands, and the right to attach to one's own processes.
"""

import argparse
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from signal import SIGINT

from benchmarks.bench import cell_of, cpu_us, measured, opened, runtime_called
from core.cell import Value
from core.errors import ChildFailed
from core.method import Method, Warmup
from core.result import CellResult
from core.runtime import NATIVE
from systems import find

STRACE = ("strace", "-f", "-c", "-q", "-p")
PERF = ("perf", "record", "-q", "-F", "1999", "-p")
REPORT = ("perf", "report", "--stdio", "-q", "--no-children", "--sort", "dso,sym", "-i")
SYMBOL = re.compile(r"^\s*([\d.]+)%\s+(\S+)\s+\[(.)\]\s+(\S+)")
GROUPS = {
    "bytecode": r"_PyEval_EvalFrame|_PyFunction_Vectorcall|_Py(Push|Clear).*Frame|clear_thread_frame",
    "lock": r"gil|PyEval_(Save|Restore)Thread|_PyThreadState_(At|De)tach|tstate_|pthread|futex|lll_|_?PyMutex|sem_",
    "JSON, text": r"json|scan|unicode|Unicode|[Bb]ytes|long_to|format",
    "memory": r"malloc|free|mi_|calloc|dealloc|Dealloc|memcpy|memmove|gc_",
}
KERNEL, OTHER = "kernel", "other"


def main() -> None:
    """Print two Markdown tables: system calls a request, and us of CPU time a request by what the time is spent in."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", default="2,4,alt-uvloop,alt-socketserver")
    parser.add_argument("--runtime", default="3.14,3.14t")
    parser.add_argument("--dispatch", default="auto")
    for name, default in (("clients", 4), ("target", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--duration", type=float, default=1.0)
    given = parser.parse_args()
    calls_table = ["| system | runtime | system calls a request |", "|---|---|---|"]
    parts = [KERNEL, *GROUPS, OTHER]
    times_table = [f"| system | runtime | CPU us | {' | '.join(parts)} |", "|---|---|---|" + "---|" * len(parts)]
    for runtime in given.runtime.split(","):
        for system in given.system.split(","):
            cpu, calls, shares = _row(system, runtime, given)
            listed = ", ".join(f"{count:.2f} {name}" for name, count in calls.items() if count >= 0.01)
            calls_table.append(f"| {system} | {runtime} | {listed} |")
            times = " | ".join(f"{cpu * shares[part]:.2f}" for part in parts)
            times_table.append(f"| {system} | {runtime} | {cpu:.2f} | {times} |")
    print("\n".join([*calls_table, "", *times_table]))


def _row(
    system: str, runtime: str, given: argparse.Namespace
) -> tuple[float, Mapping[str, float], Mapping[str, float]]:
    """CPU time of a request in us, its system calls, and the parts' shares of the CPU time."""
    reads = find(system).parameters
    wanted: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": given.clients, "NUM_THREADS_PER_CLIENT": 1}
    wanted |= {"CALC_TARGET": given.target, "NUM_MULTI_SOCKET": 1, "DISPATCH": given.dispatch}
    cell = cell_of(system, runtime, {name: value for name, value in wanted.items() if name in reads})
    with opened(runtime_called(runtime)) as plain:
        folder = plain.sandbox.folder
        method = Method(client_runtime=NATIVE, duration_s=given.duration, warmup=Warmup(share=0.5))
        bench = replace(plain, method=method)

        def beside(command: Sequence[str], output: str) -> CellResult:
            return measured(cell, replace(bench, watch=partial(_beside, command, folder / output)))

        cpu = cpu_us(measured(cell, bench), "services", "cpu_user_ns", "cpu_system_ns")
        requests = beside(STRACE, "calls").requests
        calls = {name: count / requests for name, count in _calls(folder / "calls").items()}
        beside(PERF, "samples")
        return cpu, calls, _shares(folder / "samples")


@contextmanager
def _beside(command: Sequence[str], output: Path, pid: int) -> Iterator[None]:
    """Have *command* look at the process while the block lasts."""
    with subprocess.Popen([*command, str(pid), "-o", str(output)], stderr=subprocess.PIPE) as process:
        try:
            yield
        finally:
            process.send_signal(SIGINT)


def _calls(table: Path) -> dict[str, int]:
    """Calls of each kind, from the table of strace -c: % time, seconds, usecs/call, calls, errors, syscall."""
    lines = [line.split() for line in table.read_text().splitlines()]
    return {line[-1]: int(line[3]) for line in lines if len(line) >= 5 and line[3].isdigit() and line[-1] != "total"}


def _shares(samples: Path) -> Mapping[str, float]:
    report = subprocess.run([*REPORT, str(samples)], capture_output=True, text=True, check=True).stdout
    shares: dict[str, float] = defaultdict(float)
    for line in report.splitlines():
        if found := SYMBOL.match(line):
            percent, _, kind, symbol = found.groups()
            shares[_part(kind, symbol)] += float(percent) / 100
    if not shares:
        raise ChildFailed("perf record took no samples of the service.")
    return shares


def _part(kind: str, symbol: str) -> str:
    if kind == "k":
        return KERNEL
    return next((part for part, names in GROUPS.items() if re.search(names, symbol)), OTHER)


if __name__ == "__main__":
    main()

"""Our systems against plain fast services on the same machine in the same minute, in alternating runs.

Usage: python -m benchmarks.yardstick YARDSTICK [--runtime 3.11,3.14t] [--services 4] [--clients 4]
                                      [--requests 1000] [--target 1000] [--repeats 5] [--rows WORD]

YARDSTICK is a program that takes --python, --gil, --kinds, --services, --clients, --requests, --target and
--json, and prints a JSON line with `wall_s`.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.bench import cell_of, measured, middle, opened, runtime_called
from core.cell import Value
from lab.run.measure import Bench
from lab.run.runtimes import Runtime


@dataclass(frozen=True, kw_only=True)
class Row:
    """A system as we set it, and the yardstick's kind that it is held against.

    bar: highest ratio that is good, but for DISPATCH auto: see bar_of()
    """

    name: str
    system: str
    against: str
    bar: float
    values: dict[str, Value] = field(default_factory=dict)


AUTO_BAR, AUTO_BAR_WITHOUT_GIL = 1 / 1.7, 1 / 1.15  # of one service
AUTO_BAR_OF_SEVERAL = 1 / 0.97  # they fill the cores with a GIL, too

ROWS = (
    Row(name="system 1", system="1", against="fresh", bar=0.9),
    Row(name="system 2, reuse", system="2", against="shared", bar=1.05),
    Row(name="system 4, all, 1 socket", system="4", against="shared", bar=1.05, values={"NUM_MULTI_SOCKET": 1}),
    Row(name="system 4, all, 10 sockets", system="4", against="shared", bar=1.05, values={"NUM_MULTI_SOCKET": 10}),
    *(
        Row(
            name=f"system 4, {dispatch}, {sockets} socket{'s' * (sockets > 1)}",
            system="4",
            against="shared",
            bar=1.0,
            values={"NUM_MULTI_SOCKET": sockets, "DISPATCH": dispatch},
        )
        for dispatch, sockets in (("leader", 1), ("owned", 1), ("auto", 1), ("auto", 10))
    ),
    Row(
        name="system 4, single, 10 sockets",
        system="4",
        against="shared",
        bar=2.0,
        values={"NUM_MULTI_SOCKET": 10, "SELECT_MODE": "single"},
    ),
)


def main() -> None:
    """Print, for each runtime, a Markdown table of medians and their ratios."""
    given = _arguments()
    rows = [row for row in ROWS if given.rows in row.name]
    for name in given.runtime.split(","):
        runtime = runtime_called(name)
        ours: dict[str, list[float]] = {row.name: [] for row in rows}
        theirs: dict[str, list[float]] = {row.against: [] for row in rows}
        with opened(runtime) as bench:
            for _ in range(given.repeats):
                for kind, walls in theirs.items():
                    walls.append(_yardstick_s(kind, runtime, given))
                for row in rows:
                    ours[row.name].append(_ours_s(row, bench, name, given))
        _print(name, runtime, rows, ours, theirs, given)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("yardstick")
    parser.add_argument("--runtime", default="3.11,3.14t")
    parser.add_argument("--rows", default="", help="only rows whose names have this in them")
    for name, default in (("services", 4), ("clients", 4), ("requests", 1000), ("target", 1000), ("repeats", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


def _yardstick_s(kind: str, runtime: Runtime, given: argparse.Namespace) -> float:
    command = [sys.executable, given.yardstick, "--python", str(runtime.interpreter.executable), "--json"]
    command += ["--kinds", kind, *(["--gil", "1"] if runtime.name.gil_forced else [])]
    for name in ("services", "clients", "requests", "target"):
        command += [f"--{name}", str(getattr(given, name))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wall_s: float = json.loads(done.stdout)["wall_s"]
    return wall_s


def _ours_s(row: Row, bench: Bench, runtime: str, given: argparse.Namespace) -> float:
    values: dict[str, Value] = {
        "NUM_API_SERVICES": given.services,
        "NUM_CLIENTS": given.clients,
        "NUM_REQUESTS_PER_CLIENT": given.requests,
        "CALC_TARGET": given.target,
        **row.values,
    }
    return measured(cell_of(row.system, runtime, values), bench).wall_ns / 1e9


def _print(
    name: str,
    runtime: Runtime,
    rows: Sequence[Row],
    ours: dict[str, list[float]],
    theirs: dict[str, list[float]],
    given: argparse.Namespace,
) -> None:
    version = runtime.interpreter.facts["version"]
    print(
        f"\n{name} ({version}), {given.services} services x {given.clients} clients x {given.requests} requests, ",
        end="",
    )
    print(f"CALC_TARGET {given.target}, medians of {given.repeats} alternating runs\n")
    print("| ours | wall s | against | wall s | ratio | bar |\n|---|---|---|---|---|---|")
    for row in rows:
        mine, other = middle(ours[row.name]), middle(theirs[row.against])
        bar = bar_of(row, runtime.name.gil_enabled, given.services)
        print(f"| {row.name} | {mine:.3f} | {row.against} | {other:.3f} | {mine / other:.2f} | {bar:.2f} |", flush=True)


def bar_of(row: Row, gil_enabled: bool, services: int) -> float:
    """The highest ratio that is good."""
    if row.values.get("DISPATCH") != "auto":
        return row.bar
    if services > 1:
        return AUTO_BAR_OF_SEVERAL
    return AUTO_BAR if gil_enabled else AUTO_BAR_WITHOUT_GIL


if __name__ == "__main__":
    main()

"""Children that say what they like: the cell fails with its reason, nothing raises, and what is saved stays readable.

Everything from a child's bytes to result.json is real but the processes: tests/lab/run has those.
"""

import json
import os
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import reduce
from pathlib import Path
from time import perf_counter_ns
from typing import Any, ClassVar

import msgspec
import pytest

from core.method import Method, Warmup
from core.runtime import RuntimeName
from lab.folders import Sandbox
from lab.process_output import HeadTailBuffer
from lab.python.interpreters import Interpreter
from lab.run import children
from lab.run.cell_processes import Bench
from lab.run.children import Process
from lab.run.measure import measure
from lab.run.measured_runtimes import Runtime
from record.child_lines import ClientLine, ClientResult, NativeProgram, ServiceLine
from record.run_file import RunFile, load
from record.saved_run import CellResult
from systems import find
from tests.campaign.sizes import SEED, size
from tests.campaign.values import NO_JSON, VALUES, check_sound
from tests.contract.serving import small_cell
from tests.lab.scripted_children import latency
from tests.record.test_run_file import run

NOW = 1 << 62  # stands for the time when a client says it

Lines = dict[str, dict[str, Any]]  # by "service ready" and the like
Path_ = tuple[str, ...]
Said = dict[str, bytes]


def good() -> Lines:
    """What a service and a client say of 20 requests, with every key that the contract knows."""
    lines: Lines = json.loads(Path(__file__).with_name("lines.json").read_text())
    return lines


def paths(value: Any, place: Path_ = ()) -> Iterator[Path_]:
    """Of every key in *value*, however deep."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*place, key)
            yield from paths(item, (*place, key))


def encoded(lines: Lines) -> Said:
    """*lines* as bytes."""
    return {name: msgspec.json.encode(line) for name, line in lines.items()}


def changed(line: str, place: Path_, raw: str | None) -> Said:
    """The good lines as bytes; the value at *place* of *line* is the text *raw*, or its key is not there."""
    lines = good()
    owner, key = reduce(dict.__getitem__, place[:-1], lines[line]), place[-1]
    if raw is None:
        del owner[key]
    else:
        owner[key] = msgspec.Raw(raw.encode("utf-8", "replace"))
    return encoded(lines)


class Speaking(Process):
    """A process without a program: it answers each line that it is told, and the end of its input, with its next line.

    It ends after its last line. said: what services and clients say
    """

    said: ClassVar[Said] = {}

    def __init__(self, command: Sequence[str], *_: object) -> None:
        self.stderr, self.pid = HeadTailBuffer(), 812
        self._lines = [line for name, line in self.said.items() if name.startswith(command[0])]
        self._ready, self._due = os.pipe()

    def fileno(self) -> int:
        return self._ready

    def read(self) -> bytes:
        os.read(self._ready, 1)
        if not self._lines:
            return b""
        line = self._lines.pop(0).replace(str(NOW).encode(), str(perf_counter_ns()).encode())
        if not self._lines:
            self.write(b"")
        return line + b"\n"

    def write(self, data: bytes) -> None:
        os.write(self._due, b"x")

    def close_stdin(self) -> None:
        self.write(b"")

    def wait(self, deadline_s: float | None = None) -> int:
        return 0

    def kill(self) -> None:
        """It does not run."""

    def close(self) -> None:
        os.close(self._ready)
        os.close(self._due)


Seam = Callable[[Said], CellResult]


@pytest.fixture
def seam(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Seam:
    """From the lines that children say to a cell, which has been saved, read again and looked at."""
    monkeypatch.setattr(children, "Process", Speaking)
    monkeypatch.setattr(Runtime, "command", lambda runtime, system, role: [role])
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    interpreter = Interpreter(executable=Path("/no"), source="given", facts={"version": "3.14.0"})
    runtime = Runtime(name=RuntimeName("3.14"), interpreter=interpreter)
    method, system = Method(warmup=Warmup(share=0.1)), find("2")
    bench = Bench(sandbox=sandbox, runtimes={"3.14": runtime}, method=method, watch=nullcontext)

    def result_of(lines: Said) -> CellResult:
        Speaking.said = lines
        result = measure(small_cell(system, runtime), system, 1, bench)
        RunFile(tmp_path).save(run(result))
        (cell,) = load(tmp_path).cells
        assert cell.status == result.status
        (stored,) = msgspec.json.decode((tmp_path / "result.json").read_bytes())["cells"]  # a strict reader
        check_sound(stored)
        return result

    return result_of


PLACES = [(line, place) for line, said in good().items() for place in paths(said)]


def test_every_key_of_the_contract_is_tried() -> None:
    tried = {(line.partition(" ")[0], place[-1]) for line, place in PLACES}
    assert {key for role, key in tried if role == "service"} >= {*ServiceLine.__annotations__}
    ours = {"first_wrong", "client_id", "host", "program"}
    known = {*ClientLine.__annotations__, *ClientResult.__annotations__, *NativeProgram.__annotations__} - ours
    assert {key for role, key in tried if role == "client"} >= known


def test_what_is_as_the_contract_says_makes_a_cell_that_is_ok(seam: Seam) -> None:
    result = seam(encoded(good()))
    assert (result.status, str(result.reason)) == ("ok", "")


@pytest.mark.parametrize(("line", "place"), PLACES, ids=lambda part: part if isinstance(part, str) else ".".join(part))
def test_no_value_of_a_key_raises_or_is_saved_unless_it_is_possible(seam: Seam, line: str, place: Path_) -> None:
    failed, values = 0, random.Random(f"{SEED} {line} {place}").sample(VALUES, size(1, len(VALUES)))
    for raw in values:
        result = seam(changed(line, place, raw))
        if result.status == "failed":
            failed += 1
            reason = str(result.reason)
            assert len(reason) < 1000
            counted = reason.partition("; the service raised ")[0]  # what the service wrote to stderr may follow
            assert reason.startswith(("Service", "Client", "errors: ", "The services ")) or counted.endswith(
                ("answered", "wrong")
            )
            assert reason.isprintable()
    assert failed >= len(NO_JSON.intersection(values))


def test_latencies_for_which_the_client_had_no_time_are_named(seam: Seam) -> None:
    lines = good()
    said = lines["client result"]["result"]
    said["latency"] = latency(*[10**9] * 20)
    del said["said"]  # what another load generator said, which has no bound
    result = seam(encoded(lines))
    assert result.status == "failed"
    assert re.search("as latency.histogram.total_ns, .* the total time of the client's workers", str(result.reason))

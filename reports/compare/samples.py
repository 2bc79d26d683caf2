"""What two saved runs are compared by: their cells with a time for each block, whatever file they come from. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import BadInput
from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from core.method import Method
from core.result import CellResult, Run
from reports.facts.cells import Row, rows, setting_key
from reports.facts.gates import LEAST_TIMED_NS, blocks_to_time
from reports.facts.settings import parameter_values

FS_PER_NS = 1_000_000
FS_PER_S = 10**15
PER_REQUEST = message("Time per request: wall time over requests.")


@dataclass(frozen=True, kw_only=True)
class BlockTime:
    """What a request of a cell took in one block: wall time over requests, or a benchmark's own time.

    In femtoseconds: whole numbers for pyperf's shortest benchmarks too.
    """

    block: int
    request_fs: int

    def __post_init__(self) -> None:
        if self.request_fs <= 0:
            raise ValueError(f"block {self.block} took no time; a time must be above 0")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One cell over its blocks, or one benchmark of a pyperf file: then system is its name, and arm is empty.

    times: of the blocks that are ok. trouble: how many others there are, and why; or empty
    gate: why no verdict can rest on it, or empty
    """

    system: str
    params: Mapping[str, Any]
    arm: str
    runtime: str
    times: tuple[BlockTime, ...]
    title: str = ""
    trouble: Message = NOTHING
    gate: Message = NOTHING

    @property
    def key(self) -> tuple[str, ...]:
        """What a cell has in common with the same cell of another run."""
        return (*setting_key(self.system, self.params), self.arm)


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A saved run, or a pyperf file, as far as it is compared.

    machine, runtimes: as in result.json
    reading: how its times were made, in one line
    left_out: what it holds that is no sample, a line each
    titles: of the systems that it had from outside, by name
    """

    machine: Mapping[str, Any]
    method: Method
    runtimes: Mapping[str, Mapping[str, Any]]
    samples: tuple[Sample, ...]
    reading: Message
    left_out: tuple[Message, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)


def of_run(run: Run) -> Saved:
    """The cells of *run*. Raises BadInput if it lacks what cells must have."""
    try:
        return Saved(
            machine=run.machine,
            method=method_of(run.plan.get("method")),
            runtimes=run.runtimes,
            samples=tuple(_sample(row) for row in rows(run) if row.cells),
            reading=PER_REQUEST,
            left_out=tuple(run.damaged),
            titles={key: one["title"] for key, one in run.plan.get("outside", {}).items()},
        )
    except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise BadInput(
            "Run {run} is incomplete: {cause}; measure it again.", run=run.run_id, cause=str(error)
        ) from error


def method_of(stored: Mapping[str, Any] | None) -> Method:
    """The method that a plan keeps; files from before there was a choice keep none."""
    return Method() if stored is None else Method.from_json(stored)


def _sample(row: Row) -> Sample:
    return Sample(
        system=row.system,
        params=row.params,
        arm=row.runtime,
        runtime=row.cells[0].runtime,
        times=tuple(_block_time(cell) for cell in row.good),
        title=row.title,
        trouble=row.trouble,
        gate=_gate(row),
    )


def _block_time(cell: CellResult) -> BlockTime:
    return BlockTime(block=cell.block, request_fs=cell.wall_ns * FS_PER_NS // cell.requests)


def _gate(row: Row) -> Message:
    if not row.good:
        return row.trouble
    if not (blocks := blocks_to_time(row.good)):
        return NOTHING
    return message(
        "it was timed for less than {least_s:g} s in all: --blocks {blocks}, or a longer --duration",
        least_s=LEAST_TIMED_NS / 1e9, blocks=blocks,
    )  # fmt: skip


def setting_text(sample: Sample, names: Iterable[str]) -> str:
    """The cell's title, or those of its parameters that are called *names*, with their values; or empty."""
    return sample.title or parameter_values(sample.params, names)


def cell_name(sample: Sample, names: Iterable[str], arms: str) -> Message:
    """System, setting and arms: 'system 4, NUM_MULTI_SOCKET 5 (3.11, 3.14t)'."""
    system = message("system {system}", system=sample.system) if sample.system.isdigit() else verbatim(sample.system)
    name = listed(part for part in (system, setting_text(sample, names)) if part)
    return message("{name} ({arms})", name=name, arms=arms) if arms else name


def cell_names(samples: Iterable[Sample], names: Iterable[str]) -> Message:
    """All *samples*, arms of the same cell together."""
    shown = [*names]
    cells: dict[tuple[str, ...], list[Sample]] = {}
    for sample in samples:
        cells.setdefault(sample.key[:-1], []).append(sample)
    return listed(
        (cell_name(arms[0], shown, ", ".join(sample.arm for sample in arms)) for arms in cells.values()), SEMICOLON
    )

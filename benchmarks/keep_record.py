"""Keep a saved run in the repository: a small result.json and its table.

Usage: python -m benchmarks.keep_record RUN [--folder docs/record]

The small result.json has no histograms, slow requests, slices, fingerprints and folders of
interpreters. `runner.py report` makes everything else of the report from it again. table.csv keeps
the percentiles, which need the histograms.
"""

import shlex
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from benchmarks.bench import options
from core.histogram import SparseHistogram
from core.messages import BadInput
from core.runtime import RuntimeFacts
from lab.places import REPOSITORY
from record.result_parts import AnswersByTime
from record.run_file import RunFile, load
from record.saved_run import CellResult, Run
from reports.parts.run_words import command_line

TABLE = "table.csv"


def main() -> None:
    """Write the folder."""
    given = options(__doc__, "run", folder=str(REPOSITORY / "docs" / "record"))
    keep(Path(given.run), Path(given.folder))


def keep(run: Path, folder: Path) -> None:
    """Write the table and the small result.json. Raises BadInput if the run has no report."""
    whole = load(run)
    if not (run / TABLE).is_file():
        raise BadInput(
            "{run} has no table.csv. Make its report with: python runner.py report {run}",
            run=str(run),
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TABLE).write_text((run / TABLE).read_text())
    RunFile(folder).save(compact(whole))


def compact(run: Run) -> Run:
    """Return *run* without histograms, fingerprints and paths."""
    runtimes = {name: _without_paths(facts) for name, facts in run.runtimes.items()}
    command = shlex.split(command_line(run))[1:]
    cells = [*map(_compact, run.cells)]
    return replace(
        run, command=command, runtimes=runtimes, fingerprints={}, profiles=[], cells=cells
    )


def _without_paths(facts: RuntimeFacts) -> RuntimeFacts:
    return replace(
        facts, executable=Path(facts.executable).name, flags=replace(facts.flags, configure="")
    )


def _compact(cell: CellResult) -> CellResult:
    none = SparseHistogram()
    return replace(
        cell,
        latency=none,
        connect=none,
        waiting=none,
        slow={},
        clients=[structs.replace(one, timeline=[], workers_ns=[]) for one in cell.clients],
        slices=AnswersByTime(),
        code="",
        environment="",
    )


if __name__ == "__main__":
    main()

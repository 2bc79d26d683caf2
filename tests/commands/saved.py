"""A saved run of two runtimes, for commands that take one."""

from pathlib import Path

from record.run_file import RunFile
from tests.reports.sample import MS, SMALL, cell_of, measured, run_of


def saved(folder: Path, factor: float = 1.0, blocks: int = 6) -> Path:
    """A run whose cells took about 2 s times *factor*; its folder."""
    cells = [
        measured(cell_of("1", runtime, SMALL), block, [round((2000 + block) * factor * MS)])
        for runtime in ("3.14t+gil", "3.14t")
        for block in range(1, blocks + 1)
    ]
    RunFile(folder).save(run_of(cells, blocks=blocks))
    return folder

"""Half an hour of cells: what the runner holds does not grow with time. Read from /proc and folders after every cell.

Growth over the second half: it is cut into SLICES of as many cells each, the lowest sample of each slice is taken (a
child that is just starting is no leak), and a least-squares line laid through them; its rise over its mean.
"""

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import linear_regression, mean
from time import monotonic

from lab.run.measured_runtimes import Runtime
from tests.campaign.sizes import campaign_only
from tests.contract.runs import Run, plan_flags, started

SOAK_S = float(os.environ.get("SOAK_S", "1800"))
FLAT, SLICES = 0.01, 10
IN_MEMORY = 7  # the runner keeps all results until the report: so many times what they take in result.json
CELL = {"NUM_REQUESTS_PER_CLIENT": 5000, "CALC_TARGET": 100, "NUM_API_SERVICES": 2}


def sample(run: Run, out: Path) -> dict[str, int]:
    """What the runner holds when it has just saved a cell: memory is without what the saved cells take.

    Raises OSError where it has ended.
    """
    process = Path(f"/proc/{run.process.pid}")
    (resident,) = re.findall(r"^VmRSS:\s+(\d+)", (process / "status").read_text(), re.MULTILINE)
    saved_bytes = (out / "result.json").stat().st_size
    return {
        "saved_bytes": saved_bytes,
        "memory_bytes": int(resident) * 1024 - IN_MEMORY * saved_bytes,
        "descriptors": len(list((process / "fd").iterdir())),
        "files": len([*run.temporary.rglob("*"), *out.rglob("*")]),
    }


def watched(run: Run, out: Path) -> list[dict[str, int]]:
    """A sample after every cell that is saved, until the time is over."""
    samples = []
    until, last = monotonic() + SOAK_S, 0
    for _ in run.turns("the end of the soak", 2 * SOAK_S):
        if monotonic() > until:
            break
        file = out / "result.json"
        if file.exists() and file.stat().st_mtime_ns != last:
            last = file.stat().st_mtime_ns
            samples.append(sample(run, out))
    return samples


def growth(samples: Sequence[dict[str, int]], name: str) -> float:
    """How much *name* grew over the second half, as a share of its mean there."""
    half = [one[name] for one in samples[len(samples) // 2 :]]
    length = len(half) // SLICES
    lowest = [min(half[start : start + length]) for start in range(0, len(half), length)]
    return float(linear_regression(range(len(lowest)), lowest).slope * (len(lowest) - 1) / mean(lowest))


@campaign_only
def test_memory_descriptors_and_temporary_files_stay_flat(any_runtime: Runtime, short_folder: Path) -> None:
    out = short_folder / "out"
    flags = [*plan_flags(any_runtime, **CELL), "--blocks", "10000", "--quiet", "--out", str(out)]
    with started(flags, short_folder) as run:
        samples = watched(run, out)
    grown = {name: growth(samples, name) for name in ("memory_bytes", "descriptors", "files")}
    assert all(later["saved_bytes"] > earlier["saved_bytes"] for earlier, later in pairwise(samples))
    assert max(grown.values()) < FLAT, grown

"""Where the noise of a made run comes from, and the blocks that follow: on its page and by `plan --power` alike."""

from dataclasses import replace
from math import exp
from pathlib import Path
from typing import Any

import pytest

from commands.plan import main as plan_command
from core.cell import Value
from core.result import Run
from core.result_file import RunFile
from reports.facts.comparisons import compare
from reports.facts.inside import design_of, typical_noise
from reports.topics.validity import noise_sentences, section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

BLOCKS, SLICES = 12, 20
SIZE: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 100_000}


def made() -> Run:
    """Two arms whose cells took 1 s; the numerator's rate of answers differs from block to block."""
    cells = []
    for block in range(1, BLOCKS + 1):
        for arm, rate in (("3.14t+gil", 1.0), ("3.14t", exp(0.05 * (-1) ** block))):
            counts = [7, *[round(5_000 * rate)] * SLICES, 7]
            cell = measured(cell_of("1", arm, SIZE), block, [999 * MS])
            slices: Any = {"width_ns": 50 * MS, "start_ns": -MS, "counts": counts}
            cells.append(replace(cell, slices=slices, overhead_ns=500 * MS))
    return run_of(cells, blocks=BLOCKS, runtimes=["3.14t+gil", "3.14t"])


def test_what_differs_from_block_to_block_is_between_processes() -> None:
    """Twelve x, six of 0.05 and six of -0.05: a variance of 0.0025 x 12 / 11."""
    noise = typical_noise(compare(made()))
    assert noise
    assert noise.between == pytest.approx((0.0025 * 12 / 11) ** 0.5, abs=1e-4)
    assert noise.within == pytest.approx(0, abs=1e-6)
    assert noise.seconds == 1.0


def test_the_page_the_terminal_and_plan_give_the_same_design(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made()
    view, design = View(run), design_of(run, compare(run), 0.05)
    assert design
    assert design.blocks == pytest.approx(11, abs=3)  # (2.9 x 0.052 / 0.049) ** 2 = 9.5, and the power that it lacks
    _, advice = map(str, noise_sentences(view))
    assert advice.endswith(f"python runner.py {design.flags}")
    assert set(map(str, noise_sentences(view))) <= {
        str(line) for part in section(view).parts for line in part.sentences
    }
    RunFile(tmp_path).save(run)
    assert plan_command(["--power", "5%", "--from", str(tmp_path)]) == 0
    assert " ".join(capsys.readouterr().out.split()) == advice.replace("python runner.py ", "")

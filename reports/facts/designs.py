"""How many blocks of how long cells would find a difference, by the noise that a run's comparisons recorded. Pure."""

from collections.abc import Sequence
from statistics import median

from core.messages import Message, message, plural
from core.result import Run
from reports.document.values import duration
from reports.facts.comparisons import Comparison
from reports.statistics.inside import Design, Noise, design_for


def typical_noise(compared: Sequence[Comparison]) -> Noise | None:
    """Medians over the steps of single settings, A/A too; None where none is known."""
    known = [one.noise for one in compared if one.noise]
    return Noise(**{name: median(noise[name] for noise in known) for name in known[0]}) if known else None


def design_of(run: Run, compared: Sequence[Comparison], size: float) -> Design | None:
    """What finds a true difference of *size*, a share, in the same cells; None where nothing would, or is known."""
    noise = typical_noise(compared)
    if noise is None:
        return None
    per_block = len({(cell.arm, cell.cell_id) for cell in run.cells})
    start_s = median(cell.overhead_ns for cell in run.cells if cell.status == "ok") / 1e9
    family = max(1, sum(one.step != "aa" for one in compared))
    return design_for(size, noise, per_block, start_s, family)


def design_words(design: Design, size: float, command: str) -> Message:
    """What *design* would find, and the command, or its flags, that measures by it."""
    return message(
        "Cells of {seconds:g} s x {blocks} would find {size:.0%} in {time}, in 80 % of runs: {command}",
        seconds=design.seconds,
        blocks=plural("{count} block", "{count} blocks", count=design.blocks),
        size=size,
        time=duration(design.spent_s),
        command=command,
    )

"""Statistics of short time slices of measurements: unsteady starts, noise, and how long a run must be."""

from dataclasses import dataclass
from math import ceil, hypot, log1p, sqrt

import numpy as np

from reports.statistics.significance import fewest_blocks, sign_flip_p
from reports.statistics.stats import Floats
from reports.statistics.verdict import quantiles

STEADY_ALPHA = 0.01
LEAST_LOSS = 0.01
CLIPPED = 1.051  # standard error of the mean of clipped normal values, divided by that of the mean (Huber 1964)
MOST_BLOCKS = 200
LENGTHS_S = (1.0, 1.5, 2.0, 3.0, 5.0)  # lengths of a cell; the arms of a run must be timed for 2 s in total


def start_of(rates: Floats) -> tuple[int, float]:
    """Return how many first time slices have unsteady throughput, and by what share they lower the count of answers.

    rates: answers per time slice, shape (cells, slices)
    The start ends where the standard error of the remaining mean is smallest (MSER), within the first half. It counts
    if the sign-flip p of the cells' losses is at most 1 % and they lose 1 % or more; else the result is (0, 0.0).
    Source: White (1997), "An effective truncation heuristic for bias reduction in simulation output".
    """
    count = rates.shape[1]
    if not rates[:, count // 2 :].any(axis=1).all():  # a cell has no steady rate, because it got no answers later
        return 0, 0.0
    shares = rates / rates.mean(axis=1, keepdims=True)
    profile = shares.mean(axis=0)
    cut = int(np.argmin([profile[cut:].var() / (count - cut) for cut in range(count // 2 + 1)]))
    losses = (1 - shares[:, :cut] / shares[:, cut:].mean(axis=1, keepdims=True)).sum(axis=1) / count
    loss = float(np.median(losses))
    shown = cut and abs(loss) >= LEAST_LOSS and sign_flip_p(losses) <= STEADY_ALPHA
    return (cut, loss) if shown else (0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise of the throughput ratio that one block measures, as standard deviations of the ratio's logarithm.

    between: from one start of the processes to another
    within:  within measurements (cells) of one start, if each of them takes *seconds*
    """

    between: float
    within: float
    seconds: float = 1.0

    def sd(self, seconds: float = 0) -> float:
        """Return the standard deviation of the logarithm of a block's throughput ratio.

        seconds: the length of each measurement (cell); 0 stands for the length that was measured
        """
        return hypot(self.between, self.within * sqrt(self.seconds / (seconds or self.seconds)))


def noise_of(parts: Floats, seconds: float) -> Noise:
    """Estimate the components of the noise of log-ratios with the one-way random effects model.

    parts:   log-ratios of parts of cells, shape (blocks, parts)
    seconds: length of a whole cell
    Source: Searle, Casella and McCulloch (1992), chapter 3: the expected mean squares.
    """
    of_parts = float(parts.var(axis=1, ddof=1).mean()) / parts.shape[1]
    of_blocks = float(parts.mean(axis=1).var(ddof=1))
    between, within = max(0.0, of_blocks - of_parts), min(of_blocks, of_parts)
    return Noise(between=sqrt(between), within=sqrt(within), seconds=seconds)


@dataclass(frozen=True, kw_only=True)
class Design:
    """A design of a run: the length of each measurement (cell) in *seconds*, and the number of *blocks*.

    spent_s: its total time
    """

    seconds: float
    blocks: int
    spent_s: float

    @property
    def flags(self) -> str:
        """The command-line flags that set the length of each measurement and the number of blocks."""
        return f"--duration {self.seconds:g} --blocks {self.blocks}"


def design_for(effect: float, noise: Noise, cells: int, start_s: float, family: float) -> Design | None:
    """Return the design of the shortest run that detects *effect* with 80 % probability; None above 200 blocks.

    A difference is detected if the interval excludes 1 and the sign-flip p of clipped log-ratios is small enough. One
    log-ratio may have the other sign.
    effect:  a share, such as 0.05
    cells:   number of cells in a block
    family:  number of comparisons, divided by the share of the level that they have together
    start_s: time that a cell takes in addition to its timed window
    Source: sample size of a paired test, corrected for Student's t distribution (Guenther 1981).
    """
    _, sharper, power = quantiles(family)
    needed = CLIPPED * (sharper + power) / log1p(effect)  # an interval that excludes 1 needs fewer blocks
    designs = []
    for seconds in LENGTHS_S:
        blocks = max(ceil((needed * noise.sd(seconds)) ** 2 + sharper**2 / 2), fewest_blocks(family) + 1)
        if blocks <= MOST_BLOCKS:
            designs.append(Design(seconds=seconds, blocks=blocks, spent_s=blocks * cells * (seconds + start_s)))
    return min(designs, key=lambda design: design.spent_s, default=None)

"""What slices of cells say: since when a cell runs evenly, where its noise comes from, and which plan that asks for."""

from dataclasses import dataclass
from math import ceil, hypot, log1p, sqrt

import numpy as np

from reports.statistics.significance import fewest_blocks, sign_flip_p
from reports.statistics.stats import Floats
from reports.statistics.verdict import quantiles

STEADY_ALPHA = 0.01
LEAST_LOSS = 0.01
CLIPPED = 1.051  # standard error of a mean of clipped normal values over that of their mean (Huber 1964)
MOST_BLOCKS = 200
LENGTHS_S = (1.0, 1.5, 2.0, 3.0, 5.0)  # of a cell; below 1 s there is no verdict


def start_of(rates: Floats) -> tuple[int, float]:
    """Return the uneven start of an arm's cells: its slices, and what they cost of all answers, as a share.

    rates: shape (cells, slices). Without slices if no start is shown to be uneven.
    Cut where the mean over the cells is then known best (MSER), within the first half; shown where the sign-flip p
    of the cells' losses is at most 1 %, and they lose 1 % or more.
    Source: White (1997), "An effective truncation heuristic for bias reduction in simulation output".
    """
    shares = rates / rates.mean(axis=1, keepdims=True)
    profile, count = shares.mean(axis=0), shares.shape[1]
    cut = int(np.argmin([profile[cut:].var() / (count - cut) for cut in range(count // 2 + 1)]))
    losses = (1 - shares[:, :cut] / shares[:, cut:].mean(axis=1, keepdims=True)).sum(axis=1) / count
    loss = float(np.median(losses))
    shown = cut and abs(loss) >= LEAST_LOSS and sign_flip_p(losses) <= STEADY_ALPHA
    return (cut, loss) if shown else (0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Standard deviation of a block's log-ratio: *between* processes, and *within* cells of so many *seconds*."""

    between: float
    within: float
    seconds: float = 1.0

    def sd(self, seconds: float = 0) -> float:
        """Of both together, with cells of so many seconds, or of as many as these."""
        return hypot(self.between, self.within * sqrt(self.seconds / (seconds or self.seconds)))


def noise_of(parts: Floats, seconds: float) -> Noise:
    """By one-way random effects. parts: log-ratios of each block's parts of its cells of so many *seconds*

    Source: Searle, Casella and McCulloch (1992), chapter 3: the expected mean squares.
    """
    of_parts = float(parts.var(axis=1, ddof=1).mean()) / parts.shape[1]
    of_blocks = float(parts.mean(axis=1).var(ddof=1))
    between, within = max(0.0, of_blocks - of_parts), min(of_blocks, of_parts)
    return Noise(between=sqrt(between), within=sqrt(within), seconds=seconds)


@dataclass(frozen=True, kw_only=True)
class Design:
    """Cells of so many *seconds* in so many *blocks*; spent_s: how long they take, all arms and starts together."""

    seconds: float
    blocks: int
    spent_s: float

    @property
    def flags(self) -> str:
        """Those of a run that measures by it."""
        return f"--duration {self.seconds:g} --blocks {self.blocks}"


def design_for(effect: float, noise: Noise, cells: int, start_s: float, family: int) -> Design | None:
    """Return the quickest design that finds *effect* in 80 % of runs; None where it takes more than 200 blocks.

    The interval must leave out 1, and the sign-flip p of clipped log-ratios be small enough, of which one may be of the
    other sign.
    effect: a share. cells: in a block. start_s: what a cell takes besides its timed window
    Source: sample size of a paired test, with what Student's t takes more than the normal distribution (Guenther 1981).
    """
    _, sharper, power = quantiles(family)
    needed = CLIPPED * (sharper + power) / log1p(effect)  # an interval without 1 needs fewer
    designs = []
    for seconds in LENGTHS_S:
        blocks = max(ceil((needed * noise.sd(seconds)) ** 2 + sharper**2 / 2), fewest_blocks(family) + 1)
        if blocks <= MOST_BLOCKS:
            designs.append(Design(seconds=seconds, blocks=blocks, spent_s=blocks * cells * (seconds + start_s)))
    return min(designs, key=lambda design: design.spent_s, default=None)

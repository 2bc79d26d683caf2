"""What slices of cells say: since when a cell runs evenly, where its noise comes from, and which plan that asks for."""

from dataclasses import dataclass, replace
from math import ceil, hypot, log1p, sqrt

import numpy as np
from scipy import special

from reports.statistics.significance import ALPHA, EXACT_UP_TO, clipped, fewest_blocks, sign_flip_p
from reports.statistics.stats import Floats, hodges_lehmann
from reports.statistics.verdict import POWER, quantiles

STEADY_ALPHA = 0.01
LEAST_LOSS = 0.01
ESTIMATE = sqrt(np.pi / 3)  # standard error of a Hodges-Lehmann estimate over that of a mean
MOST_BLOCKS = 200
DRAWS = 200
LENGTHS_S = (1.0, 1.5, 2.0, 3.0, 5.0)  # of a cell; below 1 s there is no verdict


@dataclass(frozen=True, kw_only=True)
class Start:
    """slices: how many at the start differ from the rest. loss: of all answers, what they cost, as a share."""

    slices: int
    loss: float


def start_of(rates: Floats) -> Start:
    """The uneven start of an arm's cells; of no slices where none is shown. rates: shape (cells, slices)

    Cut where the mean over the cells is then known best (MSER), within the first half; shown where the sign-flip p
    of the cells' losses is at most 1 %, and they lose 1 % or more.
    Source: White (1997), "An effective truncation heuristic for bias reduction in simulation output".
    """
    shares = rates / rates.mean(axis=1, keepdims=True)
    profile, count = shares.mean(axis=0), shares.shape[1]
    errors = [float(profile[cut:].var()) / (count - cut) for cut in range(count // 2 + 1)]
    cut = int(np.argmin(errors))
    losses = (1 - shares[:, :cut] / shares[:, cut:].mean(axis=1, keepdims=True)).sum(axis=1) / count
    loss = float(np.median(losses))
    shown = cut and abs(loss) >= LEAST_LOSS and sign_flip_p(losses) <= STEADY_ALPHA
    return Start(slices=cut, loss=loss) if shown else Start(slices=0, loss=0.0)


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


def power_of(effect: float, sd: float, blocks: int, family: int) -> float:
    """Share of simulated runs in which one of *family* comparisons, of true *effect* (a share), is found."""
    values = np.random.default_rng(blocks).normal(log1p(effect), sd, (DRAWS, blocks))
    lows = hodges_lehmann(values)[1]
    return float(np.mean((lows > 0) & (family * _flip_ps(values) <= ALPHA)))


def _flip_ps(values: Floats) -> Floats:
    """sign_flip_p() of each row, where it is not exact by the normal distribution, which takes seconds less."""
    if values.shape[1] <= EXACT_UP_TO:
        return np.apply_along_axis(sign_flip_p, 1, values)
    scores = np.apply_along_axis(clipped, 1, values)
    return np.asarray(2 * special.ndtr(-np.abs(scores.sum(axis=1)) / np.sqrt((scores**2).sum(axis=1))))


def blocks_for(effect: float, sd: float, family: int = 1) -> int:
    """About in how many blocks *effect* is found in 80 % of runs as one of *family* comparisons.

    The interval must leave out 1, and the sign-flip p, about as sharp as a t test, be small enough.
    """
    usual, sharper, power = quantiles(family)
    needed = max(ESTIMATE * (usual + power), sharper + power) * sd / log1p(effect)
    return max(ceil(needed**2), fewest_blocks(family))


def design_for(effect: float, noise: Noise, cells: int, start_s: float, family: int) -> Design | None:
    """The quickest design that finds *effect* in 80 % of simulated runs; None where it takes more than 200 blocks.

    cells: in a block. start_s: what a cell takes besides its timed window
    """
    designs = [
        Design(seconds=seconds, blocks=blocks, spent_s=blocks * cells * (seconds + start_s))
        for seconds in LENGTHS_S
        if (blocks := blocks_for(effect, noise.sd(seconds), family)) <= MOST_BLOCKS
    ]
    for design in sorted(designs, key=lambda design: design.spent_s)[:1]:
        blocks = design.blocks
        while power_of(effect, noise.sd(design.seconds), blocks, family) < POWER:
            blocks += 1 + blocks // 20
        return replace(design, blocks=blocks, spent_s=design.spent_s / design.blocks * blocks)
    return None

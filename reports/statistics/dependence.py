"""Whether the blocks of a comparison are as independent as its interval and p suppose. Pure.

Source: permutation tests of rank correlation (Pitman 1937, part II); docs/statistics.md.
"""

from collections.abc import Mapping

import numpy as np

from core.messages import Message, message
from reports.statistics.stats import Floats

FEWEST = 8
ENOUGH = 60  # of which the check shows a ratio that wanders, in 95 % of the runs whose interval misses by it
DRAWS = 999
LEVEL = 0.05
DEPENDENT: Message = message("blocks resemble the ones before them")


def dependence(ratios: Mapping[int, float]) -> float | None:
    """One-sided p that blocks resemble the ones before them by chance; None with fewer than 8 blocks.

    ratios: block -> log-ratio. Only blocks that are alike make intervals too narrow.
    """
    blocks = sorted(ratios)
    if len(blocks) < FEWEST:
        return None
    ranks = _ranks(np.array([ratios[block] for block in blocks])) - (len(blocks) + 1) / 2
    chance = np.random.default_rng(0)
    shuffled = np.array([ranks, *(chance.permutation(ranks) for _ in range(DRAWS))])
    alike = (shuffled[:, 1:] * shuffled[:, :-1]).sum(axis=1)
    return float((alike >= alike[0] - 1e-9).mean())  # the seen order is the first of them


def _ranks(values: Floats) -> Floats:
    """From 1; those that are alike share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places])


def depends(p: float | None) -> bool:
    """Return whether the blocks of a comparison are seen to depend on each other."""
    return p is not None and p <= LEVEL


def independence_is_known(p: float | None, blocks: int) -> bool:
    """Return whether the blocks are so many that dependence would have been seen, and none was."""
    return blocks >= ENOUGH and not depends(p)

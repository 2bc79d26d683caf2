"""Whether the blocks of a comparison are as independent as its interval and p suppose. Pure.

Source: permutation tests of rank correlation (Pitman 1937, part II); docs/statistics.md.
"""

from collections.abc import Mapping

import numpy as np

from core.messages import Message, message
from reports.statistics.stats import Floats

FEWEST = 8
ENOUGH = 60  # of which the lag shows a ratio that wanders, in 95 % of the runs whose interval misses by it
DRAWS = 999
LEVELS: Mapping[str, float] = {"lag": 0.05, "trend": 0.01, "order": 0.01}
WORDS: Mapping[str, Message] = {
    "lag": message("blocks resemble the ones before them"),
    "trend": message("the ratio drifts from the first block to the last"),
    "order": message("the ratio depends on which arm ran first"),
}


def dependence(ratios: Mapping[int, float], numerator_last: Mapping[int, bool]) -> dict[str, float]:
    """p of three ways of depending on each other, of at least 8 blocks; by the names of LEVELS.

    ratios: block -> log-ratio. numerator_last: block -> whether the numerator's cell ran after the denominator's
    lag: one-sided, only what is alike makes intervals too narrow. order: missing where all blocks have the same
    """
    blocks = sorted(ratios)
    if len(blocks) < FEWEST:
        return {}
    values = np.array([ratios[block] for block in blocks])
    ranks = _ranks(values) - (len(blocks) + 1) / 2
    chance = np.random.default_rng(0)
    shuffled = np.array([ranks, *(chance.permutation(ranks) for _ in range(DRAWS))])
    places = np.arange(len(blocks)) - (len(blocks) - 1) / 2
    seen = {"lag": (shuffled[:, 1:] * shuffled[:, :-1]).sum(axis=1), "trend": np.abs(shuffled @ places)}
    last = np.array([numerator_last.get(block, False) for block in blocks], dtype=np.float64)
    if 0 < last.sum() < len(blocks):
        seen["order"] = np.abs(shuffled @ (last - last.mean()))
    return {name: _share_as_large(statistics) for name, statistics in seen.items()}


def _ranks(values: Floats) -> Floats:
    """From 1; those that are alike share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places])


def _share_as_large(statistics: Floats) -> float:
    """Of the seen one, the first, and those of shuffled blocks."""
    return float((statistics >= statistics[0] - 1e-9).mean())


def independence_is_known(p: Mapping[str, float], blocks: int) -> bool:
    """Whether the blocks are so many that dependence would have been seen, and none was."""
    return blocks >= ENOUGH and not depends(p)


def depends(p: Mapping[str, float]) -> list[Message]:
    """In which ways the blocks of a comparison are seen to depend on each other."""
    return [WORDS[name] for name, value in p.items() if value <= LEVELS[name]]

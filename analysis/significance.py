"""Tests of significance: permutation tests, Holm's adjustment, and a test for independence of
blocks.

Methods, sources and limits are in docs/statistics.md.

The values are log-ratios, one per block: above 0, the numerator is faster. analysis/judging.py
makes verdicts of the p values. Random numbers have a seed, so that each report of a saved run has
the same p values. benchmarks/method_simulated.py simulates the error rates: run it after a change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from math import comb

import numpy as np

from analysis.stats import FEWEST_FOR_INTERVAL, Floats, floats, logs
from core.messages import Message, message

# At most one report in 20 has a false claim: 4 % of reports at the first look, and 1 % at later
# looks at added blocks.
ALPHA, LATER_ALPHA = 0.04, 0.01
# The share of the level that each family of comparisons in a report has. Their sum is 1. The tails
# are one family with the routes.
SHARES = {"throughput": 0.88, "tails": 0.07, "best": 0.03, "league": 0.02}
CLIP = 1.5  # values are limited to this many times their median distance from 0
EXACT_UP_TO = 32  # blocks; each half of them has 2 ** 16 sums
FLIPS = 19_999  # random patterns of signs, above EXACT_UP_TO blocks
PERMUTATIONS = 9_999  # of the blocks of two saved runs; exact if there are no more
# bets of anytime_p(): shares of the wealth; the wealth is divided equally among them
STAKES = np.array([0.2, 0.4, 0.6, 0.8, 0.95])
FEWEST_FOR_DEPENDENCE = 8  # blocks
Test = Callable[[Floats], float]
# with 60 blocks, the test detects 95 % of the runs whose interval is wrong because the ratio drifts
ENOUGH = 60
SHUFFLES = 999  # random orders of the blocks in dependence()
DEPENDENT_ALPHA = 0.05  # level of the test for dependence
DEPENDENT: Message = message("successive blocks are correlated, so the interval may be too narrow")


def sign_flip_p(
    per_block: Sequence[float] | Floats, *, seed: int = 0, one_sided: bool = False
) -> float:
    """Return the two-sided p value of a sign-flip test of the hypothesis that both arms are alike.

    p is the probability that random signs give a sum as far from 0 as the observed sum of clipped()
    values.
    per_block: log-ratios, shape (blocks,)
    seed:      seed of the random signs, which are used above 32 blocks; up to 32 blocks, p is exact
    one_sided: whether the hypothesis is that the values are 0 or less
    The test is valid if both signs of a block are equally likely, given the other blocks. p is
    never below 2 ** (1 - blocks): 3 blocks cannot give less than 0.25.
    Source: Fisher (1935), section 21; Maritz (1979) for bounded scores.
    """
    scores = clipped(per_block)
    if one_sided and scores.sum() <= 0:
        return 1.0
    return sum_flip_p(scores, seed=seed) / (2 if one_sided else 1)


def clipped(per_block: Sequence[float] | Floats) -> Floats:
    """Return the log-ratios, limited to 1.5 times their median distance from 0.

    Because of the limit, one stalled cell cannot hide an effect. The limit does not depend on
    signs, so sign flips stay exact.
    """
    values = floats(per_block)
    bound = CLIP * float(np.median(np.abs(values)))
    return np.clip(values, -bound, bound)


def sum_flip_p(scores: Floats, *, seed: int = 0) -> float:
    """Return the two-sided p value of a sign-flip test on the sum of *scores*, which has one score
    per block.

    p is exact up to 32 blocks, and a Monte Carlo estimate above. The exact p does not try all
    patterns of signs. It computes the sums of two halves and counts the pairs of sums.
    Source: Horowitz and Sahni (1974) for the halves; Phipson and Smyth (2010) for the +1 of the
        Monte Carlo p.
    """
    total = abs(float(scores.sum()))
    rounding = 1e-12 * float(np.abs(scores).sum())
    if total <= rounding:
        return 1.0
    if scores.size > EXACT_UP_TO:
        signs = np.random.default_rng(seed).integers(0, 2, (FLIPS, scores.size)) * 2.0 - 1.0
        return (int(np.count_nonzero(np.abs(signs @ scores) >= total - rounding)) + 1) / (FLIPS + 1)
    halves = [np.zeros(1), np.zeros(1)]  # sums of every second score, for every pattern of signs
    for place, score in enumerate(scores):
        sums = halves[place % 2]
        halves[place % 2] = np.concatenate([sums + score, sums - score])
    as_high = halves[1].size - np.searchsorted(np.sort(halves[1]), total - rounding - halves[0])
    return int(as_high.sum()) * 2.0 ** (1 - scores.size)


def anytime_p(per_block: Sequence[float] | Floats, *, one_sided: bool = False) -> float:
    """Return a p value that stays valid if it is checked after every block; same hypothesis as
    sign_flip_p().

    one_sided: whether the hypothesis is that values are not above 0
    The method bets on the sign of each value. The stake is a share of the wealth and grows with the
    value's size, up to the median size so far. If both signs are equally likely, the wealth does
    not grow on average. p is 1 divided by the largest wealth so far.
    Source: Shafer and Vovk (2019), chapter 3; Ville (1939); docs/statistics.md.
    """
    values = floats(per_block)
    sizes = np.array([np.median(np.abs(values[: end + 1])) for end in range(values.size)])
    scores = np.clip(np.divide(values, sizes, out=np.zeros_like(values), where=sizes > 0), -1, 1)
    bets = STAKES if one_sided else np.concatenate([STAKES, -STAKES])
    wealth = np.exp(np.cumsum(np.log1p(np.outer(scores, bets)), axis=0)).mean(axis=1)
    return float(1 / max(1.0, wealth.max(initial=1.0)))


def outside_p(
    per_block: Sequence[float] | Floats, margin: float, test: Callable[..., float]
) -> float:
    """Return the p value of the hypothesis that the effect is *margin* or more, in either
    direction.

    test: sign_flip_p() or anytime_p()
    Source: Schuirmann (1987), two one-sided tests.
    """
    values = floats(per_block)
    return max(test(values + margin, one_sided=True), test(margin - values, one_sided=True))


def holm(ps: Sequence[float], share: float = 1.0) -> tuple[float, ...]:
    """Return the p values of one family, adjusted by Holm's method, and for the family's *share* of
    the level.

    If all hypotheses with an adjusted p of at most a are rejected, the probability of any false
    rejection is at most a.
    Source: Holm (1979); the k-th smallest of m is multiplied by m - k + 1,
    and none may be below an earlier one.
    """
    order = sorted(range(len(ps)), key=ps.__getitem__)
    raised = accumulate(
        (min(1.0, (len(ps) - rank) * ps[index] / share) for rank, index in enumerate(order)), max
    )
    return tuple(p for _, p in sorted(zip(order, raised, strict=True)))


def unpaired_p(denominator_ns: Sequence[float], numerator_ns: Sequence[float]) -> float:
    """Return the two-sided p value of a permutation test that two runs are alike; exact up to 9999
    permutations.

    Scores are distances of logs from their common median, limited to 1.5 times the median distance.
    The limit is the same for every permutation. The result is 1 if a run has only one block.
    Source: Pitman (1937); scipy.stats.permutation_test.
    """
    if min(len(denominator_ns), len(numerator_ns)) < 2:
        return 1.0
    from scipy import (
        stats,
    )  # the import takes 0.5 s, and only a comparison of two saved runs needs it

    pooled = np.concatenate([logs(denominator_ns), logs(numerator_ns)])
    scores = clipped(pooled - np.median(pooled))
    first = len(denominator_ns)
    test = stats.permutation_test(
        (scores[:first], scores[first:]),
        lambda first, second, axis: first.mean(axis=axis) - second.mean(axis=axis),
        n_resamples=PERMUTATIONS,
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    return float(test.pvalue)


def _fewest(least_p: Callable[[int], float]) -> Callable[[float], int]:
    """Return a function that tells how many blocks a number of comparisons need for a significant
    result.

    With fewer blocks, a p that is adjusted for the comparisons cannot reach ALPHA. A family with a
    share of the level counts as the number of its comparisons divided by this share.
    least_p: returns the smallest p that a number of blocks can reach
    """
    return lambda family: next(
        blocks for blocks in range(FEWEST_FOR_INTERVAL, 1000) if family * least_p(blocks) <= ALPHA
    )


fewest_blocks = _fewest(lambda blocks: 2.0 ** (1 - blocks))  # sign_flip_p(): 6 for one comparison
fewest_blocks_anytime = _fewest(lambda blocks: anytime_p([1.0] * blocks))  # 8 for one comparison
fewest_blocks_unpaired = _fewest(
    lambda blocks: 2 / comb(2 * blocks, blocks)
)  # unpaired_p(): 6 for one comparison


@dataclass(frozen=True, kw_only=True)
class Looks:
    """The times at which the results of a run were looked at. The p values of its comparisons
    depend on them.

    is_anytime: whether the number of blocks depends on results. If not, there is only the report at
        the end
    first:      the last block of the report after which blocks were added; 0 if no report had a
                fixed number of blocks
    seed:       seed of random signs
    """

    is_anytime: bool = False
    first: int = 0
    seed: int = 0

    def after(self, blocks: int) -> "Looks":
        """Return the looks at the results if blocks are added to *blocks* blocks that were looked
        at.
        """
        return self if self.is_anytime else replace(self, is_anytime=True, first=blocks)

    @property
    def _tests(self) -> tuple[Callable[..., float], Callable[..., float]]:
        """The test that is made once, and that which is valid at any time."""
        return partial(sign_flip_p, seed=self.seed), anytime_p

    def p(self, blocks: Mapping[int, float]) -> float:
        """Return the two-sided p value of the hypothesis that both arms are alike."""
        return self._lowest(blocks, *self._tests)

    def p_outside(self, blocks: Mapping[int, float], margin: float) -> float:
        """Return the p value of the hypothesis that the effect is *margin* or more, in either
        direction.
        """
        tests = (partial(outside_p, margin=margin, test=test) for test in self._tests)
        return self._lowest(blocks, *tests)

    def fewest(self, family: float) -> int:
        """Return the least number of blocks with which one of *family* comparisons can become
        significant.
        """
        if not self.is_anytime or self.first >= fewest_blocks(family):
            return fewest_blocks(family)
        return fewest_blocks_anytime(family * (ALPHA / LATER_ALPHA if self.first else 1))

    def _lowest(self, blocks: Mapping[int, float], once: Test, always: Test) -> float:
        """Return the p value of a test that is made once, of one that is valid at any time, or the
        lower of both.

        After a first report, the second test has only LATER_ALPHA of the level, so its p value is
        raised.
        """
        values = np.array([*blocks.values()])
        if not self.is_anytime:
            return once(values)
        first = [ratio for block, ratio in blocks.items() if block <= self.first]
        if not (self.first and first):
            return always(values)
        return min(once(np.array(first)), always(values) * ALPHA / LATER_ALPHA, 1.0)


ONCE = Looks()


def dependence(ratios: Mapping[int, float]) -> float | None:
    """Return the one-sided p value of the hypothesis that successive blocks are independent; None
    below 8 blocks.

    ratios: block -> log-ratio. Only positive correlation is tested, because only it makes intervals
        too narrow.
    Source: permutation test of rank correlation (Pitman 1937, part II); docs/statistics.md.
    """
    if len(ratios) < FEWEST_FOR_DEPENDENCE:
        return None
    in_order = [ratios[block] for block in sorted(ratios)]
    _, places, counts = np.unique(in_order, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2)[places] - len(
        ratios
    ) / 2  # equal values get the mean of their ranks
    chance = np.random.default_rng(0)
    shuffled = np.array([ranks, *(chance.permutation(ranks) for _ in range(SHUFFLES))])
    alike = (shuffled[:, 1:] * shuffled[:, :-1]).sum(axis=1)
    return float((alike >= alike[0] - 1e-9).mean())  # the first order is the observed order


def depends(p: float | None) -> bool:
    """Return whether successive blocks are significantly correlated.

    p: the value of dependence()
    """
    return p is not None and p <= DEPENDENT_ALPHA


def independence_is_known(p: float | None, blocks: int) -> bool:
    """Return whether *blocks* were enough to detect dependence between blocks, and no dependence
    was detected.
    """
    return blocks >= ENOUGH and not depends(p)

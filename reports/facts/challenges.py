"""Which alternatives are faster than our systems: the p of each, adjusted for all of a report. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.facts.cells import request_ns
from reports.facts.standings import Contest, Standing, rate_share
from reports.statistics.significance import ALPHA, holm, sign_flip_p
from reports.statistics.stats import Estimate, log_ratios

OURS = ("2", "4")


@dataclass(frozen=True, kw_only=True)
class Challenge:
    """An alternative beside the better of our systems, under one runtime. share: of its requests/s.

    p: two-sided, adjusted for all alternatives under all runtimes (Holm)
    """

    rival: Standing
    best: Standing
    share: Estimate
    p: float

    @property
    def is_faster(self) -> bool:
        """Whether it is shown to serve more: by its interval and by its p, like a verdict."""
        return self.share.low > 1 and self.p <= ALPHA


def best_of_ours(contest: Contest) -> Standing | None:
    """The one of our systems that serves most; None where neither has figures."""
    return next(
        (standing for standing in contest.standings if standing.row.system in OURS), None
    )  # the first serves most


def challenges(contests: Sequence[Contest], seed: int = 0) -> list[list[Challenge]]:
    """For each contest, every alternative that shares a block with the best of ours; all of them are one family."""
    pairs = [(place, rival, best) for place, contest in enumerate(contests) for rival, best in _pairs(contest)]
    compared = [(place, rival, best, _ratios(rival, best)) for place, rival, best in pairs]
    known = [(place, rival, best, ratios) for place, rival, best, ratios in compared if ratios]
    adjusted = holm([sign_flip_p(ratios, seed=seed) for *_, ratios in known])
    made = [
        (place, Challenge(rival=rival, best=best, share=share, p=p))
        for (place, rival, best, _), p in zip(known, adjusted, strict=True)
        if (share := rate_share(rival.row, best.row)) is not None
    ]
    return [[challenge for where, challenge in made if where == place] for place in range(len(contests))]


def _pairs(contest: Contest) -> list[tuple[Standing, Standing]]:
    """Each alternative with the best of ours."""
    best = best_of_ours(contest)
    return [(rival, best) for rival in contest.standings if rival.row.system not in OURS] if best else []


def _ratios(rival: Standing, best: Standing) -> list[float]:
    """Log-ratios of requests/s in the blocks that both have."""
    return [*log_ratios(request_ns(best.row.good), request_ns(rival.row.good)).values()]

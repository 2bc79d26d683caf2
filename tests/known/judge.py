"""What a run says about two services whose truth is known, and whether it is right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.judging import MARGIN
from tests.known.scenarios import Scenario, Truth

OK, REFUSED, CALLED, MISS = "ok", "refused", "called", "MISS"
NEAR, NEARLY = 1.03, 0.1
LATE_MS, LATE_BESIDE_OTHERS_MS = 10.0, 50.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a run says about its two arms. rates are per second, percentiles are p99 and p99.9 of each arm in ms.

    low, high: the interval of the ratio; None if the run gives none
    is_warned: whether the run says that an arm was unsteady at first
    is_beside_others: whether the run says that other processes used the cores
    took_turns: whether the arms alternated in slices
    """

    ratio: float
    low: float | None
    high: float | None
    verdict: str
    why: str = ""
    rates: Sequence[float] = ()
    percentiles: Sequence[Sequence[float | None]] = ()
    is_warned: bool = False
    is_beside_others: bool = False
    took_turns: bool = False


def judge(scenario: Scenario, seen: Seen) -> tuple[str, list[str]]:
    """Return the result of a row (OK, REFUSED, MISS, or CALLED for equal services), and what is wrong."""
    if scenario.is_unsteady:
        return (OK, []) if seen.is_warned else (MISS, ["no warning of the unsteady start"])
    truth = scenario.ratio
    faults = [*_false_words(truth, seen), *_false_figures(scenario.truths, seen)]
    if seen.is_warned:
        faults.append("a warning of an unsteady start")
    if faults:
        return MISS, faults
    if truth == 1 and seen.verdict in ("faster", "slower"):
        return CALLED, []
    return (OK if _is_near(truth, seen) and seen.verdict != "invalid" else REFUSED), []


def _is_near(truth: float, seen: Seen) -> bool:
    return 1 / NEAR <= seen.ratio / truth <= NEAR


def _false_words(truth: float, seen: Seen) -> Iterator[str]:
    """Yield what is wrong with the verdict and the ratio."""
    if seen.verdict == "invalid":
        return
    if seen.verdict == "equivalent" and not 1 / (1 + MARGIN) <= truth <= 1 + MARGIN:
        yield "not equivalent"
    if (seen.verdict == "faster" and truth < 1) or (seen.verdict == "slower" and truth > 1):
        yield "wrong direction"
    is_within = seen.low is not None and seen.high is not None and seen.low / NEAR <= truth <= seen.high * NEAR
    if not _is_near(truth, seen) and not (seen.verdict == "inconclusive" and is_within):
        yield f"ratio {seen.ratio / truth - 1:+.1%}"


def _false_figures(truths: Sequence[Truth], seen: Seen) -> Iterator[str]:
    """Yield each throughput and each percentile that is too far from the truth."""
    if seen.verdict == "invalid":
        return
    late_ms = LATE_BESIDE_OTHERS_MS if seen.is_beside_others else LATE_MS
    for place, (truth, rate, percentiles) in enumerate(zip(truths, seen.rates, seen.percentiles, strict=True), 1):
        if abs(rate / truth.rate - 1) > NEARLY:
            yield f"throughput {place}: {rate:.1f}/s instead of {truth.rate:.1f}/s"
        true_ms = truth.p99_ms, truth.p999_ms
        for name, true, shown, (low, high) in zip(("p99", "p99.9"), true_ms, percentiles, truth.spread, strict=True):
            if shown is not None and not min(low * true, true - late_ms) <= shown <= max(high * true, true + late_ms):
                yield f"{name} {place}: {shown:.0f} ms instead of {true:.0f} ms"

"""Two saved runs, cell by cell: is B faster than A? The statistics are those of one run, unpaired."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from core.errors import BadInput
from core.messages import NOTHING, SEMICOLON, Message, listed, message
from core.result import Run
from reports.compare.comparable import obstacles, remarks
from reports.compare.notes import nothing_in_common, readings, troubles
from reports.compare.pairs import Pair, in_run, pairs
from reports.compare.samples import Sample, Saved, of_run
from reports.statistics.significance import fewest_blocks_unpaired
from reports.statistics.verdict import MARGIN, Verdict, judge_runs, slower_beyond


@dataclass(frozen=True, kw_only=True)
class CellComparison:
    """One cell of both runs. A is the denominator: a ratio above 1 says that B, the numerator, is faster.

    sample: the cell as A has it
    medians_fs: median time in A and in B; None where no block is ok
    unlike: parameters that B has otherwise, which happens only where that was allowed
    open_why: why a threshold cannot be said to be kept, however fast B seems; empty where it can
    """

    sample: Sample
    denominator: str
    numerator: str
    medians_fs: tuple[float | None, float | None]
    verdict: Verdict
    unlike: Message = NOTHING
    open_why: Message = NOTHING

    def to_json(self) -> dict[str, Any]:
        """As an element of comparisons in result.json, with the runtime and the arm."""
        return {
            "system": self.sample.system,
            "params": dict(self.sample.params),
            "runtime": self.sample.runtime,
            "arm": self.sample.arm,
            "numerator": self.numerator,
            "denominator": self.denominator,
            "step": "other",
            **self.verdict.to_json(),
            "why": listed((why for why in (self.verdict.why, self.unlike) if why), SEMICOLON).to_json(),
        }


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Every cell that both runs have, in the order of A, and what must be said with it.

    names: of A and B
    troubles: what was not used, or should not have been compared; notes: how to read it
    """

    names: tuple[str, str]
    comparisons: tuple[CellComparison, ...]
    troubles: tuple[Message, ...]
    notes: tuple[Message, ...]


def compare_runs(
    a: Run | Saved, b: Run | Saved, names: tuple[str, str], anyway: bool = False, share: float | None = None
) -> Compared:
    """Compare every cell that both runs have; A is the baseline.

    names:  of A and B, for people
    anyway: compare also what must not be: another machine, another method, and cells whose parameters differ,
            where either run has just one such of that system and arm
    share:  the threshold of slower_cells(), if one is asked for: nothing larger is called equivalent
    Raises BadInput for what must not be compared, and if there is nothing to compare.
    """
    a, b = (one if isinstance(one, Saved) else of_run(one) for one in (a, b))
    against = obstacles(a, b)
    if against and not anyway:
        raise BadInput(
            "{a} (A) and {b} (B) must not be compared: {obstacles}. --anyway compares them all the same.",
            a=names[0], b=names[1], obstacles=listed(against, SEMICOLON),
        )  # fmt: skip
    found = pairs(a, b, loose=anyway)
    if not found:
        raise BadInput(nothing_in_common(a, b, names))
    return Compared(
        names=names,
        comparisons=tuple(_judged(found, names, share)),
        troubles=tuple(troubles(a, b, found, against)),
        notes=(*remarks(a, b), *readings(a, b, found)),
    )


def _judged(found: Sequence[Pair], names: tuple[str, str], share: float | None) -> list[CellComparison]:
    margin = MARGIN if share is None else min(MARGIN, share)
    verdicts = judge_runs(  # of times in any unit: only ratios count
        {place: pair.times_fs for place, pair in enumerate(found)},
        margin=margin,
        gates={place: pair.gate for place, pair in enumerate(found) if pair.gate},
    )
    fewest = fewest_blocks_unpaired(max(1, sum(not pair.gate for pair in found)))
    return [_comparison(pair, names, verdicts[place], fewest) for place, pair in enumerate(found)]


def _comparison(pair: Pair, names: tuple[str, str], verdict: Verdict, fewest: int) -> CellComparison:
    of_a, of_b = (median(times) if times else None for times in pair.times_fs)
    return CellComparison(
        sample=pair.a,
        denominator=names[0],
        numerator=names[1],
        medians_fs=(of_a, of_b),
        verdict=verdict,
        unlike=pair.unlike,
        open_why=_open_why(pair, verdict, fewest),
    )


def _open_why(pair: Pair, verdict: Verdict, fewest: int) -> Message:
    """What of B is not measured, or why no verdict could have come out; fewest: blocks that `slower` takes."""
    if pair.gate:
        return pair.gate
    if pair.b.trouble:
        return in_run("B", pair.b.trouble)
    in_a, in_b = (len(times) for times in pair.times_fs)
    if min(in_a, in_b) >= fewest or verdict.verdict != "inconclusive":
        return NOTHING
    return message(
        "A has {in_a} and B {in_b} blocks; `slower` takes {fewest} in each for so many cells",
        in_a=in_a, in_b=in_b, fewest=fewest,
    )  # fmt: skip


def slower_cells(comparisons: Iterable[CellComparison], share: float) -> list[CellComparison]:
    """Those in which B takes more time by *share* (0.05 for 5 %) at least, with the whole interval."""
    return [one for one in comparisons if slower_beyond(one.verdict, share)]


def open_cells(comparisons: Iterable[CellComparison]) -> list[CellComparison]:
    """Those of which a threshold says nothing: a cell of B failed, or no verdict was possible."""
    return [one for one in comparisons if one.open_why]

"""A comparison of two arms as reports describe it: its verdict, its step and its limits in words.

analysis/comparing.py makes the comparisons of a run, and reports/compare/compared_runs.py those of
two saved runs. The functions below answer questions about several comparisons.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log

from analysis.cell_index import is_open
from analysis.others import on_busy
from analysis.settings import value_text
from analysis.stats import FEWEST_FOR_INTERVAL
from analysis.steps import NAMES, OF_VALUES, several_causes
from core.cell import PARAMETERS, Value
from core.fingerprint import ENVIRONMENTS
from core.messages import NOTHING, Message, listed, message
from core.system import SERVICE
from record.comparison import DECIDED, DIFFERENT, SavedComparison, Setting, Verdict, setting_key
from record.saved_run import Run

# the latency percentiles that stand for a comparison at a fixed rate
AT_RATE_TAILS = ("p50", "p99")


@dataclass(frozen=True, kw_only=True)
class Comparison(SavedComparison):
    """A comparison of two arms (runtimes or services) as result.json has it, with its words.

    trace: the names of the cells that were compared, the denominator's first; result.json does not
        have them
    """

    trace: str = field(default="", compare=False)

    @property
    def is_range(self) -> bool:
        """Whether low and high are the minimum and maximum of a few blocks, because an interval
        needs more blocks.
        """
        return self.blocks < FEWEST_FOR_INTERVAL

    @property
    def is_at_rate(self) -> bool:
        """Whether requests came at a fixed rate (RATE), so that latency is compared instead of
        throughput.
        """
        return any(map(is_open, [self.params, *(setting.params for setting in self.settings)]))

    @property
    def judged(self) -> list[Verdict]:
        """The verdicts on what the comparison is about: throughput, or at a fixed rate the latency
        percentiles.
        """
        if self.verdict != "unjudged" or not self.tails:
            return [self]
        return [
            Verdict(**vars(self.tails[name]), why=self.why)
            for name in AT_RATE_TAILS
            if name in self.tails
        ]

    @property
    def opposed_routes(self) -> list[str]:
        """The names of the routes whose verdict contradicts that on throughput, the most different
        route first: faster or slower, although the whole is equivalent or the reverse.
        """
        found = {
            name: abs(log(route.ratio))
            for name, route in self.routes.items()
            if route.verdict in DIFFERENT and route.verdict != self.verdict and route.ratio
        }
        is_decided = self.verdict in DECIDED
        return sorted(found, key=found.__getitem__, reverse=True) if is_decided else []

    @property
    def word(self) -> Message:
        """The verdict as text, which says so if other processes used more than MOST_BUSY of the
        cores.
        """
        return on_busy(super().word, self.others) if self.verdict in DECIDED else super().word

    @property
    def step_name(self) -> Message:
        """The compared difference as text: 'GIL', 'build and GIL' for several causes, or
        'NUM_MULTI_SOCKET 1 → 10'.
        """
        if self.step in OF_VALUES:
            name, before, after = self.change
            return message(
                "{name} {before} → {after}",
                name=name,
                before=value_text(before),
                after=value_text(after),
            )
        is_several = self.step == "other" and not self.between_services
        return several_causes(self.denominator, self.numerator) if is_several else NAMES[self.step]

    @property
    def change(self) -> tuple[str, Value, Value]:
        """The swept parameter whose values are compared, with the denominator's value and the
        numerator's value.
        """
        before, after = (setting.params for setting in self.settings)
        name = next(
            name for name in (*PARAMETERS, *after) if name in after and before[name] != after[name]
        )
        return name, before[name], after[name]

    @property
    def label(self) -> Message:
        """The compared difference and the runtimes as text: 'GIL: 3.14t+gil → 3.14t', 'NUM_CLIENTS
        1 → 8: 3.14t'.
        """
        if self.step == "value":
            return message("{step}: {runtime}", step=self.step_name, runtime=self.numerator)
        return message(
            "{step}: {denominator} → {numerator}",
            step=self.step_name, denominator=self.denominator, numerator=self.numerator,
        )  # fmt: skip

    @property
    def limits(self) -> list[Message]:
        """The limits of the comparison: confounds, busy clients, a machine that was not quiet."""
        joint = listed(self.confounds)
        confound = message(
            "the two measurements also differ in other ways: {confounds}", confounds=joint
        )
        return [*([confound] if self.confounds else []), *self.notes]


def doubt(same: Iterable[tuple[str, Verdict]]) -> Message:
    """Return that two measurements of the same runtime differ, or NOTHING if none do.

    same: the runtime and the verdict of each A/A comparison
    """
    why = (
        message(
            "A/A: two measurements of {arm} differ, so the difference in this comparison may be "
            "noise",
            arm=arm,
        )
        for arm, aa in same
        if aa.verdict in DIFFERENT
    )
    return next(why, NOTHING)


def doubt_of(compared: Iterable[Comparison]) -> Message:
    """Return doubt() for the A/A comparisons among *compared*."""
    return doubt((one.denominator, one) for one in compared if one.step == "aa")


def packages_at(setting: Setting, compared: Comparison, run: Run) -> dict[str, str]:
    """Return the packages with which the service of a compared setting ran, under the numerator's
    runtime: versions by name. They are empty if gilscope does not know them.
    """
    for cell in run.cells:
        is_there = setting_key(cell.system, cell.params) == setting.key
        if is_there and cell.arm == compared.numerator:
            known = run.fingerprints.get(ENVIRONMENTS, {}).get(cell.environment, {})
            return dict(known.get(SERVICE, {}).get("packages", {}))
    return {}


def confounds_of(compared: Sequence[Comparison]) -> list[Message]:
    """Return the confounds of all comparisons in *compared*, each once."""
    return [
        *dict.fromkeys(confound for comparison in compared for confound in comparison.confounds)
    ]


def answering(compared: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons that decide the run's verdict: those over all settings, or else all of
    *compared*.
    """
    return [comparison for comparison in compared if comparison.is_over_all] or list(compared)

"""All comparisons as one plot: ratio and interval of each, the band of A/A, one scale; and why each is what it is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite

from core.languages import ENGLISH
from core.messages import SEMICOLON, SENTENCES, Message, listed, message
from reports.document.model import Column, Datum, Group, Line, Section, Strip, Table, groups, number, words
from reports.document.values import percent, probability, ratio
from reports.facts.cells import setting_key
from reports.facts.commands import all_runtimes_command
from reports.facts.comparisons import Comparison
from reports.facts.pairs import OVER_ALL
from reports.facts.traces import together
from reports.statistics.inside import Noise
from reports.statistics.stats import FEWEST_FOR_INTERVAL
from reports.statistics.verdict import WORDS
from reports.topics import of_run
from reports.view import View

PLACE = 30
WANTED = message("Comparisons: version, build and lock")
COMMAND = of_run(all_runtimes_command)
BEYOND = 2.5
MOST_TICKS = 5
TICKS = (  # the finest of these that has no more than MOST_TICKS on the scale
    (0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3),
    (0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0),
    (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0),
    (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
    (0.01, 0.1, 1.0, 10.0, 100.0),
)
SIGNS: Mapping[str, str] = {
    "faster": "▲",
    "slower": "▼",
    "equivalent": "=",
    "inconclusive": "?",
    "invalid": "×",
    "unjudged": "·",
}
DECIDED = ("faster", "slower", "equivalent")
SETTING, STEP, RATIO, VERDICT = message("Setting"), message("Step"), message("Ratio [95 %]"), message("Verdict")


def section(view: View) -> Section:
    """The forest plot, and the reasons folded."""
    return Section(
        key="comparisons",
        title=message("All comparisons"),
        tables=(_forest(view), _reasons(view)),
    )


def caption() -> Message:
    """How to read a forest plot, and what the signs of the verdicts mean."""
    reading = message(
        "Ratio of throughputs with its interval (95 %); right of 1 the newer side is faster. Grey band: A/A, the "
        "same runtime twice. Filled marks have a verdict, hollow ones have none. One scale, logarithmic, for all rows."
    )
    few = message("In parentheses: the range of fewer than {count} blocks.", count=FEWEST_FOR_INTERVAL)
    signs = listed(_signed(verdict) for verdict in SIGNS)
    return listed([reading, few, message("{signs}.", signs=signs)], SENTENCES)


def columns(scale: Strip, first: Message = STEP) -> tuple[Column, ...]:
    """Those of a forest plot. first: the head of what its lines are."""
    ticks = replace(scale, ticks=tuple((value, f"{value:g}") for value in _ticks(scale)), lines=())
    return (
        Column(head=first),
        Column(head=message("Ratio"), is_strip=True, strip=ticks),
        Column(head=RATIO, is_number=True),
        Column(head=VERDICT),
    )


def ratio_scale(compared: Sequence[Comparison]) -> Strip:
    """As wide as the intervals need, but one that is very wide does not press the others together."""
    ratios = [comparison.ratio for comparison in compared if comparison.ratio] or [1.0]
    known = [comparison for comparison in compared if comparison.ratio is not None]
    ends = [end for one in known for end in (one.low, one.high) if end is not None and isfinite(end)]
    scale = Strip(
        low=max(min([*ends, *ratios, 0.9]) / 1.04, min([*ratios, 1.0]) / BEYOND),
        high=min(max([*ends, *ratios, 1.1]) * 1.04, max([*ratios, 1.0]) * BEYOND),
        is_log=True,
    )
    return replace(scale, lines=(*((tick, "grid") for tick in _ticks(scale)), (1.0, "unity")))


def _ticks(scale: Strip) -> list[float]:
    """Ratios that one knows, so many as there is room for."""
    shown = [[value for value in values if scale.low <= value <= scale.high] for values in TICKS]
    return next((values for values in shown if len(values) <= MOST_TICKS), shown[-1])


def figures(comparison: Comparison, scale: Strip, cells: str) -> Line:
    """What a line shows of a comparison: its interval drawn and written, and its verdict."""
    word = words(_signed(comparison.verdict), state=f"word {comparison.verdict}", hint=comparison.why)
    return Datum(strip=_strip(comparison, scale), cells=cells), _ratio(comparison, cells), word


def _signed(verdict: str) -> Message:
    return message("{sign} {word}", sign=SIGNS[verdict], word=WORDS[verdict])


def _ratio(comparison: Comparison, cells: str) -> Datum:
    return number(
        comparison.ratio, ratio, cells, "ratio", low=comparison.low, high=comparison.high, is_range=comparison.is_range
    )


def _strip(comparison: Comparison, scale: Strip) -> Strip:
    value, low, high, floor = comparison.ratio, comparison.low, comparison.high, comparison.noise_floor
    state = comparison.verdict if comparison.verdict in DECIDED else "open"
    return replace(
        scale,
        band=(1 / (1 + floor), 1 + floor) if floor else None,
        dot=(value, state) if value is not None else None,
        whisker=(low, high) if low is not None and high is not None else None,
        tip=_ratio(comparison, "").text(ENGLISH),
    )


def _forest(view: View) -> Table:
    """A line for each comparison, those of a setting together, those over all settings first."""
    scale = ratio_scale(view.compared)

    def line(comparison: Comparison, view: View) -> Line:
        cells = view.traces.of(comparison)
        return words(comparison.label, cells=cells, leads=True), *figures(comparison, scale, cells)

    first = sorted(view.compared, key=lambda one: one.system != OVER_ALL)
    return Table(
        name=message("All comparisons"), columns=columns(scale), groups=by_setting(first, line, view),
        kind="forest", key="forest", caption=caption(),
    )  # fmt: skip


def by_setting(
    compared: Iterable[Comparison], line: Callable[[Comparison, View], Line], view: View
) -> tuple[Group, ...]:
    """A group for each setting in the order of *compared*, with a line for each comparison."""
    named: dict[Message, list[Line]] = {}
    for one in compared:
        named.setdefault(view.settings.name(one.system, one.params), []).append(line(one, view))
    return groups(named.items())


def _reasons(view: View) -> Table:
    """Why each verdict is what it is, with p and noise floor; for those who ask."""
    lines = [
        (
            words(view.settings.short(comparison.system, comparison.params)),
            words(comparison.label, cells=view.traces.of(comparison)),
            number(comparison.p, probability, view.traces.of(comparison), "p"),
            number(comparison.noise_floor, percent, _floor_cells(comparison, view)),
            *_scatter(comparison, view.traces.of(comparison)),
            words(listed([comparison.why, *comparison.limits], SEMICOLON)),
        )
        for comparison in view.compared
    ]
    names = (
        (SETTING, False),
        (STEP, False),
        (message("p"), True),
        (message("Noise floor"), True),
        (message("Scatter of a block (sd)"), True),
        (message("between processes"), True),
        (message("Why"), False),
    )
    return Table(
        name=message("Reasons, p and noise floor of each comparison"),
        columns=tuple(Column(head=head, is_number=is_number) for head, is_number in names),
        groups=(Group(lines=tuple(lines)),),
        kind="reasons",
        folded=True,
    )


def _scatter(comparison: Comparison, cells: str) -> Line:
    """The noise of a block's ratio, and its part that is between processes."""
    noise = Noise(**comparison.noise) if comparison.noise else None
    parts = (noise.sd(), noise.between) if noise else (None, None)
    return tuple(number(part, percent, cells, "noise") for part in parts)


def _floor_cells(comparison: Comparison, view: View) -> str:
    """The cells of the A/A comparison in the same setting."""
    setting = setting_key(comparison.system, comparison.params)
    same = [one for one in view.compared if one.step == "aa" and setting_key(one.system, one.params) == setting]
    return together(map(view.traces.of, same))

"""All comparisons as one plot: ratio and interval of each, the band of A/A, one scale. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import isfinite

from reports.page.pieces import together
from reports.page.settings import Settings
from reports.page.svg import Html, Scale, joined, percent, tag, text
from reports.page.tables import Datum, Group, Line, Table, axis, drawing, heads, number
from reports.page.traces import Traces
from reports.rows.comparisons import Comparison
from reports.rows.summary import setting_key
from reports.words.translation import said, said_together
from reports.words.wording import ratio_text

HEIGHT = 22
BEYOND = 2.5
MOST_TICKS = 5
TICKS = (  # the finest of these that has no more than MOST_TICKS on the scale
    (0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3),
    (0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0),
    (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0),
    (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
    (0.01, 0.1, 1.0, 10.0, 100.0),
)
SIGNS = {"faster": "▲", "slower": "▼", "equivalent": "=", "inconclusive": "?", "invalid": "×"}
DECIDED = ("faster", "slower", "equivalent")


def forest(
    compared: Sequence[Comparison], settings: Settings, traces: Traces, words: Mapping[str, str], lang: str
) -> Table:
    """A line for each comparison, those of a setting together, those over all settings first."""
    scale = ratio_scale(compared)
    groups = [
        Group(
            head=settings.name(some[0].system, some[0].params),
            lines=tuple(_line(one, scale, traces, words, lang) for one in some),
        )
        for some in _by_setting(compared)
    ]
    names = titles(words["step"], scale, words)
    return Table(name=words["comparisons"], heads=names, groups=tuple(groups), kind="forest")


def titles(first: str, scale: Scale, words: Mapping[str, str]) -> Line:
    """The heads of a forest plot. first: what its lines are."""
    ticks = [(scale.at(one), f"{one:g}") for one in _ticks(scale)]
    plot = Datum(drawing=axis(ticks, words["ratio_plain"]), kind="plot")
    return heads(first, plot, words["ratio"], words["verdict_word"], numbers=[words["ratio"]])


def _by_setting(compared: Iterable[Comparison]) -> list[list[Comparison]]:
    """In the order of the run, but what holds for all settings first."""
    made = [list(some) for _, some in groupby(compared, lambda one: setting_key(one.system, one.params))]
    merged: dict[tuple[str, str], list[Comparison]] = {}
    for some in made:
        merged.setdefault(setting_key(some[0].system, some[0].params), []).extend(some)
    return sorted(merged.values(), key=lambda some: some[0].system != "all")


def ratio_scale(compared: Iterable[Comparison]) -> Scale:
    """As wide as the intervals need, but one that is very wide does not press the others together."""
    known = [one for one in compared if one.ratio is not None]
    ratios = [one.ratio for one in known if one.ratio] or [1.0]
    ends = [end for one in known for end in (one.low, one.high) if end is not None and isfinite(end)]
    low = max(min([*ends, *ratios, 0.9]) / 1.04, min([*ratios, 1.0]) / BEYOND)
    high = min(max([*ends, *ratios, 1.1]) * 1.04, max([*ratios, 1.0]) * BEYOND)
    return Scale(low=low, high=high, is_log=True)


def _ticks(scale: Scale) -> list[float]:
    """Ratios that one knows, so many as there is room for."""
    shown = [[one for one in some if scale.low <= one <= scale.high] for some in TICKS]
    return next((some for some in shown if len(some) <= MOST_TICKS), shown[-1])


def _line(one: Comparison, scale: Scale, traces: Traces, words: Mapping[str, str], lang: str) -> Line:
    cells = traces.of(one)
    return Datum(text=step_text(one, words), cells=cells, leads=True), *figures(one, cells, scale, words, lang)


def step_text(one: Comparison, words: Mapping[str, str]) -> str:
    """'lock: 3.14t+gil → 3.14t'."""
    return f"{words[f'step_{one.step}']}: {one.denominator} → {one.numerator}"


def figures(one: Comparison, cells: str, scale: Scale, words: Mapping[str, str], lang: str) -> Line:
    """What a line shows of a comparison: its interval as a drawing and as text, and its verdict."""
    figure = "ratio" if one.ratio is not None else ""
    return (
        Datum(drawing=_interval(one, scale), kind="plot", cells=cells),
        number(span(one), cells, figure),
        Datum(drawing=_word(one, words), kind=f"word {one.verdict}", hint=said(one.why, lang)),
    )


def _word(one: Comparison, words: Mapping[str, str]) -> Html:
    """The verdict with its sign; where there is little room the sign alone is seen."""
    mark = tag("span", text(SIGNS[one.verdict]), aria_hidden="true")
    return joined([mark, tag("span", text(f" {words[one.verdict]}"), class_="long")])


def legend(words: Mapping[str, str]) -> str:
    """What the signs of the verdicts mean."""
    return ", ".join(f"{mark} {words[name]}" for name, mark in SIGNS.items())


def span(one: Comparison) -> str:
    """Ratio and interval: '1.31 [1.26, 1.37]'."""
    if one.ratio is None:
        return "-"
    if one.low is None or one.high is None:
        return ratio_text(one.ratio)
    return f"{ratio_text(one.ratio)} [{ratio_text(one.low)},\N{NO-BREAK SPACE}{ratio_text(one.high)}]"


def _interval(one: Comparison, scale: Scale) -> Html:
    parts = [_band(one.noise_floor, scale)] if one.noise_floor else []
    parts += [_upright(scale.at(tick), "grid") for tick in _ticks(scale)]
    parts += [_upright(scale.at(1.0), "unity")]
    if one.ratio is not None:
        parts += _whiskers(one, scale)
        decided = one.verdict if one.verdict in DECIDED else "open"
        parts += [tag("circle", cx=percent(scale.at(one.ratio)), cy="11", r="4.5", class_=f"estimate {decided}")]
    return drawing(HEIGHT, span(one), *parts)


def _band(floor: float, scale: Scale) -> Html:
    left, right = scale.at(1 / (1 + floor)), scale.at(1 + floor)
    return tag("rect", x=percent(left), width=percent(right - left), y="0", height=str(HEIGHT), class_="band")


def _upright(place: float, kind: str) -> Html:
    return tag("line", x1=percent(place), x2=percent(place), y1="0", y2=str(HEIGHT), class_=kind)


def _whiskers(one: Comparison, scale: Scale) -> list[Html]:
    """The interval, with a stop at each end that is on the scale."""
    if one.low is None or one.high is None:
        return []
    left, right = scale.at(one.low), scale.at(one.high)
    ends = [end for end in (one.low, one.high) if scale.low <= end <= scale.high]
    stops = [
        tag("line", x1=percent(scale.at(end)), x2=percent(scale.at(end)), y1="7", y2="15", class_="whisker")
        for end in ends
    ]
    return [tag("line", x1=percent(left), x2=percent(right), y1="11", y2="11", class_="whisker"), *stops]


def _floor_cells(one: Comparison, compared: Sequence[Comparison], traces: Traces) -> str:
    """The cells of the A/A comparison in the same setting."""
    where = setting_key(one.system, one.params)
    return together(
        traces.of(same) for same in compared if same.step == "aa" and setting_key(same.system, same.params) == where
    )


def reasons(
    compared: Sequence[Comparison], settings: Settings, traces: Traces, words: Mapping[str, str], lang: str
) -> Table:
    """Why each verdict is what it is, with p and noise floor; for those who ask."""
    lines = [
        (
            Datum(text=settings.short(one.system, one.params) if one.params else words["all_settings"]),
            Datum(text=step_text(one, words), cells=traces.of(one)),
            number("-" if one.p is None else f"{one.p:.3f}", traces.of(one), "p"),
            number("-" if one.noise_floor is None else f"{one.noise_floor:.1%}", _floor_cells(one, compared, traces)),
            Datum(text=said_together([one.why, *one.notes], lang)),
        )
        for one in compared
    ]
    names = heads(words["setting"], words["step"], "p", words["noise"], words["why"], numbers=["p", words["noise"]])
    return Table(name=words["reasons"], heads=names, groups=(Group(lines=tuple(lines)),), kind="reasons")

"""Requests a second by contestant, for experiments that compare systems: a panel for each setting, the most first."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reports.plots.style import Look, block_mark, head_inches, legend, looks, title
from reports.rows.standings import Contest, Standing
from reports.rows.summary import Row, requests_per_s

ACROSS = 2
BAR_INCHES, LINE_INCHES = 0.19, 0.13  # a contestant takes its bar, or the lines of its name
LABEL_INCHES, PANEL_INCHES, VALUE_INCHES = 2.3, 2.6, 0.65
PANEL_HEAD_INCHES, FOOT_INCHES = 0.3, 0.42
NAME_CHARACTERS = 34


def throughput_figure(found: Sequence[Contest], rows: Sequence[Row]) -> Figure:
    """found: one contest or more, each with its own scale.

    rows: all of the run's, so that runtimes look as elsewhere
    """
    runtimes = list(dict.fromkeys(row.runtime for row in rows))
    signs = looks(runtimes)
    figure, panels = _figure(found, runtimes)
    for axes, contest in zip(panels, found, strict=True):
        _panel(axes, contest, signs)
    title(figure, "Requests a second", "bar: median over the blocks · marks: each block · more is better")
    legend(figure, [Patch(**_fill(look)) for look in signs.values()], runtimes)
    return figure


def _figure(found: Sequence[Contest], runtimes: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Panels in one column or two; those of one line are as high as the one with most contestants."""
    across = min(ACROSS, len(found))
    step = LABEL_INCHES + PANEL_INCHES + VALUE_INCHES
    heights = [sum(_inches(one) for one in contest.standings) for contest in found]
    lines = [max(heights[place : place + across]) for place in range(0, len(found), across)]
    head = head_inches(runtimes, across * step)
    total = head + sum(lines) + len(lines) * (PANEL_HEAD_INCHES + FOOT_INCHES)
    figure, made = Figure(figsize=(across * step, total)), list[Axes]()
    for number, height in enumerate(heights):
        down, column = divmod(number, across)
        top = total - head - PANEL_HEAD_INCHES - sum(lines[:down]) - down * (PANEL_HEAD_INCHES + FOOT_INCHES)
        left = column * step + LABEL_INCHES
        box = (left / (across * step), (top - height) / total, PANEL_INCHES / (across * step), height / total)
        made.append(figure.add_axes(box))
    return figure, made


def _inches(one: Standing) -> float:
    return max(BAR_INCHES, LINE_INCHES * len(_lines(one)))


def _lines(one: Standing) -> list[str]:
    return wrap(one.name, NAME_CHARACTERS, break_on_hyphens=False)


def _panel(axes: Axes, contest: Contest, signs: dict[str, Look]) -> None:
    axes.set_title(contest.label, fontsize=8, x=-0.95 * LABEL_INCHES / PANEL_INCHES)  # above the names: it is long
    middles, end, most = [], 0.0, max(_most(one) for one in contest.standings)
    for one in contest.standings:
        middles.append(end + _inches(one) / 2)
        _bar(axes, middles[-1], one, signs[one.row.runtime])
        end += _inches(one)
    axes.set_yticks(middles, ["\n".join(_lines(one)) for one in contest.standings], fontsize=7)
    axes.set_ylim(end, 0)
    axes.set_xlim(0, 1.04 * most)
    axes.tick_params(left=False)
    axes.tick_params(axis="x", labelsize=7)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("answered requests/s", fontsize=7, labelpad=2)


def _most(one: Standing) -> float:
    return max(requests_per_s(cell) for cell in one.row.good)


def _bar(axes: Axes, place: float, one: Standing, look: Look) -> None:
    axes.barh(place, one.requests_per_s, height=0.78 * BAR_INCHES, **_fill(look))
    blocks = [requests_per_s(cell) for cell in one.row.good]
    axes.plot(blocks, [place] * len(blocks), look.marker, clip_on=False, **{**block_mark(look), "markersize": 3})
    axes.annotate(
        f"{one.requests_per_s:,.0f}",
        (1, place),
        (5, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=7,
    )


def _fill(look: Look) -> dict[str, Any]:
    return {"facecolor": f"{look.colour}55", "edgecolor": look.colour, "hatch": look.hatch, "linewidth": 0.8}

"""Completion time by system and runtime: a bar per runtime, a mark per block."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reports.plots.style import GREY, Look, block_mark, head_inches, legend, looks, setting_label, title
from reports.rows.arrangement import by_system, groups, system_head, varying
from reports.rows.columns import seconds
from reports.rows.summary import Row, completion_ns, longest_s, same_work

WIDTH_INCHES = 8.5
BAR_INCHES = 0.16
GROUP_GAP_BARS = 0.8
PANEL_HEAD_INCHES = 0.36
FOOT_INCHES = 0.55
RIGHT_INCHES = 0.75
LABEL_CHARACTERS = 26
LABEL_INCHES = 0.078


def completion_figure(rows: Sequence[Row], titles: Mapping[str, str]) -> Figure:
    """A panel per system, in it a group of bars per set of parameters; all share the axis of time."""
    names = varying(rows)
    signs = looks(list(dict.fromkeys(row.runtime for row in rows)))
    panels = [(system_head(system, titles), groups(some)) for system, some in by_system(rows)]
    heights = [BAR_INCHES * sum(_bars(group, names) for group in some) for _, some in panels]
    figure, every = _figure(head_inches(list(signs), WIDTH_INCHES), heights, _label_inches(rows, names))
    for axes, (head, some) in zip(every, panels, strict=True):
        _panel(axes, head, some, names, signs)
    every[-1].set_xlabel("completion time of a client, median over clients [s]")
    every[-1].set_xlim(0, 1.04 * longest_s(rows))
    unlike = "" if same_work(rows) else " · panels differ in their number of requests"
    explanation = f"bar: median over the blocks · marks: each block · less is better{unlike}"
    title(figure, "Completion time by system and runtime", explanation)
    legend(figure, [Patch(**_fill(look)) for look in signs.values()], list(signs))
    return figure


def _figure(head: float, heights: Sequence[float], left: float) -> tuple[Figure, list[Axes]]:
    """Panels of these heights, one below the other, with room for what is above and left of them; all in inches."""
    total = head + sum(heights) + len(heights) * PANEL_HEAD_INCHES + FOOT_INCHES
    figure, every = Figure(figsize=(WIDTH_INCHES, total)), list[Axes]()
    bottom = total - head
    for height in heights:
        bottom -= PANEL_HEAD_INCHES + height
        box = (left / WIDTH_INCHES, bottom / total, 1 - (left + RIGHT_INCHES) / WIDTH_INCHES, height / total)
        every.append(figure.add_axes(box, sharex=every[0] if every else None))
    for axes in every[:-1]:
        axes.tick_params(labelbottom=False)
    return figure, every


def _bars(group: Sequence[Row], names: Sequence[str]) -> float:
    """The room a group takes, in bars: for its bars or the lines of its label, and a gap."""
    return max(len(group), _label(group[0], names).count("\n") + 1) + GROUP_GAP_BARS


def _label(row: Row, names: Sequence[str]) -> str:
    return setting_label(row, names, LABEL_CHARACTERS)


def _label_inches(rows: Sequence[Row], names: Sequence[str]) -> float:
    lines = [line for row in rows for line in _label(row, names).split("\n")]
    return 0.25 + LABEL_INCHES * max(map(len, lines), default=0)


def _panel(
    axes: Axes, head: str, some: Sequence[Sequence[Row]], names: Sequence[str], signs: Mapping[str, Look]
) -> None:
    axes.set_title(head)
    _write(axes, "median [s]", (1, -0.6), GREY)
    middles, end = [], 0.0
    for group in some:
        room = _bars(group, names)
        middles.append(end + room / 2)
        for number, row in enumerate(group):
            _bar(axes, middles[-1] + number - (len(group) - 1) / 2, row, signs[row.runtime])
        end += room
    axes.set_yticks(middles, [_label(group[0], names) for group in some])
    axes.set_ylim(end, 0)
    axes.tick_params(left=False)
    axes.grid(visible=False, axis="y")


def _bar(axes: Axes, place: float, row: Row, look: Look) -> None:
    if row.figures is None:
        _write(axes, f"{row.runtime} {row.state}", (0, place), GREY)
        return
    length = row.figures.completion_ns / 1e9
    axes.barh(place, length, height=0.9, **_fill(look))
    blocks = [completion_ns(cell) / 1e9 for cell in row.good]
    axes.plot(blocks, [place] * len(blocks), look.marker, clip_on=False, **block_mark(look))
    _write(axes, seconds(row.figures.completion_ns), (1, place), "black")


def _write(axes: Axes, text: str, place: tuple[float, float], colour: str) -> None:
    """Small text right of *place*: 0 is the left, 1 the right edge of the panel; downwards the bars count."""
    axes.annotate(
        text,
        place,
        (5, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        color=colour,
        fontsize=7,
    )


def _fill(look: Look) -> dict[str, Any]:
    return {"facecolor": f"{look.colour}55", "edgecolor": look.colour, "hatch": look.hatch, "linewidth": 0.8}

"""Panels side by side on the same scales."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.plots.style import head_inches

TITLE_LINE_INCHES = 0.14
GAP_INCHES = 0.24


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Panels of one size in rows and columns, which share both axes. All in inches.

    left, foot: for the labels of the outer panels
    """

    panel_width: float
    panel_height: float
    most_columns: int
    gap_across: float = 0.3
    foot: float = 0.65
    left: float = 0.85
    least_width: float = 6.5

    def figure(self, panel_titles: Sequence[str], names: Sequence[str]) -> tuple[Figure, list[Axes]]:
        """A figure with a panel for each title, and room for a legend of *names*; labels at the outer ticks alone."""
        count = len(panel_titles)
        gap = GAP_INCHES + TITLE_LINE_INCHES * max(text.count("\n") + 1 for text in panel_titles)
        across = count if count <= 3 else min(self.most_columns, ceil(count**0.5))
        down = ceil(count / across)
        width = max(self.least_width, self.left + across * (self.panel_width + self.gap_across))
        head = head_inches(names, width) + gap
        height = head + down * (self.panel_height + gap) - gap + self.foot
        figure, made = Figure(figsize=(width, height)), list[Axes]()
        step = (width - self.left) / across
        for number, text in enumerate(panel_titles):
            row, column = divmod(number, across)
            bottom = height - head - row * (self.panel_height + gap) - self.panel_height
            box = (self.left + column * step, bottom, step - self.gap_across, self.panel_height)
            shared = made[0] if made else None
            axes = figure.add_axes(_share(box, width, height), sharex=shared, sharey=shared)
            axes.tick_params(labelbottom=number + across >= count, labelleft=column == 0)
            axes.set_title(text, fontsize=8)
            made.append(axes)
        return figure, made


def label_edges(panels: Sequence[Axes], across: str, up: str) -> None:
    """Axis labels where the ticks have labels."""
    for axes in panels:
        if axes.xaxis.get_tick_params()["labelbottom"]:
            axes.set_xlabel(across)
        if axes.yaxis.get_tick_params()["labelleft"]:
            axes.set_ylabel(up)


def _share(box: tuple[float, float, float, float], width: float, height: float) -> tuple[float, float, float, float]:
    left, bottom, across, up = box
    return left / width, bottom / height, across / width, up / height

"""The one style of all plots: colours that the colour-blind can tell apart, and a second sign beside each colour."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import ceil
from textwrap import wrap
from typing import Any, Literal

import matplotlib
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reports.rows.arrangement import shown
from reports.rows.summary import Row

DOTS_PER_INCH = 110
GREY = "#595959"
HEAD_INCHES = 0.6
LEGEND_LINE_INCHES = 0.22

# Source of the colours: M. Okabe, K. Ito, Color Universal Design (2008); yellow last, it is faint on white.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
_HATCHES = ("", "////", "....", "xxxx", "----", "||||", "\\\\\\\\", "++++")
_LINES: tuple[Literal["-", "--", "-.", ":"], ...] = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a runtime looks in every plot."""

    colour: str
    hatch: str
    line: Literal["-", "--", "-.", ":"]
    marker: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each runtime; those of a run have the same in all of its plots.

    With more names than colours, the second who bears a colour has another line, hatch and marker.
    """
    return {name: _look(place) for place, name in enumerate(names)}


def _look(place: int) -> Look:
    sign = place + place // len(_COLOURS)
    return Look(
        colour=_COLOURS[place % len(_COLOURS)],
        hatch=_HATCHES[sign % len(_HATCHES)],
        line=_LINES[sign % len(_LINES)],
        marker=_MARKERS[sign % len(_MARKERS)],
    )


def styled() -> AbstractContextManager[None]:
    """Within it, figures are made and saved in this style."""
    return matplotlib.rc_context(
        {
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],
            "font.size": 9,
            "axes.titlesize": 9,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "axes.grid": True,
            "grid.color": "#DDDDDD",
            "grid.linewidth": 0.6,
            "hatch.linewidth": 0.6,
            "lines.linewidth": 1.5,
            "legend.frameon": False,
            "svg.fonttype": "none",
            "svg.hashsalt": "gilscope",
            "xtick.minor.visible": False,
            "ytick.minor.visible": False,
        }
    )


def head_inches(names: Sequence[str], width: float) -> float:
    """Room above the panels: title, explanation, and as many lines as the legend of *names* takes."""
    return HEAD_INCHES + LEGEND_LINE_INCHES * ceil(len(names) / _legend_columns(names, width))


def title(figure: Figure, text: str, explanation: str) -> None:
    """A title that says what is seen, and a line on how to read it, above everything else."""
    height = figure.get_figheight()
    figure.text(0.1 / figure.get_figwidth(), 1 - 0.12 / height, text, fontsize=12, fontweight="bold", va="top")
    figure.text(0.1 / figure.get_figwidth(), 1 - 0.38 / height, explanation, fontsize=8.5, color=GREY, va="top")


def legend(figure: Figure, signs: Sequence[Artist], names: Sequence[str]) -> None:
    """The runtimes, below the title, in as many lines as they need."""
    place = (0.0, 1 - 0.54 / figure.get_figheight())
    columns = _legend_columns(names, figure.get_figwidth())
    figure.legend(signs, names, loc="upper left", bbox_to_anchor=place, ncols=columns, handlelength=3)


def _legend_columns(names: Sequence[str], width: float) -> int:
    entry = 0.75 + 0.085 * max(map(len, names))
    return max(1, min(len(names), int(width / entry)))


def block_mark(look: Look) -> dict[str, Any]:
    """How the mark of one block is drawn: the runtime's own, with an edge, so that it is seen on a bar too."""
    return {
        "color": look.colour,
        "markersize": 4,
        "markeredgecolor": "black",
        "markeredgewidth": 0.5,
        "linestyle": "none",
    }


def line_sign(look: Look) -> Line2D:
    """A runtime's line and marker, for the legend."""
    return Line2D([], [], color=look.colour, linestyle=look.line, marker=look.marker, markersize=4)


def setting_label(row: Row, names: Sequence[str], width: int) -> str:
    """The row's title, or the parameters that vary, in lines of *width* characters: 'multi socket 10, ...'."""
    words = [
        f"{name.removeprefix('NUM_').replace('_', ' ').lower()} {value}" for name, value in shown(row, names).items()
    ]
    text = row.title or ", ".join(word.replace(" ", "\N{NO-BREAK SPACE}") for word in words)
    return "\n".join(wrap(text, width, break_on_hyphens=False, break_long_words=False))

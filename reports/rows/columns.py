"""The columns of the table, declared once: heads, the text of each figure, and what a narrow terminal drops."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reports.rows.summary import Figures, Row

ABSENT = "-"


@dataclass(frozen=True, kw_only=True)
class Column:
    """name: its head in a CSV file, with the unit. head: in Markdown.

    lines: the two lines of it on a terminal; neighbours with the same first line share it
    value: the raw figure of a row; None if there is none
    text: that figure for people
    rank: what is dropped first where there is too little room has the highest
    """

    name: str
    head: str
    lines: tuple[str, str]
    value: Callable[[Row], float | None]
    text: Callable[[float], str]
    rank: int

    def of(self, row: Row) -> str:
        """The row's figure for people."""
        value = self.value(row)
        return ABSENT if value is None else self.text(value)


def seconds(value_ns: float) -> str:
    """Nanoseconds as seconds, with as many digits as a measurement bears."""
    value_s = value_ns / 1e9
    return f"{value_s:.3f}" if value_s < 100 else f"{value_s:,.1f}"


def microseconds(value_ns: float) -> str:
    """Nanoseconds as microseconds."""
    value_us = value_ns / 1e3
    return f"{value_us:.1f}" if value_us < 100 else f"{value_us:,.0f}"


def _figure(read: Callable[[Figures], float | None]) -> Callable[[Row], float | None]:
    return lambda row: read(row.figures) if row.figures else None


COLUMNS = (
    Column(
        name="completion_median_ns",
        head="completion median [s]",
        lines=("completion time s", "median"),
        value=_figure(lambda figures: figures.completion_ns),
        text=seconds,
        rank=0,
    ),
    Column(
        name="completion_max_ns",
        head="completion max [s]",
        lines=("completion time s", "max"),
        value=_figure(lambda figures: figures.completion_max_ns),
        text=seconds,
        rank=2,
    ),
    Column(
        name="wall_ns",
        head="wall [s]",
        lines=("wall", "s"),
        value=_figure(lambda figures: figures.wall_ns),
        text=seconds,
        rank=9,
    ),
    Column(
        name="requests_per_s",
        head="requests/s",
        lines=("requests", "per s"),
        value=_figure(lambda figures: figures.requests_per_s),
        text=lambda value: f"{value:,.0f}",
        rank=3,
    ),
    Column(
        name="p50_ns",
        head="p50 [us]",
        lines=("latency us", "p50"),
        value=_figure(lambda figures: figures.p50_ns),
        text=microseconds,
        rank=5,
    ),
    Column(
        name="p99_ns",
        head="p99 [us]",
        lines=("latency us", "p99"),
        value=_figure(lambda figures: figures.p99_ns),
        text=microseconds,
        rank=4,
    ),
    Column(
        name="service_cpu_ns_per_request",
        head="service CPU [us/request]",
        lines=("CPU us/request", "service"),
        value=_figure(lambda figures: figures.service_cpu_ns),
        text=microseconds,
        rank=6,
    ),
    Column(
        name="client_cpu_ns_per_request",
        head="client CPU [us/request]",
        lines=("CPU us/request", "client"),
        value=_figure(lambda figures: figures.client_cpu_ns),
        text=microseconds,
        rank=7,
    ),
    Column(
        name="ratio_to_first_runtime",
        head="ratio",
        lines=("ratio", ""),
        value=lambda row: row.ratio,
        text=lambda value: f"{value:.2f}",
        rank=1,
    ),
    Column(
        name="blocks_ok",
        head="blocks ok",
        lines=("blocks", "ok"),
        value=lambda row: len(row.good),
        text=lambda value: f"{value:.0f}",
        rank=8,
    ),
)


def columns(rows: Sequence[Row]) -> list[Column]:
    """The columns that say something: no ratio where there is one runtime."""
    several = len({row.runtime for row in rows}) > 1
    return [column for column in COLUMNS if several or column.name != "ratio_to_first_runtime"]

"""The columns of the table of rows, declared once: for CSV files, for people, for a narrow terminal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.messages import NOTHING, Message, message
from reports.document.model import Column, Datum, Form, number
from reports.document.values import hundredths, microseconds, seconds, whole
from reports.rows.summary import Figures, Row


@dataclass(frozen=True, kw_only=True)
class RowColumn:
    """name: in a CSV file, with the unit. head: for people; over, brief, rank: on a terminal, as Column has them.

    value: the raw figure of a row; None if there is none. form: how people see it
    figure: what a page names it by
    """

    name: str
    head: Message
    brief: Message
    over: Message = NOTHING
    value: Callable[[Row], float | None]
    form: Form
    rank: int
    figure: str

    @property
    def column(self) -> Column:
        """Its column in a table."""
        return Column(head=self.head, is_number=True, brief=self.brief, over=self.over, rank=self.rank)

    def datum(self, row: Row, cells: str) -> Datum:
        """The row's figure. cells: where it comes from"""
        return number(self.value(row), self.form, cells, self.figure)


def _figure(read: Callable[[Figures], float | None]) -> Callable[[Row], float | None]:
    return lambda row: read(row.figures) if row.figures else None


_TIME, _LATENCY, _CPU = message("completion s"), message("latency us"), message("CPU us/request")

COLUMNS = (
    RowColumn(
        name="completion_median_ns",
        head=message("Completion [s]"),
        over=_TIME,
        brief=message("median"),
        value=_figure(lambda figures: figures.completion_ns),
        form=seconds,
        rank=0,
        figure="completion_s",
    ),
    RowColumn(
        name="completion_max_ns",
        head=message("Slowest client [s]"),
        over=_TIME,
        brief=message("max"),
        value=_figure(lambda figures: figures.completion_max_ns),
        form=seconds,
        rank=2,
        figure="completion_max_s",
    ),
    RowColumn(
        name="wall_ns",
        head=message("Wall [s]"),
        over=message("wall"),
        brief=message("s"),
        value=_figure(lambda figures: figures.wall_ns),
        form=seconds,
        rank=9,
        figure="wall",
    ),
    RowColumn(
        name="requests_per_s",
        head=message("Requests/s"),
        over=message("requests"),
        brief=message("per s"),
        value=_figure(lambda figures: figures.requests_per_s),
        form=whole,
        rank=3,
        figure="requests_per_s",
    ),
    RowColumn(
        name="p50_ns",
        head=message("p50 [us]"),
        over=_LATENCY,
        brief=message("p50"),
        value=_figure(lambda figures: figures.p50_ns),
        form=microseconds,
        rank=5,
        figure="row p50",
    ),
    RowColumn(
        name="p99_ns",
        head=message("p99 [us]"),
        over=_LATENCY,
        brief=message("p99"),
        value=_figure(lambda figures: figures.p99_ns),
        form=microseconds,
        rank=4,
        figure="row p99",
    ),
    RowColumn(
        name="service_cpu_ns_per_request",
        head=message("Service CPU [us/request]"),
        over=_CPU,
        brief=message("service"),
        value=_figure(lambda figures: figures.service_cpu_ns),
        form=microseconds,
        rank=6,
        figure="service_cpu",
    ),
    RowColumn(
        name="client_cpu_ns_per_request",
        head=message("Client CPU [us/request]"),
        over=_CPU,
        brief=message("client"),
        value=_figure(lambda figures: figures.client_cpu_ns),
        form=microseconds,
        rank=7,
        figure="client_cpu",
    ),
    RowColumn(
        name="ratio_to_first_runtime",
        head=message("Ratio"),
        brief=message("ratio"),
        value=lambda row: row.ratio,
        form=hundredths,
        rank=1,
        figure="ratio_to_first",
    ),
    RowColumn(
        name="blocks_ok",
        head=message("Blocks ok"),
        over=message("blocks"),
        brief=message("ok"),
        value=lambda row: len(row.good),
        form=whole,
        rank=8,
        figure="blocks_ok",
    ),
)


def columns(rows: Sequence[Row]) -> list[RowColumn]:
    """The columns that say something: no ratio where there is one runtime."""
    several = len({row.runtime for row in rows}) > 1
    return [column for column in COLUMNS if several or column.name != "ratio_to_first_runtime"]

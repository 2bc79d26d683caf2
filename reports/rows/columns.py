"""The columns of the table of rows, declared once: for CSV files, for people, for a narrow terminal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.messages import NOTHING, Message, message
from reports.document.model import Column, Datum, Form, number
from reports.document.values import hundredths, microseconds, seconds, whole
from reports.rows.summary import Row


@dataclass(frozen=True, kw_only=True)
class RowColumn:
    """name: in a CSV file, with the unit. head: for people; over, brief, rank: on a terminal, as Column has them.

    value: the raw figure of a row; None if there is none. form: how people see it
    figure: what a page names it by
    """

    name: str
    head: Message
    brief: Message
    over: Message
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


def _of(key: str) -> Callable[[Row], float | None]:
    """Reads one of Figures of a row that has any."""
    return lambda row: getattr(row.figures, key, None)


_TIME, _LATENCY, _CPU = message("completion s"), message("latency us"), message("CPU us/request")
_TABLE: Sequence[tuple[str, str, Callable[[Row], float | None], Form, int, Message, Message, Message]] = (
    # name, figure, value, form, rank,
    # over, brief, head
    ("completion_median_ns", "completion_s", _of("completion_ns"), seconds, 0,
        _TIME, message("median"), message("Completion [s]")),
    ("completion_max_ns", "completion_max_s", _of("completion_max_ns"), seconds, 2,
        _TIME, message("max"), message("Slowest client [s]")),
    ("wall_ns", "wall", _of("wall_ns"), seconds, 9,
        message("wall"), message("s"), message("Wall [s]")),
    ("requests_per_s", "requests_per_s", _of("requests_per_s"), whole, 3,
        message("requests"), message("per s"), message("Requests/s")),
    ("p50_ns", "row p50", _of("p50_ns"), microseconds, 5,
        _LATENCY, message("p50"), message("p50 [us]")),
    ("p99_ns", "row p99", _of("p99_ns"), microseconds, 4,
        _LATENCY, message("p99"), message("p99 [us]")),
    ("service_cpu_ns_per_request", "service_cpu", _of("service_cpu_ns"), microseconds, 6,
        _CPU, message("service"), message("Service CPU [us/request]")),
    ("client_cpu_ns_per_request", "client_cpu", _of("client_cpu_ns"), microseconds, 7,
        _CPU, message("client"), message("Client CPU [us/request]")),
    ("ratio_to_first_runtime", "ratio_to_first", lambda row: row.ratio, hundredths, 1,
        NOTHING, message("ratio"), message("Ratio")),
    ("blocks_ok", "blocks_ok", lambda row: len(row.good), whole, 8,
        message("blocks"), message("ok"), message("Blocks ok")),
)  # fmt: skip
COLUMNS = tuple(
    RowColumn(name=name, figure=figure, value=value, form=form, rank=rank, over=over, brief=brief, head=head)
    for name, figure, value, form, rank, over, brief, head in _TABLE
)


def columns(rows: Sequence[Row]) -> list[RowColumn]:
    """The columns that say something: no ratio where there is one runtime."""
    several = len({row.runtime for row in rows}) > 1
    return [column for column in COLUMNS if several or column.name != "ratio_to_first_runtime"]

"""Compare each Python service with the machine's limit, which is the requests/s of a native
service.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
"""

from collections.abc import Iterator
from typing import NamedTuple

from analysis.cell_index import Row, of_rows
from analysis.formats import hundredths, whole
from analysis.metrics import THROUGHPUT
from analysis.settings import parameter_values, varying
from analysis.stats import Estimate
from core.messages import NOTHING, Message, message
from core.runtime import NATIVE
from reports.document import Datum, Section, number
from reports.parts.contest import doubts, rate_share
from reports.tables import arm_col, col, table
from reports.view import View

PLACE = 70  # in the order of sections (reports/sections/__init__.py)
ALWAYS_NAMED = "CALC_TARGET"  # in each setting, even if it does not vary
HOW = message(
    "The machine's throughput limit is the throughput of a Rust service with the same protocol "
    "and calculation, called by the native load generator. Python clients take CPU time from "
    "the service that they call. With --client-runtime native, the native load generator calls "
    "every service, so shares depend on the service alone. Brackets hold a 95 % interval, and "
    "parentheses hold the range if there are fewer than 6 blocks."
)


class Share(NamedTuple):
    """The throughput of a Python service as a share of a native service's throughput with the same
    parameters.

    limit: the row of the native service
    value: throughput of *row* divided by that of *limit*, paired by block
    setting: CALC_TARGET and the parameters that vary
    clients: the kind of clients that call the Python service
    trace: the ids of the cells (measurements) of the native and the Python service, for links on
        the page
    """

    row: Row
    limit: Row
    value: Estimate
    setting: str
    clients: Message
    trace: str


def section(view: View) -> Section:
    """Return the report's section that shows each Python service's throughput as a share of a
    native service's.
    """
    shares = [*_shares(view)]
    return Section(
        "limit",
        message("The machine's throughput limit"),
        folded=True,
        sentences=[*doubts(view)] if shares else (),
        tables=(
            table(
                message("Python services' share of the machine's throughput limit"),
                [
                    arm_col("row.runtime", view.looks, "row.trace"),
                    col("System", "row.system"),
                    col("Setting", "setting"),
                    col("Clients", "clients"),
                    col("requests/s", lambda one: _rate(one.row), whole),
                    col("machine's limit [requests/s]", lambda one: _rate(one.limit), whole),
                    col("share of throughput limit", "value", hundredths, "limit share"),
                ],
                [(NOTHING, shares)],
            ),
        ),
        notes=(HOW,),
    )


def _shares(view: View) -> Iterator[Share]:
    """Yield each Python service's share of the native service's throughput, if both ran in the same
    setting.
    """
    limits = {row.key: row for row in view.rows if row.runtime == NATIVE and row.figures}
    names = dict.fromkeys([ALWAYS_NAMED, *varying(view.rows)])
    for row in view.rows:
        limit = limits.get(row.key)
        if limit and row.runtime != NATIVE and (value := rate_share(row, limit)):
            setting = parameter_values(row.params, names)
            is_native = row.good[0].client_runtime == NATIVE
            clients = message("native") if is_native else message("Python")
            yield Share(row, limit, value, setting, clients, of_rows([limit, row]))


def _rate(row: Row) -> Datum:
    """Return the requests/s of a result row, with links to the row's cells."""
    return number(THROUGHPUT.median(row.good), whole, row.trace, THROUGHPUT.key)

"""Show the factors of each throughput ratio: cores used, and CPU time per request.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
"""

from collections.abc import Mapping
from typing import Literal

from analysis.comparison_words import Comparison
from analysis.formats import ratio
from core.messages import Message, message
from record.comparison import Factors
from reports.document import Datum, Section
from reports.parts.comparison_table import STEP_COL, ends_words, interval_datum, of_settings
from reports.tables import Col, col, table
from reports.view import View

PLACE = 20  # in the order of sections (reports/sections/__init__.py)
# keys of Factors and of AllFactors (record/comparison.py)
Factor = Literal["cores_used", "cpu_per_request"]
Side = Literal["", "service", "client"]
# cpu_per_request is an inverted ratio: above 1, a request takes less CPU time
FACTORS: Mapping[Factor, Message] = {
    "cores_used": message("Cores used"),
    "cpu_per_request": message("Requests per CPU second"),
}
# "" is both sides together, whose factors stand in AllFactors itself
SIDES: Mapping[Side, Message] = {
    "": message("services and clients"),
    "service": message("service"),
    "client": message("client"),
}


def section(view: View) -> Section:
    """Return the report's section on the factors of throughput ratios: cores used, and requests per
    CPU second.
    """
    steps = [one for one in view.compared if one.step != "aa"]
    factored = of_settings((one for one in steps if one.factors), view)
    parts = [STEP_COL, *(_factor_col(side, name) for side in SIDES for name in FACTORS)]
    return Section(
        "factors",
        message("How the used cores and the CPU time explain throughput ratios"),
        tables=(
            table(message("Ratios of cores used and of requests per CPU second"), parts, factored),
        ),
        notes=(
            message(
                "Throughput = cores used x requests per CPU second, so the throughput ratio of two "
                "runtimes is the product of the ratios of both factors. A ratio above 1 means that "
                "more cores were in use, or that a request took less CPU time. The ratios are "
                "paired by block (measured round)."
            ),
            *ends_words(steps),
        ),
    )


def _factor_col(side: Side, name: Factor) -> Col[Comparison]:
    """Return the column with the ratio of cores used or of requests per CPU second, for services,
    clients or both.
    """

    def read(one: Comparison) -> Datum:
        factors: Factors = one.factors[side] if side else one.factors
        return interval_datum(factors[name], one, f"{name} {side}".strip())

    return col(message("{factor}, {side}", factor=FACTORS[name], side=SIDES[side]), read, ratio)

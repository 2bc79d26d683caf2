"""The section "Running services": address, memory and GIL of each service that already ran when it
was measured.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
"""

from analysis.cell_index import Row
from analysis.gates import GIL_AND_JIT
from analysis.metrics import METRICS
from analysis.pairs import addresses
from core.messages import NOTHING, Message, message
from core.runtime import NATIVE
from reports.document import ABSENT, Section
from reports.tables import Col, arm_col, col, metric_col, of_row, table
from reports.view import View

PLACE = 12  # in the order of sections (reports/sections/__init__.py)
NOTE = message(
    "Memory is the proportional set size at the end of a measurement. The memory and the GIL of a "
    "service are known if its processes run on this machine and gilscope may read them. A dash "
    "marks an unknown figure."
)


def section(view: View) -> Section:
    """Return the section with a table of the services that already ran; empty if gilscope started
    the services.
    """
    at = addresses(view.run)
    rows = [
        row for row in view.rows if row.system in at and row.runtime == NATIVE
    ]  # other rows repeat a service
    title = message("Running services")
    cols: list[Col[Row]] = [
        arm_col("system", view.looks, "trace"),
        col("address", lambda row: at[row.system]),
        metric_col(METRICS["service_memory_bytes"], view.rows, of_row),
        col("GIL", _gil),
    ]
    shown = table(title, cols, [(NOTHING, rows)], caption=NOTE)
    return Section("targets", title, tables=(shown,), terminal=(shown,))


def _gil(row: Row) -> Message | str:
    """Return the state of the service's GIL in all blocks, or a dash if the state is not known."""
    services = [service for cell in row.good for service in cell.services]
    # at the start and at the end of each measurement; None is unknown
    states = {getattr(service, key) for service in services for key in GIL_AND_JIT["GIL"]}
    if not states <= {True, False} or not states:
        return ABSENT
    if len(states) > 1:
        return message("GIL sometimes on")
    return message("on") if True in states else message("off")

"""Show all comparisons of runtimes in one forest plot, with a table of the reasons for their
verdicts.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
A step is the compared difference, such as the GIL. The step "aa" compares a runtime with itself.
"""

from analysis.comparing import Comparison
from analysis.formats import percent, probability
from core.messages import NOTHING, SEMICOLON, listed, message
from reports.document import Section, Table
from reports.parts.comparison_table import STEP_COL, forest, of_settings
from reports.tables import Col, col, table
from reports.view import View

PLACE = 41  # in the order of sections (reports/sections/__init__.py)
TITLE = message("All comparisons")


def section(view: View) -> Section:
    """Return the report's section on comparisons: a forest plot, and a collapsed table of the
    reasons for verdicts.
    """
    settings = of_settings(view.compared, view)
    # The items of the plot are the comparisons themselves.
    shown = forest(TITLE, settings, lambda one: one, [STEP_COL])
    return Section(  # the first screen has the only setting already
        "comparisons", TITLE, tables=(shown, _reasons(view)), folded=len(settings) == 1
    )


def _reasons(view: View) -> Table:
    """Return a table with the reason, p value and noise floor of each comparison."""
    # A noise floor links to the cells of the A/A comparison that measured it at the same setting.
    floors = {one.key: one.trace for one in view.compared if one.step == "aa"}
    cols: list[Col[Comparison]] = [
        col("Setting", view.settings.short),
        col("Step", "label", trace="trace"),
        col("p value", "p", probability, "p"),
        col("Noise floor", "noise_floor", percent, trace=lambda one: floors.get(one.key, "")),
        col("Why", lambda one: listed([one.why, *one.limits], SEMICOLON)),
    ]
    name = message("Reason for the verdict, p value and noise floor of each comparison")
    return table(name, cols, [(NOTHING, view.compared)], kind="reasons", folded=True)

"""The section "Validity" of a report: the checks of a run, and the basis of its verdicts.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
The checks themselves are in reports/parts/checks.py.
"""

from collections.abc import Iterator

from analysis.cell_index import of_cells
from analysis.pair_verdicts import looks_at
from core.messages import NOTHING, Message, message
from core.method import FEWEST_TO_PIN, SAME, placement
from reports.document import Section, plain_table, traced, words
from reports.parts.checks import FAILED, PASSED, UNKNOWN, WARNING, checked
from reports.view import View

PLACE = 60  # in the order of sections (reports/sections/__init__.py)
OF_SEARCHES = True  # a report on a search for the capacity has this section, too
TITLE = message("Validity")
STATES = {
    PASSED: message("✓ passed"),
    WARNING: message("! warning"),
    FAILED: message("× failed"),
    UNKNOWN: message("? not known"),
}


def section(view: View) -> Section:
    """Return the report's section on validity: checks, and the basis of the verdicts."""
    heads = (message("Check"), NOTHING, message("Finding"))
    lines = [
        (
            name,
            words(STATES[state], state=f"state {state}"),
            words(seen, cells=cells, leads=bool(cells)),
        )
        for name, (state, seen, cells) in checked(view).items()
    ]
    cells = of_cells(view.run.cells)
    parts = []
    if not view.plan.objectives:
        sentences = [traced(sentence, cells) for sentence in verdict_basis(view)]
        title = message("The basis of the verdicts")
        parts.append(Section("rests-on", title, sentences=sentences))
    return Section(
        "validity",
        TITLE,
        tables=(plain_table(TITLE, heads, lines, kind="checks"),),
        parts=parts,
        folded=True,
    )


def verdict_basis(view: View) -> Iterator[Message]:
    """Yield sentences on the measurement behind the verdicts: the number of blocks, clients and
    pinning.
    """
    run, plan, cores = view.run, view.plan, view.machine.available_cores
    if looks_at(run).is_anytime:
        yield message(
            "The number of blocks depends on the results of the first blocks. Verdicts are "
            "corrected for this, as if the results were checked after every block. Intervals are "
            "not corrected, so they are slightly too narrow."
        )
    if (client := plan.method.client_runtime) == SAME:
        yield message(
            "Clients run under the service's runtime, so services and clients change together. Use "
            "--client-runtime to keep the clients' runtime the same."
        )
    else:
        yield message(
            "Clients run under {runtime} in every measurement, so only the service changes.",
            runtime=client,
        )
    # Advice on pinning is for gilscope's systems on one machine, not for a layout of hosts, a
    # user's service, or an experiment with a presentation of its own (view).
    is_pinned = plan.method.is_pinned or plan.layout or plan.user_service or plan.view
    if cores >= FEWEST_TO_PIN and not is_pinned:
        yield message(
            "Services and clients were not pinned to cores, although the machine has {cores} "
            "cores: {advice}.",
            cores=cores,
            advice=placement(cores),
        )

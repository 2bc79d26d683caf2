"""How evenly requests are shared: Jain's index among workers, connections and sockets."""

from collections.abc import Mapping, Sequence

from core.messages import NOTHING, Message, listed, message, verbatim
from reports.document.model import ABSENT, Line, Section, Table, arm, number, plain_table, traced, words
from reports.document.values import thousandths
from reports.rows.fairness import AMONG, UNEVEN_BELOW, Among, Fairness, fairnesses
from reports.rows.traces import of_cells
from reports.view import View

PLACE = 85
NAMES: Mapping[Among, Message] = {
    "workers": message("workers"),
    "connections": message("connections"),
    "sockets": message("sockets"),
}


def section(view: View) -> Section:
    """A sentence for connections, sockets and workers each, where some row's index is low, and all indices."""
    shared = fairnesses(view.run)
    among = {kind: [each for each in shared if each.among == kind] for kind in AMONG}
    harmful = tuple(filter(None, map(_sentence, (among["connections"], among["sockets"]))))
    idle = _sentence(among["workers"])
    return Section(
        key="fairness",
        title=message("How evenly requests are shared"),
        sentences=(*harmful, *([_harmless(idle)] if idle else [])),
        tables=(_table(shared, view),),
        notes=_notes(view),
    )


def _sentence(shared: Sequence[Fairness]) -> Message:
    """How many rows share unevenly, and the least even; nothing where all are even."""
    uneven = [fairness for fairness in shared if fairness.is_uneven]
    if not uneven:
        return NOTHING
    least = min(uneven, key=lambda fairness: fairness.jain)
    row, limit = listed(filter(None, (least.label, least.arm))), UNEVEN_BELOW
    rows = message(
        "in {uneven} of {rows} rows (Jain index below {limit}), least evenly in {row}",
        uneven=len(uneven), rows=len(shared), limit=limit, row=row,
    )  # fmt: skip
    sentence = message(
        "Requests are shared unevenly among {among} {rows}: {jain:.2f}, as if {equal:.1f} of {sharers} had done all "
        "the work.",
        among=NAMES[least.among],
        rows=rows if len(shared) > 1 else message("in {row} (Jain index below {limit})", row=row, limit=limit),
        jain=least.jain,
        equal=least.jain * least.sharers,
        sharers=least.sharers,
    )
    return traced(sentence, of_cells(cell for fairness in shared for cell in fairness.cells))


def _harmless(sentence: Message) -> Message:
    return message(
        "{sentence} This does no harm: workers that a service does not need stay idle, and no request waits for them.",
        sentence=sentence,
    )


def _notes(view: View) -> tuple[Message, ...]:
    scale = message(
        "Jain index of requests: 1 if all have the same, 1/n if one of n has everything; mean over the services, "
        "median over the blocks."
    )
    fixed = message(
        "Each client sent a fixed number of requests, so that connections could hardly differ; --duration lets them."
    )
    return (scale,) if view.is_timed else (scale, fixed)


def _table(shared: Sequence[Fairness], view: View) -> Table:
    rows: dict[tuple[Message, str], dict[Among, Fairness]] = {}
    for fairness in shared:
        rows.setdefault((fairness.label, fairness.arm), {})[fairness.among] = fairness
    lines = [_line(label, indices, view) for (label, _), indices in rows.items()]
    heads = (message("Runtime"), message("Setting"))
    return plain_table(message("Jain index of requests"), heads, lines, map(NAMES.__getitem__, AMONG), folded=True)


def _line(label: Message, indices: Mapping[Among, Fairness], view: View) -> Line:
    known = next(iter(indices.values()))
    cells = of_cells(known.cells)
    values = (indices[among].jain if among in indices else None for among in AMONG)
    return (
        arm(known.arm, view.looks[known.arm], cells),
        words(label or verbatim(ABSENT)),
        *(number(value, thousandths, cells, f"jain {among}") for among, value in zip(AMONG, values, strict=True)),
    )

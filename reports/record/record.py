"""The experiment record, shaped like the seed's: environment, then of each system description, settings, results."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from core.cell import PARAMETERS
from core.result import Run
from reports.record import seed
from reports.record.seed import SeedRow, SeedSystem, SeedTable
from reports.rows.arrangement import value_text
from reports.rows.columns import ABSENT, seconds
from reports.rows.summary import Row, runtimes
from reports.terminal.inventory import flags_text
from reports.words.markdown import escaped, markdown_table, notes_list, rows_table
from reports.words.translation import said

NOT_MEASURED = "not measured"

Tell = Callable[[str], str]  # an English text in the language of the record


def covers_the_seed(rows: Sequence[Row]) -> bool:
    """Whether *rows* hold every row that the seed has a table for."""
    published = [(one.system, row) for one in seed.SYSTEMS for table in one.tables for row in table.rows]
    return all(any(_fits(row, system, wanted) for row in rows) for system, wanted in published)


def record_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str], lang: str = "en") -> str:
    """The record as Markdown. titles: of the systems, by number or name, in the language *lang*."""
    tell = partial(said, lang=lang)
    picture = f"![{tell('Completion time by system and runtime')}](plots/completion.png)"
    parts = [
        f"# {tell('Experiment record')}",
        tell(f"Run {run.run_id}, {_times(run)}, plan {run.plan['name']}, --seed {run.seed}."),
        *(f"**{tell(line)}**" for line in _smaller(run, rows)),
        f"## {tell('Environment')}\n\n{_environment(run, tell)}",
        f"## {tell('Interpreters')}\n\n{_interpreters(run, tell)}",
        f"## {tell('How to read the results')}\n\n{tell(_legend(run))}",
        *(_chapter(one, run, rows, titles, tell) for one in seed.SYSTEMS),
        f"## {tell('All figures')}",
        *([picture] if any(row.figures for row in rows) else []),
        rows_table(rows, titles, tell),
        notes_list(run, rows, tell),
    ]
    return "\n\n".join(parts) + "\n"


def _times(run: Run) -> str:
    return f"{run.started_at} to {run.finished_at}" if run.finished_at else f"begun {run.started_at}, not finished"


def _smaller(run: Run, rows: Sequence[Row]) -> list[str]:
    """A line for a record whose cells are not the seed's size."""
    scale = run.plan.get("scale", 1.0)
    sizes = sorted({cell.requests for row in rows for cell in row.cells})
    if scale == 1 and sizes in ([], [seed.REQUESTS]):
        return []
    size = " to ".join(f"{one:,}" for one in dict.fromkeys((sizes[0], sizes[-1]))) if sizes else "fewer"
    name = f"Scale {scale:g}: a" if scale != 1 else "Not the seed's size: a"
    sizes_text = f"{name} cell here has {size} requests, one of the seed's {seed.REQUESTS:,}."
    return [f"{sizes_text} The seconds below cannot be set against the seed's."]


def _environment(run: Run, tell: Tell) -> str:
    machine, limits = run.machine, run.machine.get("limits") or {}
    memory = machine.get("memory_bytes")
    load = machine.get("load")
    lines = [
        ("System", machine.get("os"), seed.SYSTEM),
        ("Kernel", machine.get("kernel"), "-"),
        ("CPU", machine.get("cpu"), seed.CPU),
        ("Processors", machine.get("cores"), "-"),
        ("Memory", f"{memory / 2**30:.1f} GiB" if memory else None, seed.MEMORY),
        ("ulimit -n (open files)", limits.get("nofile_soft"), seed.OPEN_FILES),
        ("ulimit -u (processes)", limits.get("nproc_soft"), seed.PROCESSES),
        ("Load before the run (1, 5, 15 min)", ", ".join(map(str, load)) if load else None, "-"),
    ]
    table = [[tell(name), tell("unknown") if here is None else str(here), there] for name, here, there in lines]
    return markdown_table(["", tell("here"), tell("the seed's")], table)


def _interpreters(run: Run, tell: Tell) -> str:
    heads = [tell(name) for name in ("runtime", "version", "build", "compiler", "flags")]
    lines = [
        [
            name,
            tell(str(facts.get("version") or ABSENT)),
            tell(_build(facts)),
            tell(facts.get("compiler") or ABSENT),
            tell(flags_text(facts.get("flags", {}))),
        ]
        for name, facts in run.runtimes.items()
    ]
    missing = [tell(f"{name}: {NOT_MEASURED}. {escaped(str(line))}") for name, line in run.missing.items()]
    return "\n\n".join([markdown_table(heads, lines), *(["\n".join(f"- {one}" for one in missing)] if missing else [])])


def _build(facts: Mapping[str, Any]) -> str:
    if not facts.get("version"):
        return ABSENT
    return "free-threaded" if facts.get("gil_disabled_build") else "default"


def _legend(run: Run) -> str:
    return (
        "The seed is the record that this experiment follows. Every time is in seconds. Ours: median over the "
        "blocks of the median over the clients, in brackets of the maximum over the clients; "
        f"{_blocks(run)}, every response checked. The seed's: one run on another machine, an "
        f"{seed.MACHINE}, under {seed.GIL} and {seed.NOGIL} where its record says which. They are there to be "
        "looked at beside ours and are no mark to reach: another processor, other builds."
    )


def _chapter(one: SeedSystem, run: Run, rows: Sequence[Row], titles: Mapping[str, str], tell: Tell) -> str:
    mine = [row for row in rows if row.system == one.system]
    head = tell(f"System {one.system}")
    parts = [
        f"## {head}: {titles[one.system]}" if one.system in titles else f"## {head}",
        tell(one.description),
        f"### {tell('Settings')}\n\n{_settings(one, mine, tell)}",
        f"### {tell('Results')}",
        *([tell(one.remark)] if one.remark else []),
        *(_results(table, one.system, run, mine, tell) for table in one.tables),
    ]
    return "\n\n".join(parts)


def _settings(one: SeedSystem, rows: Sequence[Row], tell: Tell) -> str:
    """Our settings (all values there are) beside the seed's."""
    names = dict.fromkeys([*one.settings, *(name for row in rows for name in row.params)])
    lines = [
        [name, tell(_values(rows, name)), one.settings.get(name, "-"), tell(PARAMETERS[name].help)]
        for name in PARAMETERS
        if name in names
    ]
    if not lines:
        return tell(f"This run has no system {one.system}: {NOT_MEASURED}.")
    return markdown_table([tell(head) for head in ("name", "here", "the seed's", "meaning")], lines)


def _values(rows: Sequence[Row], name: str) -> str:
    values = dict.fromkeys(value_text(row.params[name]) for row in rows if name in row.params)
    return ", ".join(values) or NOT_MEASURED


def _results(table: SeedTable, system: str, run: Run, rows: Sequence[Row], tell: Tell) -> str:
    present = runtimes(run)
    names = [name for name in run.plan["runtimes"] if name in present or name in run.missing]
    heads = ["", *names, *(tell(f"another machine's: {seed.MACHINE}, {one}") for one in table.interpreters)]
    lines = [
        [
            tell(wanted.what),
            *(tell(_ours(rows, system, wanted, name)) for name in names),
            *(f"{wanted.seconds[one]} s" for one in table.interpreters),
        ]
        for wanted in table.rows
    ]
    return f"{tell(table.heading)}\n\n{markdown_table(heads, lines, set(heads[1:]))}"


def _ours(rows: Sequence[Row], system: str, wanted: SeedRow, runtime: str) -> str:
    row = ours(rows, system, wanted, runtime)
    if row is None:
        return NOT_MEASURED
    if row.figures is None:
        return row.trouble or row.state
    return f"{seconds(row.figures.completion_ns)} s ({seconds(row.figures.completion_max_ns)})"


def ours(rows: Sequence[Row], system: str, wanted: SeedRow, runtime: str) -> Row | None:
    """Of *rows*, the one that stands beside the seed's row: it fits, and is most like it; None if none fits."""
    fitting = [row for row in rows if row.runtime == runtime and _fits(row, system, wanted)]
    return max(fitting, key=_likeness, default=None)


def _fits(row: Row, system: str, wanted: SeedRow) -> bool:
    return row.system == system and all(
        name in row.params and row.params[name] == value for name, value in wanted.params.items()
    )


def _likeness(row: Row) -> int:
    """In how many parameters a row agrees with the seed, whose settings are the defaults."""
    return sum(value == PARAMETERS[name].default for name, value in row.params.items() if name in PARAMETERS)


def _blocks(run: Run) -> str:
    number = run.plan["blocks"]
    return f"{number} block" if number == 1 else f"{number} blocks"

"""The experiment record, shaped like the seed's: environment, then of each system description, settings, results."""

from collections.abc import Mapping, Sequence

from core.cell import PARAMETERS
from core.result import Run
from reports import seed
from reports.arrangement import value_text
from reports.columns import seconds
from reports.inventory import flags_text
from reports.markdown import escaped, markdown_table, notes_list, rows_table
from reports.seed import SeedRow, SeedSystem, SeedTable
from reports.summary import Row, runtimes

NOT_MEASURED = "not measured"
PICTURE = "![Completion time by system and runtime](plots/completion.png)"


def covers_the_seed(rows: Sequence[Row]) -> bool:
    """Whether *rows* hold every row that the seed has a table for."""
    published = [(one.system, row) for one in seed.SYSTEMS for table in one.tables for row in table.rows]
    return all(any(_fits(row, system, wanted) for row in rows) for system, wanted in published)


def record_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """The record as Markdown. titles: of the systems, by number or name."""
    parts = [
        f"# Experiment record\n\nRun {run.run_id}, {_times(run)}, plan {run.plan['name']}, --seed {run.seed}.",
        *_smaller(run, rows),
        _environment(run),
        _interpreters(run),
        f"## How to read the results\n\n{_legend(run)}",
        *(_chapter(one, run, rows, titles) for one in seed.SYSTEMS),
        "## All figures",
        *([PICTURE] if any(row.figures for row in rows) else []),
        rows_table(rows, titles),
        notes_list(run, rows),
    ]
    return "\n\n".join(parts) + "\n"


def _times(run: Run) -> str:
    return f"{run.started_at} to {run.finished_at}" if run.finished_at else f"begun {run.started_at}, not finished"


def _smaller(run: Run, rows: Sequence[Row]) -> list[str]:
    """Bold lines for a record whose cells are not the seed's size."""
    scale = run.plan.get("scale", 1.0)
    sizes = sorted({cell.requests for row in rows for cell in row.cells})
    if scale == 1 and sizes in ([], [seed.REQUESTS]):
        return []
    size = " to ".join(f"{one:,}" for one in dict.fromkeys((sizes[0], sizes[-1]))) if sizes else "fewer"
    name = f"Scale {scale:g}: a" if scale != 1 else "Not the seed's size: a"
    sizes_text = f"{name} cell here has {size} requests, one of the seed's {seed.REQUESTS:,}."
    return [f"**{sizes_text} The seconds below cannot be set against the seed's.**"]


def _environment(run: Run) -> str:
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
    table = [[name, "unknown" if here is None else str(here), there] for name, here, there in lines]
    return "## Environment\n\n" + markdown_table(["", "here", "the seed's"], table)


def _interpreters(run: Run) -> str:
    heads = ["runtime", "version", "build", "compiler", "flags"]
    lines = [
        [
            name,
            str(facts.get("version", "unknown")),
            "free-threaded" if facts.get("gil_disabled_build") else "default",
            facts.get("compiler") or "unknown",
            flags_text(facts["flags"]),
        ]
        for name, facts in run.runtimes.items()
    ]
    missing = [f"- {name}: {NOT_MEASURED}. {escaped(line)}" for name, line in run.missing.items()]
    return "\n\n".join(["## Interpreters", markdown_table(heads, lines), *(["\n".join(missing)] if missing else [])])


def _legend(run: Run) -> str:
    return (
        "The seed is the record that this experiment follows. Every time is in seconds. Ours: median over the "
        "blocks of the median over the clients, in brackets of the maximum over the clients; "
        f"{_blocks(run)}, every response checked. The seed's: one run on another machine, an "
        f"{seed.MACHINE}, under {seed.GIL} and {seed.NOGIL} where its record says which. They are there to be "
        "looked at beside ours and are no mark to reach: another processor, other builds."
    )


def _chapter(one: SeedSystem, run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    mine = [row for row in rows if row.system == one.system]
    parts = [
        f"## System {one.system}: {titles[one.system]}" if one.system in titles else f"## System {one.system}",
        one.description,
        f"### Settings\n\n{_settings(one, mine)}",
        "### Results",
        *([one.remark] if one.remark else []),
        *(_results(table, one.system, run, mine) for table in one.tables),
    ]
    return "\n\n".join(parts)


def _settings(one: SeedSystem, rows: Sequence[Row]) -> str:
    """Our settings (all values there are) beside the seed's."""
    names = dict.fromkeys([*one.settings, *(name for row in rows for name in row.params)])
    lines = [
        [name, _values(rows, name), one.settings.get(name, "-"), PARAMETERS[name].help]
        for name in PARAMETERS
        if name in names
    ]
    if not lines:
        return f"This run has no system {one.system}: {NOT_MEASURED}."
    return markdown_table(["name", "here", "the seed's", "meaning"], lines)


def _values(rows: Sequence[Row], name: str) -> str:
    values = dict.fromkeys(value_text(row.params[name]) for row in rows if name in row.params)
    return ", ".join(values) or NOT_MEASURED


def _results(table: SeedTable, system: str, run: Run, rows: Sequence[Row]) -> str:
    present = runtimes(run)
    names = [name for name in run.plan["runtimes"] if name in present or name in run.missing]
    heads = ["", *names, *(f"another machine's: {seed.MACHINE}, {one}" for one in table.interpreters)]
    lines = [
        [
            wanted.what,
            *(_ours(rows, system, wanted, name) for name in names),
            *(f"{wanted.seconds[one]} s" for one in table.interpreters),
        ]
        for wanted in table.rows
    ]
    return f"{table.heading}\n\n{markdown_table(heads, lines, set(heads[1:]))}"


def _ours(rows: Sequence[Row], system: str, wanted: SeedRow, runtime: str) -> str:
    fitting = [row for row in rows if row.runtime == runtime and _fits(row, system, wanted)]
    if not fitting:
        return NOT_MEASURED
    row = max(fitting, key=_likeness)
    if row.figures is None:
        return row.trouble or row.state
    return f"{seconds(row.figures.completion_ns)} s ({seconds(row.figures.completion_max_ns)})"


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

"""The experiment record, shaped like the seed's: environment, then of each system description, settings, results."""

from collections.abc import Sequence
from typing import Any

from core.cell import PARAMETERS
from core.messages import NOTHING, Message, listed, message, plural
from reports.document.model import ABSENT, Document, Section, Table, plain_table
from reports.facts.cells import STATES, Row, runtimes
from reports.facts.settings import value_text
from reports.seed import published
from reports.seed.beside import covers_the_seed, ours, size_warning, times
from reports.seed.published import INTERPRETERS, SeedRow, SeedSystem, SeedTable
from reports.topics import completion, machine, results
from reports.view import View

__all__ = ["covers_the_seed", "record"]

NOT_MEASURED = STATES["not measured"]
UNKNOWN = message("unknown")


def record(view: View) -> Document:
    """The record of a run."""
    drawn = (completion.figure(view),) if any(row.figures for row in view.rows) else ()
    figures = Section(
        key="figures",
        title=message("All figures"),
        figures=drawn,
        tables=(results.table(view),),
        notes=results.readings(view),
    )
    sections = (_environment(view), _interpreters(view), _legend(view))
    chapters = (_chapter(system, view) for system in published.SYSTEMS)
    return Document(
        name=f"record: {view.run.run_id}",
        title=message("Experiment record"),
        about=(_about(view), size_warning(view)),
        sections=(*sections, *chapters, figures),
    )


def _about(view: View) -> Message:
    run = view.run
    return message(
        "Run {run}, {time}, plan {plan}, --seed {seed}.",
        run=run.run_id,
        time=message("{start} to {end}", start=run.started_at, end=run.finished_at)
        if run.finished_at
        else message("begun {start}, not finished", start=run.started_at),
        plan=view.plan.name,
        seed=run.seed,
    )


def _environment(view: View) -> Section:
    host, limits = view.machine, view.machine.limits
    memory = f"{host.memory_bytes / 2**30:.1f} GiB" if host.memory_bytes else None
    load = ", ".join(map(str, host.load)) if host.load else None
    facts: tuple[tuple[Message, Any, str], ...] = (
        (message("System"), host.os, published.SYSTEM),
        (message("Kernel"), host.kernel, ABSENT),
        (message("CPU"), host.cpu, published.CPU),
        (message("Processors"), host.cores, ABSENT),
        (message("Memory"), memory, published.MEMORY),
        (message("ulimit -n (open files)"), limits.get("nofile_soft"), published.OPEN_FILES),
        (message("ulimit -u (processes)"), limits.get("nproc_soft"), published.PROCESSES),
        (message("Load before the run (1, 5, 15 min)"), load, ABSENT),
    )
    lines = [(name, UNKNOWN if here is None else str(here), there) for name, here, there in facts]
    title = message("Environment")
    table = plain_table(title, (NOTHING, message("here"), message("the seed's")), lines)
    return Section(key="environment", title=title, tables=(table,))


def _interpreters(view: View) -> Section:
    title = message("Interpreters")
    heads = (message("runtime"), message("version"), message("build"), message("compiler"), message("flags"))
    lines = [machine.runtime_line(name, facts)[: len(heads)] for name, facts in view.run.runtimes.items()]
    missing = results.missing_runtimes(view)
    return Section(key="interpreters", title=title, sentences=missing, tables=(plain_table(title, heads, lines),))


def _legend(view: View) -> Section:
    how = message(
        "The seed is the record that this experiment follows. Every time is in seconds. Ours: the median over the "
        "blocks of the median over the clients, in brackets of the slowest client; {blocks}, every response checked. "
        "The seed's: one run on another machine, an {machine}, under {gil} and {nogil} where its record says which. "
        "They stand beside ours for orientation and are no target: another processor, other builds.",
        blocks=plural("{count} block", "{count} blocks", count=view.plan.blocks),
        machine=published.MACHINE,
        gil=published.GIL,
        nogil=published.NOGIL,
    )
    return Section(key="legend", title=message("How to read the results"), sentences=(how,))


def _chapter(system: SeedSystem, view: View) -> Section:
    rows = [row for row in view.rows if row.system == system.system]
    tables = tuple(_results(table, system.system, view) for table in system.tables)
    remarks = (system.remark,) if system.remark else ()
    return Section(
        key=f"system-{system.system}",
        title=view.settings.head(system.system),
        sentences=(system.description,),
        parts=(
            _settings(system, rows),
            Section(key=f"results-{system.system}", title=message("Results"), sentences=remarks, tables=tables),
        ),
    )


def _settings(system: SeedSystem, rows: Sequence[Row]) -> Section:
    """Our settings (all values there are) beside the seed's."""
    title = message("Settings")
    names = dict.fromkeys([*system.settings, *(name for row in rows for name in row.params)])
    if not names:
        absent = message("This run has no system {system}: not measured.", system=system.system)
        return Section(key="settings", title=title, sentences=(absent,))
    heads = (message("name"), message("here"), message("the seed's"), message("meaning"))
    lines = [
        (name, _values(rows, name), system.settings.get(name, ABSENT), Message(msgid=str(PARAMETERS[name].help)))
        for name in PARAMETERS
        if name in names
    ]
    return Section(key="settings", title=title, tables=(plain_table(title, heads, lines),))


def _values(rows: Sequence[Row], name: str) -> Message:
    return listed(dict.fromkeys(value_text(row.params[name]) for row in rows if name in row.params)) or NOT_MEASURED


def _results(table: SeedTable, system: str, view: View) -> Table:
    present = runtimes(view.run)
    names = [name for name in view.plan.runtimes if name in present or name in view.run.missing]
    theirs = [
        message(
            "another machine's: {machine}, {interpreter}", machine=published.MACHINE, interpreter=INTERPRETERS[name]
        )
        for name in table.interpreters
    ]
    lines = tuple(
        (
            wanted.what,
            *(_ours(view.rows, system, wanted, name) for name in names),
            *(f"{wanted.seconds[name]} s" for name in table.interpreters),
        )
        for wanted in table.rows
    )
    numbers = (*(listed([name]) for name in names), *theirs)
    return plain_table(table.heading, (NOTHING,), lines, numbers, titled=True)


def _ours(rows: Sequence[Row], system: str, wanted: SeedRow, runtime: str) -> Message | str:
    row = ours(rows, system, wanted, runtime)
    if row is None:
        return NOT_MEASURED
    return times(row, " s") if row.figures else row.trouble or STATES[row.state]

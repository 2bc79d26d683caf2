"""Make a document that shows a run's results beside the published results of the experiment that gilscope repeats.

The document has the structure of the original experiment's record (the seed): environment, then each system.
"""

from typing import Any

from core.cell import PARAMETERS
from core.messages import NOTHING, Message, listed, message, plural
from reports import seed as published
from reports.document.model import ABSENT, Document, Section, Table, plain_table
from reports.facts.cells import STATES, runtimes
from reports.facts.settings import value_text
from reports.seed import INTERPRETERS, SeedRow, SeedSystem, covers_the_seed, matching_row, size_warning, times
from reports.topics import claims, completion, machine, results
from reports.view import View

__all__ = ["covers_the_seed", "record"]

NOT_MEASURED = STATES["not measured"]
HERE, THEIRS = message("this run"), message("original experiment")


def record(view: View) -> Document:
    """Return the document with a run's results beside those of the original experiment that gilscope repeats."""
    run = view.run
    time = message("started {start}, not finished", start=run.started_at)
    if run.finished_at:
        time = message("{start} to {end}", start=run.started_at, end=run.finished_at)
    about = message(
        "Run {run}, {time}, plan {plan}, --seed {seed}.",
        run=run.run_id, time=time, plan=view.plan.name, seed=run.seed,
    )  # fmt: skip
    figures = Section(
        "figures",
        message("All figures"),
        figures=(completion.figure(view),) if any(row.figures for row in view.rows) else (),
        tables=(results.table(view),),
        notes=results.table_notes(view),
    )
    interpreters = Section(
        "interpreters",
        message("Interpreters"),
        sentences=results.missing_runtimes(view),
        tables=(machine.runtime_table(run.runtimes),),
    )
    chapters = (_chapter(system, view) for system in published.SYSTEMS)
    return Document(
        name=f"record: {run.run_id}",
        title=message("Experiment record"),
        about=(about, size_warning(view)),
        sections=(_environment(view), interpreters, _legend(view), claims.claims(view), *chapters, figures),
    )


def _environment(view: View) -> Section:
    here = machine.machine_facts(view.machine)
    lines = [(name, fact or ABSENT, published.FACTS.get(name, ABSENT)) for name, fact in here.items()]
    return _table_section("environment", message("Environment"), (NOTHING, HERE, THEIRS), lines)


def _table_section(key: str, title: Message, heads: tuple[Message, ...], lines: Any, *sentences: Message) -> Section:
    return Section(key, title, sentences=sentences, tables=(plain_table(title, heads, lines),))


def _legend(view: View) -> Section:
    how = message(
        "This run repeats the original experiment, a published experiment that gilscope's documentation calls the "
        "seed. All times are in seconds. A time of this run is the median over the clients, then over the rounds of "
        "measurements ({blocks}), with the slowest client in parentheses. Every response was checked. Each time of the "
        "original experiment comes from one run on another machine ({machine}), with {gil}, {nogil} or an unknown "
        "Python interpreter. The original times are not a target, because the processor and the builds differ.",
        blocks=plural("{count} block", "{count} blocks", count=view.plan.blocks),
        machine=published.MACHINE,
        gil=published.GIL,
        nogil=published.NOGIL,
    )
    return Section("legend", message("How to read the results"), sentences=(how,))


def _chapter(system: SeedSystem, view: View) -> Section:
    tables = [_result_table(heading, system, view) for heading in system.tables]
    remarks = (system.remark,) if system.remark else ()
    seconds = Section(f"results-{system.system}", message("Results"), sentences=remarks, tables=tables)
    return Section(
        f"system-{system.system}",
        view.settings.head(system.system),
        sentences=(system.description,),
        parts=(_settings(system, view), seconds),
    )


def _settings(system: SeedSystem, view: View) -> Section:
    """Return the settings of a system: the values in this run beside the values in the original experiment."""
    rows = [row for row in view.rows if row.system == system.system]
    names = {*system.settings, *(name for row in rows for name in row.params)}
    absent = message("System {system} was not measured in this run.", system=system.system)
    lines = []
    for name in filter(names.__contains__, PARAMETERS):
        values = listed(dict.fromkeys(value_text(row.params[name]) for row in rows if name in row.params))
        lines.append((name, values or NOT_MEASURED, system.settings.get(name, ABSENT), PARAMETERS[name].help))
    heads = (message("name"), HERE, THEIRS, message("meaning"))
    return _table_section("settings", message("Settings"), heads, lines, *[absent] * (not names))


def _result_table(heading: Message, system: SeedSystem, view: View) -> Table:
    rows = system.tables[heading]
    names = [name for name in view.plan.runtimes if name in {*runtimes(view.run), *view.run.missing}]
    heads = [listed([name]) for name in names]
    for name in rows[0].seconds:
        interpreter, other = INTERPRETERS[name], published.MACHINE
        heads.append(message("published time: {machine}, {interpreter}", machine=other, interpreter=interpreter))
    lines = [
        (
            wanted.what,
            *(_our_time(view, system.system, wanted, name) for name in names),
            *(f"{seconds} s" for seconds in wanted.seconds.values()),
        )
        for wanted in rows
    ]
    return plain_table(heading, (NOTHING,), lines, heads, titled=True)


def _our_time(view: View, system: str, wanted: SeedRow, runtime: str) -> Message | str:
    row = matching_row(view.rows, system, wanted, runtime)
    if row is None:
        return NOT_MEASURED
    return times(row, " s") if row.figures else row.trouble or STATES[row.state]

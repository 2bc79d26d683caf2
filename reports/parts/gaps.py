"""Show what a run did not measure, with the command that measures each item."""

from collections.abc import Iterator

from analysis.decisions import blocks_to_add
from core.messages import Message, message, plural
from core.program import PROGRAM
from core.runtime import NATIVE, RuntimeName
from reports.command_lines import command_line, more_blocks_command, resume_command
from reports.document.model import Section, plain_table, words
from reports.parts.contest import by_reason
from reports.view import View

MISSING = message("What was not measured")
BUILD = f"{PROGRAM} native"
Gap = tuple[Message, str]  # what was not measured, and the command that measures it


def missing_section(view: View) -> Section:
    """Return a section that lists the parts of the plan that the run did not measure."""
    gaps = [*gaps_of(view)]
    none = message("Everything in the plan was measured.")
    heads = (message("Not measured"), message("Command for the measurement"))
    lines = [(what, words(command, code=True)) for what, command in gaps]
    table = plain_table(MISSING, heads, lines, kind="gaps")
    return Section("gaps", MISSING, sentences=() if gaps else (none,), tables=(table,))


def gaps_of(view: View) -> Iterator[Gap]:
    """Yield each part of the plan that the run did not measure, with the command that measures this
    part.
    """
    run, again = view.run, command_line(view.run)
    for name in run.missing:
        yield message("Runtime {runtime}: not found", runtime=name), _installation(name, again)
    for is_native, command in ((True, BUILD), (False, again)):
        absent = by_reason(
            (one for one in view.plan.absent if (one.runtime == NATIVE) is is_native), view
        )
        for reason, systems in absent.items():
            yield message("{systems}: {reason}", systems=systems, reason=reason), command
    unfinished = sum(max(0, row.planned - len(row.cells)) for row in view.rows)
    if unfinished:
        yield (
            plural(
                "{count} planned cell (a measurement)",
                "{count} planned cells (measurements)",
                count=unfinished,
            ),
            resume_command(run),
        )
    compared = [comparison for comparison in view.comparisons if comparison.step != "aa"]
    if compared and len(compared) == len(view.comparisons):
        yield message("The noise floor: the same runtime measured twice (A/A)"), f"{again} --aa"
    if more := blocks_to_add(compared):
        blocks = message(
            "More blocks (rounds of measurement) for comparisons without a verdict; the number is "
            "an estimate"
        )
        yield blocks, more_blocks_command(run, more)


def _installation(runtime: str, again: str) -> str:
    """Return the command that installs a runtime.

    again: the command of this run
    """
    name = RuntimeName(runtime)
    if name.jit_enabled:
        return f"{again} --interpreter {runtime}=PATH"
    return BUILD if runtime == NATIVE else f"uv python install {name.interpreter}"


def missing_runtimes(view: View) -> tuple[Message, ...]:
    """Return a sentence with the reason for each runtime that this machine lacks."""
    return tuple(
        message("{runtime}: not measured. {reason}", runtime=runtime, reason=reason)
        for runtime, reason in view.run.missing.items()
    )

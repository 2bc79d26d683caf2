"""What was not measured, and the command that would: runtimes, cells, noise, blocks; what other topics have."""

from collections.abc import Iterable

from core.messages import Message, message, plural
from core.program import PROGRAM
from core.runtime import NATIVE, RuntimeName
from reports.document.model import Section, Table, plain_table, words
from reports.facts.commands import command_line, more_blocks_command, resume_command
from reports.facts.comparisons import answering
from reports.topics import lacking
from reports.topics.contest import by_reason, places
from reports.view import View

Gap = tuple[Message, str]
BUILD = f"{PROGRAM} native"


def missing(view: View) -> Section:
    """What the plan asks for and the run does not have."""
    gaps = [*_runtimes(view), *_absent(view), *_unfinished(view), *_undecided(view)]
    return Section(
        key="gaps",
        title=message("What was not measured"),
        sentences=() if gaps else (message("Nothing that the plan asks for is missing."),),
        tables=(_gaps(gaps),),
    )


def elsewhere(view: View) -> Section:
    """What reports can show and this run does not have at all; folded."""
    gaps = lacking(view)
    title = message("What other runs measure, each with its command ({count})", count=len(gaps))
    return Section(key="elsewhere", title=title, tables=(_gaps(gaps),), folded=True)


def _gaps(gaps: Iterable[Gap]) -> Table:
    lines = tuple((words(what), words(command, code=True)) for what, command in gaps)
    heads = (message("What"), message("The command that would measure it"))
    return plain_table(message("What was not measured"), heads, lines, kind="gaps")


def _runtimes(view: View) -> list[Gap]:
    return [
        (message("Runtime {runtime}, which was not found", runtime=name), _installation(name, view))
        for name in view.run.missing
    ]


def _installation(runtime: str, view: View) -> str:
    name = RuntimeName.parse(runtime)
    if name.jit_enabled:
        return f"{command_line(view.run)} --interpreter {runtime}=PATH"
    return BUILD if runtime == NATIVE else f"uv python install {name.interpreter}"


def _absent(view: View) -> list[Gap]:
    """One for each reason, with all that it keeps away. Programs are built; packages are tried again by a run."""
    programs = by_reason([absence for absence in view.plan.absent if absence.runtime == NATIVE])
    packages = by_reason([absence for absence in view.plan.absent if absence.runtime != NATIVE])
    commands = ((programs, BUILD), (packages, command_line(view.run)))
    return [
        (message("{systems}: {reason}", systems=places(systems, view), reason=reason), command)
        for reasons, command in commands
        for reason, systems in reasons.items()
    ]


def _unfinished(view: View) -> list[Gap]:
    count = sum(max(0, row.planned - len(row.cells)) for row in view.rows)
    what = plural("{count} cell of the plan", "{count} cells of the plan", count=count)
    return [(what, resume_command(view.run))] if count else []


def _undecided(view: View) -> list[Gap]:
    """A/A where it is missing, and the blocks that open verdicts take."""
    compared = [comparison for comparison in view.comparisons if comparison.step != "aa"]
    gaps = []
    if compared and len(compared) == len(view.comparisons):
        noise = message("The noise floor: one runtime twice (A/A)")
        gaps.append((noise, f"{command_line(view.run)} --aa"))
    more = [one.blocks_needed - one.blocks for one in answering(compared) if one.blocks_needed]
    if more:
        blocks = message("Verdicts that are still open: about this many blocks")
        gaps.append((blocks, more_blocks_command(view.run, max(more))))
    return gaps

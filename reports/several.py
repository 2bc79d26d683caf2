"""A document that shows several runs side by side: which may be compared, and what at least two of them measured."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from core.errors import BadInput
from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from core.program import PROGRAM
from reports.compare.members import DIFFERENT, MOST, NONE, Member, differences, members, obstacles, runs_section
from reports.document.model import Datum, Document, Section, Traced, arm
from reports.document.shapes import Col, col, table
from reports.facts.cells import Row, grouped, setting_key
from reports.facts.comparisons import Comparison
from reports.facts.figures import ROW_COLUMNS
from reports.facts.measures import COMPLETION, THROUGHPUT
from reports.topics import sections
from reports.topics.comparisons import forest
from reports.view import View

LEAST = 2
SHOWN = ("completion_median_ns", "requests_per_s")
FILE_NAME = "side-by-side.html"
Item = TypeVar("Item")
Entry = tuple[Member, Row]


def side_by_side(views: Sequence[View]) -> Document:
    """Return the document that shows several runs side by side. The first run is named A.

    Raises BadInput if there are fewer than 2 runs or more than 26.
    """
    if not LEAST <= len(views) <= MOST:
        raise BadInput(
            "{count} runs were named, but one page compares {least} to {most} runs. Name more or fewer runs.",
            count=len(views),
            least=LEAST,
            most=MOST,
        )
    runs = members(views)
    return Document(
        name=f"gilscope: {', '.join(run.name for run in runs)}",
        title=message("Runs side by side"),
        about=(),
        sections=(
            runs_section(runs),
            _verdicts_section(runs),
            _limits_section(runs),
            _steps_section(runs),
            _times_section(runs),
        ),
        foot=message(
            "Every figure on this page comes from the {file} of a run. Each run also has its own page.",
            file="result.json",
        ),
        has_cells=False,
    )


def _verdicts_section(runs: Sequence[Member]) -> Section:
    parts = []
    for run in runs:
        answers = [_with_own_cells(answer, run) for section in sections(run.view) for answer in section.answer]
        parts.append(Section(f"verdict-{run.letter}", verbatim(run.name), sentences=answers))
    return Section("verdict", message("Verdict"), parts=parts)


def _with_own_cells(text: Message, run: Member) -> Message:
    """Return *text* with links to the measurements (cells) of *run*, which is one of several runs on the page."""
    args = {
        name: _with_own_cells(value, run) if isinstance(value, Message) else value for name, value in text.args.items()
    }
    made = replace(text, args=args)
    return replace(made, cells=run.cells(made.cells)) if isinstance(made, Traced) else made


def _comparable_sentence(runs: Sequence[Member]) -> Message:
    """Return a sentence that says which runs may be compared with each other."""
    together = list(dict.fromkeys(", ".join(other.letter for other in runs if run.is_like(other)) for run in runs))
    if len(together) == 1:
        return message(
            "These runs were measured on the same kind of machine and in the same way, so their completion times may "
            "be compared."
        )
    own = message("Each ratio and each verdict applies only to the run that it comes from.")
    if len(together) == len(runs):
        return message(
            "Completion times of different runs must not be compared, because the runs differ in machine or method. "
            "{own}",
            own=own,
        )
    several = (letters for letters in together if len(letters) > 1)
    return message(
        "Completion times may be compared only within these groups of runs: {groups}. Runs of different groups differ "
        "in machine or method. {own}",
        groups=listed(several, SEMICOLON), own=own,
    )  # fmt: skip


def _limits_section(runs: Sequence[Member]) -> Section:
    may = Section("may-differ", DIFFERENT, sentences=differences(runs))
    how = message(
        "Runs at different times share no block, so a difference between them may come from the state of the machine "
        "at the time. To test whether one run is faster than another, use: {command}",
        command=f"{PROGRAM} compare RUN_A RUN_B",
    )
    sentences = (_comparable_sentence(runs), *obstacles(runs))
    return Section("apart", message("What must not be compared"), sentences=sentences, parts=(may,), notes=(how,))


def _shared(
    runs: Sequence[Member], items: Callable[[Member], Iterable[Item]], key: Callable[[Item], Hashable]
) -> list[list[tuple[Member, Item]]]:
    """Return the items of all runs in groups with the same key. Leave out the items that only one run has."""
    groups = grouped(((run, item) for run in runs for item in items(run)), lambda entry: key(entry[1]))
    return [group for group in groups.values() if len(group) > 1]


def _steps_section(runs: Sequence[Member]) -> Section:
    """Return a section with those comparisons of runtimes or services that at least two of the runs made.

    Each comparison at one setting is a group of lines in its table, with a line for each run.
    """
    shared = _shared(runs, lambda run: (replace(one, trace=run.cells(one.trace)) for one in run.view.compared), _kind)
    shared.sort(key=lambda group: not group[0][1].is_over_all)

    def named(run: Member) -> Datum:
        return arm(f"{run.letter} {run.view.run.started_at[:10]}", run.look)

    def head(run: Member, one: Comparison) -> Message:
        return message("{setting} - {step}", setting=run.settings.name(one), step=one.label)

    name = message("All comparisons")
    shown = forest(
        name,
        [(head(*group[0]), group) for group in shared],
        lambda entry: entry[1],
        [col("Run", lambda entry: named(entry[0]))],
    )
    none = message("No two of these runs compared the same runtimes at the same setting.")
    return Section("comparisons", name, sentences=() if shown else (none,), tables=(shown,))


def _kind(one: Comparison) -> Hashable:
    """Return the same key for comparisons of the same arms at the same setting, or over the same settings."""
    settings = sorted(setting_key(some["system"], some["params"]) for some in one.settings)
    return setting_key(one.system, one.params), str(settings), one.step, one.denominator, one.numerator


def _times_section(runs: Sequence[Member]) -> Section:
    """Return a section of completion times: a group per setting that two runs have, a line per run and runtime."""
    shared = _shared(
        runs, lambda run: (row for row in run.view.rows if row.figures), lambda row: (row.key, row.runtime)
    )
    settings = grouped(chain(*shared), lambda entry: entry[1].key)
    how = THROUGHPUT if any(run.view.is_timed for run in runs) else COMPLETION
    most = {key: how.most([row for _, row in entries]) for key, entries in settings.items()}

    def name(entry: Entry) -> str:
        return f"{entry[0].letter} {entry[1].runtime}"

    def cells(entry: Entry) -> str:
        return entry[0].cells(entry[1].trace)

    def bar(entry: Entry) -> Datum:
        run, row = entry
        return Datum(strip=how.strip(row, most[row.key], run.look, name(entry)), cells=cells(entry))

    def others(entry: Entry) -> Message:
        run, row = entry
        letters = {other.letter for other, _ in settings[row.key] if other is not run and other.is_like(run)}
        return verbatim(", ".join(sorted(letters))) or NONE

    def figure_col(figure: str) -> Col[Entry]:
        shown = ROW_COLUMNS[figure]
        return col(shown.head, lambda entry: entry[1].columns[figure], shown.form, shown.key, trace=cells)

    title = message("Completion time")
    cols: list[Col[Entry]] = [
        col("Runtime", lambda entry: arm(name(entry), entry[0].look)),
        col(NOTHING, bar, is_strip=True),
        *map(figure_col, SHOWN),
        col("Comparable runs", others),
    ]
    heads = (run.settings.name(row) for (run, row), *_ in settings.values())
    bars = table(
        title, cols, zip(heads, settings.values(), strict=True), kind="bars", key="bars",
        caption=message(
            "Settings that at least two runs measured with the same parameters. A bar shows the median over the "
            "clients, then over the blocks. A mark shows one block. Each setting has its own scale."
        ),
    )  # fmt: skip
    none = message(
        "No two of these runs measured a setting with the same system, parameters and runtime, so there are no "
        "completion times to compare."
    )
    return Section("completion", title, sentences=(_comparable_sentence(runs) if bars else none,), tables=(bars,))

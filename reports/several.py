"""Several runs in one document: what may be compared between them, the steps and times that they have in common."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import ascii_uppercase
from typing import Any, TypeVar

from core.errors import BadInput
from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from core.program import PROGRAM
from reports.compare.comparable import SURROUNDINGS, conditions
from reports.document.model import (
    Column,
    Datum,
    Document,
    Group,
    Line,
    Section,
    Strip,
    Table,
    Traced,
    arm,
    number,
    plain_table,
    words,
)
from reports.document.values import seconds, whole
from reports.facts.builds import UNKNOWN, build_facts, packages, unlike
from reports.facts.cells import Row, setting_key
from reports.facts.comparisons import Comparison
from reports.facts.measures import Measure, measure
from reports.facts.pairs import OVER_ALL
from reports.facts.traces import of_rows
from reports.topics import machine, sections
from reports.topics.comparisons import caption, columns, figures, ratio_scale
from reports.view import View

LEAST, MOST = 2, len(ascii_uppercase)
FILE_NAME = "side-by-side.html"
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Member:
    """One of the runs. letter: what the page calls it; look: its sign and colour everywhere on the page."""

    letter: str
    look: int
    view: View

    @property
    def name(self) -> str:
        """'A: 20260801T101500-quick-3f2a'."""
        return f"{self.letter}: {self.view.run.run_id}"

    @property
    def day(self) -> str:
        """When it began (UTC)."""
        return self.view.run.started_at[:10]

    @cached_property
    def conditions(self) -> Mapping[Message, Message]:
        """What runs must have in common to be compared."""
        return conditions(self.view.run.machine, self.view.plan.method)

    def cells(self, groups: str) -> str:
        """*groups* of its cells, with its letter before each: 'A/3.14t-4-3.14t-1a2b3c4d'."""
        return " ".join(f"{self.letter}/{group}" for group in groups.split())

    def own(self, text: Message) -> Message:
        """*text* with the cells that it comes from as those of this run."""
        args = {name: self.own(value) if isinstance(value, Message) else value for name, value in text.args.items()}
        made = replace(text, args=args)
        return replace(made, cells=self.cells(made.cells)) if isinstance(made, Traced) else made

    def setting(self, comparison: Comparison) -> tuple[str, str]:
        """What a comparison is about. One over all settings is about these: others may have other settings."""
        if comparison.system != OVER_ALL:
            return setting_key(comparison.system, comparison.params)
        return OVER_ALL, str(sorted(setting_key(one["system"], one["params"]) for one in comparison.settings))


def side_by_side(views: Sequence[View]) -> Document:
    """The document of several runs, in the order of *views*; the first is A. Raises BadInput for 1, or more than 26."""
    if not LEAST <= len(views) <= MOST:
        raise BadInput(
            "{count} runs were named for one page; it takes {least} to {most}.",
            count=len(views),
            least=LEAST,
            most=MOST,
        )
    members = [Member(ascii_uppercase[place], place, view) for place, view in enumerate(views)]
    title = message("Runs side by side")
    return Document(
        name=f"gilscope: {', '.join(member.name for member in members)}",
        title=title,
        about=(),
        sections=(_runs(members), _verdicts(members), _apart(members), _steps(members), _times(members)),
        foot=message("Every figure here comes from the {file} of its run, which has its own page.", file="result.json"),
        has_cells=False,
    )


def _runs(members: Sequence[Member]) -> Section:
    heads = (
        message("Run"), message("Time (UTC)"), message("Plan"), message("Blocks"), message("Cells ok"), message("CPU"),
        message("Cores"), message("Kernel"), message("Commit"),
    )  # fmt: skip
    table = plain_table(message("Runs"), heads, map(_run, members), kind="facts")
    parts = tuple(_runtimes(member) for member in members)
    builds = Section(key="builds", title=message("Their runtimes, with versions and builds"), parts=parts, folded=True)
    return Section(key="runs", title=message("Runs"), tables=(table,), parts=(builds,))


def _run(member: Member) -> Line:
    view, host = member.view, member.view.machine
    blocks = len({cell.block for cell in view.run.cells})
    facts = (host.cpu, host.available_cores or None, host.kernel, host.commit)
    return (
        arm(member.name, member.look, ""),
        words(view.run.started_at[:16].replace("T", " ")),
        words(view.plan.name),
        words(str(blocks)),
        words(f"{len(view.ok_cells)} / {len(view.run.cells)}"),
        *(words("-" if fact in (None, "") else str(fact)) for fact in facts),
    )


def _runtimes(member: Member) -> Section:
    table = machine.runtime_table(member.view.run.runtimes)
    return Section(key=f"runtimes-{member.letter}", title=verbatim(member.name), tables=(table,))


def _verdicts(members: Sequence[Member]) -> Section:
    parts = []
    for member in members:
        answers = [answer for section in sections(member.view) for answer in section.answer]
        sentences = tuple(map(member.own, answers))
        parts.append(Section(key=f"verdict-{member.letter}", title=verbatim(member.name), sentences=sentences))
    return Section(key="verdict", title=message("Verdict"), parts=tuple(parts))


def _alike(members: Sequence[Member]) -> list[list[Member]]:
    """Those that may be compared with each other, together."""
    groups: list[list[Member]] = []
    for member in members:
        group = next((group for group in groups if group[0].conditions == member.conditions), None)
        if group is None:
            groups.append([member])
        else:
            group.append(member)
    return groups


def _comparable(members: Sequence[Member]) -> Message:
    """Which of the runs may be compared with which."""
    groups = _alike(members)
    if len(groups) == 1:
        return message(
            "These runs were measured on machines of one kind and in the same way, so their completion times may be "
            "compared."
        )
    together = [_letters(group) for group in groups if len(group) > 1]
    own = message("Ratios and verdicts hold for their own run.")
    if not together:
        return message(
            "No completion time of one run may be compared with one of another: machine or method differ. {own}",
            own=own,
        )
    return message(
        "Completion times may be compared within these runs only: {groups}. Between others machine or method differ. "
        "{own}",
        groups=listed(together, SEMICOLON), own=own,
    )  # fmt: skip


def _letters(members: Sequence[Member]) -> str:
    return ", ".join(member.letter for member in members)


def _apart(members: Sequence[Member]) -> Section:
    may = Section(key="may-differ", title=message("What else differs"), sentences=tuple(_remarks(members)))
    how = message(
        "Runs at different times have no block in common, so a difference between two of them may be the state of the "
        "machine at the time. Whether one is faster than another, with an interval, is answered by: {command}",
        command=f"{PROGRAM} compare RUN_A RUN_B",
    )
    sentences = (_comparable(members), *_obstacles(members))
    return Section(
        key="apart", title=message("What must not be compared"), sentences=sentences, parts=(may,), notes=(how,)
    )


def _obstacles(members: Sequence[Member]) -> list[Message]:
    """What forbids to compare times: 'the CPU: EPYC (A, B); Xeon (C)'."""
    labels = dict.fromkeys(label for member in members for label in member.conditions)
    values = {label: {one.letter: one.conditions.get(label, UNKNOWN) for one in members} for label in labels}
    return unlike(values, SEMICOLON)


def _remarks(members: Sequence[Member]) -> list[Message]:
    """What differs and may: surroundings, our own commit, the runtimes of one name."""
    facts: dict[Message, dict[str, Message]] = {
        label: {one.letter: _fact(one.view.run.machine.get(name)) for one in members}
        for name, label in {**SURROUNDINGS, "commit": message("the commit of gilscope")}.items()
    }
    for name in dict.fromkeys(name for member in members for name in member.view.run.runtimes):
        known = {one.letter: one.view.run.runtimes[name] for one in members if name in one.view.run.runtimes}
        builds = {letter: _interpreter(build) for letter, build in known.items()}
        for what in set.intersection(*(set(build) for build in builds.values())):
            label = message("{runtime}, {what}", runtime=name, what=what)
            facts[label] = {letter: build[what] for letter, build in builds.items()}
    return sorted(unlike(facts, SEMICOLON), key=str)


def _fact(value: Any) -> Message:
    return verbatim("-" if value in (None, "") else str(value))


def _interpreter(facts: Mapping[str, Any]) -> dict[Message, Message]:
    """What tells builds of one name apart, and the packages in use."""
    installed = {verbatim(name): verbatim(version) for name, version in packages(facts).items()}
    return {**build_facts(facts), **installed}


def _in_several(items: Sequence[tuple[Key, Member, Value]]) -> list[list[tuple[Member, Value]]]:
    """What has the same key in at least two runs, in the order of its first run."""
    by_key: dict[Key, list[tuple[Member, Value]]] = {}
    for key, member, value in items:
        by_key.setdefault(key, []).append((member, value))
    return [group for group in by_key.values() if len({member.letter for member, _ in group}) > 1]


def _steps(members: Sequence[Member]) -> Section:
    """A group for each step of each setting that at least two runs have, a line for each of these runs."""
    items = [
        ((*member.setting(one), one.step, one.denominator, one.numerator), member, one)
        for member in members
        for one in member.view.compared
    ]
    shared = sorted(_in_several(items), key=lambda group: group[0][1].system != OVER_ALL)
    scale = ratio_scale([one for group in shared for _, one in group])
    groups = tuple(
        Group(head=_step_head(group), lines=tuple(_step(member, one, scale) for member, one in group))
        for group in shared
    )
    name = message("All comparisons")
    table = Table(
        name=name, columns=columns(scale, message("Run")), groups=groups, kind="forest", key="forest", caption=caption()
    )
    none = message("No step of a setting is in two of these runs.")
    return Section(key="comparisons", title=name, sentences=() if table else (none,), tables=(table,))


def _step_head(group: Sequence[tuple[Member, Comparison]]) -> Message:
    member, comparison = group[0]
    where = member.view.settings.name(comparison.system, comparison.params)
    return message("{setting} - {step}", setting=where, step=comparison.label)


def _step(member: Member, comparison: Comparison, scale: Strip) -> Line:
    cells = member.cells(member.view.traces.of(comparison))
    return arm(f"{member.letter} {member.day}", member.look, ""), *figures(comparison, scale, cells)


def _times(members: Sequence[Member]) -> Section:
    """A group for each setting that at least two runs have, a line for each runtime of each of these runs."""
    items = [
        ((*setting_key(row.system, row.params), row.runtime), member, row)
        for member in members
        for row in member.view.rows
        if row.figures
    ]
    settings: dict[tuple[str, str], list[tuple[Member, Row]]] = {}
    for group in _in_several(items):
        settings.setdefault(setting_key(group[0][1].system, group[0][1].params), []).extend(group)
    partners = {
        one.letter: [other for other in group if other is not one] for group in _alike(members) for one in group
    }
    is_timed = any(member.view.is_timed for member in members)
    table = Table(
        name=message("Completion time"),
        columns=(
            Column(head=message("Runtime")),
            Column(head=NOTHING, is_strip=True),
            Column(head=message("Completion [s]"), is_number=True),
            Column(head=message("Requests/s"), is_number=True),
            Column(head=message("May be compared with")),
        ),
        groups=tuple(_setting(group, partners, is_timed=is_timed) for group in settings.values()),
        kind="bars",
        key="bars",
        caption=message(
            "Settings that at least two runs have, with the same parameters: median over the clients, median over the "
            "blocks. Marks: each block. Each setting has its own scale."
        ),
    )
    none = message("No setting is in two of these runs with the same parameters, so there are no times to compare.")
    sentences = (_comparable(members),) if table else (none,)
    return Section(key="completion", title=message("Completion time"), sentences=sentences, tables=(table,))


def _setting(group: Sequence[tuple[Member, Row]], partners: Mapping[str, Sequence[Member]], *, is_timed: bool) -> Group:
    of = measure(is_timed=is_timed)
    most = of.most([row for _, row in group])
    letters = {member.letter for member, _ in group}
    lines = tuple(
        _time(member, row, most, _letters([other for other in partners[member.letter] if other.letter in letters]), of)
        for member, row in group
    )
    member, row = group[0]
    return Group(head=member.view.settings.name(row.system, row.params), lines=lines)


def _time(member: Member, row: Row, most: float, others: str, of: Measure) -> Line:
    cells, name = member.cells(of_rows([row])), f"{member.letter} {row.runtime}"
    assert row.figures is not None
    return (
        arm(name, member.look, ""),
        Datum(strip=of.strip(row, most, member.look, name), cells=cells),
        number(row.figures["completion_median_ns"], seconds, cells, "completion_s"),
        number(row.figures["requests_per_s"], whole, cells, "requests_per_s"),
        words(verbatim(others) if others else message("none")),
    )

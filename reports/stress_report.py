"""The result of `runner.py stress` as a document: what was found, how often, and under which
runtime.

commands/stress.py prints the document as Markdown and writes it as a page. findings() also decides
its exit status. A round is one start of the service under one runtime with a few seconds of
requests (core/stress_results.py). A kind of finding counts something in each round. To add one, add
it to KINDS, whose order is that of the report: the most severe first.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from analysis.cell_index import grouped
from analysis.formats import whole
from core.messages import NOTHING, Message, listed, message, plural, verbatim
from core.stress_results import Round, Stress
from reports.document import Document, Section, Table
from reports.tables import PAGES, col, table

# by Check of core/stress_results.py: what each answer was compared with
CHECKS: Mapping[str, Message] = {
    "declared": message("the answer declared for the request"),
    "body": message("an answer with the same bytes as the answer to a single client"),
    "common": message(
        "the values in the answer that stay the same from answer to answer while only one "
        "client sends requests"
    ),
    "status": message(
        "an answer with the right status; its content was not checked, because even a single "
        "client gets varying answers"
    ),
}
# n tries without an event exclude p > 3/n with 95 % confidence, because (1-p)**n is about 5 %
RULE_OF_THREE = 3


@dataclass(frozen=True)
class StressFinding:
    """All findings of one kind in a stress test.

    kind:   a key of KINDS
    counts: number of occurrences by runtime
    rounds: the rounds with occurrences, rounds without the GIL first
    only_without_gil: whether the arm with the GIL has no occurrence
    """

    kind: str
    counts: Mapping[str, int]
    rounds: Sequence[Round]
    only_without_gil: bool

    @property
    def found(self) -> Message:
        """The kind as text."""
        return KINDS[self.kind].found

    @property
    def lines(self) -> list[str]:
        """The printed warnings, or the failures by code."""
        if self.kind == "notice":
            return [*dict.fromkeys(line for one in self.rounds for line in one.notices)]
        codes = sum((Counter(one.failures) for one in self.rounds), Counter[str]())
        return [f"{number} x {code}" for code, number in sorted(codes.items())]


def by_runtime(stress: Stress, count: Callable[[Round], int]) -> dict[str, int]:
    """Return the sum of *count* over all rounds of a stress test, by runtime."""
    of_runtimes = grouped(stress.rounds, attrgetter("runtime"))
    return {runtime: sum(map(count, rounds)) for runtime, rounds in of_runtimes.items()}


def answered(stress: Stress) -> dict[str, int]:
    """Return the number of answers that a stress test checked, by runtime."""
    return by_runtime(stress, attrgetter("answered"))


def _crashes(one: Round) -> int:
    """Return 1 if any process crashed in a round, else 0.

    Crashes of a round are not counted, because a server may restart its workers. A service that
    ended or broke the contract during requests counts as crashed, too, because it may leave no
    traceback.
    """
    has_ended = (
        one.ready and one.valid and one.reason and not (one.answered or one.wrong or one.failures)
    )
    return int(bool(one.crashes or has_ended))


def _hangs(one: Round) -> int:
    # requests without an answer in time, or 1 if only the stacks show that answers were missing
    return one.failures.get("timeout", 0) or int(bool(one.stacks))


def _failures(one: Round) -> int:
    """Return the number of broken connections; 0 if a crash or hang of the service
    explains them.
    """
    return 0 if _crashes(one) or _hangs(one) else sum(one.failures.values())


class Kind(NamedTuple):
    """A kind of finding.

    found: its name as text, also the head of its column
    said: the sentence on it, whose arguments _sentences() fills in
    count: returns how often it occurred in a round
    """

    found: Message
    said: Message
    count: Callable[[Round], int]


# a hang is not counted as a crash, and what a crash or hang explains is not counted as a failure
KINDS: Mapping[str, Kind] = {
    "crash": Kind(
        message("crashes"),
        message("The service crashed: {where}. {reason}"),
        lambda one: 0 if _hangs(one) else _crashes(one),
    ),
    "hang": Kind(
        message("no answer"),
        message("Requests were not answered in time: {where}. Stacks of all threads are below."),
        _hangs,
    ),
    "wrong": Kind(
        message("wrong answers"), message("Answers were wrong: {where}."), attrgetter("wrong")
    ),
    "failure": Kind(
        message("broken connections"), message("Connections broke: {where} ({codes})."), _failures
    ),
    "notice": Kind(
        message("warnings"),
        message("The service printed warnings: {where}: {lines}"),
        lambda one: len(one.notices),
    ),
    "invalid": Kind(
        message("GIL state not as requested"),
        message("The service could not be tested under one of the runtimes: {reason}."),
        lambda one: int(not one.valid),
    ),
    "silent": Kind(
        message("not started"),
        message("The service did not start under one of the runtimes: {reason}"),
        lambda one: int(not one.ready),
    ),
}


def findings(stress: Stress) -> list[StressFinding]:
    """Return the findings by kind, the most severe kind first."""
    # without answers under the GIL, nothing can be said to occur only without it
    is_compared = any(one.gil_enabled and one.answered for one in stress.rounds)
    found = []
    for kind, (_, _, count) in KINDS.items():
        rounds = sorted(filter(count, stress.rounds), key=attrgetter("gil_enabled"))
        only_without_gil = is_compared and not any(one.gil_enabled for one in rounds)
        if rounds:
            found.append(StressFinding(kind, by_runtime(stress, count), rounds, only_without_gil))
    return found


def stress_document(stress: Stress) -> Document:
    """Return a document: findings, rounds, tracebacks, how answers were checked, and what the test
    does not prove.
    """
    seen = findings(stress)
    title = message("Stress test: {name} without and with the GIL", name=stress.name)
    found = Section(
        "stress",
        message("What was found"),
        answer=(verdict(stress),),
        sentences=[sentence for one in seen for sentence in _sentences(one, stress)],
        tables=(_rounds(stress, seen),),
        notes=[*_notes(stress, seen)],
    )
    checked = message("How answers were checked")
    checks = table(
        checked,
        [
            col("request", lambda pair: pair[0]),
            col("expected answer", lambda pair: CHECKS[pair[1]]),
        ],
        [(NOTHING, stress.checks.items())],
    )
    how = Section("checks", checked, tables=(checks,))
    return Document(
        name=str(title), title=title, about=(_about(stress),),
        sections=[*filter(None, (found, *_traces(seen), how))],
        has_cells=False,
    )  # fmt: skip


def verdict(stress: Stress) -> Message:
    """Return the result of the stress test in one sentence."""
    seen = findings(stress)
    only = [one.found for one in seen if one.only_without_gil]
    if only:
        return message("Found only without the GIL: {kinds}.", kinds=listed(only))
    if seen:
        return message(
            "The missing GIL may not be the cause of the problems that the stress test found: "
            "{kinds}.",
            kinds=listed(one.found for one in seen),
        )
    each = [
        message("{count:,} under {runtime}", count=count, runtime=name)
        for name, count in answered(stress).items()
    ]
    return message(
        "Nothing was found: no wrong answer (checked: {counts}), no crash, no hang.",
        counts=listed(each),
    )


def _about(stress: Stress) -> Message:
    connections = plural("{count} connection", "{count} connections", count=stress.connections)
    if stress.checks:  # gilscope's own clients send no bursts
        connections = plural(
            "{count} client connection that sent bursts of requests",
            "{count} client connections that sent bursts of requests",
            count=stress.connections,
        )  # fmt: skip
    return message(
        "{rounds} in {spent_s:.0f} s, {connections}; with the GIL, threads switched every "
        "{interval_us:g} us.",
        rounds=plural("{count} round", "{count} rounds", count=len(stress.rounds)),
        spent_s=stress.spent_s,
        connections=connections,
        interval_us=stress.switch_interval_s * 1e6,
    )


def _sentences(seen: StressFinding, stress: Stress) -> Iterator[Message]:
    """Yield sentences about a finding: where it occurred, then its first example."""
    lines = listed(seen.lines)
    args = {
        "where": listed(_where(seen, stress)),
        "reason": next((one.reason for one in seen.rounds if one.reason), NOTHING),
        "codes": lines,
        "lines": lines,
    }
    yield replace(KINDS[seen.kind].said, args=args)
    example = next((one.first_wrong for one in seen.rounds if one.first_wrong), None)
    if seen.kind == "wrong" and example:
        yield message(
            "First example: {request} was answered with {got}, but {expected} was expected.",
            **example,
        )


def _where(seen: StressFinding, stress: Stress) -> Iterator[Message]:
    """Yield how often a finding occurred under each runtime; for wrong answers and crashes, also
    out of how many.
    """
    rounds, totals = by_runtime(stress, lambda one: 1), answered(stress)
    for name, count in seen.counts.items():
        yield {
            "crash": message(
                "in {count} of {total} rounds under {runtime}",
                count=count,
                total=rounds[name],
                runtime=name,
            ),
            "wrong": message(
                "{count:,} of {total:,} answers under {runtime}",
                count=count,
                total=totals[name],
                runtime=name,
            ),
        }.get(seen.kind, message("{count:,} under {runtime}", count=count, runtime=name))


def _notes(stress: Stress, seen: Sequence[StressFinding]) -> Iterator[Message]:
    """Yield notes on the findings: what may help, and what the stress test does not prove."""
    if seen:
        yield message("What may help: {page}.", page="docs/audit.md#what-may-help")
        yield PAGES
    wrong = [one for one in seen if one.kind == "wrong"]
    if any(not one.only_without_gil for one in wrong):
        yield message(
            "Some answers are wrong with the GIL, too, so free threading is not the only cause. If "
            "an answer depends on other requests, declare the expected answer. Otherwise, the "
            "service is not thread-safe even with the GIL."
        )
    if wrong:
        yield message(
            "This test does not prove that other requests or other states of the service are "
            "unaffected."
        )
        return
    without_gil = {one.runtime for one in stress.rounds if not one.gil_enabled}
    for name, count in answered(stress).items():
        if count and name in without_gil:
            yield message(
                "None of {total:,} answers under {runtime} was wrong. A race condition can still "
                "exist if it affects less than {rate:.1g} of the answers to these requests (rule "
                "of three, 95 % confidence). Other requests were not tested.",
                total=count,
                runtime=name,
                rate=min(1.0, RULE_OF_THREE / count),
            )


def _rounds(stress: Stress, seen: Sequence[StressFinding]) -> Table:
    """Return the table of rounds, with a line for each runtime."""
    started, answers = by_runtime(stress, lambda one: int(one.ready)), answered(stress)
    return table(
        message("Rounds"),
        [
            col("runtime", str),
            col("rounds", started.get, whole),
            col("answers", answers.get, whole),
            *(col(one.found, one.counts.get, whole) for one in seen),
        ],
        [(NOTHING, answers)],
    )


def _traces(seen: Sequence[StressFinding]) -> Iterator[Section]:
    """Yield a section with the traceback of the first crash, and a section with the thread stacks
    of the first hang.
    """
    titles = {
        "crash": message("Traceback of the crash"),
        "hang": message("Stacks of the threads when a request timed out"),
    }
    for one in seen:
        of_round = attrgetter("crashes" if one.kind == "crash" else "stacks")
        texts = next(filter(None, map(of_round, one.rounds)), ())
        if texts and one.kind in titles:
            yield Section(
                f"{one.kind}-trace",
                titles[one.kind],
                sentences=(
                    message(
                        "Python's faulthandler printed this in a stress test round that crashed or "
                        "hung. If several rounds crashed or hung, this is the first of them; "
                        "rounds without the GIL take precedence."
                    ),
                ),
                texts=[*map(verbatim, texts)],
            )

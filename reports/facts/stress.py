"""What a stress found, as facts: of each kind of finding where it was seen, how often, and the first of it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.messages import NOTHING, Message
from core.stress import Round, Stress

WRONG, CRASH, HANG, FAILURE, NOTICE, INVALID, SILENT = (
    *("wrong", "crash", "hang", "failure", "notice", "invalid", "silent"),
)
TIMEOUT = "timeout"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """counts: of what a kind counts, by runtime, 0 where it was not seen. only_without_gil: the GIL's arm has none.

    example: the first wrong answer. lines: failures by code, or notices. reason: the first. traces: of crashes, hangs
    """

    kind: str
    counts: Mapping[str, int]
    only_without_gil: bool
    example: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    reason: Message = NOTHING
    traces: tuple[str, ...] = ()


def answered(stress: Stress) -> dict[str, int]:
    """Answers that were checked, by runtime."""
    counts = dict.fromkeys((one.runtime for one in stress.rounds), 0)
    for one in stress.rounds:
        counts[one.runtime] += one.answered
    return counts


def started(stress: Stress) -> Counter[str]:
    """Rounds whose service came so far as to be called, by runtime."""
    return Counter(one.runtime for one in stress.rounds if one.ready)


def findings(stress: Stress) -> list[Seen]:
    """The gravest kind first; none of a stress that found nothing."""
    seen = [_seen(kind, count, stress) for kind, count in KINDS.items()]
    return [one for one in seen if any(one.counts.values())]


def _crashes(one: Round) -> int:
    """Whether any of its processes crashed, 0 or 1: a server may start others in their place."""
    return int(bool(one.crashes) or _ended(one))


def _ended(one: Round) -> bool:
    """Whether the service ended, or broke the contract, while it was called, and left no trace."""
    return bool(one.ready and one.valid and one.reason and not (one.answered or one.wrong or one.failures))


def _hangs(one: Round) -> int:
    return one.failures.get(TIMEOUT, 0) or int(bool(one.stacks))


def _failures(one: Round) -> int:
    """Connections that broke, but for those of a service that crashed or hung: that has been said."""
    return 0 if _crashes(one) or _hangs(one) else sum(one.failures.values())


KINDS: Mapping[str, Callable[[Round], int]] = {
    CRASH: lambda one: 0 if _hangs(one) else _crashes(one),
    HANG: _hangs,
    WRONG: lambda one: one.wrong,
    FAILURE: _failures,
    NOTICE: lambda one: len(one.notices),
    INVALID: lambda one: int(not one.valid),
    SILENT: lambda one: int(not one.ready),
}


def _seen(kind: str, count: Callable[[Round], int], stress: Stress) -> Seen:
    counts = dict.fromkeys((one.runtime for one in stress.rounds), 0)
    for one in stress.rounds:
        counts[one.runtime] += count(one)
    rounds = sorted((one for one in stress.rounds if count(one)), key=lambda one: one.gil_enabled)
    under_gil = any(one.gil_enabled for one in rounds)
    compared = any(one.gil_enabled and one.answered for one in stress.rounds)
    return Seen(
        kind=kind,
        counts=counts,
        only_without_gil=bool(rounds) and compared and not under_gil,
        example=next((one.first_wrong for one in rounds if one.first_wrong), {}),
        lines=_lines(kind, rounds),
        reason=next((one.reason for one in rounds if one.reason), NOTHING),
        traces=next((traces for one in rounds if (traces := one.crashes if kind == CRASH else one.stacks)), ()),
    )


def _lines(kind: str, rounds: Sequence[Round]) -> tuple[str, ...]:
    if kind == NOTICE:
        return tuple(dict.fromkeys(line for one in rounds for line in one.notices))
    codes = Counter[str]()
    for one in rounds:
        codes.update(one.failures)
    return tuple(f"{count} x {code}" for code, count in sorted(codes.items()))

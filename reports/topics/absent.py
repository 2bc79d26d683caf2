"""What a plan asked for and the machine does not have: programs that are not built, packages that do not install."""

from collections.abc import Mapping, Sequence

from core.messages import COMMA, SEMICOLON, Message, listed, message
from core.runtime import NATIVE
from core.saved import Absent
from reports.facts.standings import titled
from reports.view import View


def by_reason(absences: Sequence[Absent]) -> dict[Message, dict[str, list[str]]]:
    """{reason: {system: runtimes}}: each reason with all that it keeps away."""
    reasons: dict[Message, dict[str, list[str]]] = {}
    for absence in absences:
        reasons.setdefault(absence.reason, {}).setdefault(absence.system, []).append(absence.runtime)
    return reasons


def absent_sentences(view: View) -> list[Message]:
    """One for each reason."""
    return [
        message(
            "Not measured: {systems} - {reason}",
            systems=places(systems, view),
            reason=reason,
        )
        for reason, systems in by_reason(view.plan.absent).items()
    ]


def places(systems: Mapping[str, Sequence[str]], view: View) -> Message:
    """Systems and their runtimes: 'Netty (Java); uvloop under 3.11, 3.14t'."""
    return listed((_where(*pair, view) for pair in systems.items()), SEMICOLON)


def _where(system: str, runtimes: Sequence[str], view: View) -> Message:
    name = message("system {system}", system=system) if system.isdigit() else titled(system, view.titles)
    if list(runtimes) == [NATIVE]:
        return name
    return message("{system} under {runtimes}", system=name, runtimes=listed(runtimes, COMMA))

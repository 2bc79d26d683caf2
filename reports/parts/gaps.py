"""Say what a run did not measure: systems and runtimes, each with the reason.

A runtime is missing if this machine lacks its interpreter (Run.missing). A system is absent if it
could not be measured under a runtime (SavedPlan.absent). parts/answer.py, parts/contest.py and
sections/results.py of reports/ show these sentences.
"""

from collections.abc import Sequence
from operator import attrgetter

from analysis.cell_index import grouped
from analysis.settings import titled
from core.messages import SEMICOLON, Message, listed, message
from core.runtime import NATIVE
from record.saved_plan import Absent
from reports.view import View


def missing_runtimes(view: View) -> tuple[Message, ...]:
    """Return a sentence with the reason for each runtime that this machine lacks."""
    return tuple(
        message("{runtime}: not measured. {reason}", runtime=runtime, reason=reason)
        for runtime, reason in view.run.missing.items()
    )


def absent_sentences(view: View) -> list[Message]:
    """Return a sentence for each reason why systems of the plan were not measured, such as 'Netty
    (Java); uvloop under 3.11, 3.14t'.
    """
    sentences = []
    for reason, alike in grouped(view.plan.absent, attrgetter("reason")).items():
        by_system = grouped(alike, attrgetter("system"))
        systems = (_under(system, same, view) for system, same in by_system.items())
        sentences.append(
            message(
                "Not measured: {systems}. Reason: {reason}",
                systems=listed(systems, SEMICOLON),
                reason=reason,
            )
        )
    return sentences


def _under(system: str, absent: Sequence[Absent], view: View) -> Message:
    """Return the title of a system and the runtimes that it lacks as text. A native program has no
    runtime.
    """
    runtimes = [one.runtime for one in absent]
    title = (
        message("system {system}", system=system)
        if system.isdigit()
        else titled(system, view.titles)
    )
    under = message("{system} under {runtimes}", system=title, runtimes=listed(runtimes))
    return title if runtimes == [NATIVE] else under

"""The result of `runner.py doctor` as a section of a document."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.messages import NOTHING, SENTENCES, Message, listed, message
from reports.document.model import Section, plain_table, words

WORDS: Mapping[bool | None, tuple[Message, str]] = {
    True: (message("ok"), "passed"),
    False: (message("warning"), "look"),
    None: (message("unknown"), "unknown"),
}


class Finding(Protocol):
    """The result of one check of the machine.

    good: None if the check is not possible
    remedy: empty if not needed
    """

    @property
    def name(self) -> Message: ...

    @property
    def value(self) -> Message: ...

    @property
    def good(self) -> bool | None: ...

    @property
    def remedy(self) -> Message: ...


def findings_section(findings: Sequence[Finding]) -> Section:
    """Return a section with a table of all checks, the remedies of failed checks, and a summary."""
    name, total = message("The machine"), verdict(findings)
    lines = [(words(WORDS[one.good][0], state=WORDS[one.good][1]), one.name, one.value) for one in findings]
    table = plain_table(name, (NOTHING,) * 3, lines)
    remedies = [message("{name}: {remedy}", name=one.name, remedy=one.remedy) for one in findings if one.good is False]
    heading = [message("What to do:")] if remedies else []
    return Section(
        key="doctor", title=name, tables=(table,), sentences=(*remedies, total),
        terminal=(table, *heading, *remedies, total),
    )  # fmt: skip


def verdict(findings: Sequence[Finding]) -> Message:
    """Return the summary of all checks in one or two sentences."""
    asking = [one.name for one in findings if one.good is False]
    unknown = sum(one.good is None for one in findings)
    quiet = message("No check found anything that disturbs a measurement.")
    if asking:
        quiet = message(
            "Conditions on this machine can distort measurements: {names}. To see by how much, measure more blocks, "
            "and measure one runtime twice (--aa).",
            names=listed(asking),
        )
    hidden = message(
        "{unknown} of {count} checks are not possible on this machine.", unknown=unknown, count=len(findings)
    )
    return listed([quiet, hidden], SENTENCES) if unknown else quiet

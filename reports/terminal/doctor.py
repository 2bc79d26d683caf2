"""What `runner.py doctor` found, as a section for every renderer."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.messages import NOTHING, SENTENCES, Message, listed, message
from reports.document.model import Section, plain_table, words

WORDS: Mapping[bool | None, tuple[Message, str]] = {
    True: (message("ok"), "passed"),
    False: (message("look"), "look"),
    None: (message("not known"), "unknown"),
}


class Finding(Protocol):
    """One thing that was inspected; good None: it cannot be known here. remedy: nothing if nothing needs to be done."""

    @property
    def name(self) -> Message: ...

    @property
    def value(self) -> Message: ...

    @property
    def good(self) -> bool | None: ...

    @property
    def remedy(self) -> Message: ...


def findings_section(findings: Sequence[Finding]) -> Section:
    """A line for each, then what to do about those that ask for a look, then the sum."""
    lines = [
        (words(WORDS[finding.good][0], state=WORDS[finding.good][1]), finding.name, finding.value)
        for finding in findings
    ]
    table = plain_table(message("The machine"), (NOTHING,) * 3, lines)
    remedies = [
        message("{name}: {remedy}", name=finding.name, remedy=finding.remedy)
        for finding in findings
        if finding.good is False
    ]
    heading = [message("What to do:")] if remedies else []
    return Section(
        key="doctor", title=message("The machine"), tables=(table,), sentences=(*remedies, verdict(findings)),
        terminal=(table, *heading, *remedies, verdict(findings)),
    )  # fmt: skip


def verdict(findings: Sequence[Finding]) -> Message:
    """The sum in one or two sentences."""
    asking = [finding.name for finding in findings if finding.good is False]
    unknown = sum(finding.good is None for finding in findings)
    quiet = message("Nothing that was found disturbs a measurement.")
    if asking:
        quiet = message("Not quiet: {names}. More blocks, and A/A, show how much it matters.", names=listed(asking))
    if not unknown:
        return quiet
    hidden = message("{unknown} of {count} cannot be known here.", unknown=unknown, count=len(findings))
    return listed([quiet, hidden], SENTENCES)

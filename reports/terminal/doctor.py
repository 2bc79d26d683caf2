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
    """Return a line for each, then what to do about those that ask for a look, then the sum."""
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
    """Return the sum in one or two sentences."""
    asking = [one.name for one in findings if one.good is False]
    unknown = sum(one.good is None for one in findings)
    quiet = message("Nothing that was found disturbs a measurement.")
    if asking:
        quiet = message("Not quiet: {names}. More blocks, and A/A, show how much it matters.", names=listed(asking))
    hidden = message("{unknown} of {count} cannot be known here.", unknown=unknown, count=len(findings))
    return listed([quiet, hidden], SENTENCES) if unknown else quiet

"""The result of `runner.py doctor` as a section of a document."""

from collections.abc import Mapping, Sequence

from core.messages import NOTHING, SENTENCES, Message, listed, message
from reports.document.model import Section, plain_table, words

WORDS: Mapping[bool | None, tuple[Message, str]] = {
    True: (message("ok"), "passed"),
    False: (message("warning"), "look"),
    None: (message("unknown"), "unknown"),
}


Finding = tuple[Message, Message, bool | None, Message]  # name of a check, what it saw, whether that is good, remedy


def findings_section(findings: Sequence[Finding]) -> Section:
    """Return a section with a table of all checks, the remedies of failed checks, and a summary.

    findings: of each check. It is neither good nor bad (None) if the check is not possible
    """
    title, total = message("The machine"), verdict(findings)
    lines = [(words(WORDS[good][0], state=WORDS[good][1]), name, value) for name, value, good, _ in findings]
    table = plain_table(title, (NOTHING,) * 3, lines)
    remedies = [
        message("{name}: {remedy}", name=name, remedy=remedy) for name, _, good, remedy in findings if good is False
    ]
    heading = [message("What to do:")] if remedies else []
    return Section(
        key="doctor", title=title, tables=(table,), sentences=(*remedies, total),
        terminal=(table, *heading, *remedies, total),
    )  # fmt: skip


def verdict(findings: Sequence[Finding]) -> Message:
    """Return the summary of all checks in one or two sentences."""
    asking = [name for name, _, good, _ in findings if good is False]
    unknown = sum(good is None for _, _, good, _ in findings)
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

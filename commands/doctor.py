"""The command doctor: show what disturbs measurements on this machine.

lab/machine/quiet.py reads the facts, lab/machine/machine_rules.py judges them, and this module
shows the findings.
"""

import json
from collections.abc import Mapping, Sequence

from commands.output import output
from config.plan_options import JSON
from core.messages import NOTHING, Message, message
from core.system import NATIVE_CLIENT
from lab import native_builds
from lab.machine import quiet
from lab.machine.machine_rules import Finding, judge_machine
from reports.document import Section, plain_table, words

# by Finding.good, which is None if the check was impossible: the text, and its state for renderers
WORDS: Mapping[bool | None, tuple[Message, str]] = {
    True: (message("ok"), "passed"),
    False: (message("warning"), "look"),
    None: (message("unknown"), "unknown"),
}


def main(arguments: Sequence[str]) -> int:
    """Run the command doctor. Return its exit status: 0, whatever it finds."""
    parser = output.parser("doctor")
    parser.add_group("what to print", JSON)
    as_json = parser.parse(arguments)["json"]
    facts = {**quiet.facts(), "native_client": not native_builds.missing(NATIVE_CLIENT.name)}
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        output.print_section(findings_section(judge_machine(facts)))
    return 0


def findings_section(findings: Sequence[Finding]) -> Section:
    """Return a section with a table of all checks, the remedies of failed checks, and a summary."""
    title = message("The machine")
    lines = []
    for one in findings:
        text, state = WORDS[one.good]
        value = one.value or message("this machine does not show it")
        lines.append((words(text, state=state), one.name, value))
    table = plain_table(title, (NOTHING,) * 3, lines)
    remedies = [
        message("{name}: {remedy}", name=one.name, remedy=one.remedy)
        for one in findings
        if one.good is False
    ]
    heading = [message("What to do:")] if remedies else []
    total = message("No check found anything that disturbs a measurement.")
    if remedies:
        total = message(
            "Conditions on this machine can distort measurements. To see by how much, measure more "
            "blocks, and measure one runtime twice (--aa)."
        )
    return Section(
        key="doctor", title=title, tables=(table,), sentences=(*remedies, total),
        terminal=(table, *heading, *remedies, total),
    )  # fmt: skip

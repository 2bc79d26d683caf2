"""The command doctor: show what disturbs measurements on this machine."""

import json
from collections.abc import Sequence

from commands.output import output
from config.plan_options import JSON
from lab.machine import quiet
from lab.machine.doctor import judge_machine
from lab.machine.wakeups import wakeups


def main(arguments: Sequence[str]) -> int:
    """Run the command doctor. Return its exit status: 0, whatever it finds."""
    from reports.render.console import terminal
    from reports.render.terminal import print_section
    from reports.terminal.doctor import findings_section

    parser = output.parser("doctor", arguments)
    parser.add_group("what to print", JSON)
    as_json = parser.parse(arguments)["json"]
    facts = {**quiet.facts(), **wakeups()}
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        findings = [(one.name, one.value, one.good, one.remedy) for one in judge_machine(facts)]
        print_section(findings_section(findings), terminal(), output.language)
    return 0

"""What `runner.py doctor` shows of the machine."""

from commands.doctor import findings_section
from lab.machine.machine_rules import judge_machine


def test_what_the_machine_does_not_show_is_said_in_words() -> None:
    (table,) = findings_section(judge_machine({})).tables
    ((_, lines),) = table.groups
    assert {str(line[2].words) for line in lines} == {"this machine does not show it"}

"""What facts of the machine are judged to mean."""

import json
from typing import Any

from core.messages import NOTHING
from lab.machine.machine_rules import disturbances, judge_machine
from tests.tables import each_row

SECOND_NS = 1_000_000_000
QUIET: dict[str, Any] = json.loads("""{
    "native_client": true, "cores": 8, "governors": ["performance"], "turbo": false, "smt": false,
    "cores_quota": "unlimited", "aslr": 2,
    "window": {
        "window_ns": 500000000, "steal": 0.001, "swapped_pages": 0, "throttles": 0, "quota_stalled_ns": 0,
        "others": {"cores": 8, "share": 0.01, "busiest": {"make": 0.01}}
    }
}""")


def test_a_quiet_machine_has_findings_that_are_all_good_and_one_that_tells_nothing_the_same_that_are_unknown() -> None:
    for machine in (QUIET, {**QUIET, "cores_quota": 8.0}):
        assert {(one.good, one.remedy) for one in judge_machine(machine)} == {(True, NOTHING)}
    assert {(one.good, one.value, one.remedy) for one in judge_machine({})} == {(None, NOTHING, NOTHING)}
    assert [one.code for one in judge_machine({})] == [one.code for one in judge_machine(QUIET)]


@each_row
def test_what_disturbs_is_found_with_its_value_and_what_to_do(line: str) -> None:
    change, _, found = line.partition(" -> ")
    key, _, text = change.partition("=")
    name, _, value = found.partition(": ")
    changed = {key.removeprefix("."): json.loads(text)}
    facts = {**QUIET, "window": {**QUIET["window"], **changed}} if key.startswith(".") else {**QUIET, **changed}
    (one,) = [one for one in judge_machine(facts) if str(one.name) == name]
    assert one.good is False
    assert value in str(one.value)
    assert one.remedy != NOTHING


def test_a_quota_stall_is_judged_by_the_time_of_the_arm_in_a_window_that_four_arms_share() -> None:
    """30 ms of a stall are 0.75 % of the window of 4 s, and 3 % of the second that the arm had its turns."""
    window = {**QUIET["window"], "window_ns": 4 * SECOND_NS, "quota_stalled_ns": 30_000_000}
    assert disturbances(window, own_ns=4 * SECOND_NS) == []
    steal, stall = disturbances({**window, "steal": 0.2}, own_ns=SECOND_NS)
    assert (steal.code, stall.code) == ("steal", "quota")
    assert str(stall) == "the CPU quota throttled threads for 30 ms of 1.0 s"

"""What facts of the machine are judged to mean."""

import json
from typing import Any

import pytest

from core.messages import NOTHING
from lab.machine.machine_rules import disturbances, judge_machine

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


# What is changed, below `window` if the name begins with a dot, and how it is called.
DISTURBING = """\
.others={"cores": 8, "share": 0.0625, "busiest": {"make": 0.01}} -> other processes: 0.50 of 8 cores: make
.steal=0.034 -> CPU steal: 3.4 %
.swapped_pages=1 -> swapping: 1 memory page was
.throttles=2 -> throttling: 2 times
.quota_stalled_ns=50000000 -> quota throttling: 50 ms of 0.5 s
governors=["performance", "powersave"] -> frequency governor: performance, powersave
turbo=true -> turbo: on
smt=true -> SMT: on:
cores_quota=1.5 -> CPU quota: 1.5 of 8 cores
aslr=0 -> address space randomisation: off"""


@pytest.mark.parametrize("line", DISTURBING.splitlines())
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

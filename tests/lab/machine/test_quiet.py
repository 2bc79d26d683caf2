"""How quiet the machine is and its other facts, read from /proc and /sys trees that the tests write; open files."""

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from core.messages import BadInput
from lab.machine import host, quiet
from lab.machine.quiet import Snapshot, TreeTimes, between, facts, snapshot
from tests.tables import each_row, table

MACHINES = table(__file__, "machines.yaml")
WORKSTATION = MACHINES["WORKSTATION"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in the place of that of /proc and /sys."""
    monkeypatch.setattr(host, "ROOT", tmp_path)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def test_all_facts_of_a_workstation_are_read(root: Path) -> None:
    write(root, WORKSTATION)
    known = facts(0)
    del known["window"]
    assert known == {
        "cores": 2,
        "governors": ["performance", "powersave"],
        "turbo": True,
        "smt": True,
        "cores_quota": 1.5,
        "aslr": 2,
    }
    taken = snapshot()
    assert taken.counts == {
        **dict(zip(quiet.TICKS, (100, 5, 50, 1000, 20, 1, 2, 3), strict=True)),
        "swapped_pages": 15,
        "throttles": 5,
        "quota_stalled_ns": 90_000,
    }


def test_a_machine_that_tells_nothing_has_facts_that_are_all_none(root: Path) -> None:
    known = facts(0)
    window = known.pop("window")
    assert set(known.values()) == {None}
    assert {value for name, value in window.items() if name != "window_ns"} == {None}


def test_no_single_file_that_is_missing_or_odd_raises(root: Path) -> None:
    for path in WORKSTATION:
        write(root, {**WORKSTATION, path: "odd: :\ncpu a b c d e f g h\n"})
        facts(0)
        (root / path).unlink()
        facts(0)


@each_row
def test_a_fact_is_found_in_the_files_of_every_driver_and_version(root: Path, line: str) -> None:
    told, there, more = line.split(" | ")
    name, value = told.split()
    path, _, content = more.partition("=")
    write(root, {**MACHINES[there], path: content})
    assert facts(0)[name] == json.loads(value)
    assert snapshot().counts.get("quota_stalled_ns") == (1_500 if there == "OLD" else None)


BEFORE = Snapshot(
    at_ns=10_000_000_000,
    cores=2,
    cpus=frozenset({0, 1}),
    busy_ticks=0,
    processes={},
    sees_all=True,
    counts={
        **dict.fromkeys(quiet.TICKS, 1000),
        "swapped_pages": 10,
        "throttles": 0,
        "quota_stalled_ns": 5,
    },
)


def two_seconds_later(**changes: Any) -> Snapshot:
    """On 2 cores at 100 ticks a second there are 400 ticks: 220 used, 20 for interrupts, 100 + 40 idle, 20 stolen."""
    grown = {"user": 100, "nice": 20, "system": 100, "idle": 100, "iowait": 40, "irq": 5, "softirq": 15, "steal": 20}
    counts = {
        **{kind: 1000 + more for kind, more in grown.items()},
        "swapped_pages": 14,
        "throttles": 3,
        "quota_stalled_ns": 1_005,
    }
    return BEFORE._replace(**{"at_ns": BEFORE.at_ns + 2_000_000_000, "counts": counts, **changes})


def test_a_window_holds_shares_and_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: 100)
    assert between(BEFORE, two_seconds_later()) == {
        "window_ns": 2_000_000_000,
        "steal": 0.05,
        "others": {"cores": 2, "window_ns": 2_000_000_000, "share": 0.0, "busiest": {}, "neighbours": {}},
        "swapped_pages": 4,
        "throttles": 3,
        "quota_stalled_ns": 1_000,
    }


def test_what_only_one_snapshot_knows_is_none_no_length_has_no_shares_and_no_counter_runs_backwards() -> None:
    counts = two_seconds_later().counts
    assert between(BEFORE, two_seconds_later(counts={**counts, "steal": 990}))["steal"] == 0
    unknown = {*quiet.TICKS, "swapped_pages"}
    known = {name: count for name, count in counts.items() if name not in unknown}
    window = between(BEFORE, two_seconds_later(counts=known))
    assert window["steal"] is window["others"] is window["swapped_pages"] is None
    assert window["throttles"] == 3
    window = between(BEFORE, BEFORE)
    assert window["steal"] is window["others"] is None
    assert window["swapped_pages"] == 0


# Number, start, name, parent, ticks, ticks waited; {} is the runner.
EARLIER = """\
1 0 init 0 5 0
{} 9 python3 1 100 0
50 9 python3.14t {} 30 0
51 9 client {} 7 0
60 9 loop 1 1000 0
61 9 short 60 10 0
70 9 postgres 1 300 0
80 9 old 1 9999 0
"""
LATER = """\
1 0 init 0 5 9999
{} 9 python3 1 110 40
50 9 python3.14t {} 200 0
60 9 loop 1 1040 18
70 9 postgres 1 320 0
80 11 new 1 2 0
"""


def processes(table: str) -> dict[tuple[int, int], TreeTimes]:
    rows = map(str.split, table.replace("{}", str(os.getpid())).splitlines())
    return {
        (int(pid), int(start)): TreeTimes(name, int(parent), int(ticks), int(waited), 0)
        for pid, start, name, parent, ticks, waited in rows
    }


def test_what_others_used_is_counted_process_by_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 2 s on 2 cores there are 400 ticks. Ours: the runner, its service, and a client that has ended meanwhile.

    Others: 40 of a loop, 8 of its child, which ended after 10 before; 20 of a database; a number that was used again.
    """
    monkeypatch.setattr("os.sysconf", lambda name: 100)
    before, after = BEFORE._replace(processes=processes(EARLIER)), two_seconds_later(processes=processes(LATER))
    used = {"cores": 2, "window_ns": 2_000_000_000}
    assert between(before, after)["others"] == {
        **used,
        "share": 0.175,  # 40 + 8 + 20 + 2 of 400
        "busiest": {"loop": 0.1, "postgres": 0.05, "new": 0.005},
        "neighbours": {},
    }
    assert between(before, after, ["postgres", "redis"])["others"] == {
        **used,
        "share": 0.125,
        "busiest": {"loop": 0.1, "new": 0.005},
        "neighbours": {"postgres": 0.05, "redis": 0.0},
    }
    assert between(before, after, also_ours=[60])["others"]["share"] == 0.055
    hidden = after._replace(sees_all=False, busy_ticks=300)  # of which 10 + 170 + 33 are ours
    assert between(before, hidden)["others"]["share"] == 0.2175


def test_a_name_is_read_whatever_is_in_it(root: Path) -> None:
    fields = "S 1 1 1 0 -1 0 0 0 0 0 11 4 2 1 20 0 1 0 777 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0"
    write(root, {"proc/12/stat": f"12 (a) (b\x1b[2J) {fields}"})
    assert snapshot().processes == {(12, 777): TreeTimes("a) (b?[2J", 1, 15, 3, 1)}
    write(root, {"proc/12/stat": f"12 (memfd:sealed-91) {fields}"})
    assert snapshot().processes == {(12, 777): TreeTimes("a program in memory", 1, 15, 3, 1)}


@pytest.mark.usefixtures("root")
def test_facts_that_cannot_be_had_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> object:
        raise OSError

    for name in ("os.getloadavg", "os.sysconf", "platform.freedesktop_os_release"):
        monkeypatch.setattr(name, refuse)
    facts = host.facts()
    missing = {name for name, value in facts.items() if value is None}
    assert missing >= {"governor", "cores_quota", "memory_bytes", "load"}


def test_more_open_files_than_the_hard_limit_or_the_system_allows_are_refused_with_both_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    for soft, hard, named in ((1024, 4096, 4096), (256, resource.RLIM_INFINITY, 256)):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, limits=(soft, hard): limits)
        with pytest.raises(BadInput, match=rf"needs 5000 .* is {named}\D.*ulimit -Hn 5000"):
            host.raise_open_files(5000)

"""Machine facts and the room for open files."""

import platform
import resource
from pathlib import Path

import pytest

from core.errors import BadInput
from lab.machine import host
from lab.machine.host import Reader
from tests.lab.machine.test_quiet import WORKSTATION, write


def test_facts_that_cannot_be_had_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> object:
        raise OSError

    monkeypatch.setattr(host, "_sysctl", lambda name: None)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "freedesktop_os_release", refuse)
    monkeypatch.setattr("os.getloadavg", refuse)
    monkeypatch.setattr("os.sysconf", refuse)
    facts = host.facts(Reader(root=tmp_path))
    missing = {name for name, value in facts.items() if value is None}
    assert missing >= {"cpu", "governor", "cores_quota", "memory_bytes", "load"}


@pytest.mark.parametrize(
    ("of_slice", "of_scope", "cores"),
    [
        ("150000 100000", "max 100000", 1.5),
        ("150000 100000", "50000 100000", 0.5),
        ("max 100000", "max 100000", None),
        ("odd", "", None),
    ],
)
def test_the_quota_is_the_smallest_from_our_control_group_upwards(
    tmp_path: Path, of_slice: str, of_scope: str, cores: float | None
) -> None:
    reader, folder = Reader(root=tmp_path), "sys/fs/cgroup/user.slice"
    write(reader, WORKSTATION | {f"{folder}/cpu.max": of_slice, f"{folder}/shell.scope/cpu.max": of_scope})
    assert host.facts(reader)["cores_quota"] == cores


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

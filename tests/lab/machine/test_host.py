"""Machine facts and the room for open files."""

import platform
import resource

import pytest

from core.errors import BadInput
from lab.machine import host


def test_facts_that_cannot_be_had_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> object:
        raise OSError

    monkeypatch.setattr(host, "_text", lambda path: "")
    monkeypatch.setattr(host, "_sysctl", lambda name: None)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "freedesktop_os_release", refuse)
    monkeypatch.setattr("os.getloadavg", refuse)
    monkeypatch.setattr("os.sysconf", refuse)
    facts = host.facts()
    missing = {name for name, value in facts.items() if value is None}
    assert missing >= {"cpu", "governor", "cores_quota", "memory_bytes", "load"}


@pytest.mark.parametrize(("text", "cores"), [("150000 100000", 1.5), ("max 100000", None), ("", None), ("odd", None)])
def test_a_quota_of_the_control_group_is_given_in_cores(
    monkeypatch: pytest.MonkeyPatch, text: str, cores: float | None
) -> None:
    monkeypatch.setattr(host, "_text", lambda path: text)
    assert host.facts()["cores_quota"] == cores


@pytest.mark.parametrize("limits", [(1024, 4096), (256, resource.RLIM_INFINITY)])
def test_more_open_files_than_the_hard_limit_or_the_system_allows_are_refused_with_both_numbers(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int]
) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits)
    monkeypatch.setattr(resource, "setrlimit", refuse)
    with pytest.raises(BadInput, match=r"needs 5000 .* is (4096|256)\D.*ulimit -Hn 5000"):
        host.raise_open_files(5000)

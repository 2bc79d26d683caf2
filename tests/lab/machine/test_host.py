"""Machine facts and the room for open files."""

import resource
from pathlib import Path

import pytest

from core.errors import BadInput
from lab.machine import host
from lab.machine.host import Reader


def test_facts_that_cannot_be_had_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> object:
        raise OSError

    for name in ("os.getloadavg", "os.sysconf", "platform.freedesktop_os_release"):
        monkeypatch.setattr(name, refuse)
    facts = host.facts(Reader(root=tmp_path))
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

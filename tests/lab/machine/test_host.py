"""Machine facts and the room for open files."""

import json
import platform
import resource
from collections.abc import Iterator

import pytest

from core.errors import BadInput
from lab.machine import host


@pytest.fixture
def open_files_limit() -> Iterator[tuple[int, int]]:
    """The limits of this process, which the test may change and gets back."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield limits
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_the_facts_can_be_written_as_json_and_name_what_a_reader_needs() -> None:
    facts = json.loads(json.dumps(host.facts()))
    assert facts["cores"] >= facts["cores_usable"] >= 1
    assert facts["memory_bytes"] > 100_000_000
    assert len(facts["load"]) == 3
    assert facts["python"] == platform.python_version()
    assert set(facts) >= {"cpu", "kernel", "os", "governor", "limits"}


def test_the_facts_do_not_hold_the_hosts_name(monkeypatch: pytest.MonkeyPatch) -> None:
    real = platform.uname()
    fake = real._replace(node="a-name-of-nobody")
    monkeypatch.setattr(platform, "uname", lambda: fake)
    assert "a-name-of-nobody" not in json.dumps(host.facts())


def test_the_limits_are_numbers_or_unlimited(open_files_limit: tuple[int, int]) -> None:
    soft, hard = open_files_limit
    limits = host.facts()["limits"]
    assert limits["nofile_soft"] == (host.UNLIMITED if soft == resource.RLIM_INFINITY else soft)
    assert limits["nofile_hard"] == (host.UNLIMITED if hard == resource.RLIM_INFINITY else hard)


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


def test_open_files_are_raised_to_what_is_needed(open_files_limit: tuple[int, int]) -> None:
    _, hard = open_files_limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
    host.raise_open_files(200)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (200, hard)


def test_enough_open_files_are_left_as_they_are(open_files_limit: tuple[int, int]) -> None:
    host.raise_open_files(1)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == open_files_limit


def test_more_open_files_than_the_hard_limit_are_refused_with_both_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1024, 4096))
    with pytest.raises(BadInput) as caught:
        host.raise_open_files(5000)
    assert "needs 5000 open files" in str(caught.value)
    assert "limit here is 4096" in str(caught.value)
    assert "ulimit -Hn 5000" in str(caught.value)


def test_a_system_that_refuses_the_new_limit_is_bad_input_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    with pytest.raises(BadInput, match="needs 5000 open files in one process; the limit here is 256"):
        host.raise_open_files(5000)

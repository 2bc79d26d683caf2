"""Runtimes that are missing are installed by uv; what keeps it from that is said in one line."""

from pathlib import Path

import pytest

from lab.python import uv
from lab.python.interpreters import install
from tests.lab.python.fake_pythons import script


def test_install_says_in_one_line_that_there_is_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = "error: Failed to install cpython-3.14.2\n  cause: dns error\n  cause: failed to lookup address"
    fake_uv = script(tmp_path / "uv", f"echo '{account}' >&2; exit 1")
    monkeypatch.setattr(uv, "find", lambda: fake_uv)
    assert [str(line) for line in install(["3.14t", "3.14t+gil"])] == [
        "Runtime 3.14t could not be installed: no network: dns error. Try again with: uv python install 3.14t"
    ]


def test_install_asks_uv_for_each_name_and_reports_only_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_uv = script(
        tmp_path / "uv",
        f'echo "$@ $UV_HTTP_RETRIES" >>{tmp_path}/log\n'
        '[ "$3" = 3.99 ] && { echo "error: No download found for request: 3.99." >&2; exit 2; }; exit 0',
    )
    monkeypatch.setattr(uv, "find", lambda: fake_uv)
    (line,) = install(["3.14", "3.99"])
    assert str(line).startswith("Runtime 3.99 could not be installed: No download found for request: 3.99. Try")
    assert (tmp_path / "log").read_text() == "python install 3.14 0\npython install 3.99 0\n"


def test_install_gives_up_at_its_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_uv = script(tmp_path / "uv", "exec sleep 60")
    monkeypatch.setattr(uv, "find", lambda: fake_uv)
    (line,) = install(["3.14"], timeout_s=0.2)
    assert str(line).startswith("Runtime 3.14 could not be installed: it did not end within 0.2 s.")


def test_install_without_uv_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uv, "find", lambda: None)
    (line,) = install(["3.14"])
    assert "uv was not found; install it with: pip install uv" in str(line)

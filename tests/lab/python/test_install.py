"""Runtimes that are missing are installed by uv; what keeps it from that is said in one line."""

from pathlib import Path

import pytest

from lab.python import uv
from lab.python.interpreters import install
from tests.lab.python.fake_pythons import script


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (
            "echo 'error: Failed to install\n  cause: dns error\n  cause: failed to lookup address' >&2; exit 1",
            "no network: dns error. Try again with: uv python install 3.14t",
        ),
        ("exec sleep 60", "it did not end within 0.2 s."),
        ("", "uv was not found"),
    ],
)
def test_install_says_once_in_one_line_why_a_runtime_could_not_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    fake_uv = script(tmp_path / "uv", program) if program else None
    monkeypatch.setattr(uv, "find", lambda: fake_uv)
    (line,) = install(["3.14t", "3.14t+gil"], timeout_s=0.2 if "sleep" in program else 60.0)
    assert why in str(line)


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

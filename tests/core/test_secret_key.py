"""The key is made once, for the user alone."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core import secret_key
from core.errors import BadInput


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "gilscope"


def test_all_who_begin_at_once_have_the_same_key(state: Path) -> None:
    state.mkdir()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: secret_key._make(state / "key"), range(32)))
    assert [path.name for path in state.iterdir()] == ["key"]
    assert stat.S_IMODE((state / "key").stat().st_mode) == 0o600
    assert secret_key.key() == (state / "key").read_bytes()
    assert secret_key.key().hex() not in secret_key.key_id()


def test_a_key_that_is_cut_short_is_refused_with_its_place(state: Path) -> None:
    state.mkdir()
    (state / "key").write_bytes(b"short")
    with pytest.raises(BadInput, match=r"gilscope/key.* 5 bytes"):
        secret_key.key()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(BadInput, match="XDG_STATE_HOME"):
        secret_key.key()

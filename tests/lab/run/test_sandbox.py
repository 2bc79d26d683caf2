"""The private folder and the process group: gone at the end, however the end comes."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from pathlib import Path

import pytest

from core import parent
from core.messages import BadInput
from lab.folders import LONGEST_SOCKET_NAME, SOCKET_PATH_LIMIT, Sandbox
from tests.started import Started, started
from tests.tables import each_row

DEADLINE_S = 20.0


@pytest.fixture
def temporary(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sandboxes of this test make their folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(short_folder))
    return short_folder


def test_the_folder_is_private_and_gone_at_the_end_also_after_an_error(temporary: Path) -> None:
    with suppress(KeyboardInterrupt), Sandbox() as sandbox, Sandbox() as other:
        assert len({sandbox.process_group, other.process_group, os.getpgrp()}) == 3
        assert sandbox.folder.parent == temporary
        assert stat.S_IMODE(sandbox.folder.stat().st_mode) == 0o700
        (sandbox.folder / "a").mkdir()
        (sandbox.folder / "a/file").write_text("x")
        raise KeyboardInterrupt
    assert list(temporary.iterdir()) == []


STUBBORN = "import signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\nprint('', flush=True)\nsignal.pause()"


def in_group(sandbox: Sandbox, program: str, *words: str) -> AbstractContextManager[Started]:
    """A process of its group."""
    return started(sys.executable, "-c", program, *words, process_group=sandbox.process_group)


def test_a_signal_to_the_whole_group_does_not_stop_the_cleaning_and_who_ignores_it_is_killed(temporary: Path) -> None:
    with ExitStack() as stack:
        with Sandbox() as sandbox:
            child = stack.enter_context(in_group(sandbox, STUBBORN))
            (sandbox.folder / "file").write_text("x")
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.killpg(sandbox.process_group, number)
            assert child.process.poll() is None
            assert sandbox.folder.exists()
        assert child.process.wait(DEADLINE_S) == -signal.SIGKILL
    assert list(temporary.iterdir()) == []


WRITER = """
import os, sys
print('', flush=True)
n = 0
while True:
    n += 1
    try:
        os.makedirs(f"{sys.argv[1]}/{n % 50}", exist_ok=True)
        open(f"{sys.argv[1]}/{n % 50}/{n % 7}", "w").close()
    except OSError:
        pass
"""


def test_the_folder_is_gone_although_a_process_of_the_group_still_writes_to_it(temporary: Path) -> None:
    with ExitStack() as stack:
        with Sandbox() as sandbox:
            folder = str(sandbox.folder)
            writers = [stack.enter_context(in_group(sandbox, WRITER, folder)) for _ in range(4)]
        assert all(writer.process.wait(DEADLINE_S) < 0 for writer in writers)
    assert list(temporary.iterdir()) == []


def test_no_file_in_the_folder_names_a_process_to_be_killed_or_a_folder_to_be_removed(temporary: Path) -> None:
    """The folder may belong to the user of a database, while the reaper is root's."""
    group = temporary / "group"
    group.mkdir()
    with started(sys.executable, "-c", STUBBORN) as victim:
        with Sandbox() as sandbox:
            (group / "cgroup.procs").write_text(f"{victim.pid}\n")
            (sandbox.folder / "groups").write_text(f"{group}\n")
        assert victim.process.poll() is None
    assert list(temporary.iterdir()) == [group]


def test_numbers_that_are_no_process_end_nothing_and_the_folder_is_removed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: killed.append(pid))
    monkeypatch.setattr(parent, "TRIES", 1)
    for text, ended in (("0\n-1\n1\n", []), ("812\nx\n813\n", [812])):
        (temporary / "cgroup.procs").write_text(text)
        parent.remove_group(str(temporary))
        assert killed == ended


@pytest.mark.parametrize("is_free", [True, False])
def test_a_folder_of_a_users_files_goes_with_its_lock(temporary: Path, is_free: bool) -> None:
    files = temporary / "files"
    with ExitStack() as stack:
        with Sandbox() as sandbox:
            (files / "own").mkdir(parents=True)
            lock = stack.enter_context(open(f"{files}.lock", "w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            sandbox.remove_at_end(files)
            if is_free:
                lock.close()
        assert files.exists() is not is_free


@each_row
def test_a_folder_too_long_for_sockets_is_refused_with_a_remedy_and_leaves_nothing(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch, spare: int
) -> None:
    fits = SOCKET_PATH_LIMIT - LONGEST_SOCKET_NAME - len("/gilscope-12345678")
    above = short_folder / ("d" * (fits - spare - len(str(short_folder)) - 1))
    above.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(above))
    with nullcontext() if spare == 0 else pytest.raises(BadInput, match=r"limit is 103 bytes\. Set TMPDIR"), Sandbox():
        pass
    assert list(above.iterdir()) == []


def test_a_sandbox_whose_reaper_cannot_start_leaves_no_folder(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", fail)
    with pytest.raises(BadInput, match="No process can be started: Resource"):
        Sandbox()
    assert list(temporary.iterdir()) == []

"""What lacks around a command is said in one line, with exit status 2, at once; nothing is left behind."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import runner
from lab.places import REPOSITORY
from tests.campaign.hostile import sample
from tests.conftest import runtime_or_skip
from tests.tables import table

RUNNER = REPOSITORY / "runner.py"
AT_ONCE = (resource.RLIMIT_CPU, 5)  # seconds of processor time, as the machine may be busy: then it is killed
DEADLINE_S = 60.0
NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount, and become another user")


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """A folder for everything temporary, which a command must leave empty."""
    with tempfile.TemporaryDirectory(prefix="g-", dir="/tmp") as folder:
        yield Path(folder)
        assert sorted(Path(folder).rglob("*")) == []


def gilscope(
    *arguments: str,
    room: Path,
    shell: str = "",
    folder: Path = REPOSITORY,
    user: int | None = None,
    limit: tuple[int, int] = (resource.RLIMIT_CPU, 60),
    runner: Path = RUNNER,
    **variables: str,
) -> subprocess.CompletedProcess[bytes]:
    """A command as it is typed; *shell* comes after it, such as a redirection."""
    command = [sys.executable, str(runner), *arguments]
    if shell:
        command = ["sh", "-c", f'"$@" {shell}', "sh", *command]
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=DEADLINE_S,
        cwd=folder,
        env=os.environ | {"TMPDIR": str(room)} | variables,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        preexec_fn=lambda: resource.setrlimit(limit[0], (limit[1], limit[1])),
    )


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    """The one line on standard error of a command that ended with 2."""
    text = done.stderr.decode()
    assert done.returncode == 2, text
    assert done.stdout == b""
    assert "bug" not in text
    assert "Traceback" not in text
    errors = [line for line in text.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, text
    return errors[0]


BOMB = "a0: &a0 [x]\n"  # nine levels of ten aliases each
for level in range(1, 10):
    BOMB += f"a{level}: &a{level} [{f'*a{level - 1},' * 10}]\n"
SIZES = list(range(1, 1001))
PLANS = {
    "alias bomb": BOMB + "rows: [{system: 4, NUM_CLIENTS: *a9}]",
    "an alias that holds itself": "rows: &a [*a]",
    "10^9 cells": (
        f"rows: [{{system: 4, NUM_API_SERVICES: {SIZES}, NUM_WORKERS_PER_API_SERVICE: {SIZES}, "
        f"NUM_REQUESTS_PER_CLIENT: {SIZES}}}]"
    ),
    "30 MB": "# " + "x" * 30_000_000,
    "deep": "rows: " + "[" * 250_000,
    "deep mappings": "rows: " + "{a: " * 60_000,
    "not valid UTF-8": "\udcff",
}


@pytest.mark.parametrize("name", sample(list(PLANS), 2))
def test_a_plan_that_is_no_plan_is_refused_at_once(name: str, tmp_path: Path, room: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLANS[name], encoding="utf-8", errors="surrogateescape")
    done = gilscope("--plan", str(plan), "--out", str(tmp_path / "out"), room=room, limit=AT_ONCE)
    assert str(plan) in said(done) or name == "10^9 cells"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("line", "shell", "named"), sample(table(__file__), 2))
def test_what_lacks_around_a_command_is_named(line: str, shell: str, named: str, room: Path) -> None:
    assert named in said(gilscope(*line.split(), room=room, shell=shell))


def test_a_deleted_current_folder_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = ["sh", "-c", 'rmdir ../gone; exec "$@"', "sh", sys.executable, str(RUNNER), "list"]
    assert "folder" in said(subprocess.run(command, check=False, capture_output=True, cwd=gone, timeout=DEADLINE_S))


@pytest.mark.parametrize("arguments", sample([["--help"], ["list", "--help"], ["plan", "--system", "4"]], 1))
@pytest.mark.parametrize("shell", sample(["2>&-", "<&-", "<&- 2>&-"], 1))
def test_settings_of_python_and_other_closed_streams_change_nothing(
    arguments: list[str], shell: str, room: Path
) -> None:
    plain = gilscope(*arguments, room=room)
    done = gilscope(*arguments, room=room, shell=shell, PYTHONSAFEPATH="1", PYTHONOPTIMIZE="2", PYTHONNOUSERSITE="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, b"")


RUN = ("--system", "1", "--runtime", "3.14", "--blocks", "1", "--num-clients", "1", "--num-api-services", "1")
AUDIT = ("audit", "--package", "gilscope-no-such-package")


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A small file system of its own at *folder*."""
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@as_root
@pytest.mark.parametrize("options", sample(["nr_inodes=1", "size=4k", "size=64k,ro"], 1))
@pytest.mark.parametrize("arguments", sample([RUN, AUDIT], 1), ids=" ".join)
def test_a_temporary_folder_into_which_nothing_fits(
    options: str, arguments: tuple[str, ...], tmp_path: Path, short_folder: Path
) -> None:
    runtime_or_skip("3.14t" if arguments == AUDIT else "3.14")
    with mounted(short_folder / "full", options) as full:
        out = [] if arguments == AUDIT else ["--out", str(tmp_path / "out")]
        done = gilscope(*arguments, *out, room=full)
        assert str(full) in said(done)
        assert list(full.iterdir()) == []
    assert not (tmp_path / "out").exists()


@as_root
def test_a_limit_of_three_processes(room: Path) -> None:
    os.chmod(room, 0o777)
    with tempfile.TemporaryDirectory(prefix="g-", dir="/tmp") as folder:
        try:
            done = gilscope("doctor", room=room, folder=Path(folder), user=NOBODY, limit=(resource.RLIMIT_NPROC, 3))
        except PermissionError as error:
            pytest.skip(f"nobody may not run this checkout: {error}")
    if b"Permission denied" in done.stderr or b"there is no " in done.stderr:
        pytest.skip("nobody may not read this checkout")
    assert "process" in said(done)


def test_a_set_up_that_is_not_whole_is_named_with_what_makes_it_again(tmp_path: Path, room: Path) -> None:
    for package in REPOSITORY.glob("*/__init__.py"):
        (tmp_path / package.parent.name).symlink_to(package.parent)
    copied = Path(shutil.copy2(RUNNER, tmp_path))
    real = os.path.realpath(sys.executable)
    subprocess.run([real, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    (site,) = tmp_path.glob(".venv/lib/python3.*/site-packages")
    assert said(gilscope("list", room=room, runner=copied)).endswith("make setup")
    for name in runner.LIBRARIES:
        (site / name).mkdir()
        (site / name / "__init__.py").write_text("from . import missing_half")
    assert said(gilscope("list", room=room, runner=copied)).endswith("make setup")

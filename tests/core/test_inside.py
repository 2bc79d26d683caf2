"""What starts inside a service's Python processes, and that the service does not notice it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from core import inside
from lab.run.instrumentation import SOURCE
from lab.run.measured_runtimes import Runtime
from tests.tables import each_row

NOTES_ITS_START = """
import os
def start(folder, options):
    with open(os.path.join(folder, f"note-{os.getpid()}"), "w") as file:
        file.write(options["word"])
"""
FAILS = "def start(folder, options): raise RuntimeError('no luck')"


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A copy of the folder with parts of this test's own."""
    folder = tmp_path / "parts"
    folder.mkdir()
    shutil.copy(SOURCE / "sitecustomize.py", folder)
    (folder / "note.py").write_text(NOTES_ITS_START)
    (folder / "fails.py").write_text(FAILS)
    return folder


def ask(runtime: Runtime, parts: Path, code: str, *options: str, asked: object = None, after: str = "") -> str:
    """What *code* prints in a process in which `note` is to start. after: what the user has in PYTHONPATH."""
    written = parts.parent / "written"
    written.mkdir(exist_ok=True)
    (written / inside.OPTIONS).write_text(json.dumps({"note": {"word": "here"}} if asked is None else asked))
    path = os.pathsep.join(filter(None, [str(parts), after]))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, inside.FOLDER: str(written)}
    command = [str(runtime.interpreter.executable), *options, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout


def notes(parts: Path) -> list[str]:
    return [file.read_text() for file in (parts.parent / "written").glob("note-*")]


def test_a_part_starts_before_the_service_and_the_service_does_not_see_it(runtime: Runtime, parts: Path) -> None:
    code = """
import os, sys
print(os.listdir(os.environ["GILSCOPE_INSIDE"]).count(f"note-{os.getpid()}"))
print(any("parts" in entry for entry in sys.path))
try:
    import sitecustomize  # Debian's Python has one of its own
    print("parts" in sitecustomize.__file__)
except ImportError:
    print(False)
"""
    assert ask(runtime, parts, code).split() == ["1", "False", "False"]
    assert notes(parts) == ["here"]


def test_a_forked_child_starts_its_parts_anew(runtime: Runtime, parts: Path) -> None:
    code = "import os; pid = os.fork(); pid and os.waitpid(pid, 0)"
    ask(runtime, parts, code, "-W", "ignore")
    assert notes(parts) == ["here", "here"]


def test_the_users_own_sitecustomize_runs_as_it_would(any_runtime: Runtime, parts: Path) -> None:
    own = parts.parent / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import builtins; builtins.mark = __name__, __file__")
    code = "import sitecustomize; print(*mark, sitecustomize.__file__)"
    file = str(own / "sitecustomize.py")
    said = ask(any_runtime, parts, code, after=str(own))
    assert said.split() == ["sitecustomize", file, file]


@each_row
def test_a_python_that_ignores_its_surroundings_starts_nothing(any_runtime: Runtime, parts: Path, option: str) -> None:
    assert ask(any_runtime, parts, "print('served')", option) == "served\n"
    assert notes(parts) == []


def test_a_part_that_fails_says_so_in_a_file_and_stops_nothing_as_do_options_that_cannot_be_read(
    any_runtime: Runtime, parts: Path
) -> None:
    assert ask(any_runtime, parts, "print('served')", asked="none") == "served\n"
    asked = {"absent": {}, "fails": {}, "note": {"word": "still"}}
    assert ask(any_runtime, parts, "print('served')", asked=asked) == "served\n"
    assert notes(parts) == ["still"]
    (failed,) = (parts.parent / "written").glob("failed-*")
    assert "FileNotFoundError" in failed.read_text()
    assert failed.read_text().splitlines()[-1] == "RuntimeError: no luck"

"""Services with a known line that waits for a lock, and what `--profile python` names: for tests and docs/why.md."""

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from analysis.causes import WaitingLine, python_profiles, waits
from commands import run as command
from lab.python.interpreters import find
from record.run_file import load
from record.saved_run import Run
from tests.lab.extensions import extension
from tests.tables import table

APPS = Path(__file__).parent / "apps"
EXTENSION = "own_mutex_extension"
_SUFFIX = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"


@dataclass(frozen=True, kw_only=True)
class Planted:
    """function: whose line is to be named first, "" where none is to be; runtimes: under which it waits."""

    function: str
    runtimes: Sequence[str]


PLANTED = {name: Planted(**known) for name, known in table(__file__).items()}


def profiled(name: str, folder: Path, runtimes: Sequence[str], duration_s: float = 1.0, kinds: str = "python") -> Run:
    """A run of the service *name*, with its profiles, in *folder*.

    duration_s: of some 10 slices a second, 8 must have samples (analysis.shares.FEWEST_BATCHES)
    """
    apps = folder / "apps"
    shutil.copytree(APPS, apps)
    if name == "own_mutex":
        build(apps, runtimes)
    words = [
        *f"--quiet --blocks 1 --warmup 0 --directory {apps} --runtime {','.join(runtimes)}".split(),
        *f"--duration {duration_s} --out {folder / 'run'} --profile {kinds}".split(),
        *("--service-command", f"{{python}} {name}.py {{port}}", "--request", "GET /"),
    ]
    with redirect_stdout(StringIO()):
        if status := command.main(words):
            raise RuntimeError(f"the run ended with {status}")
    return load(folder / "run")


def build(apps: Path, runtimes: Sequence[str]) -> None:
    """Compile the extension for each of *runtimes*."""
    code = (apps / "own_mutex.c").read_text()
    for interpreter in find(runtimes).values():
        suffix = subprocess.check_output([interpreter.executable, "-c", _SUFFIX], text=True).strip()
        (apps / f"{EXTENSION}{suffix}").write_bytes(extension(interpreter, apps, EXTENSION, code))


def first(run: Run) -> dict[str, str]:
    """The function whose line has the most samples of waiting for a lock under each runtime, claimed or not."""
    (profiles,) = python_profiles(run)
    return {
        profile["runtime"]: max(profile["lines"], key=lambda line: line["states"]["lock"])["function"]
        for profile in profiles
    }


def named(run: Run) -> dict[str, WaitingLine | None]:
    """The line that is said to wait most for a lock under each runtime; None where none is named."""
    (profiles,) = python_profiles(run)
    return {profile["runtime"]: next(iter(waits(profile, profiles)), None) for profile in profiles}

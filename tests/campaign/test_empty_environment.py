"""The wheel in an environment that has only what it requires: each command of README and docs answers there.

`GOLDEN=update make campaign` writes docs/measurements/commands.md, a table of what the commands answer.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lab.places import REPOSITORY
from lab.processes import scrubbed_environment
from lab.python import uv
from tests.campaign.sizes import IS_LARGE, campaign_only, size
from tests.contract.packages import not_installed
from tests.docs.pages import DOCS
from tests.docs.test_commands import COMMANDS, fill

pytestmark = pytest.mark.skipif(uv.find() is None, reason="needs uv")
PAGE = DOCS / "measurements" / "commands.md"
HEAD = "| command | how it ran | exit status | first line |\n|---|---|---|---|\n"
ELSEWHERE = {  # why these commands answer with their help only
    "audit": "asks a package index",
    "hosts": "needs other hosts",
    "init": "asks a package index",
    "native": "builds for minutes",
    "setup": "downloads interpreters",
    "stress": "takes a minute",
}
LONGEST = 100  # characters of a first line in the table
ASGI = ("fa", "pool_app", "shop")
MEASURE = ("--system", "2", "--blocks", "1", "--num-clients", "1", "--num-requests-per-client", "50", "--out", "made")
WRONG = re.compile(r"Traceback|bug in gilscope|installation is incomplete|is missing\. Install gilscope again")
NO_EXTRA = "error: The format parquet needs the package pyarrow"


class Product:
    """The wheel in a new environment. Commands run in *folder*, where the docs' examples and runs are."""

    def __init__(self, folder: Path, extra: str = "") -> None:
        self.folder, self._made = folder / "pages", folder / "environment"
        tool, build = str(uv.find()), os.environ | {"GILSCOPE_PURE": "1"}
        subprocess.run([tool, "venv", "-q", "--python", "3.14", self._made], check=True)
        steps = [tool, "build", "-q", "--wheel", "--out-dir", str(folder), str(REPOSITORY)]
        done = subprocess.run(steps, env=build, check=False, capture_output=True, text=True)
        (wheel,) = folder.glob("*.whl") if not done.returncode else [""]
        pinned = ["--constraint", str(folder / "pins.txt"), "--python", str(self._made / "bin" / "python")]
        pins = re.findall(r"^\S+==\S+", (REPOSITORY / "requirements-dev.txt").read_text(), re.MULTILINE)
        (folder / "pins.txt").write_text("\n".join(pins))
        if wheel:
            steps = [tool, "pip", "install", "-q", *pinned, f"gilscope{extra} @ file://{wheel}"]
            done = subprocess.run(steps, check=False, capture_output=True, text=True)
        if done.returncode:
            not_installed(done.stderr)
        self.folder.mkdir()
        fill(self.folder)
        for words in COMMANDS:
            if "--app" in words:
                add_application(self.folder, words[words.index("--app") + 1])

    def answer(self, words: Sequence[str]) -> tuple[int, str]:
        """Run a command in the folder. Return its exit status and its output."""
        places = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / ".cache"), "COLUMNS": "100"}
        done = subprocess.run(
            [self._made / "bin" / "gilscope", *words],
            cwd=self.folder,
            env=scrubbed_environment() | places | {"DATABASE": "none", "TOKEN": "none"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return done.returncode, done.stdout + done.stderr


def add_application(folder: Path, name: str) -> None:
    """Write the WSGI or ASGI application MODULE:NAME."""
    module, _, function = name.partition(":")
    parts, kind = module.split("."), "async def {}(scope, receive, send): pass\n"
    if module not in ASGI:
        kind = "def {}(environ, start_response): pass\n"
    path = folder.joinpath(*parts, "__init__.py")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(kind.format(function))


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    with tempfile.TemporaryDirectory(prefix="gilscope-alone-") as name:
        yield Product(Path(name))


def line_of(words: Sequence[str], product: Product) -> tuple[str, int, str]:
    """How the command ran here, its exit status, and the first line of its output, or its error."""
    command = words[0] if words and not words[0].startswith("-") else ""
    run, how = words, "as it stands"
    if command in ELSEWHERE:
        run, how = [command, "--help"], f"`--help`: it {ELSEWHERE[command]}"
    elif "--hosts" in words or "spread.yaml" in words:
        run, how = ["--help"], f"`--help`: it {ELSEWHERE['hosts']}"
    elif not command and "--resume" not in words:
        run, how = ["plan", *without_output(words)], "`plan` with its flags: it measures"
    status, output = product.answer(run)
    assert not WRONG.search(output), output
    assert output.strip(), words
    lines = [line for line in output.replace(str(product.folder), "...").splitlines() if line.strip()]
    return how, status, next((line for line in lines if line.startswith("error: ")), lines[0])


def without_output(words: Sequence[str]) -> list[str]:
    """Return the flags of a run that `plan` takes, too."""
    kept = [word for word in words if word not in ("--quiet", "--stress")]
    for flag in ("--out", "--profile"):
        if flag in kept:
            place = kept.index(flag)
            del kept[place : place + 2]
    return kept


def drawn() -> list[tuple[str, ...]]:
    """The commands of README and docs: one of each name, or all."""
    ordered = sorted(COMMANDS)
    first = {words[0] if words else "": words for words in reversed(ordered)}
    return ordered if IS_LARGE else [(), *(words for name, words in first.items() if name and name[0] != "-")]


def test_each_command_of_the_docs_answers(product: Product) -> None:
    lines = []
    for words in drawn():
        how, status, first = line_of(words, product)
        assert status in (0, 1, 2, 3)
        if "parquet" in words:
            assert (status, first[: len(NO_EXTRA)]) == (2, NO_EXTRA)
        elif status not in (0, 1, 3):
            assert first.startswith("error: "), first
        shown, said = " ".join(words) or "(no flags)", " ".join(first.split())[:LONGEST]
        lines.append(f"| `{shown}` | {how} | {status} | {said} |\n")
    if os.environ.get("GOLDEN") == "update" and IS_LARGE:
        PAGE.write_text(PAGE.read_text().partition(HEAD)[0] + HEAD + "".join(lines))


def test_it_measures_reports_and_exports(product: Product) -> None:
    status, output = product.answer(MEASURE)
    assert status == 0, output
    for words in (
        ["report", "made"],
        ["list", "."],
        ["compare", "made", "made", "--anyway"],
        ["report", "made", "--json"],
    ):
        assert product.answer(words)[0] in (0, 1), words
    for name in ("pyperf", "csv", "markdown")[: size(2, 3)]:
        status, output = product.answer(["export", "made", f"to-{name}", "--format", name])
        assert status == 0, output
    status, output = product.answer(["export", "made", "to"])
    assert status == 0, output


@campaign_only
def test_the_extra_parquet_adds_that_format() -> None:
    with tempfile.TemporaryDirectory(prefix="gilscope-alone-") as name:
        status, output = Product(Path(name), "[parquet]").answer(["export", "run-base", "to", "--format", "parquet"])
    assert (status, output) == (0, "to/cells.parquet\n")

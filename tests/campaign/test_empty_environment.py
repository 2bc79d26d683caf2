"""The wheel in an environment that has only what it requires: each command of README and docs answers there.

It works in other people's folders, and as another user.

`GOLDEN=update make campaign` writes docs/measurements/commands.md, a table of what the commands answer.
"""

import os
import re
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lab.places import REPOSITORY
from lab.processes import scrubbed_environment
from lab.python import uv
from record.run_file import load
from record.saved_run import Run
from tests.campaign.sizes import IS_LARGE
from tests.conftest import runtime_or_skip
from tests.contract.packages import index_answers, not_installed
from tests.docs.pages import DOCS
from tests.docs.test_commands import COMMANDS, fill

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux: /proc"),
    pytest.mark.skipif(uv.find() is None, reason="needs uv"),
]
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
WRONG = re.compile(r"Traceback|bug in gilscope|installation is incomplete|is missing\. Install gilscope again")
NOBODY, INSTALLER = 65534, 12345
SHORT = ("--blocks", "1", "--duration", "0.2", "--warmup", "0", "--runtime", "3.14t", "--num-clients", "1")

# A project with packages of its own that are called like ours, and one that is called like a library of ours
FLASK = {
    "pyproject.toml": '[project]\nname = "flaskr"\nversion = "1"\ndependencies = ["flask"]\n',
    "config/__init__.py": 'GREETING = "hello"\n',
    "core/__init__.py": "def greeting(text):\n    return text.upper()\n",
    "lab.py": "import rich_is_not_needed_here\n",
    "yaml.py": 'raise RuntimeError("this is the project\'s own")\n',
    "flaskr.py": (
        "from flask import Flask\n\nimport core\nfrom config import GREETING\n\n\n"
        "def create_app(test_config=None):\n    app = Flask(__name__)\n"
        '    app.add_url_rule("/", view_func=lambda: {"said": core.greeting(GREETING)})\n    return app\n'
    ),
}
SCRIPT = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Hello(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *words):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Hello).serve_forever()
"""


def must(command: Sequence[str | Path], **variables: str) -> None:
    """Run a command that needs the package index."""
    done = subprocess.run(command, env=os.environ | variables, check=False, capture_output=True, text=True)
    if done.returncode:
        not_installed(done.stderr)


class Product:
    """The wheel in a new environment that only its owner can write to. *pages* has the docs' examples and runs."""

    def __init__(self, place: Path) -> None:
        self.pages, self.environment = place / "pages", place / "environment"
        tool, python = str(uv.find()), self.environment / "bin" / "python"
        self.cache = subprocess.check_output([tool, "cache", "dir"], text=True).strip()
        subprocess.run([tool, "venv", "-q", "--python", "3.14", self.environment], check=True)
        pins = re.findall(r"^\S+==\S+", (REPOSITORY / "requirements-dev.txt").read_text(), re.MULTILINE)
        (place / "pins.txt").write_text("\n".join(pins))
        must([tool, "build", "-q", "--wheel", "--out-dir", place, REPOSITORY], GILSCOPE_PURE="1")
        (self.wheel,) = place.glob("*.whl")
        # by default, uv makes hard links: chmod and chown below would change its cache and all other environments
        flags = f"-q --compile-bytecode --link-mode copy --constraint {place}/pins.txt --python {python}".split()
        must([tool, "pip", "install", *flags, f"gilscope @ file://{self.wheel}"])
        assert not linked(self.environment)
        subprocess.run(["chmod", "-R", "a-w,a+rX", self.environment], check=True)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", str(INSTALLER), self.environment], check=True)
        self.pages.mkdir()
        fill(self.pages)
        for words in COMMANDS:
            if "--app" in words:
                add_application(self.pages, words[words.index("--app") + 1])

    def answer(self, words: Sequence[str], folder: Path | None = None, user: Sequence[str] = ()) -> tuple[int, str]:
        """Run a command in *folder*, or in the pages. Return its exit status and its output."""
        folder = folder or self.pages
        places = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / ".cache"), "UV_CACHE_DIR": self.cache}
        places["RUSTUP_HOME"] = str(Path.home() / ".rustup")  # uv asks rustc for its version
        others = {"COLUMNS": "100", "DATABASE": "none", "TOKEN": "none", "UV_COMPILE_BYTECODE": "0"}
        done = subprocess.run(
            [*user, self.environment / "bin" / "gilscope", *words],
            cwd=folder,
            env=scrubbed_environment() | places | others,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return done.returncode, done.stdout + done.stderr

    def run_in(self, folder: Path, *words: str, user: Sequence[str] = ()) -> tuple[Run, str]:
        """Return the run that gilscope leaves in *folder*, and what it printed."""
        status, output = self.answer([*words, *SHORT], folder, user)
        if "could not be installed" in output and not index_answers():
            not_installed(output)
        assert status == 0, output
        (file,) = folder.glob("gilscope-runs/*/result.json")
        return load(file.parent), output


def state(root: Path) -> dict[Path, tuple[int, int]]:
    """Return size and time of change of every file below *root*."""
    looks = {path: path.lstat() for path in root.rglob("*") if not path.is_dir()}
    return {path: (look.st_size, look.st_mtime_ns) for path, look in looks.items()}


def linked(root: Path) -> list[Path]:
    """Return the files below *root* that other folders share, so that whoever changes them changes those, too."""
    return [path for path in root.rglob("*") if stat.S_ISREG((look := path.lstat()).st_mode) and look.st_nlink > 1]


def add_application(folder: Path, name: str) -> None:
    """Write the WSGI or ASGI application MODULE:NAME."""
    module, _, function = name.partition(":")
    parameters = "scope, receive, send" if module in ASGI else "environ, start_response"
    path = folder.joinpath(*module.split("."), "__init__.py")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{'async ' if module in ASGI else ''}def {function}({parameters}): pass\n")


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    """The product in a folder that every user may look into."""
    with tempfile.TemporaryDirectory(prefix="gilscope-alone-", dir="/tmp") as name:
        Path(name).chmod(0o755)
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
    lines = [line for line in output.replace(str(product.pages), "...").splitlines() if line.strip()]
    return how, status, next((line for line in lines if line.startswith("error: ")), lines[0])


def without_output(words: Sequence[str]) -> list[str]:
    """Return the flags of a run that `plan` takes, too."""
    kept = [word for word in words if word != "--quiet"]
    for flag in ("--out", "--profile"):
        if flag in kept:
            place = kept.index(flag)
            del kept[place : place + 2]
    return kept


def drawn() -> list[tuple[str, ...]]:
    """The commands of README and docs: all, or one of each name but for those that show their help only."""
    ordered = sorted(COMMANDS)
    first = {words[0]: words for words in reversed(ordered) if words and words[0][0] != "-"}
    return ordered if IS_LARGE else [(), *(words for name, words in first.items() if name not in ELSEWHERE)]


def test_each_command_of_the_docs_answers(product: Product) -> None:
    lines = []
    for words in drawn():
        how, status, first = line_of(words, product)
        assert status in (0, 1, 3) or (status == 2 and first.startswith("error: ")), first
        shown, said = " ".join(words) or "(no flags)", " ".join(first.split())[:LONGEST]
        lines.append(f"| `{shown}` | {how} | {status} | {said} |\n")
    if os.environ.get("GOLDEN") == "update" and IS_LARGE:
        PAGE.write_text(PAGE.read_text().partition(HEAD)[0] + HEAD + "".join(lines))


def test_the_wheel_has_one_package_and_its_metadata(product: Product) -> None:
    with zipfile.ZipFile(product.wheel) as archive:
        names = archive.namelist()
    package, metadata = sorted({name.split("/")[0] for name in names})
    assert (package, metadata.endswith(".dist-info")) == ("gilscope", True)
    assert {"gilscope/core/locale/zh.po", "gilscope/requirements/tornado.txt", "gilscope/native/Cargo.toml"} <= {*names}
    assert not [name for name in names if "/native/bin/" in name or "__pycache__" in name]


def test_a_factory_in_a_project_with_packages_called_like_ours_is_served_and_nothing_is_left_but_the_run_and_the_cache(
    product: Product,
) -> None:
    runtime_or_skip("3.14t")
    folder = product.pages.parent / "flask"
    for name, content in FLASK.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    run, output = product.run_in(folder, "--app", "flaskr:create_app", "--expect-json", '{"said": "HELLO"}')
    assert [cell.status for cell in run.cells] == ["ok"]
    assert str(next(folder.glob("gilscope-runs/*/report.html")).relative_to(folder)) in output
    roots = {path.relative_to(folder).parts[0] for path in state(folder)}
    roots.discard("__pycache__")  # Python's own, of the module that was imported
    assert roots == {*(name.split("/")[0] for name in FLASK), "gilscope-runs", ".cache"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_another_user_runs_a_script_from_an_installation_that_he_cannot_write_to(product: Product) -> None:
    own = (product.environment / "bin" / "python").resolve()
    for interpreter in (own, runtime_or_skip("3.14t").interpreter.executable):
        if not all(folder.stat().st_mode & stat.S_IXOTH for folder in interpreter.parents):
            pytest.skip(f"nobody may not run {interpreter}, which lies below a folder that only its owner may enter")
    folder = product.pages.parent / "other"
    folder.mkdir()
    (folder / "hello.py").write_text(SCRIPT)
    os.chown(folder, NOBODY, NOBODY)
    before = state(product.environment)
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    run, output = product.run_in(folder, "--service-command", "{python} hello.py {port}", user=user)
    assert [cell.status for cell in run.cells] == ["ok"]
    assert "has no pyproject.toml or requirements.txt" in output
    assert state(product.environment) == before

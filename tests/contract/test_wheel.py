"""The wheel: what is in it, and that `gilscope` works from it, in other people's folders and as another user."""

import os
import stat
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from core.result import Run
from core.result_file import load
from lab.places import REPOSITORY
from lab.python import uv
from tests.conftest import runtime_or_skip
from tests.contract.packages import index_answers, not_installed

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux: /proc"),
    pytest.mark.skipif(uv.find() is None, reason="needs uv"),
]
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


@pytest.fixture(scope="session")
def place() -> Iterator[Path]:
    """A folder that every user may look into."""
    with tempfile.TemporaryDirectory(prefix="gilscope-wheel-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="session")
def wheel(place: Path) -> Path:
    """The wheel of this checkout, without native programs."""
    command = [str(uv.find()), "build", "--wheel", "--out-dir", str(place / "dist"), str(REPOSITORY)]
    done = subprocess.run(command, env=os.environ | {"GILSCOPE_PURE": "1"}, check=False, capture_output=True, text=True)
    if done.returncode:
        not_installed(done.stderr)
    return next((place / "dist").glob("*.whl"))


@pytest.fixture(scope="session")
def gilscope(place: Path, wheel: Path) -> Path:
    """The command, in an environment that nobody but its owner can write to; libraries are those of the tests."""
    tool, environment = str(uv.find()), place / "environment"
    subprocess.run([tool, "venv", "-q", "--python", sys.executable, environment], check=True)
    python = environment / "bin" / "python"
    subprocess.run([tool, "pip", "install", "-q", "--no-deps", "--python", python, wheel], check=True)
    (packages,) = environment.glob("lib/python3*/site-packages")
    (packages / "libraries.pth").write_text(str(readable(Path(sysconfig.get_path("purelib")), place / "libraries")))
    (environment / "bin" / "uv").symlink_to(readable(Path(tool), place / "uv"))
    subprocess.run(["chmod", "-R", "a-w,a+rX", environment], check=True)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", str(INSTALLER), environment], check=True)
    return environment / "bin" / "gilscope"


def readable(path: Path, copy: Path) -> Path:
    """Return *path*, or a copy of it if it lies below a folder that only its owner may enter, such as a home folder."""
    if may_be_entered(path):
        return path
    subprocess.run(["cp", "-rL", path, copy], check=True)
    subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
    return copy


def may_be_entered(path: Path) -> bool:
    """Return whether every user may enter the folders that lead to *path*."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents)


def ran(gilscope: Path, folder: Path, *words: str, user: Sequence[str] = ()) -> tuple[Run, str]:
    """The run that `gilscope` leaves in *folder*, and what it printed."""
    places = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / ".cache"), "UV_CACHE_DIR": uv_cache()}
    places["RUSTUP_HOME"] = str(Path.home() / ".rustup")  # uv asks rustc for its version
    done = subprocess.run(
        [*user, str(gilscope), *words, *SHORT],
        cwd=folder,
        env=os.environ | places | {"UV_COMPILE_BYTECODE": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if "could not be installed" in done.stderr and not index_answers():
        not_installed(done.stderr)
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("gilscope-runs/*/result.json")
    return load(file.parent), done.stdout + done.stderr


def state(root: Path) -> dict[Path, tuple[int, int]]:
    """Return size and time of change of every file below *root*."""
    looks = {path: path.lstat() for path in root.rglob("*") if not path.is_dir()}
    return {path: (look.st_size, look.st_mtime_ns) for path, look in looks.items()}


def uv_cache() -> str:
    done = subprocess.run([str(uv.find()), "cache", "dir"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_wheel_has_one_package_and_its_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = (name for name in names if name.endswith("entry_points.txt"))
        script = archive.read(entry_points).decode()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"gilscope"}
    assert len({name.split("/")[0] for name in names}) == 2
    assert "gilscope = gilscope.__main__:main" in script
    for needed in ("core/locale/zh.po", "requirements/tornado.txt", "config/default.yaml", "native/Cargo.toml"):
        assert f"gilscope/{needed}" in names
    assert not [name for name in names if "/native/bin/" in name or "__pycache__" in name]


def test_a_factory_in_a_project_with_packages_called_like_ours_is_served_and_nothing_is_left_but_the_run_and_the_cache(
    gilscope: Path, place: Path
) -> None:
    runtime_or_skip("3.14t")
    folder = place / "flask"
    for name, content in FLASK.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    run, output = ran(gilscope, folder, "--app", "flaskr:create_app", "--expect-json", '{"said": "HELLO"}')
    assert [cell.status for cell in run.cells] == ["ok"]
    assert str(next(folder.glob("gilscope-runs/*/report.html")).relative_to(folder)) in output
    roots = {path.relative_to(folder).parts[0] for path in state(folder)}
    roots.discard("__pycache__")  # Python's own, of the module that was imported
    assert roots == {*(name.split("/")[0] for name in FLASK), "gilscope-runs", ".cache"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_another_user_runs_a_script_from_an_installation_that_he_cannot_write_to(gilscope: Path, place: Path) -> None:
    for interpreter in (runtime_or_skip("3.14t").interpreter.executable, Path(sys.executable).resolve()):
        if not may_be_entered(interpreter):
            pytest.skip(f"nobody may not run {interpreter}, which lies below a folder that only its owner may enter")
    folder = place / "other"
    folder.mkdir()
    (folder / "hello.py").write_text(SCRIPT)
    os.chown(folder, NOBODY, NOBODY)
    before = state(gilscope.parent.parent)
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    run, output = ran(gilscope, folder, "--service-command", "{python} hello.py {port}", user=user)
    assert [cell.status for cell in run.cells] == ["ok"]
    assert "has no pyproject.toml or requirements.txt" in output
    assert state(gilscope.parent.parent) == before

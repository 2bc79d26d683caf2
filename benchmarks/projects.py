"""gilscope in projects as their frameworks' tutorials make them, each from an empty folder, for real.

Usage: python -m benchmarks.projects [NAME ...]
Says of each what gilscope chose and how its cells ended: one block of 1 s under 3.14 and 3.14t. Needs a package index.
Exit status 1 where a cell was not measured.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.one_line import FASTAPI, write_project
from core.result import load
from lab.places import REPOSITORY
from lab.python import uv

SHORT = ("--blocks", "1", "--duration", "1")


@dataclass(frozen=True, kw_only=True)
class Project:
    """flags: what is typed behind `gilscope`. files: by path. before: a command that makes the rest, with uv."""

    flags: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()


def _manifest(*dependencies: str) -> str:
    return f'[project]\nname = "shop"\nversion = "1"\ndependencies = {list(dependencies)}\n'


PROJECTS = {
    "django": Project(
        flags=("--app", "mysite.wsgi:application", "--request", "GET /admin/login/"),
        files={"requirements.txt": "django\n"},
        before=("tool", "run", "--from", "django", "django-admin", "startproject", "mysite", "."),
    ),
    "fastapi": Project(flags=("--app", "shop.web:app"), files=FASTAPI),
    "flask": Project(
        flags=("--app", "flaskr:create_app()"),
        files={
            "pyproject.toml": _manifest("flask")
            + '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
            + '[tool.hatch.build.targets.wheel]\npackages = ["src/flaskr"]\n',
            "src/flaskr/__init__.py": (
                "from flask import Flask\n\n\ndef create_app(test_config=None):\n    app = Flask(__name__)\n"
                '    app.add_url_rule("/", view_func=lambda: {"sum": sum(range(1000))})\n    return app\n'
            ),
        },
    ),
    "litestar": Project(
        flags=("--app", "app:app"),
        files={
            "pyproject.toml": _manifest("litestar"),
            "app.py": (
                'from litestar import Litestar, get\n\n\n@get("/")\nasync def index() -> dict[str, int]:\n'
                '    return {"sum": sum(range(1000))}\n\n\napp = Litestar([index])\n'
            ),
        },
    ),
    "aiohttp": Project(
        flags=("--service-command", "{python} -m aiohttp.web -H {host} -P {port} app:make"),
        files={
            "pyproject.toml": _manifest("aiohttp"),
            "app.py": (
                "from aiohttp import web\n\n\nasync def index(request):\n"
                '    return web.json_response({"sum": sum(range(1000))})\n\n\n'
                'def make(argv):\n    app = web.Application()\n    app.router.add_get("/", index)\n    return app\n'
            ),
        },
    ),
    "script": Project(
        flags=("--service-command", "{python} serve.py {port}"),
        files={
            "serve.py": (
                "import sys\nfrom http.server import ThreadingHTTPServer\nfrom wsgiref.simple_server import *\n\n\n"
                "class Server(ThreadingHTTPServer, WSGIServer):\n    pass\n\n\n"
                "class Quiet(WSGIRequestHandler):\n    def log_message(self, *words):\n        pass\n\n\n"
                'make_server("127.0.0.1", int(sys.argv[1]), demo_app, Server, Quiet).serve_forever()\n'
            )
        },
    ),
}


def measured(project: Project, folder: Path) -> bool:
    """Make the project in *folder*, measure it, and say how that went; whether every cell was measured."""
    program = uv.find()
    assert program, "needs uv"
    write_project(folder, project.files)
    if project.before:
        subprocess.run([program, *project.before], cwd=folder, check=True, capture_output=True)
    command = [sys.executable, str(REPOSITORY / "runner.py"), *project.flags, *SHORT, "--out", "run"]
    done = subprocess.run(
        command, cwd=folder, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    print(done.stderr.decode().rstrip(), flush=True)
    cells = load(folder / "run").cells if (folder / "run" / "result.json").exists() else []
    for cell in cells:
        print(f"  {cell.runtime}: {cell.status}, {cell.answered} answers {cell.reason}")
    return done.returncode == 0 and len(cells) == 2


def main() -> int:
    """All projects, or those that are named."""
    broken = []
    for name in sys.argv[1:] or PROJECTS:
        print(f"\n## {name}: gilscope {' '.join(PROJECTS[name].flags)}", flush=True)
        with tempfile.TemporaryDirectory(prefix=f"gilscope-{name}-") as folder:
            if not measured(PROJECTS[name], Path(folder)):
                broken.append(name)
    print(f"\nnot measured: {', '.join(broken) or 'none'}")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())

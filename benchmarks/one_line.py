"""The one line, as somebody types it who has uv and a project: `gilscope --app shop.web:app`, from an installed wheel.

Usage: python -m benchmarks.one_line
Builds the wheel, installs it with `uv tool install`, and starts it in a folder with a small FastAPI project, once for
a first look (3 blocks) and once for a verdict. The bars: 60 s to the first look, build and installation included, and
4 minutes to the verdict, on two cores with uv's cache warm; no file is written but in the current folder, the caches of
gilscope and uv, and the tool's environment. Exit status 1 where one is missed.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from lab.places import REPOSITORY
from lab.python import uv

FIRST_LOOK_S, VERDICT_S = 60.0, 240.0
FASTAPI = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["fastapi"]\n',
    "shop/__init__.py": "",
    "shop/web.py": (
        "from fastapi import FastAPI\n\napp = FastAPI()\n"
        "PRICES = {number: 100 + number for number in range(1000)}\n\n\n"
        '@app.get("/")\ndef index() -> dict[str, list[int]]:\n'
        '    return {"cheapest": sorted(PRICES, key=lambda number: -PRICES[number])[:5]}\n'
    ),
}
LOOK = ("--app", "shop.web:app", "--blocks", "3")
LINE = ("--app", "shop.web:app")
State = dict[str, tuple[int, int]]


def write_project(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a project; none is there before."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


def build(folder: Path, *, pure: bool = False) -> Path:
    """The wheel of this checkout, built in *folder*."""
    environment = os.environ | ({"GILSCOPE_PURE": "1"} if pure else {})
    _run("build", "--wheel", "--out-dir", str(folder), str(REPOSITORY), environment=environment)
    return next(folder.glob("*.whl"))


def state(*roots: Path) -> State:
    """Of every file below *roots* its size and time of change."""
    files = (path for root in roots for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def written(before: State, after: State, *allowed: Path) -> list[str]:
    """The files that were made, changed or removed, outside of *allowed*."""
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return sorted(path for path in changed if not any(Path(path).is_relative_to(place) for place in allowed))


def _run(*words: str, environment: Mapping[str, str]) -> None:
    program = uv.find()
    assert program, "needs uv"
    subprocess.run([program, *words], check=True, env=environment, capture_output=True)


def main() -> int:
    """Carry it out in a new folder, which is also the home folder."""
    with tempfile.TemporaryDirectory(prefix="gilscope-line-") as name:
        root = Path(name)
        places = {key: root / key for key in ("project", "home", "cache", "tools", "bin", "tmp", "dist")}
        for place in places.values():
            place.mkdir()
        write_project(places["project"], FASTAPI)
        return _measured(places)


def _measured(places: Mapping[str, Path]) -> int:
    shared_cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    environment = os.environ | {
        "HOME": str(places["home"]),
        "XDG_CACHE_HOME": str(places["cache"]),
        "TMPDIR": str(places["tmp"]),
        "UV_CACHE_DIR": shared_cache,
        "UV_TOOL_DIR": str(places["tools"]),
        "UV_TOOL_BIN_DIR": str(places["bin"]),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup"),  # uv asks rustc for its version
    }
    begin = perf_counter()
    wheel = build(places["dist"])
    _run("tool", "install", "--python", sys.executable, str(wheel), environment=environment)
    print(f"{perf_counter() - begin:7.1f} s  {wheel.name} built and installed", flush=True)
    before = state(*places.values())
    looked, _ = _typed(LOOK, places, environment)
    look_s = perf_counter() - begin
    start = perf_counter()
    decided, output = _typed(LINE, places, environment)
    verdict_s = perf_counter() - start
    print(output)
    strays = written(before, state(*places.values()), places["project"], places["cache"], places["tools"])
    print(f"{look_s:7.1f} s  to the first look (bar {FIRST_LOOK_S:g} s)")
    print(f"{verdict_s:7.1f} s  to the verdict (bar {VERDICT_S:g} s)")
    print(f"files written elsewhere: {strays or 'none'}")
    on_time = look_s <= FIRST_LOOK_S and verdict_s <= VERDICT_S
    return 0 if on_time and looked and decided and "has no verdict" not in output and not strays else 1


def _typed(words: tuple[str, ...], places: Mapping[str, Path], environment: Mapping[str, str]) -> tuple[bool, str]:
    """Whether `gilscope` with these words ended well, and all that it printed."""
    done = subprocess.run(
        [places["bin"] / "gilscope", *words],
        cwd=places["project"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode == 0, done.stdout


if __name__ == "__main__":
    raise SystemExit(main())

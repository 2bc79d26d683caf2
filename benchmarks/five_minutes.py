"""From an empty folder to a verdict: the commands of docs/measure-your-service.md, word for word and unshortened.

Usage: python -m benchmarks.five_minutes
Says how long each command took, how long all of them, and what `runner.py list` says of the run. The bar: 5 minutes on
two cores with a warm package cache, and a verdict. Exit status 1 where one of the two is missed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from lab.places import REPOSITORY
from reports.terminal.listing import NO_VERDICT

PAGE = REPOSITORY / "docs" / "measure-your-service.md"
MOST_S = 300.0
UNDECIDED = (str(NO_VERDICT), "no verdict", "not measured")


def files() -> dict[str, str]:
    """{name: content} of the files that the page says to save."""
    return dict(re.findall(r"this as\s+`([\w.]+)`:\n\n```\w+\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))


def commands() -> list[str]:
    """Its command lines in order, without the first, which says where gilscope is."""
    text = "".join(re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    export, *others = text.splitlines()
    assert export.startswith("export GILSCOPE=")
    return others


def typed_in(command: str, folder: Path, timeout_s: float | None = None) -> "subprocess.CompletedProcess[str]":
    """*command* as in a shell; `python` is the one that runs this."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-c", command],
        check=False,
        cwd=folder,
        env={**os.environ, "PATH": path, "GILSCOPE": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )


def has_verdict(sentence: str) -> bool:
    """Whether what `list` says of a run is a verdict."""
    return bool(sentence) and not any(words in sentence for words in UNDECIDED)


def main() -> int:
    """Carry it out in a new folder."""
    with tempfile.TemporaryDirectory(prefix="gilscope-shop-") as name:
        folder = Path(name)
        for file, content in files().items():
            (folder / file).write_text(content)
        begin = perf_counter()
        for command in commands():
            start = perf_counter()
            done = typed_in(command, folder)
            print(f"{perf_counter() - start:7.1f} s  status {done.returncode}  {command}", flush=True)
            if done.returncode:
                print(done.stderr, file=sys.stderr)
                return 1
        whole_s = perf_counter() - begin
        said = verdict_of(folder)
    print(f"{whole_s:7.1f} s  in all (bar {MOST_S:g} s)\n{said}")
    return 0 if whole_s <= MOST_S and has_verdict(said) else 1


def verdict_of(folder: Path) -> str:
    """What `list` says of the run in *folder*."""
    (run,) = json.loads(typed_in("python $GILSCOPE/runner.py list --json .", folder).stdout)
    return str(run["verdict"])


if __name__ == "__main__":
    raise SystemExit(main())

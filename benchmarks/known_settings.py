"""Measure services of which it is known which setting is best, which version is slower, or which
route is.

Usage: python -m benchmarks.known_settings [--only pool,slower,equal,route,routes] [--repeats 10]

- pool: the best pool is 1 with the GIL and 8 without it. Found if --vary with --budget 3min names
  both
- slower: two commits of a Flask application, of which the second takes 5 % longer. Found if it is
  called slower under both runtimes within 90 s
- equal: two equal commits. Called if a verdict is faster or slower
- route: a request takes 20 ms, and one to the route /slow 24 ms without the GIL. Found if it alone
  of five routes is called
- routes: five equal routes of 3.14t and 3.14t again. Each that is called faster or slower counts

The clients of the routes alternate. The exit status is 1 if pool, slower or route was found in
fewer than 9 of 10, or if more than 1 of 20 were called in equal or routes.
"""

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import yaml

from benchmarks.bench import options, run_of
from record.comparison import SavedComparison
from record.saved_run import Run
from reports.view import View
from tests.known import service
from tests.known.measure import CLIENT_PYTHON

RUNTIMES = ("--runtime", "3.14,3.14t")
POOL = """
import os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
POOL = int(os.environ["POOL"])
HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
PLACES = threading.Semaphore(POOL)

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def do_GET(self):
        with PLACES:
            time.sleep(0.004 * (POOL ** 1.2 if HAS_GIL else 1))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        self.wfile.flush()
    def log_message(self, *words):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 128

Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
FLASK = """
from flask import Flask
app = Flask(__name__)

@app.get("/")
def work():
    total = 0
    for number in range(COUNT):
        total += number
    return str(total)
"""
COUNT = 40_000
FOUND, MOST_CALLED = 0.9, 0.05
DIFFERENT = {"faster", "slower"}
FAST = ("GET /a", "GET /b", "GET /c", "GET /d")
SLOW = "GET /slow"
EQUAL, SLOWER = "answer_ms=20,slow_ms=20", "answer_ms=20,slow_ms=24"
ARMS, AGAIN = ("--runtime", "3.14t+gil,3.14t"), ("--runtime", "3.14t", "--aa")


def main() -> None:
    """Repeat the chosen cases, and print what was found. Exit with status 1 if this was wrong too
    often.
    """
    given = options(__doc__, only=",".join(CASES), repeats=10)
    wrong = False
    for case in given.only.split(","):
        good = sum(CASES[case](case, number) for number in range(given.repeats))
        least = (1 - MOST_CALLED if case in ("equal", "routes") else FOUND) * given.repeats
        print(f"{case}: right in {good:g} of {given.repeats}", flush=True)
        wrong |= good < least
    sys.exit(wrong)


def _pool(case: str, number: int) -> bool:
    """Return whether a run names the best pool of each runtime. Print what it says."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "pool.py").write_text(POOL)
        command = ("--service-command", "{python} pool.py {port}", "--vary", "POOL=1,2,4,8")
        run = _measured(case, folder, *command, "--budget", "3min")
    (same,) = View(run).choices.values()
    best = {arm: choice.best.params["POOL"] for arm, choice in same.items() if choice.best}
    print(case, best, flush=True)
    return best == {"3.14": 1, "3.14t": 8}


def _versions(case: str, number: int) -> bool:
    """Return whether a run says rightly whether the second of two commits is slower. Print what it
    says.
    """
    counts = (COUNT, round((1.05 if case == "slower" else 1) * COUNT))
    with TemporaryDirectory() as work_tree:
        folder = Path(work_tree)
        _git(folder, "init", "--quiet", "--initial-branch", "main")
        (folder / "requirements.txt").write_text("flask\ngunicorn\n")
        for place, count in enumerate(counts):
            (folder / "shop.py").write_text(f"COUNT = {count}  # {place}\n{FLASK}")
            _git(folder, "add", ".")
            _git(folder, "commit", "--quiet", "--message", str(place))
        variants = ("--variant", "before:ref=HEAD~", "--variant", "after:ref=HEAD")
        app = ("--app", "shop:app", "--server", "gunicorn", "--request", "GET /", *variants)
        run = _measured(case, folder, *app, "--until", "verdict,90s", "--fail-if-slower", "1%")
    words = [one.verdict for one in View(run).of_values if one.step == "value"]
    print(case, words, flush=True)
    if case == "equal":
        return not {*words} & DIFFERENT
    return words == ["slower", "slower"]


def _routes(case: str, number: int) -> float:
    """Return the share of right verdicts on routes. Print the ratio and verdict of each."""
    client = ("native", CLIENT_PYTHON)[number % 2]
    planted, arms = (SLOWER, ARMS) if case == "route" else (EQUAL, AGAIN)
    one = compared(planted, arms, client, 10)
    verdicts = {name: route.verdict for name, route in one.routes.items()}
    ratios = (f"{name} {route.ratio:.3f} {route.verdict}" for name, route in one.routes.items())
    print(f"{case}, {client}: {'; '.join(ratios)}", flush=True)
    called = [name for name, verdict in verdicts.items() if verdict in DIFFERENT]
    if case == "route":
        return called == [SLOW] and verdicts[SLOW] == "slower"
    return 1 - len(called) / len(verdicts)


def compared(
    without_gil: str, runtimes: tuple[str, ...], client: str, blocks: int
) -> SavedComparison:
    """Measure a service with five routes, and return the only comparison of the run."""
    command = f"{{python}} {shlex.quote(str(service.__file__))} {{port}} {EQUAL} {without_gil}"
    with TemporaryDirectory() as place:
        file = Path(place) / "requests.yaml"
        file.write_text(yaml.safe_dump([*FAST, SLOW]))
        run = run_of(
            *("--service-command", command, "--requests", str(file), *runtimes),
            *("--blocks", str(blocks), "--duration", "1"),
            *("--num-clients", "2", "--num-connections-per-client", "4"),
            *("--client-runtime", client),
        )
    (one,) = run.comparisons
    return one


CASES: dict[str, Callable[[str, int], float]] = {
    "pool": _pool,
    "slower": _versions,
    "equal": _versions,
    "route": _routes,
    "routes": _routes,
}


def _measured(case: str, folder: Path, *flags: str) -> Run:
    begun_s = monotonic()
    run = run_of(*flags, *RUNTIMES, folder=folder)
    print(f"{case}: {monotonic() - begun_s:.0f} s, {max(cell.block for cell in run.cells)} blocks")
    return run


def _git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=gilscope", "-c", "user.email=gilscope@example.org")
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True)


if __name__ == "__main__":
    main()

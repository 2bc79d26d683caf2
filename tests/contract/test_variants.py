"""Settings and versions of a service as whole runs: the best setting of each runtime, and a slower commit."""

import subprocess
from pathlib import Path

import pytest

from commands.output import NO_VERDICT, THRESHOLD_MISSED
from record.run_file import load
from reports.parts.best_settings import best_sentences
from reports.view import View
from tests.conftest import runtime_or_skip
from tests.contract.runs import NEEDS_LINUX, UNREPORTED, finished, runtime_flags

pytestmark = [NEEDS_LINUX, pytest.mark.alone]  # they measure ratios

SERVICE = """
import os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Semaphore

POOL, HAS_GIL = int(os.environ.get("POOL", 8)), getattr(sys, "_is_gil_enabled", lambda: True)()
PLACES, TAKES_S = Semaphore(POOL), 0.002

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        with PLACES:
            time.sleep(TAKES_S * (POOL**2 if HAS_GIL and "POOL" in os.environ else 1))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
COMMAND = ("--service-command", "{python} service.py {port}", "--warmup", "0", "--duration", "0.4", "--out", "run")


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", folder, *who, *words], check=True)


def test_the_best_setting_of_each_runtime_and_its_cost_under_the_other_are_told(folder: Path) -> None:
    """With the GIL, four at a time take 16 times as long as one; without it, they take as long as one."""
    runtime_or_skip("3.14t")
    (folder / "service.py").write_text(SERVICE)
    flags = [*COMMAND, "--runtime", "3.14t+gil,3.14t", "--vary", "POOL=1,4", "--blocks", "5", "--num-clients", "1"]
    ended = finished([*flags, "--num-connections-per-client", "4"], folder, script=UNREPORTED)
    assert ended.status() == 0, ended.complained()
    view = View(load(folder / "run"))
    best, *costs = map(str, best_sentences(view))
    assert best.startswith("Best setting: POOL 1")
    assert " on 3.14t+gil; POOL 4" in best
    assert len(costs) == 2
    assert "gilscope passes POOL from --vary as environment variables" in ended.complained()
    said = " ".join(ended.said().split())
    assert best in said
    assert "3.14t+gil: POOL 1 was chosen from 2 settings" in said
    slower = {one.numerator: one.ratio or 0.0 for one in view.of_values if one.step == "value"}
    assert 0.2 < slower["3.14t+gil"] < 0.4  # 4 places of 16 times the time
    assert 2 < slower["3.14t"] < 4.4


def test_a_slower_commit_fails_the_run_and_the_work_tree_is_not_measured(folder: Path) -> None:
    any_runtime = runtime_or_skip("3.14t")
    git(folder, "init", "--quiet", "repository")
    repository = folder / "repository"
    for takes in ("0.002", "0.003"):
        (repository / "service.py").write_text(
            SERVICE.replace("TAKES_S = Semaphore(POOL), 0.002", f"TAKES_S = Semaphore(POOL), {takes}")
        )
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "--message", takes)
    (repository / "service.py").write_text("raise SystemExit('not committed')")
    flags = [*COMMAND, *runtime_flags(any_runtime), "--directory", "repository", "--blocks", "6", "--num-clients", "1"]
    variants = ["--variant", "before:ref=HEAD~", "--variant", "after:ref=HEAD", "--fail-if-slower", "5%"]
    ended = finished([*flags, *variants], folder, script=UNREPORTED)
    run = load(folder / "run")
    (one,) = View(run).of_values
    word, status = "may be", NO_VERDICT
    if not one.is_beside_others:  # beside other processes, there may be no verdict
        word, status = "is", THRESHOLD_MISSED
        assert one.verdict == "slower"
    assert ended.status() == status, ended.complained()
    assert f"3.14t: after {word} slower than before by more than 5%" in ended.complained()
    assert one.ratio is not None
    assert 0.6 < one.ratio < 0.85
    assert "service.py GET /: variant before → after: 3.14t 0." in " ".join(ended.said().split())
    assert run.plan.user_service
    assert [len(command.ref) for command in run.plan.user_service.variants.values()] == [40, 40]

"""What stands beside a service: databases that are known by name, and any program, for real."""

import os
import re
import sys
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest
import yaml

from config.load import load_plan
from core.messages import BadInput, GilscopeError
from core.processtree import tree
from lab.run.measured_runtimes import Runtime
from lab.run.running_sidecars import BesideFailed, standing
from record.run_file import load
from tests.contract.runs import NEEDS_LINUX, UNREPORTED, finished, runtime_flags, service_flags, started, wait_for_ends

pytestmark = NEEDS_LINUX

SERVICE = """
import json, os, subprocess, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Item(BaseHTTPRequestHandler):
    def do_GET(self):
        name = subprocess.run(sys.argv[2:], stdout=-1, text=True, check=True).stdout.strip()
        body = json.dumps({"name": name, "url": os.environ.get("DATABASE_URL", os.environ.get("REDIS_URL"))}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Item).serve_forever()
"""
LISTENING = """
import socket, sys, threading
held = socket.create_server(("127.0.0.1", int(sys.argv[1])))
threading.Event().wait()
"""
LISTEN = {"name": "listening", "command": f"{sys.executable} listening.py {{port}}"}


@pytest.fixture
def folder(short_folder: Path) -> Path:
    """A folder that the user of a database may enter, with the programs."""
    short_folder.chmod(0o711)
    (short_folder / "service.py").write_text(SERVICE)
    (short_folder / "listening.py").write_text(LISTENING)
    return short_folder


def own_flags(runtime: Runtime, ask: str, *more: str) -> list[str]:
    """Of a run of the service, which starts the command *ask* for each request."""
    return service_flags(runtime, f"service.py {{port}} {ask}", "--blocks", "1", "--out", "run", *more)


def test_redis_is_told_to_the_service(any_runtime: Runtime, folder: Path, redis: None) -> None:
    ask = ("sh -c 'redis-cli -u $REDIS_URL get a'", "--duration", "0.5", "--expect-json", '{"name": "b"}')
    fill = ("--with", "redis", "--prepare", "sh -c 'redis-cli -u $REDIS_URL set a b'")
    run = finished(own_flags(any_runtime, *ask, *fill), folder, script=UNREPORTED)
    assert run.status() == 0, run.complained()
    assert load(folder / "run").cells[0].beside.keys() == {"Redis"}
    assert run.leaves_nothing()


def test_a_runner_that_is_killed_leaves_no_database(any_runtime: Runtime, folder: Path, postgres: None) -> None:
    with started(own_flags(any_runtime, "sleep 60", "--with", "postgres", "--quiet"), folder) as run:
        run.until("a request", lambda: any(line.startswith("sleep 60") for line in run.children().values()))
        children = {*run.children(), *tree(run.process.pid)}
        run.signal(SIGKILL)
        wait_for_ends(children)
        assert run.leaves_nothing()
    segments = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    assert not {int(words[4]) for words in segments} & children  # made by one of them


def write_plan(folder: Path, beside: dict[str, Any], duration: str = "0.5") -> Path:
    """A plan of system 2 that has *beside*."""
    path = folder / "plan.yaml"
    row = {"system": 2, "NUM_API_SERVICES": 1, "NUM_CLIENTS": 1}
    path.write_text(yaml.safe_dump({"rows": [row], "beside": [beside], "blocks": 2, "duration": duration}))
    return path


def planned(folder: Path, beside: dict[str, Any], runtime: Runtime, *more: str) -> list[str]:
    """Flags of a run of such a plan."""
    write_plan(folder, beside)
    return ["--plan", "plan.yaml", *runtime_flags(runtime), "--quiet", "--out", "run", *more]


LATE = {"command": "sleep {port}", "start_deadline": "0.2s"}
BAD: list[tuple[dict[str, Any], str, type[GilscopeError]]] = [
    (LATE, "was not ready within 0.2 s (ready check: port)", BesideFailed),
    ({**LATE, "ready": "false"}, "was not ready within 0.2 s (ready check: false)", BesideFailed),
    ({"command": "sh -c 'echo no {port}; exit 3'"}, "bad ended during start-up. Output: no ", BesideFailed),
    ({"command": "/nowhere/server {port}"}, "/nowhere/server was not found", BadInput),
]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the port is held until it is collected
@pytest.mark.parametrize(("beside", "problem", "error"), BAD)
def test_a_program_that_does_not_get_ready_is_an_error_with_what_it_wrote(
    folder: Path, beside: dict[str, Any], problem: str, error: type[GilscopeError]
) -> None:
    plan = load_plan(write_plan(folder, {"name": "bad", **beside}))
    with pytest.raises(error, match=re.escape(problem)), standing(plan, {}):
        pytest.fail("it is ready")


def test_a_program_that_loads_no_data_ends_the_run_with_what_it_wrote(any_runtime: Runtime, folder: Path) -> None:
    no_data = "sh -c 'echo no data; exit 4'"
    flags = planned(folder, LISTEN, any_runtime, "--prepare", no_data)
    run = finished(flags, folder, script=UNREPORTED)
    assert run.status() == 1
    assert f"{no_data} exited with status 4. Output: no data" in run.complained()
    assert run.leaves_nothing()


def test_a_program_that_ends_in_mid_run_is_named_what_was_measured_stays_and_the_run_goes_on(
    any_runtime: Runtime, folder: Path
) -> None:
    with started(planned(folder, LISTEN, any_runtime), folder, script=UNREPORTED) as run:
        saved = folder / "run" / "result.json"
        run.until("a saved cell", lambda: saved.exists() and load(saved.parent).cells)
        (pid,) = [pid for pid, line in run.children().items() if "listening.py" in line and "guard.py" not in line]
        os.kill(pid, SIGKILL)
        assert run.status() == 1
    assert "listening ended during the run. All finished measurements are saved. Continue with: " in run.complained()
    (kept,) = load(folder / "run").cells
    assert finished(["--resume", "run", "--quiet"], folder, script=UNREPORTED).status() == 0
    assert load(folder / "run").cells[0] == kept
    assert [cell.status for cell in load(folder / "run").cells] == ["ok", "ok"]

"""Small services of a user: one that works, and one for each way of not doing so."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from config.user_service.service_plan import user_service_plan
from core.cell import Cell, Value
from core.method import ORCHESTRATOR, Method, Warmup
from core.processtree import tree
from core.request_plan import ANSWER_DEADLINE_S
from core.runtime import RuntimeName
from core.system import System
from lab.run.cell_processes import Bench
from lab.run.measure import measure
from lab.run.measured_runtimes import Runtime
from lab.user_service import readiness
from record.saved_run import CellResult

Measured = Callable[..., CellResult]
ITEMS = """
import json, os, socket, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Items(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        number = int(self.path.rpartition("/")[2])
        body = json.dumps({"id": number, "gil": os.environ.get("PYTHON_GIL"), "seen": os.getpid()}).encode()
        self.send_response(404 if number == 404 else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if number == 13:
            self.wfile.flush()
            os._exit(9)

    def log_message(self, *words):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Items).serve_forever()
"""
SOURCES = {
    "gated": """
import http.server, itertools, os, runpy, sys, time
is_second = os.path.exists("first")  # whether one was started in this folder before
open("first", "w").close()
numbers = itertools.count(1)

class Handler(http.server.BaseHTTPRequestHandler):
    def parse_request(self):
        if next(numbers) > 3 and is_second:
            open("waiting", "w").close()
            while not os.path.exists("gate"):
                time.sleep(0.01)
        return super().parse_request()

http.server.BaseHTTPRequestHandler = Handler
runpy.run_path("items.py", run_name="__main__")
""",
    "collecting": """
import gc, runpy, sys
import http.server
cycles = int(sys.argv[2])
gc.set_threshold(300_000)

class Handler(http.server.BaseHTTPRequestHandler):
    def parse_request(self):
        for _ in range(cycles):  # which only a collection frees
            cycle = []
            cycle.append(cycle)
        return super().parse_request()

http.server.BaseHTTPRequestHandler = Handler
runpy.run_path("items.py", run_name="__main__")
""",
    "items": ITEMS,
    "family": """
import subprocess, sys, threading
if "child" not in sys.argv:
    subprocess.Popen([sys.executable, *sys.argv, "child"], start_new_session=True)
    threading.Event().wait()
import runpy
sys.argv = ["items.py", sys.argv[1]]
runpy.run_path("items.py", run_name="__main__")
""",
    "orphan": """
import os, runpy, sys, threading
if os.fork() == 0:
    if os.fork() == 0:
        threading.Event().wait()
    os._exit(0)
os.wait()
sys.argv = ["items.py", sys.argv[1]]
runpy.run_path("items.py", run_name="__main__")
""",
    "supervisor": """
import subprocess, sys
sys.exit(subprocess.call(sys.argv[1:]))
""",
    "prefork": """
import os, runpy, socket, sys, threading
from http.server import HTTPServer
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
os.fork() and os.fork()

def adopt(server, address, handler):
    HTTPServer.__init__(server, address, handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener

import http.server
http.server.ThreadingHTTPServer.__init__ = adopt
runpy.run_path("items.py", run_name="__main__")
""",
    "chatty": """
import runpy, sys
print("x" * 400_000)
print("The global interpreter lock (GIL) has been enabled to load module 'shop._fast', which has", flush=True)
sys.argv = ["items.py", sys.argv[1]]
runpy.run_path("items.py", run_name="__main__")
""",
    "dies": "import sys; sys.exit('no database at db:5432')",
    "deaf": "import threading; threading.Event().wait()",
    "mute": """
import socket, sys, threading
held = socket.create_server(("127.0.0.1", int(sys.argv[1])))
threading.Event().wait()
""",
    "rude": """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listener:
    while True:
        listener.accept()[0].close()
""",
}


def write_services(folder: Path) -> None:
    """Each of SOURCES in a file of its name."""
    for name, source in SOURCES.items():
        (folder / f"{name}.py").write_text(source)


def planned(folder: Path, runtime: str, given: dict[str, Any], **values: Value) -> tuple[Cell, System]:
    """The cell of the service that *given* (as in a plan's `service`) says, 10 requests, but for *values*."""
    asked = user_service_plan({"requests": [{"request": "GET /items/3", "expect_json": '{"id": 3}'}], **given}, folder)
    few = {"NUM_CLIENTS": 1, "NUM_CONNECTIONS_PER_CLIENT": 2, "NUM_REQUESTS_PER_CLIENT": 10, **values}
    runtimes = (RuntimeName("native" if "targets" in given else runtime),)
    plan = replace(asked, runtimes=runtimes).with_values({name: (value,) for name, value in few.items()})
    (cell,) = plan.cells()
    return cell, plan.systems[cell.system]


def measured(
    folder: Path,
    bench: Bench,
    runtime: str,
    given: dict[str, Any],
    block: int = 1,
    answer_deadline_s: float = ANSWER_DEADLINE_S,
    **values: Value,
) -> CellResult:
    """That cell, once; no answer is waited for longer than that."""
    method = Method(warmup=Warmup(share=0.2), client_runtime=ORCHESTRATOR)
    cell, system = planned(folder, runtime, given, **values)
    own = {**system.child_config["own"], "answer_deadline_s": answer_deadline_s}
    system = replace(system, child_config={**system.child_config, "own": own})
    return measure(cell, system, block, replace(bench, method=method))


def told(runtime: Runtime, folder: Path, command: str) -> dict[str, Any]:
    """What a service child is told of its command."""
    return {
        "command": command,
        "python": str(runtime.interpreter.executable),
        "directory": str(folder),
        "environment": {},
        "first_port": 0,
        "protocol": "http",
        "prefix": "",
        "variables": {},
        "expected_python": "",
        "start_deadline_s": 30.0,
        "requests": {"requests": [{}], "think_time_s": 0.0},
    }


@contextmanager
def running(runtime: Runtime, folder: Path, port: int, source: str = "items.py") -> Iterator[None]:
    """A service that the test has started, and that answers."""
    own = {**told(runtime, folder, "-"), "requests": {"requests": [{"path": "/items/3"}]}}
    command = [str(runtime.interpreter.executable), source, str(port)]
    with subprocess.Popen(command, cwd=folder, env=os.environ | runtime.variables) as service:
        try:
            while readiness.probe(own, f"127.0.0.1:{port}", 5.0):
                assert service.poll() is None
            yield
        finally:
            for pid in reversed(tree(service.pid)):
                os.kill(pid, signal.SIGKILL)

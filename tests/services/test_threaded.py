"""The service with a connection cache, while connections come and go; under every runtime, each in its own process."""

import json
import subprocess
from pathlib import Path

from lab.places import REPOSITORY
from lab.processes import scrubbed_environment
from tests.conftest import runtime_or_skip
from tests.tables import each_row

DEADLINE_S = 60.0
CHURN = """
import json, socket, sys, threading
from core.cell import Cell
from services.threaded import CachedService

cell = Cell(system="2", runtime="", reads=(), num_workers_per_api_service=3, dispatch=sys.argv[2])
service = CachedService(cell, 0, sys.argv[1])
service.start()
(listener,) = service.listeners
errors, going = [], threading.Event()
going.set()

def come_and_go():
    while going.is_set():
        peers = [socket.socket(socket.AF_UNIX) for _ in range(20)]
        for peer in peers:
            peer.connect(listener.address)
        for peer in peers:
            peer.close()

def count():
    for number in range(1000):
        try:
            service.counters() if number % 2 else service.reset()
        except RuntimeError as error:
            errors.append(str(error))

threads = [threading.Thread(target=come_and_go) for _ in range(2)]
for thread in threads:
    thread.start()
count()
going.clear()
for thread in threads:
    thread.join()
print(json.dumps(sorted(set(errors))))
"""


@each_row
def test_counting_does_not_mind_connections_that_come_and_go(name: str, dispatch: str, short_folder: Path) -> None:
    runtime = runtime_or_skip(name)
    python = [str(runtime.interpreter.executable), "-s"]
    command = [*python, "-c", CHURN, str(short_folder), dispatch]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=scrubbed_environment() | runtime.variables,
        capture_output=True,
        timeout=DEADLINE_S,
        check=True,
    )
    assert (json.loads(done.stdout), done.stderr) == ([], b"")

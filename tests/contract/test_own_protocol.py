"""The file with a protocol of its own that docs/add-a-system.md begins with, against Redis and a server in Python."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import yaml

from config.run_plan import Entry, find_system
from core.method import Method, Warmup
from lab.run.cell_processes import Bench, key_of
from lab.run.cell_results import Pace
from lab.run.measure import measure, measure_in_slices
from lab.run.measured_runtimes import Runtime
from lab.user_service.readiness import DEAF, one_request
from record.run_file import load
from record.saved_run import CellResult
from tests.conftest import runtime_or_skip
from tests.contract.own_services import Measured
from tests.contract.runs import UNREPORTED, finished, runtime_flags
from tests.contract.serving import check_ok, small_cell
from tests.docs.pages import redis_system

SERVER = '''
"""A server that speaks RESP like Redis, with a thread for each connection, and an answer that may be replaced."""
import socket, sys, threading, time

values, mode = {}, sys.argv[3:]

def command(file):
    words = []
    for _ in range(int(file.readline()[1:])):
        size = int(file.readline()[1:])
        words.append(file.read(size + 2)[:-2])
    return words

def answer(words):
    if words[0] == b"SET":
        values[words[1]] = words[2]
        return b"+OK\\r\\n"
    value = values.get(words[1])
    return b"$-1\\r\\n" if value is None else b"$%d\\r\\n%s\\r\\n" % (len(value), value)

def serve(connection):
    file = connection.makefile("rb")
    while line := file.peek(1):
        said = answer(command(file))
        match mode:
            case ["wrong"]: said = b"-ERR unknown command\\r\\n"
            case ["short"]: said = said[:-1]
            case ["twice"]: said *= 2
            case ["bytewise"]:
                for byte in said[:-1]:
                    connection.sendall(bytes([byte]))
                    time.sleep(0.0002)
                said = said[-1:]
            case ["closes"]:
                connection.sendall(said[:2])
                return connection.close(), connection.shutdown(socket.SHUT_RDWR)
            case ["endless"]:
                said = b"x" * 100_000
                while True:
                    connection.sendall(said)
            case ["slow"]:
                while True:
                    connection.sendall(b"x")
                    time.sleep(0.05)
            case ["silent"]: continue
        connection.sendall(said)

listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
while True:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
'''
COMMAND = "redis-server --bind {host} --port {port} --save '' --appendonly no"
SIZE = ("--num-api-services", "1", "--num-clients", "2", "--blocks", "1", "--warmup", "10%", "--out", "run")


def write(folder: Path, mode: str = "", text: str = "") -> Path:
    """Write the page's file with the server in Python in place of Redis, and the server. Return the file's path."""
    file, text = folder / "redis_system.py", text or redis_system()
    assert COMMAND in text
    file.write_text(text.replace(COMMAND, f"{{python}} resp_server.py {{host}} {{port}} {mode}"))
    (folder / "resp_server.py").write_text(SERVER)
    return file


@pytest.fixture
def measured(any_runtime: Runtime, bench: Bench) -> Measured:
    """Measure the system of a file."""

    def run(file: Path, **params: Any) -> CellResult:
        system = find_system(str(file))
        method = Method(warmup=Warmup(share=0.2))
        return measure(small_cell(system, any_runtime, **params), system, 1, replace(bench, method=method))

    return run


def test_the_example_measures_redis(short_folder: Path, any_runtime: Runtime, redis: None) -> None:
    (short_folder / "redis_system.py").write_text(redis_system())
    flags = ("--system", "redis_system.py", *runtime_flags(any_runtime), "--duration", "1", "--rate", "100", *SIZE)
    done = finished(flags, short_folder, script=UNREPORTED)
    assert done.status() == 0, done.complained()
    (cell,) = load(short_folder / "run").cells
    check_ok(cell)
    assert cell.answered in range(150, 201)
    assert cell.latency.count == cell.answered
    assert not cell.services[0].counted
    assert (cell.services[0].pss_bytes or 0) > 2**20


def test_the_same_file_measures_a_server_under_two_runtimes_in_slices(short_folder: Path, bench: Bench) -> None:
    system, entries = find_system(str(write(short_folder))), []
    for name in ("3.11", "3.14t"):
        cell = small_cell(system, runtime_or_skip(name))
        entries.append(Entry(arm=name, cell=cell, system=system))
    paces = {key_of(entry): Pace(cycle_ns=10**6, tail_ns=10**6) for entry in entries}  # several slices, however busy
    method = Method(warmup=Warmup(seconds=0.05), duration_s=0.5, slices=True)
    results = measure_in_slices(entries, 1, replace(bench, method=method, paces=paces), 7)
    assert [result.runtime for result in results] == ["3.11", "3.14t"]
    for result in results:
        check_ok(result)
        assert result.turns.slices > 1
        assert result.answered == sum(result.turns.answered) > 12


def test_requests_are_checked_one_by_one_at_a_rate_and_with_answers_in_pieces(
    short_folder: Path, measured: Measured
) -> None:
    result = measured(write(short_folder, "bytewise"), RATE=50)
    check_ok(result)
    assert (result.params["RATE"], result.answered) == (50, 20)
    assert result.wall_ns > 0.35e9  # 20 requests at 50 a second
    assert result.latency.min_ns > 4 * 200_000  # four pauses of the server in the shortest answer


GOT = {
    "wrong": "(it gave `-ERR unknown command\\r\\n`, for which check(b'-ERR unknown command', 0) returned False)",
    "short": "an answer in response to request 0 (it gave `+OK\\r`, which is incomplete (timeout))",
    "twice": "(it gave `+OK\\r\\n+OK\\r\\n`, of which decode() needs only the first bytes)",
    "closes": "(it gave `+O`, which is incomplete (closed))",
    "endless": f"(it gave `{'x' * 60}`... (",
    "slow": "x`, which is incomplete (timeout))",
    "silent": "answer one request (timeout)",
}


@pytest.mark.alone  # the limit is part of the promise
@pytest.mark.parametrize("mode", GOT)
def test_a_first_answer_that_is_not_right_is_shown_within_the_limit(
    mode: str, short_folder: Path, any_runtime: Runtime, port: int
) -> None:
    cell = small_cell(system := find_system(str(write(short_folder))), any_runtime, RATE=100)
    ask, limit_s = one_request({**cell.to_json(), **system.child_config}), 3.0 if mode == "endless" else 0.5
    with subprocess.Popen([sys.executable, "resp_server.py", "127.0.0.1", str(port), mode], cwd=short_folder) as server:
        try:
            began_s = monotonic()
            while (state := ask(f"127.0.0.1:{port}", limit_s)).code == DEAF:
                assert server.poll() is None
                began_s = monotonic()
            assert monotonic() - began_s < 2 * limit_s
        finally:
            server.kill()
    assert GOT[mode] in str(state)


def test_a_server_that_answers_wrongly_is_given_up_before_its_clients_start(
    short_folder: Path, measured: Measured
) -> None:
    result = measured(write(short_folder, "wrong"))
    assert result.status == "failed"
    assert GOT["wrong"] in str(result.reason)
    waited = re.search(r" in (\d+) s: .*resp_server.py 127.0.0.1", str(result.reason))
    assert waited
    assert 5 <= int(waited[1]) <= 10  # the limit, and what a busy machine adds


# A line of the example, what stands before it, and the error.
FAULTS = yaml.safe_load(r"""
- ["    return answer == (", "if request == 3: return None", '\r\nkey:1\r\n`, for which check(b''key:1'', 3) returned']
- ["    return answer == (", 1 / (3 - request), "for which check(b'key:1', 3) failed: ZeroDivisionError"]
- ["    key = ", 1 / (3 - request), "encode(3) failed: ZeroDivisionError"]
- ["    key = ", "if request == 3: return 'PING'", "encode(3) returned 'PING', not bytes"]
- ["    line, line_end", 1 / (b'key:1' not in buffer), "`, for which decode() failed: ZeroDivisionError"]
""")


@pytest.mark.parametrize(("line", "before", "got"), FAULTS)
def test_a_function_that_fails_is_named_with_the_bytes(
    line: str, before: str, got: str, short_folder: Path, measured: Measured
) -> None:
    text = redis_system()
    assert text.count(line) == 1
    result = measured(write(short_folder, text=text.replace(line, f"    {before}\n{line}")))
    assert result.status == "failed"
    assert got in str(result.reason)


def test_a_system_with_its_own_caller_and_a_command_is_called_by_that_caller(
    short_folder: Path, measured: Measured
) -> None:
    (short_folder / "server.py").write_text(
        "import sys\nfrom multiprocessing.connection import Listener\n"
        "listener = Listener((sys.argv[1], int(sys.argv[2])))\n"
        "while True:\n"
        "    connection = listener.accept()\n"
        "    try:\n"
        "        while connection.recv_bytes():\n"
        '            connection.send_bytes(b\'{"code": 200, "msg": "50", "calc_ns": 1}\')\n'
        "    except EOFError:\n"
        "        pass\n"
    )
    (short_folder / "own.py").write_text(
        "from core.system import System\n"
        "SYSTEM = System(name='own', title='Own', command='{python} server.py {host} {port}',\n"
        "    caller='clients.callers:framed_caller', message='clients.channel:framed_message')\n"
    )
    result = measured(short_folder / "own.py")
    check_ok(result)
    assert result.answered == 20

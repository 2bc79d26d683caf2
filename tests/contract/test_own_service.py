"""A user's own service as a real process: measured, checked, watched, and ended with all that it has started."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.own_plan import own_plan
from core.processtree import tree
from lab import interpreters, own_command
from lab.gilprobe import version_label
from lab.measure import Bench, measure
from lab.runtimes import REPOSITORY, Runtime
from systems import find
from tests.clients.test_own import serving
from tests.conftest import runtime_or_skip
from tests.contract.own_services import measured, registered, write_services
from tests.contract.runs import finished, result_of, runtime_flags, started, wait_for_ends
from tests.lab.test_audit import EXTENSION, extension, wheel
from tests.lab.tiny_wheel import write_wheel

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux: /proc")

IMPATIENT = """
import json, sys
from lab.own_command import Command, CommandFailed
own = json.loads(sys.argv[1])
command = Command(own, 0, sys.argv[2], {})
try:
    command.wait_until_it_answers(own, 0.5)
except CommandFailed as failed:
    print(failed)
command.stop()
print("ended with", command.process.poll())
"""
ITEMS = {"command": "{python} items.py {port}"}


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with registered():
        yield


@pytest.fixture
def folder(short_folder: Path) -> Path:
    """A folder with all services."""
    write_services(short_folder)
    return short_folder


def test_a_service_by_command_is_measured_under_every_runtime(runtime: Runtime, folder: Path, bench: Bench) -> None:
    result = measured(folder, bench, str(runtime.name), ITEMS)
    assert (result.status, result.reason) == ("ok", "")
    assert (result.requests, result.answered, result.wrong, result.errors) == (10, 10, 0, {})
    (service,) = result.services
    assert service["gil_enabled_ready"] is service["gil_enabled_end"] is runtime.name.gil_enabled
    assert service["processes"] == 1
    assert service["counted"] is False
    assert 2**20 < service["pss_bytes"] <= service["max_rss_bytes"]


def test_the_gil_of_a_forced_runtime_is_on_in_the_service_itself(folder: Path, bench: Bench) -> None:
    runtime = runtime_or_skip("3.14t+gil")
    asked = [{"request": "GET /items/3", "expect_json": '{"gil": "1"}'}]
    assert measured(folder, bench, str(runtime.name), {**ITEMS, "requests": asked}).status == "ok"


def test_a_gil_that_is_on_against_the_runtimes_promise_makes_the_cell_invalid(folder: Path, bench: Bench) -> None:
    runtime_or_skip("3.14t")
    result = measured(folder, bench, "3.14t", {**ITEMS, "environment": {"PYTHON_GIL": "1"}})
    assert result.status == "invalid"
    assert "was on when ready and at the end" in result.reason


def test_every_process_of_a_service_is_counted_and_none_is_left(
    any_runtime: Runtime, folder: Path, bench: Bench
) -> None:
    result = measured(folder, bench, str(any_runtime.name), {"command": f"{{python}} family.py {{port}} {folder}"})
    assert (result.status, result.reason) == ("ok", "")
    assert result.services[0]["processes"] == 2
    assert [pid for pid in everybody() if f"family.py {folder}" in command_line(pid)] == []


def test_a_process_that_has_left_its_parent_is_counted(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    result = measured(folder, bench, str(any_runtime.name), {"command": "{python} orphan.py {port}"})
    assert (result.status, result.reason) == ("ok", "")
    assert result.services[0]["processes"] == 2


def test_a_command_that_runs_another_python_is_invalid(folder: Path, bench: Bench) -> None:
    other, runtime = runtime_or_skip("3.11").interpreter, runtime_or_skip("3.14").interpreter
    wrapper = folder / "serve"
    wrapper.write_text(f'#!/bin/sh\nexec {other.executable} items.py "$2"\n')
    wrapper.chmod(0o755)
    result = measured(folder, bench, "3.14", {"command": f"{wrapper} {{python}} {{port}}"})
    assert result.status == "invalid"
    assert f" runs under {other.facts['version']}; it was to be {runtime.facts['version']}" in result.reason


def test_another_python_beside_the_measured_one_is_none_of_its_business(folder: Path, bench: Bench) -> None:
    other, runtime = runtime_or_skip("3.11").interpreter, runtime_or_skip("3.14t").interpreter
    command = f"{other.executable} supervisor.py {{python}} items.py {{port}}"
    result = measured(folder, bench, "3.14t", {"command": command})
    assert (result.status, result.reason) == ("ok", "")
    (service,) = result.services
    assert service["pythons"] == [other.facts["version"], runtime.facts["version"] + "t"]
    assert (service["gil_enabled_end"], service["gil_known"]) == (False, True)


def test_a_program_of_the_requirements_runs_by_its_bare_name(runtime: Runtime, folder: Path, bench: Bench) -> None:
    if interpreters.uv() is None:
        pytest.skip("uv was not found")
    serve = f"def main():\n    import runpy\n    runpy.run_path({str(folder / 'items.py')!r}, run_name='__main__')\n"
    given = {"command": "tiny-serve {port}", "requirements": str(write_wheel(folder, serve))}
    result = measured(folder, bench, str(runtime.name), given)
    assert (result.status, result.reason) == ("ok", "")
    assert result.services[0]["gil_enabled_ready"] is runtime.name.gil_enabled


def test_what_switched_the_gil_on_is_found_however_much_the_command_writes(folder: Path, bench: Bench) -> None:
    runtime_or_skip("3.14t")
    given = {"command": "{python} chatty.py {port}", "environment": {"PYTHON_GIL": "1"}}
    result = measured(folder, bench, "3.14t", given)
    assert result.reason.endswith("was on when ready and at the end: it was enabled to load module 'shop._fast'")


def test_a_package_that_switched_the_gil_on_silently_is_named(folder: Path, bench: Bench) -> None:
    if interpreters.uv() is None:
        pytest.skip("uv was not found")
    held = extension(runtime_or_skip("3.14t").interpreter, folder, "_held", EXTENSION)
    wheel(folder, "holding", {"holding/__init__.py": b"from holding import _held\n", "holding/_held.so": held})
    wanted = folder / "requirements.txt"
    wanted.write_text(f"--no-index\n--find-links {folder}\nholding\n")
    given = {"command": "{python} holding_service.py {port}", "requirements": str(wanted)}
    result = measured(folder, bench, "3.14t", given)
    assert result.status == "invalid"
    assert result.reason.endswith("; of its packages, importing holding switches the GIL on, by holding._held")


def test_a_service_on_a_unix_socket_speaks_frames(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    asked = [{"request": "GET /", "body": '{"msg": "hello"}', "expect_json": '{"msg": "hello"}'}]
    given = {"command": "{python} framed.py {socket}", "protocol": "framed", "requests": asked}
    result = measured(folder, bench, str(any_runtime.name), given)
    assert (result.status, result.reason, result.answered) == ("ok", "", 10)


def test_several_commands_share_the_requests(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    result = measured(folder, bench, str(any_runtime.name), ITEMS, NUM_API_SERVICES=2)
    assert (result.status, result.answered, len(result.services)) == ("ok", 20, 2)


def test_a_command_with_workers_is_one_command_whatever_their_number(
    any_runtime: Runtime, folder: Path, bench: Bench
) -> None:
    given = {"command": "{python} items.py {port} {workers} {threads}"}
    result = measured(folder, bench, str(any_runtime.name), given, NUM_API_SERVICES=3)
    assert (result.status, result.answered, len(result.services)) == ("ok", 30, 1)


def test_a_wrong_answer_is_shown_beside_what_was_expected(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    asked = [{"request": "GET /items/4", "expect_json": '{"id": 3}'}]
    result = measured(folder, bench, str(any_runtime.name), {**ITEMS, "requests": asked})
    assert (result.status, result.wrong) == ("failed", 10)
    assert result.reason.startswith('10 answers were wrong; first wrong answer, to GET /items/4: body {"id": 4, ')
    assert result.reason.endswith(": id is 4; expected 3")


def test_another_status_is_an_error_by_its_code(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    result = measured(folder, bench, str(any_runtime.name), {**ITEMS, "requests": ["GET /items/404"]})
    assert result.reason == "errors: 10 x 404; first wrong answer, to GET /items/404: status 404; expected 200"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("{python} dies.py {port}", ["exited with status 1 before it listened", "It wrote: no database at db:5432"]),
        ("{python} none.py {port}", ["exited with status 2", "No such file or directory"]),
        ("none {python} {port}", ["cannot be started: No such file or directory"]),
        ("'{python} items.py {port}", ["cannot be read: No closing quotation"]),
        ("{python} rude.py {port}", ["did not answer GET /items/3 in http ("]),
    ],
)
def test_a_command_that_does_not_start_says_why(
    any_runtime: Runtime, folder: Path, bench: Bench, command: str, words: list[str]
) -> None:
    result = measured(folder, bench, str(any_runtime.name), {"command": command})
    assert result.status == "failed"
    assert [word for word in words if word not in result.reason] == []
    assert "Traceback" not in result.reason


@pytest.mark.parametrize(
    ("source", "words"), [("deaf", "did not accept a connection"), ("mute", "did not answer GET / in http (timeout)")]
)
def test_a_command_that_is_not_heard_of_is_given_up(
    any_runtime: Runtime, folder: Path, source: str, words: str
) -> None:
    own = told(any_runtime, folder, f"{{python}} {source}.py {{port}}")
    impatient = [
        sys.executable,
        "-c",
        IMPATIENT,
        json.dumps(own),
        str(folder),
    ]  # a process whose descendants are its own
    said = subprocess.run(impatient, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    assert words in said.stdout
    assert said.stdout.endswith("ended with -15\n")


def test_the_start_deadline_is_the_users(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    given = {"command": "{python} deaf.py {port}", "start_deadline": "0.3s"}
    result = measured(folder, bench, str(any_runtime.name), given)
    assert "did not accept a connection at 127.0.0.1:" in result.reason


def test_a_body_that_cannot_be_sent_fails_the_cell_with_a_reason(
    any_runtime: Runtime, folder: Path, bench: Bench
) -> None:
    body = folder / "body.json"
    body.write_text("{}")
    asked = [{"request": "POST /", "body_file": str(body)}]
    own = own_plan({"command": "{python} framed.py {socket}", "protocol": "framed", "requests": asked}, folder)
    body.write_text("hello")
    (cell, *_) = replace(own, runtimes=(str(any_runtime.name),)).cells()
    result = measure(cell, find(cell.system), 1, bench)
    assert "The body of POST / is hello; in a frame it is the params" in result.reason
    assert "Traceback" not in result.reason


def test_a_port_that_is_taken_is_named(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        result = measured(folder, bench, str(any_runtime.name), {**ITEMS, "port": port})
    assert f"Port {port} of 127.0.0.1 cannot be had: Address already in use" in result.reason


def test_a_service_that_ends_in_mid_cell_fails_it_with_its_status(
    any_runtime: Runtime, folder: Path, bench: Bench
) -> None:
    asked = [{"request": "GET /items/3"}, {"request": "GET /items/13", "weight": "3"}]
    result = measured(folder, bench, str(any_runtime.name), {**ITEMS, "requests": asked})
    assert result.status == "failed"
    assert "The command exited with status 9 while it was serving" in result.reason


def test_a_service_that_already_runs_is_called_where_it_is(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}/items"
    asked = [{"request": "GET /3", "expect_json": '{"id": 3}'}]
    with running(any_runtime, folder, port):
        result = measured(folder, bench, "native", {"targets": {"here": url}, "requests": asked})
    assert (result.status, result.reason, result.answered) == ("ok", "", 10)
    (service,) = result.services
    assert (service["processes"], service["gil_known"]) == (1, True)
    assert service["pss_bytes"] > 2**20
    gone = measured(folder, bench, "native", {"targets": {"here": url}, "requests": asked})
    assert f"Nothing works at {url}: it does not accept a connection. Start it first." in gone.reason


def test_the_processes_of_a_service_that_already_runs_are_counted_and_looked_at(
    runtime: Runtime, folder: Path, bench: Bench
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    targets = {"here": f"http://127.0.0.1:{port}/items/3"}
    with running(runtime, folder, port, "prefork.py"):
        result = measured(folder, bench, "native", {"targets": targets, "requests": ["GET"]})
    (service,) = result.services
    assert (result.status, service["processes"]) == ("ok", 3)
    facts = runtime.interpreter.facts
    assert service["pythons"] == [version_label(facts["version"], free_threaded=facts["gil_disabled_build"])]
    assert service["gil_enabled_ready"] is service["gil_enabled_end"] is runtime.name.gil_enabled
    assert service["gil_known"] is True
    assert {"cpu_user_ns", "cpu_system_ns", "voluntary_switches", "max_rss_bytes"} <= set(service)


def test_of_a_service_that_this_process_holds_nothing_is_known(folder: Path, bench: Bench) -> None:
    with serving() as (address, _):
        asked = [{"request": "GET /3", "expect_json": '{"id": 3}'}]
        result = measured(folder, bench, "native", {"targets": {"here": f"http://{address}/"}, "requests": asked})
    (service,) = result.services
    assert (result.status, service["gil_known"], service["pythons"]) == ("ok", False, [])
    assert "cpu_user_ns" not in service


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: str(number.name))
def test_a_runner_that_is_stopped_leaves_no_service(any_runtime: Runtime, folder: Path, number: signal.Signals) -> None:
    flags = ["--service-command", "{python} family.py {port}", "--request", "GET /items/3", "--duration", "60"]
    with started([*flags, "--blocks", "1", *runtime_flags(any_runtime), "--out", "run"], folder) as run:
        run.wait_for("systems client", 2)
        run.wait_for("family.py", 2)
        children = run.wait_until_calling()
        run.signal(number)
        run.status()
        wait_for_ends(children)
        assert run.leaves_nothing()


def test_arms_that_do_not_start_leave_the_others_alone(any_runtime: Runtime, folder: Path) -> None:
    flags = ["--arm", "gone=http://127.0.0.1:1/", "--blocks", "1", "--duration", "1", "--out", "run", "--quiet"]
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with running(any_runtime, folder, port):
        run = finished([*flags, "--arm", f"here=http://127.0.0.1:{port}/items/3"], folder)
    by_arm = {cell["system"]: cell["status"] for cell in result_of(folder / "run")["cells"]}
    assert by_arm == {"gone": "failed", "here": "ok"}
    assert run.status() == 1
    assert "Traceback" not in run.complained()
    assert "here serves " in (folder / "run" / "targets.md").read_text()


def run_flags(runtime: Runtime, command: str, blocks: int) -> list[str]:
    """Flags of a small run of that command."""
    sizes = ["--num-clients", "1", "--num-requests-per-client", "10", "--duration", "0", "--blocks", str(blocks)]
    return ["--service-command", command, "--request", "/items/3", *sizes, *runtime_flags(runtime), "--quiet"]


def test_a_service_that_does_not_start_twice_is_not_waited_for_again(any_runtime: Runtime, folder: Path) -> None:
    run = finished([*run_flags(any_runtime, "{python} dies.py {port}", 4), "--out", "run"], folder)
    cells = result_of(folder / "run")["cells"]
    assert [(cell["block"], cell["status"]) for cell in cells] == [(block, "failed") for block in (1, 2, 3, 4)]
    assert len({cell["reason"] for cell in cells[:2]}) == 2  # each names its process
    assert len({cell["reason"] for cell in cells[1:]}) == 1
    assert run.status() == 1


def test_a_run_goes_on_with_the_service_that_it_began_with(any_runtime: Runtime, folder: Path) -> None:
    first = finished([*run_flags(any_runtime, "{python} items.py {port}", 2), "--out", "run"], folder)
    assert first.complained() == ""
    file = folder / "run" / "result.json"
    saved = json.loads(file.read_text())
    file.write_text(json.dumps({**saved, "cells": saved["cells"][:1]}))
    again = finished(["--resume", "run", "--quiet", *runtime_flags(any_runtime)[2:]], folder)
    assert again.complained() == ""
    assert [(cell["block"], cell["status"]) for cell in result_of(folder / "run")["cells"]] == [(1, "ok"), (2, "ok")]


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
        "gil_forced": False,
        "expected_python": "",
        "start_deadline_s": 30.0,
        "requests": {"requests": [{}], "think_time_s": 0.0, "rate": 0},
    }


@contextmanager
def running(runtime: Runtime, folder: Path, port: int, source: str = "items.py") -> Iterator[None]:
    """A service that the test has started, and that answers."""
    own = {**told(runtime, folder, "-"), "requests": {"requests": [{"path": "/items/3"}]}}
    command = [str(runtime.interpreter.executable), *runtime.name.options, source, str(port)]
    with subprocess.Popen(command, cwd=folder) as service:
        try:
            while own_command.lacking(own, f"127.0.0.1:{port}", 5.0):
                assert service.poll() is None
            yield
        finally:
            for pid in reversed(tree(service.pid)):
                os.kill(pid, signal.SIGKILL)


def everybody() -> list[int]:
    """All processes."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]


def command_line(pid: int) -> str:
    """The words of a process; empty if it has gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""

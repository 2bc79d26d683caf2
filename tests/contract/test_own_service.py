"""A user's own service as a real process: measured, checked, watched, and ended with all that it has started."""

import json
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from config.user_service.plan import user_service_plan
from lab.places import REPOSITORY
from lab.python import uv
from lab.run.measure import Bench, measure
from lab.run.runtimes import Runtime
from reports.rows.ran import ran
from tests.contract.own_services import measured, running, told
from tests.contract.runs import finished, result_of, runtime_flags
from tests.lab.wheels import write_wheel

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux: /proc")

IMPATIENT = """
import json, sys
from lab.user_service.command import CommandFailed, ServiceCommand, lacking
own = json.loads(sys.argv[1])
command = ServiceCommand(own, 0, sys.argv[2], {})
while sys.argv[3] == "mute" and command.process.poll() is None and lacking(own, command.address, 0.5).code == "deaf":
    pass  # it has not begun to listen
try:
    command.wait_until_it_answers(own, 0.5)
except CommandFailed as failed:
    print(failed)
command.stop()
print("ended with", command.process.poll())
"""
ITEMS = {"command": "{python} items.py {port}"}


def test_a_service_by_command_is_measured_under_every_runtime(runtime: Runtime, folder: Path, bench: Bench) -> None:
    result = measured(folder, bench, str(runtime.name), ITEMS)
    assert (result.status, str(result.reason)) == ("ok", "")
    assert (result.requests, result.answered, result.wrong, result.errors) == (10, 10, 0, {})
    (service,) = result.services
    assert service["gil_enabled_ready"] is service["gil_enabled_end"] is runtime.name.gil_enabled
    assert service["processes"] == 1
    assert service["counted"] is False
    assert 2**20 < service["pss_bytes"] <= service["max_rss_bytes"]


def test_a_service_that_starts_threads_for_processes_is_shown_as_what_it_is(
    runtime: Runtime, folder: Path, bench: Bench
) -> None:
    given = {"command": "{python} ignoring.py {port} {workers} {threads}"}
    asked = {"NUM_API_SERVICES": 2, "NUM_WORKERS_PER_API_SERVICE": 2}
    loads = {"NUM_CONNECTIONS_PER_CLIENT": 4, "NUM_REQUESTS_PER_CLIENT": 1000}
    result = measured(folder, bench, str(runtime.name), given, **asked, **loads)
    assert (result.status, str(result.reason)) == ("ok", "")
    assert ran([result]) == (1, 4)


def test_a_program_of_the_requirements_runs_by_its_bare_name(runtime: Runtime, folder: Path, bench: Bench) -> None:
    if uv.find() is None:
        pytest.skip("uv was not found")
    serve = f"def main():\n    import runpy\n    runpy.run_path({str(folder / 'items.py')!r}, run_name='__main__')\n"
    given = {"command": "tiny-serve {port}", "requirements": str(write_wheel(folder, serve))}
    result = measured(folder, bench, str(runtime.name), given)
    assert (result.status, str(result.reason)) == ("ok", "")
    assert result.services[0]["gil_enabled_ready"] is runtime.name.gil_enabled


def test_a_service_on_a_unix_socket_speaks_frames(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    asked = [{"request": "GET /", "body": '{"msg": "hello"}', "expect_json": '{"msg": "hello"}'}]
    given = {"command": "{python} framed.py {socket}", "protocol": "framed", "requests": asked}
    result = measured(folder, bench, str(any_runtime.name), given)
    assert (result.status, str(result.reason), result.answered) == ("ok", "", 10)


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
    assert str(result.reason).startswith('10 answers were wrong; first wrong answer, to GET /items/4: body {"id": 4, ')
    assert str(result.reason).endswith(": id is 4; expected 3")


def test_another_status_is_an_error_by_its_code(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    result = measured(folder, bench, str(any_runtime.name), {**ITEMS, "requests": ["GET /items/404"]})
    assert str(result.reason) == "errors: 10 x 404; first wrong answer, to GET /items/404: status 404; expected 200"


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
    assert [word for word in words if word not in str(result.reason)] == []
    assert "Traceback" not in str(result.reason)


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
        source,
    ]  # a process whose descendants are its own
    said = subprocess.run(impatient, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    assert words in said.stdout
    assert said.stdout.endswith("ended with -15\n")


def test_the_start_deadline_is_the_users(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    given = {"command": "{python} deaf.py {port}", "start_deadline": "0.3s"}
    result = measured(folder, bench, str(any_runtime.name), given)
    assert "did not accept a connection at 127.0.0.1:" in str(result.reason)


def test_a_body_that_cannot_be_sent_fails_the_cell_with_a_reason(
    any_runtime: Runtime, folder: Path, bench: Bench
) -> None:
    body = folder / "body.json"
    body.write_text("{}")
    asked = [{"request": "POST /", "body_file": str(body)}]
    plan = user_service_plan(
        {"command": "{python} framed.py {socket}", "protocol": "framed", "requests": asked}, folder
    )
    body.write_text("hello")
    (cell, *_) = replace(plan, runtimes=(str(any_runtime.name),)).cells()
    result = measure(cell, plan.systems[cell.system], 1, bench)
    assert "The body of POST / is ...; in a frame it is the params" in str(result.reason)
    assert "Traceback" not in str(result.reason)


def test_a_port_that_is_taken_is_named(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        result = measured(folder, bench, str(any_runtime.name), {**ITEMS, "port": port})
    assert f"Port {port} of 127.0.0.1 is not available: Address already in use" in str(result.reason)


def test_a_service_that_ends_in_mid_cell_fails_it_with_its_status(
    any_runtime: Runtime, folder: Path, bench: Bench
) -> None:
    asked = [{"request": "GET /items/3"}, {"request": "GET /items/13", "weight": "3"}]
    result = measured(folder, bench, str(any_runtime.name), {**ITEMS, "requests": asked})
    assert result.status == "failed"
    assert "The command exited with status 9 while it was serving" in str(result.reason)


def test_a_service_that_already_runs_is_called_where_it_is(
    any_runtime: Runtime, folder: Path, bench: Bench, port: int
) -> None:
    url = f"http://127.0.0.1:{port}/items"
    asked = [{"request": "GET /3", "expect_json": '{"id": 3}'}]
    with running(any_runtime, folder, port):
        result = measured(folder, bench, "native", {"targets": {"here": url}, "requests": asked})
    assert (result.status, str(result.reason), result.answered) == ("ok", "", 10)
    (service,) = result.services
    assert (service["processes"], service["gil_known"]) == (1, True)
    assert service["pss_bytes"] > 2**20
    gone = measured(folder, bench, "native", {"targets": {"here": url}, "requests": asked})
    assert f"Nothing works at {url}: it does not accept a connection. Start it first." in str(gone.reason)


def test_arms_that_do_not_start_leave_the_others_alone(any_runtime: Runtime, folder: Path, port: int) -> None:
    flags = ["--arm", "gone=http://127.0.0.1:1/", "--blocks", "1", "--duration", "1", "--out", "run", "--quiet"]
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
    assert len({cell["reason"]["text"] for cell in cells[:2]}) == 2  # each names its process
    assert [cell["reason"].get("code") for cell in cells] == ["not_ready"] * 2 + ["not_tried"] * 2
    assert "pid" not in cells[-1]["reason"]["text"]
    assert run.status() == 1

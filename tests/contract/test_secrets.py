"""A run with secrets everywhere leaves none of them, and asks for them again when it goes on."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.run.measured_runtimes import Runtime
from record.run_file import load
from tests.contract.runs import NEEDS_LINUX, RUNNER, UNREPORTED, finished, runtime_flags

pytestmark = NEEDS_LINUX

HEADER, ENVIRONMENT, BODY, QUERY, URL, VARIABLE = SECRETS = (
    "header-Sw0rdf1sh", "environ-Sw0rdf1sh", "body-Sw0rdf1sh", "query-Sw0rdf1sh", "url-Sw0rdf1sh", "variable-Sw0rdf1sh",
)  # fmt: skip
TELLTALE = """
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secrets = [os.environ["DB_PASSWORD"], *sys.argv]
print(secrets, flush=True)
if "dies" in sys.argv:
    sys.exit(f"\\x1b[31mno database {secrets}")

class Telltale(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        body = json.dumps({"ok": False, "path": self.path, "headers": str(self.headers), "sent": sent, "own": secrets})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Telltale).serve_forever()
"""
AUTHORIZATION, PASSWORD = f"Authorization: Bearer {HEADER}", f"DB_PASSWORD={ENVIRONMENT}"
REQUEST, SENT = f"POST /x?api_key={QUERY}&page={{env:PAGE}}", f'{{"password": "{BODY}"}}'
SIZES = [
    *("--warmup", "0", "--num-requests-per-client", "3"),
    *("--num-clients", "1", "--num-connections-per-client", "1"),
]
PLAN = """
blocks: 1
duration: 0
runtimes: [{runtime}]
service:
  command: "{{python}} telltale.py {{port}}"
  environment: {{DB_PASSWORD: {password}}}
  requests: [{{request: "POST /x?shard=7&page={{env:PAGE}}", body: seen}}]
"""
GIVEN = ["--header", AUTHORIZATION, "--env", PASSWORD, "--request", REQUEST, "--body", SENT]


@pytest.fixture(autouse=True)
def given(monkeypatch: pytest.MonkeyPatch, short_folder: Path) -> None:
    """The service, and a variable that requests name."""
    monkeypatch.setenv("PAGE", VARIABLE)
    (short_folder / "telltale.py").write_text(TELLTALE)


def flags(runtime: Runtime, way: str) -> list[str]:
    command = f"{{python}} telltale.py {{port}} --db=postgres://shop:{URL}@db/ {way}"
    return [*runtime_flags(runtime), "--blocks", "1", "--duration", "0", *SIZES, "--service-command", command, *GIVEN]


def told(arguments: Sequence[str], folder: Path, script: Path = UNREPORTED) -> tuple[int, str]:
    """The exit status of a command, and all that it printed."""
    run = finished(arguments, folder, script=script)
    return run.status(), run.said() + run.complained()


def in_files(folder: Path) -> list[tuple[str, str]]:
    """(secret, file) wherever a file of *folder* holds one."""
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "telltale.py"}
    return [(secret, str(path)) for path, content in files.items() for secret in SECRETS if secret.encode() in content]


NAMES = {"Authorization: Bearer ...", "DB_PASSWORD=...", "POST /x?api_key=...&page={env:PAGE}"}


def check_none_is_left(printed: str, folder: Path) -> None:
    """Neither what was printed nor a file of *folder* has a secret; the run's command has their names."""
    assert [secret for secret in SECRETS if secret in printed] == []
    assert in_files(folder) == []
    assert "\x1b" not in printed
    assert {*load(folder / "out").command} >= NAMES


def test_a_service_that_dies_leaves_no_value_of_a_secret(any_runtime: Runtime, short_folder: Path) -> None:
    _, printed = told([*flags(any_runtime, "dies"), "--out", "out", "--json"], short_folder, RUNNER)
    check_none_is_left(printed, short_folder)
    assert "no database" in str(load(short_folder / "out").cells[0].reason)


def test_no_value_of_a_secret_is_left_and_a_resumed_run_is_given_them_again_and_refuses_those_without_a_place(
    any_runtime: Runtime, short_folder: Path
) -> None:
    given = flags(any_runtime, "answers")
    expected = ["--expect-json", json.dumps({"ok": True, "sent": SENT})]
    _, printed = told([*given, *expected, "--out", "out"], short_folder, RUNNER)
    for arguments in (["plan", "--json", *given], ["compare", "out", "out"], ["export", "out", "x"]):
        printed += told(arguments, short_folder)[1]
    check_none_is_left(printed, short_folder)
    assert "first wrong answer" in str(load(short_folder / "out").cells[0].reason)

    resume = ["--resume", "out", "--blocks", "+1"]
    status, printed = told(resume, short_folder)
    assert status == 2
    wanted = ("--body, --env DB_PASSWORD, --expect-json", "--header Authorization", "--request 'POST /x")
    assert [name for name in wanted if name not in printed] == []
    again = [*resume, *GIVEN, *expected, *given[given.index("--service-command") :][:2]]
    status, printed = told([*again, "--header", "X-Other: Bearer another"], short_folder)
    assert (status, "--header X-Other" in printed) == (2, True)
    status, printed = told(again, short_folder)
    assert (status, len(load(short_folder / "out").cells)) == (1, 2), printed  # its answers are wrong again
    check_none_is_left(printed, short_folder)


def test_a_resumed_run_reads_secrets_from_the_plan_that_is_named(any_runtime: Runtime, short_folder: Path) -> None:
    (short_folder / "shop.yaml").write_text(PLAN.format(runtime=any_runtime.name, password=ENVIRONMENT))
    told(["--plan", "shop.yaml", *SIZES, *runtime_flags(any_runtime), "--out", "out"], short_folder)
    run = load(short_folder / "out")
    assert run.plan.user_service
    (request,) = run.plan.user_service.requests.requests
    assert (str(request.body), str(request.path)) == ("...", "/x?shard=...&page={env:PAGE}")
    status, printed = told(["--resume", "out", "--blocks", "+1"], short_folder)
    assert (status, "name the plan file that has it with --plan" in printed) == (2, True)
    status, printed = told(["--resume", "out", "--blocks", "+1", "--plan", "shop.yaml"], short_folder)
    assert (status, len(load(short_folder / "out").cells)) == (0, 2), printed

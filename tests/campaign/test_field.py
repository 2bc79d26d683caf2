"""Services like those that people measure, each with the words that its run must say.

The services are in the folder field beside this file. Each was made after a public report.
"""

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import pytest

from lab.places import REPOSITORY
from lab.processes import scrubbed_environment
from tests.campaign.sizes import campaign_only
from tests.conftest import runtime_or_skip
from tests.native.programs import program_or_skip

FIELD = Path(__file__).parent / "field"
pytestmark = campaign_only
NATIVE = "--client-runtime native"
CLIENTS = ("--client-runtime same", NATIVE)
WRONG = re.compile(
    r"Traceback \(most recent call last\):\n  File .*gilscope|bug in gilscope|[^ -~\w\s…→–—×█▏▎▍▌▋▊▉·]{4}"
)
SERVER, PORT = "--service-command '{python} server.py {port}'", "127.0.0.1:{port}"
GRPC = (  # its package has no wheel for 3.14t
    "--service-command '{python} server.py {port} 4' --requirements requirements.txt --protocol http2 --runtime 3.14"
)
GUNICORN = "--app app:app --server gunicorn"
PROFILE = f"{GUNICORN} --runtime 3.14t --topology 1x2 --profile"
LONGEST_S = 240  # with the set-up of packages


@dataclass(frozen=True, kw_only=True)
class Case:
    """A folder of a service, the flags of its run, and what the run must say.

    shared:      a folder of field/shared whose files stand beside those of the service
    says, never: regular expressions for all output, in which blanks and line ends are one blank
    status:      the exit status
    clients:     the flags for each client that measures it
    """

    folder: str
    flags: str
    shared: str = ""
    says: str = r"requests/s"
    never: str = r"a^"
    status: int = 0
    clients: tuple[str, ...] = ("",)


CASES = {
    "closes after every answer": Case(
        folder="02-closes-every-answer",
        flags="--service-command '{python} -m flask --app app run --port {port}' --requirements requirements.txt "
        "--requests asked.yml",
        says="closed the connection after every answer",
        clients=CLIENTS,
    ),
    "closes without a word": Case(
        folder="03-unannounced-close", shared="raw", flags=SERVER, says="had to be sent twice", clients=CLIENTS
    ),
    "closes after twenty answers": Case(
        folder="05-max-requests",
        shared="asgi",
        flags=f"--service-command '{{python}} -m hypercorn -c hypercorn.toml -b {PORT} app:app' "
        "--requirements requirements.txt",
        says=r"closed the connection after about (1[789]|2[012]) answers",
        clients=CLIENTS,
    ),
    **{
        f"GOAWAY {when} the answer": Case(
            folder="05b-goaway",
            shared="raw",
            flags=f"{SERVER} --requirements requirements.txt --protocol http2 --env MODE={when}",
            never="closed: |garbled|[0-9] x closed",
            clients=(NATIVE,),
        )
        for when in ("before", "after")
    },
    "eight threads": Case(
        folder="06-eight-threads",
        shared="raw",
        flags=f"{SERVER} --num-clients 2 --num-connections-per-client 8",
        says="8 of 16 connections.*thread.*connection",
        status=1,
        clients=CLIENTS,
    ),
    "gzip": Case(
        folder="07-gzip-checked",
        flags=f"{GUNICORN} --requirements requirements.txt --request 'GET /catalogue' --header 'Accept-Encoding: gzip' "
        """--expect-json '{"total": 400}'""",
        clients=CLIENTS,
    ),
    "a request in chunks": Case(
        folder="08-chunked-request", shared="wsgi", flags=f"{GUNICORN} --requests asked.yml", clients=CLIENTS
    ),
    "head and body apart": Case(
        folder="10-nagle-40ms",
        flags=f"{SERVER} --duration 2.5",
        says="delayed ACK",
        never="--blocks [+]",
        clients=CLIENTS,
    ),
    "a loop for each request": Case(
        folder="12-loop-per-request", shared="wsgi", flags=f"{PROFILE} locks", never="runners.py.*lock of"
    ),
    "debug lines that are off": Case(folder="13-disabled-debug", shared="wsgi", flags=f"{PROFILE} python"),
    "memory of an extension": Case(folder="14-extension-memory", shared="wsgi", flags=f"{PROFILE} memory --env MB=50"),
    "shared singletons": Case(folder="15-shared-singletons", shared="wsgi", flags=f"{PROFILE} locks"),
    "raises": Case(folder="18-raise", shared="raw", flags=GUNICORN, says="x 500.*KeyError", status=1, clients=CLIENTS),
    **{
        f"lines end with LF: {kind}": Case(
            folder="18-raise",
            shared="raw",
            flags=f"--service-command '{{python}} lf.py {{port}} {kind}'",
            clients=CLIENTS,
        )
        for kind in ("crlf", "last", "all")
    },
    "a shared cache": Case(folder="18-shared-cache", shared="wsgi", flags=GUNICORN, says="500|requests/s", status=-1),
    "a loop for each thread": Case(
        folder="20-single-thread-lock", flags="--service-command '{python} server.py {port} 4'", clients=CLIENTS
    ),
    "forty threads": Case(
        folder="21-forty-threads",
        flags="--app app:app --server uvicorn --requirements requirements.txt --requests asked.yml",
        clients=CLIENTS,
    ),
    **{
        f"a stream of {name}": Case(
            folder="22-bytesio-stream",
            flags=f"--app app:app --server uvicorn --requirements requirements.txt --requests {name}.yml",
        )
        for name in ("asked", "whole")
    },
    "a stall": Case(folder="24-periodic-stall", shared="wsgi", flags=f"{GUNICORN} --duration 6", clients=CLIENTS),
    "a limit of connections": Case(
        folder="25-waitress-limit",
        shared="wsgi",
        flags=f"--service-command '{{python}} -m waitress --connection-limit 4 --listen {PORT} app:app' "
        "--requirements waitress.txt --num-clients 1 --num-connections-per-client 16",
        says="of 16 connections.*limit",
        status=1,
        clients=CLIENTS,
    ),
    "idle connections end": Case(
        folder="26-keep-alive-race",
        shared="asgi",
        flags="--app app:app --server uvicorn --requirements requirements.txt --think-time 5s --duration 6",
        never="[0-9] x (closed|reset)",
        clients=CLIENTS,
    ),
    "another protocol": Case(
        folder="28-raw-answer",
        shared="raw",
        flags=SERVER,
        says=r"answered .-ERR unknown command.*not HTTP.*add-a-system",
        status=1,
        clients=CLIENTS,
    ),
    "grpc": Case(
        folder="29-grpc-unary",
        flags=f"{GRPC} --requests asked.yml",
        clients=(NATIVE,),
    ),
    "grpc fails": Case(
        folder="29-grpc-unary",
        flags=f"{GRPC} --requests broken.yml",
        says="grpc-status.*13",
        status=1,
        clients=(NATIVE,),
    ),
    "websocket": Case(
        folder="31-websocket",
        flags=f"{SERVER} --requirements requirements.txt --header 'Connection: Upgrade' --header 'Upgrade: websocket' "
        "--header 'Sec-WebSocket-Version: 13' --header 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' "
        "--expect-status 101",
        says="handshakes only",
        clients=CLIENTS,
    ),
    "an upper bound": Case(
        folder="34-bound/pep621",
        shared="index",
        flags="--app web:app",
        says="pyproject.toml.*<3.14",
        never="Installed",
        status=2,
    ),
    "a lower bound": Case(
        folder="34-bound/lower2", shared="index", flags="--app web:app", says="pyproject.toml.*>=3.15", status=2
    ),
    "a bound of Poetry": Case(
        folder="34-upper-bound", shared="index", flags="--app web:app", says="pyproject.toml.*<3.14", status=2
    ),
    "a package in a folder": Case(
        folder="35-uv-sources", shared="pricing", flags="--app web:app --request 'GET /items/3'"
    ),
    "a constraint": Case(folder="35-sources/constraint", shared="index", flags="--app web:app"),
    "a project that is built": Case(
        folder="35-sources/built", shared="pricing", flags="--app web:app --request 'GET /items/3'"
    ),
}
CHOSEN = [(name, client) for name, case in CASES.items() for client in case.clients]


@pytest.mark.parametrize(("name", "client"), CHOSEN, ids=" ".join)
def test_a_run_says_what_is_true_of_the_service(name: str, client: str, tmp_path: Path) -> None:
    case = CASES[name]
    runtime_or_skip("3.14t")
    if client == NATIVE:
        program_or_skip("loadgen")
    folder = tmp_path / "service"
    shutil.copytree(FIELD / case.folder, folder)
    if case.shared:
        shutil.copytree(FIELD / "shared" / case.shared, folder, dirs_exist_ok=True)
    (folder / "waitress.txt").write_text("waitress\n")
    method = "--blocks 1 --out made" if "--duration" in case.flags else "--blocks 1 --duration 1 --out made"
    runtimes = "" if "--runtime " in case.flags else "--runtime 3.14,3.14t"
    words = shlex.split(f"{case.flags} {client} {method} {runtimes}")
    begun_s = monotonic()
    done = subprocess.run(
        [sys.executable, REPOSITORY / "runner.py", *words],
        cwd=folder,
        env=scrubbed_environment() | {"COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
    )
    said = " ".join((done.stdout + done.stderr).split())
    assert case.status in (done.returncode, -1), said
    assert re.search(case.says, said), said
    assert not re.search(case.never, said), said
    assert not WRONG.search(said), said
    assert monotonic() - begun_s < LONGEST_S

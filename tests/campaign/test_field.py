"""Services like those that people measure, each with the words that its run must say.

Each folder of field has a service, which was made after a public report, and a file cases.yaml of its runs.
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
import yaml

from lab.places import REPOSITORY
from lab.processes import scrubbed_environment
from tests.campaign.sizes import campaign_only
from tests.conftest import runtime_or_skip
from tests.native.programs import program_or_skip

FIELD = Path(__file__).parent / "field"
pytestmark = campaign_only
NATIVE = "--client-runtime native"
CLIENTS = {"": ("",), "native": (NATIVE,), "both": ("--client-runtime same", NATIVE)}
WRONG = re.compile(
    r"Traceback \(most recent call last\):\n  File .*gilscope|bug in gilscope|[^ -~\w\s…→–—×█▏▎▍▌▋▊▉·]{4}"
)
LONGEST_S = 240  # with the set-up of packages


@dataclass(frozen=True, kw_only=True)
class Case:
    """An entry of a file cases.yaml: the flags of a run in that folder, and what the run must say.

    shared:      a folder of field/shared whose files stand beside those of the service
    says, never: regular expressions for all output, in which blanks and line ends are one blank
    status:      the exit status; -1 for any
    clients:     both or native; empty for the default one
    """

    folder: Path
    flags: str
    shared: str = ""
    says: str = r"requests/s"
    never: str = r"a^"
    status: int = 0
    clients: str = ""


CASES: dict[str, Case] = {}
for file in sorted(FIELD.glob("**/cases.yaml")):
    for title, entry in yaml.safe_load(file.read_text()).items():
        CASES[title] = Case(folder=file.parent, **entry)
CHOSEN = [(name, client) for name, case in CASES.items() for client in CLIENTS[case.clients]]


@pytest.mark.parametrize(("name", "client"), CHOSEN)
def test_a_run_says_what_is_true_of_the_service(name: str, client: str, tmp_path: Path) -> None:
    case = CASES[name]
    runtime_or_skip("3.14t")
    if client == NATIVE:
        program_or_skip("loadgen")
    folder = tmp_path / "service"
    shutil.copytree(case.folder, folder)
    if case.shared:
        shutil.copytree(FIELD / "shared" / case.shared, folder, dirs_exist_ok=True)
    method = "" if "--duration" in case.flags else "--duration 1"
    runtimes = "" if "--runtime " in case.flags else "--runtime 3.14,3.14t"
    words = shlex.split(f"{case.flags} {client} --blocks 1 --out made {method} {runtimes}")
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

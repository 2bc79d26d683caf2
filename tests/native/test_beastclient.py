"""The extension beastclient itself: what it takes, and what it raises."""

import subprocess
from pathlib import Path

import pytest

from lab.environments.environment import EnvironmentFailed
from tests.clients.scripted_http import BODY, ScriptedHttp, response, says
from tests.conftest import runtime_or_skip
from tests.native.loadgen_peers import nobody_listens

CALL = """
import sys
from beastclient.released import Connection, Failed
host, port, timeout_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
try:
    connection = Connection(host, port, timeout_s)
    print(connection.get(), connection.get())
    connection.close()
    connection.get()
except (ValueError, Failed) as error:
    print(type(error).__name__, *error.args)
"""


@pytest.fixture
def python() -> Path:
    """An interpreter with the extension installed."""
    try:
        return runtime_or_skip("3.14t").python("", ("beastclient",))
    except EnvironmentFailed as failed:
        pytest.skip(str(failed))


def said(python: Path, address: str, timeout_s: str) -> str:
    """What the script prints."""
    command = [str(python), "-I", "-c", CALL, *address.split(":"), timeout_s]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


def test_get_is_status_and_length_until_the_connection_is_closed(python: Path) -> None:
    with ScriptedHttp(says(response())) as server:
        text = said(python, server.address, "5")
        assert (server.connections, server.requests) == (1, 2)
    answers, _, failure = text.partition("\n")
    assert answers == f"(200, {len(BODY)}) (200, {len(BODY)})"
    assert failure == "Failed closed closed: there is no connection; call connect() first\n"


@pytest.mark.parametrize("timeout_s", ["0", "-1", "nan", "inf", "1e300", "1e-9"])
def test_a_timeout_that_is_no_time_is_refused(python: Path, timeout_s: str) -> None:
    assert said(python, "127.0.0.1:9", timeout_s).startswith("ValueError timeout_s is ")


def test_no_connection_is_a_failure_with_its_code(python: Path) -> None:
    with nobody_listens() as address:
        assert said(python, address, "5") == "Failed connect connect: Connection refused\n"

"""Other load generators as clients: their part in the child contract, and commands that are run to their end."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from core.method import Method, Warmup
from experiments.loadgen.peers import run
from tests.contract.speaking import Spoken, read_to_end, released, wait_readable
from tests.experiments.loadgen.test_generators import PRINTED
from tests.lab.python.fake_pythons import script as program
from tests.native.programs import told_client
from tests.tables import each_row

FAKE = """
echo "$@" >> {folder}/called
{does}
"""


DIES = "import os, signal; from core.parent import die_with_parent; die_with_parent({}, signal.SIGTERM); print(1)"


class Tool:
    """A program on PATH under the name of a generator, which does what a shell script says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def does(self, name: str, script: str) -> None:
        """From now on this is what *name* does. Its arguments are in called."""
        program(self.folder / name, FAKE.format(folder=self.folder, does=script))

    def prints(self, name: str, text: str) -> None:
        """From now on *name* prints *text*."""
        (self.folder / "printed").write_text(text)
        self.does(name, f"cat {self.folder}/printed")

    @property
    def calls(self) -> list[str]:
        """The arguments of each call."""
        return (self.folder / "called").read_text().splitlines()


@pytest.fixture
def tool(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """A folder in front of PATH."""
    monkeypatch.setenv("PATH", f"{short_folder}{os.pathsep}{os.environ['PATH']}")
    return Tool(short_folder)


def told(name: str, warmup: float = 0.0, duration_s: float = 0.0, **params: Any) -> dict[str, Any]:
    """What the client of the experiment loadgen is told."""
    values = {"NUM_CONNECTIONS_PER_CLIENT": 4, "NUM_REQUESTS_PER_CLIENT": 2000, "KEEP_ALIVE": True, **params}
    method = Method(warmup=Warmup(share=warmup), duration_s=duration_s)
    return {**told_client([["127.0.0.1:1"]], method=method, **values), "system": f"load-{name}"}


def peer(name: str) -> Spoken:
    """The client process for *name*."""
    return Spoken([sys.executable, "-s", "-m", "experiments.loadgen.peers", name])


def result_of(name: str, **cell: Any) -> Any:
    """The result of a client that has been told *cell*, after its warm-up if it has one."""
    with peer(name) as client:
        client.tell(told(name, **cell))
        ready = client.line()
        assert (ready["ready"], ready["addresses"], ready["runtime"]["program"]) == (True, [], name)
        if cell.get("warmup"):
            client.tell("warm")
            assert client.line() == {"warm": True}
        return released(client)


def test_the_result_is_what_the_generator_says_and_what_the_kernel_counts(tool: Tool) -> None:
    tool.prints("ab", PRINTED["AB"])
    result = result_of("ab")
    assert tool.calls[1:] == ["-q -k -n 2000 -c 4 http://127.0.0.1:1/"]
    assert (result["requests"], result["answered"], result["wrong"], result["errors"]) == (2000, 2000, 0, {})
    assert result["completion_ns"] == result["finished_ns"] - result["started_ns"] == 111_000_000
    assert result["said"] == {"seconds": 0.111}
    assert result["latency"]["count"] == 0
    assert result["cpu_user_ns"] + result["cpu_system_ns"] > 0
    assert not result["gil_enabled_ready"] | result["gil_enabled_end"]


def test_answers_that_a_generator_calls_failed_are_errors(tool: Tool) -> None:
    tool.prints("oha", PRINTED["OHA_REFUSED"])
    result = result_of("oha", NUM_REQUESTS_PER_CLIENT=100)
    assert (result["requests"], result["answered"], result["errors"]) == (100, 90, {"failed": 30})


@each_row
def test_the_warm_up_is_a_share_of_the_requests_or_of_the_duration_and_tells_who_knows_only_time_how_long_they_take(
    tool: Tool, name: str, printed: str, cell: dict[str, Any], called: list[str]
) -> None:
    tool.prints(name, PRINTED[printed])
    result_of(name, **cell)
    assert [words for words, call in zip(called, tool.calls[1:], strict=True) if words not in call] == []


@each_row
def test_a_generator_that_fails_ends_its_client_with_the_reason(tool: Tool, line: str) -> None:
    script, reason = line.split(" | ")
    tool.does("ab", f"[ $1 = -V ] && exit\n{script}")
    with peer("ab") as client:
        client.tell(told("ab"))
        client.line()
        client.tell("go")
        client.process.wait(20)
        status, said, complaints = client.end()
    assert (status, said) == (1, b"")
    assert reason in complaints


@pytest.mark.parametrize("word", ["warm", "go"])
def test_end_of_file_ends_the_client_and_its_generator(tool: Tool, word: str) -> None:
    """Also in the warm-up. The generator holds a pipe that the test reads: the end of that is its end."""
    pipe = tool.folder / "pipe"
    os.mkfifo(pipe)
    tool.does("ab", f"[ $1 = -V ] && exit\nexec > {pipe}; echo begun; exec sleep 60")
    mine = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with peer("ab") as client:
            client.tell(told("ab", warmup=0.1))
            client.line()
            client.tell(word)
            wait_readable(mine)
            assert os.read(mine, 100) == b"begun\n"
            assert client.end()[:2] == (3, b"")
            assert read_to_end(mine) == b""
    finally:
        os.close(mine)


@each_row
def test_a_process_whose_parent_has_ended_before_it_asked_ends_at_once(parent: str, status: int) -> None:
    assert run([sys.executable, "-c", DIES.format(parent)]).returncode == status

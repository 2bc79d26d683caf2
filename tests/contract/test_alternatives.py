"""The alternatives of the league for real: right answers, right refusals, and nothing left of them at the end."""

import resource

import pytest

from core.processtree import tree, usage_of
from experiments.league.alt_systems import SYSTEMS
from lab.environments.environment import EnvironmentFailed
from lab.folders import Sandbox
from lab.run.measured_runtimes import Runtime
from systems import find
from tests.contract.dialects import FRAMES, HTTP, Dialect, http
from tests.contract.packages import not_installed
from tests.contract.peers import DEADLINE_S, framed
from tests.contract.runs import wait_for_ends
from tests.contract.serving import serving

REFUSED = [
    ("POST", "/nope", "{}", 404),
    ("PUT", "/calc", "{}", 405),
    ("POST", "/calc", '{"target": true}', 400),
    ("POST", "/calc", "[1]", 400),
]
LONG_COUNT = http("POST", "/calc", b'{"target": 10000000}')


def installed(name: str, runtime: Runtime) -> None:
    """The test is skipped if the system's package cannot be had without a network."""
    try:
        runtime.python(find(name).requirements)
    except EnvironmentFailed as failed:
        not_installed(str(failed))


def asking(dialect: Dialect, method: str, url: str, sent: str) -> bytes:
    """A request over HTTP, or in a frame."""
    if dialect is HTTP:
        return http(method, url, sent.encode(), "Content-Type: application/json")
    return framed(f'{{"method": "{method}", "url": "{url}", "params": {sent}}}'.encode())


@pytest.mark.parametrize("name", [system.name for system in SYSTEMS])
def test_it_answers_and_refuses_as_the_protocol_says_keeps_the_connection_and_leaves_the_gil_as_it_is(
    packaged: Runtime, sandbox: Sandbox, name: str
) -> None:
    installed(name, packaged)
    with serving(name, packaged, sandbox, TRANSPORT="tcp") as service:
        is_http = service.dialect is HTTP
        with service.peer() as peer:
            for *words, code in REFUSED:
                asked = asking(service.dialect, *words)
                peer.send(asked)  # a refusal over HTTP may have a body of its framework's own
                got = peer.response()[0] if is_http else service.dialect.read(peer, asked)[0]
                assert got == code, asked
            assert service.dialect.ask(peer, asking(service.dialect, "POST", "/calc", '{"target": 7}')) == (200, "7")
            if not is_http:
                assert FRAMES.ask(peer, b"\xff\xff\xff\xff") == (413, "")
                assert peer.is_closed()
                service.check_it_answers(DEADLINE_S)
        result = service.end()
    assert result["requests"] == (0 if is_http else len(REFUSED) + 2)
    assert result["gil_enabled_end"] is packaged.name.gil_enabled


@pytest.mark.parametrize("name", ["alt-gunicorn", "alt-granian-wsgi"])
@pytest.mark.parametrize("ended", ["at end of file", "by a kill of the service child"])
def test_a_server_with_processes_of_its_own_leaves_none(
    packaged: Runtime, sandbox: Sandbox, name: str, ended: str
) -> None:
    installed(name, packaged)
    with serving(name, packaged, sandbox) as service:
        pids = tree(service.child.process.pid)
        assert len(pids) > 1
        if ended == "at end of file":
            assert service.ask(LONG_COUNT) == (200, "10000000")
            running, before_s = usage_of(pids), waited_for_s()
            service.end()
            assert [pid for pid in pids if tree(pid)] == []
            workers_too_s = (running["cpu_user_ns"] + running["cpu_system_ns"]) / 1e9
            assert waited_for_s() - before_s >= workers_too_s > 0  # or it would be another program's, which disturbs
        else:
            service.child.process.kill()
            wait_for_ends(pids, DEADLINE_S)


def waited_for_s() -> float:
    """CPU time of the children that have ended and were waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

"""The alternatives of the league for real: right answers, right refusals, and nothing left of them at the end."""

import resource

import pytest

from core.method import Method, Warmup
from core.processtree import tree, usage_of
from core.system import System
from experiments.league.alt_systems import SPEAK_HTTP, SPEAK_OUR_FRAMES, SYSTEMS
from lab.environments.environment import EnvironmentFailed
from lab.folders import Sandbox
from lab.run.bench import Bench
from lab.run.runtimes import Runtime
from systems import find
from tests.conftest import found, runtime_or_skip
from tests.contract.dialects import FRAMES, HTTP, http
from tests.contract.packages import not_installed
from tests.contract.peers import CALC, DEADLINE_S, framed, request
from tests.contract.runs import wait_for_ends
from tests.contract.serving import serving
from tests.contract.test_systems import check_all_is_well, measured

EVERY = [
    *(("3.14t", system.name) for system in SYSTEMS),
    *(("3.11", "alt-uvicorn"), ("3.14", "alt-gunicorn"), ("3.14t+gil", "alt-anyio")),
]
JSON = "Content-Type: application/json"
REFUSED = {
    FRAMES: {
        framed(request("/nope")): 404,
        framed(request("/calc", "PUT")): 405,
        framed(request("/calc", target=-1)): 400,
        framed(b"[1]"): 400,
        framed(CALC): 200,
    },
    HTTP: {
        http("POST", "/nope", b"{}", JSON): 404,
        http("PUT", "/calc", b"{}", JSON): 405,
        http("POST", "/calc", b'{"target": true}', JSON): 400,
        http("POST", "/calc", b"[1]", JSON): 400,
        http("POST", "/calc", b'{"target": 7}', JSON): 200,
    },
}
LONG_COUNT = http("POST", "/calc", b'{"target": 10000000}')


def installed(name: str, runtime: Runtime) -> System:
    """The system; the test is skipped if it is known not to run, or its package cannot be had without a network."""
    system = find(name)
    if runtime.name.gil_forced and system.no_forced_gil:
        pytest.skip(str(system.no_forced_gil))
    try:
        runtime.python(system.requirements)
    except EnvironmentFailed as failed:
        not_installed(str(failed))
    return system


@pytest.mark.parametrize(("name", "runtime"), [(name, runtime) for runtime, name in EVERY])
def test_an_alternative_answers_every_request(name: str, runtime: str, sandbox: Sandbox) -> None:
    here = runtime_or_skip(runtime)
    installed(name, here)
    bench = Bench(sandbox=sandbox, runtimes=found(), method=Method(warmup=Warmup(share=0.4)))
    cell, result = measured(name, here, bench, NUM_WORKERS_PER_API_SERVICE=3, NUM_REQUESTS_PER_CLIENT=5)
    check_all_is_well(result, cell, here)
    assert result.connect == {}


@pytest.mark.parametrize("name", [system.name for system in (*SPEAK_OUR_FRAMES, *SPEAK_HTTP)])
def test_it_refuses_as_the_protocol_says_and_keeps_the_connection(
    packaged: Runtime, sandbox: Sandbox, name: str
) -> None:
    installed(name, packaged)
    with serving(name, packaged, sandbox, TRANSPORT="tcp") as service:
        wanted = REFUSED[service.dialect]
        with service.peer() as peer:
            for asked, code in wanted.items():
                peer.send(asked)  # a refusal over HTTP may have a body of its framework's own
                got = peer.response()[0] if service.dialect is HTTP else service.dialect.read(peer, asked)[0]
                assert got == code, asked
            has_limit = service.dialect is FRAMES
            if has_limit:
                assert FRAMES.ask(peer, b"\xff\xff\xff\xff") == (413, "")
                assert peer.is_closed()
                service.check_it_answers(DEADLINE_S)
        assert service.end()["requests"] == (5 + has_limit if service.dialect is FRAMES else 0)


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

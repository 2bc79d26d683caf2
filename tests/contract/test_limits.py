"""Services at their limits: errors, deadlines, full caches, no more open files, peers that come and go.

Each test starts a service of its own.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from tests.contract.kinds import CACHED, PROMPT_S, SILENT_PEERS, Kind
from tests.contract.peers import CALC, framed, request
from tests.contract.serving import serving

RAISING = """
import core.work
def fail(params):
    raise ZeroDivisionError("on purpose")
core.work.ROUTES["/fail"] = {"POST": fail}
"""
IMPATIENT = "import services.threaded; services.threaded.READ_DEADLINE_S = 1.0"  # of good peers too, on a busy machine


@pytest.mark.parametrize("number", ["1", "2", "4"])
def test_a_handler_that_raises_is_answered_500_and_the_connection_stays_open(
    runtime: Runtime, sandbox: Sandbox, number: str
) -> None:
    with serving(number, runtime, sandbox, first=RAISING) as service, service.peer() as peer:
        answer = peer.ask(request("/fail"))
        assert (answer["code"], answer["msg"]) == (500, "")
        assert "on purpose" in answer["err"]
        if number != "1":
            assert peer.ask(CALC)["msg"] == "7"
        service.check_it_answers(PROMPT_S)
        service.end()


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_system_1_closes_a_connection_whose_request_is_not_whole_by_its_deadline(
    runtime: Runtime, sandbox: Sandbox, transport: str
) -> None:
    with serving("1", runtime, sandbox, first=IMPATIENT, TRANSPORT=transport) as service:
        with service.peer() as silent, service.peer() as half:
            half.send(framed(CALC)[:-1])
            assert silent.is_closed()
            assert half.is_closed()
        service.check_it_answers(PROMPT_S)
        service.end()


def test_connections_that_come_and_go_cost_no_worker(kind: Kind, sandbox: Sandbox) -> None:
    """Four workers, and peers of all kinds at once: a worker that dies complains on stderr."""
    with kind.serving(sandbox, NUM_WORKERS_PER_API_SERVICE=4) as service:

        def come_and_go(index: int) -> set[str]:
            answers = set()
            for turn in range(15):
                with service.peer() as peer:
                    if (index + turn) % 4:
                        answers.add(peer.ask(CALC)["msg"])
                    elif turn % 2:
                        peer.send(framed(CALC)[:6])
            return answers

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(come_and_go, range(8))) == [{"7"}] * 8
        for _ in range(8):
            service.check_it_answers(PROMPT_S)
        service.end()


@pytest.mark.parametrize("kind", CACHED, ids="-".join, indirect=True)
def test_a_connection_over_the_limit_is_answered_503_and_closed_and_the_others_go_on(
    kind: Kind, sandbox: Sandbox
) -> None:
    with kind.serving(sandbox, NUM_MAX_CONNS=3) as service, ExitStack() as peers:
        inside = [peers.enter_context(service.peer()) for _ in range(3)]
        assert [peer.ask(CALC)["msg"] for peer in inside] == ["7"] * 3
        for _ in range(5):
            with service.peer() as outside:
                assert outside.answer()["code"] == 503
                assert outside.is_closed()
        with service.peer() as asking:
            asking.send(framed(CALC))
            assert asking.answer()["code"] == 503
            assert asking.is_closed()
        assert [peer.ask(CALC)["msg"] for peer in inside] == ["7"] * 3
        inside[0].close()
        # workers that wait by poll may see who comes before who has gone
        assert "7" in (service.try_once() for _ in range(SILENT_PEERS))
        peers.close()
        service.end()


@pytest.mark.parametrize("kind", CACHED, ids="-".join, indirect=True)
def test_silent_connections_over_the_limit_are_refused_by_the_hundred(kind: Kind, sandbox: Sandbox) -> None:
    with kind.serving(sandbox, NUM_MAX_CONNS=2) as service, ExitStack() as peers:
        inside = peers.enter_context(service.peer())
        assert inside.ask(CALC)["msg"] == "7"
        crowd = [peers.enter_context(service.peer()) for _ in range(SILENT_PEERS)]
        assert inside.ask(CALC)["msg"] == "7"
        codes = [peer.answer()["code"] for peer in crowd[1:]]
        assert codes == [503] * (SILENT_PEERS - 1)
        assert crowd[0].ask(CALC)["msg"] == "7"


def test_a_service_that_ran_out_of_open_files_answers_again_once_its_peers_have_gone(
    kind: Kind, sandbox: Sandbox
) -> None:
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, resource.getrlimit(7)[1]))"
    with kind.serving(sandbox, first=few) as service:
        for said in (b"", b"\xff\xff\xff\xff"):
            with ExitStack() as crowd:
                for _ in range(60):
                    crowd.enter_context(service.peer()).send(said)
            service.check_it_answers(PROMPT_S)
        with closing(service.peer()) as peer:
            assert peer.ask(CALC)["msg"] == "7"


@pytest.mark.parametrize("number", ["2", "4"])
def test_a_service_that_waits_by_select_refuses_what_select_cannot_watch(
    runtime: Runtime, sandbox: Sandbox, number: str
) -> None:
    with serving(number, runtime, sandbox, SELECTOR="select") as service, ExitStack() as peers:
        inside = peers.enter_context(service.peer())
        crowd = [peers.enter_context(service.peer()) for _ in range(1100)]
        assert crowd[-1].answer()["code"] == 503
        assert inside.ask(CALC)["msg"] == "7"
        assert crowd[0].ask(CALC)["msg"] == "7"
        peers.close()
        assert "7" in (service.try_once() for _ in range(SILENT_PEERS))
        service.end()

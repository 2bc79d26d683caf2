"""Services at their limits: errors, deadlines, full caches, no more open files, peers that come and go.

Each test starts a service of its own.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from core.runtime import NATIVE
from lab.folders import Sandbox
from tests.conftest import runtime_or_skip
from tests.contract.kinds import FRAMED, SILENT_PEERS, Kind
from tests.contract.peers import CALC, framed
from tests.contract.serving import serving

PROMPT_S = 30.0
# What differs in how it waits, under one runtime; and the programs.
ONCE = [kind for kind in FRAMED if kind[0] in ("3.14t", NATIVE) and kind[1] not in ("1 tcp", "2 unix", "4 unix")]
RAISING = """
import core.work
def fail(params):
    raise ZeroDivisionError("on purpose")
core.work.ROUTES["/fail"] = {"POST": fail}
"""
IMPATIENT = "import services.threaded; services.threaded.READ_DEADLINE_S = 1.0"  # of good peers too, on a busy machine


@pytest.mark.parametrize(
    "kind", [("3.14t", "1 unix"), ("3.14t", "2 tcp"), ("3.14t", "3"), ("3.14t", "4 auto")], indirect=True
)
def test_a_handler_that_raises_is_answered_500_and_the_connection_stays_open(kind: Kind, sandbox: Sandbox) -> None:
    with kind.serving(sandbox, first=RAISING) as service, service.peer() as peer:
        assert service.dialect.ask(peer, service.dialect.fail) == (500, "")
        if kind.keeps:
            assert service.dialect.ask(peer, service.dialect.calc) == (200, "7")
        service.check_it_answers(PROMPT_S)
        service.end()


@pytest.mark.parametrize("kind", [("3.14t", "1 unix"), (NATIVE, "1 unix")], ids="-".join, indirect=True)
def test_system_1_closes_a_connection_whose_request_is_not_whole_by_its_deadline(kind: Kind, sandbox: Sandbox) -> None:
    with kind.serving(sandbox, first=IMPATIENT) as service:
        with service.peer() as silent, service.peer() as half:
            half.send(framed(CALC)[:-1])
            assert silent.is_closed()
            assert half.is_closed()
        service.check_it_answers(PROMPT_S)
        service.end()


@pytest.mark.parametrize("kind", ONCE, ids="-".join, indirect=True)
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


@pytest.mark.parametrize("kind", [kind for kind in ONCE if kind[1][0] != "1"], ids="-".join, indirect=True)
def test_connections_over_the_limit_are_answered_503_and_closed_and_the_others_go_on(
    kind: Kind, sandbox: Sandbox
) -> None:
    with kind.serving(sandbox, NUM_MAX_CONNS=3) as service, ExitStack() as peers:
        inside = [peers.enter_context(service.peer()) for _ in range(3)]
        assert [peer.ask(CALC)["msg"] for peer in inside] == ["7"] * 3
        crowd = [peers.enter_context(service.peer()) for _ in range(SILENT_PEERS)]
        assert [peer.answer()["code"] for peer in crowd] == [503] * SILENT_PEERS
        assert all(peer.is_closed() for peer in crowd)
        assert service.ask() == (503, "")
        assert [peer.ask(CALC)["msg"] for peer in inside] == ["7"] * 3
        inside[0].close()
        # workers that wait by poll may see who comes before who has gone
        assert (200, "7") in (service.ask() for _ in range(SILENT_PEERS))
        peers.close()
        service.end()


@pytest.mark.parametrize("kind", [kind for kind in ONCE if kind[0] != NATIVE], ids="-".join, indirect=True)
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


@pytest.mark.parametrize("number", ["2", "4"])
def test_a_service_that_waits_by_select_refuses_what_select_cannot_watch(sandbox: Sandbox, number: str) -> None:
    runtime = runtime_or_skip("3.14t")
    with serving(number, runtime, sandbox, SELECTOR="select") as service, ExitStack() as peers:
        inside = peers.enter_context(service.peer())
        crowd = [peers.enter_context(service.peer()) for _ in range(1100)]
        assert crowd[-1].answer()["code"] == 503
        assert inside.ask(CALC)["msg"] == "7"
        assert crowd[0].ask(CALC)["msg"] == "7"
        peers.close()
        assert (200, "7") in (service.ask() for _ in range(SILENT_PEERS))
        service.end()

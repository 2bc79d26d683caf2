"""Bad peers against the services that speak frames (systems 1, 2 and 4): none may hold a worker.

Every service here has one worker thread, so that a held one shows: nobody else is answered.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from multiprocessing.connection import Client
from typing import Any

import pytest

from lab.runtimes import Runtime
from lab.sandbox import Sandbox
from tests.conftest import RUNTIMES, runtime_or_skip
from tests.contract.peers import CALC, framed, request
from tests.contract.serving import Serving, serving

PROMPT_S = 4.0  # below system 1's read deadline of 5 s: who is answered within it did not wait for that
SILENT_PEERS = 300
LIMIT_BYTES = 16 * 2**20
TOO_LONG = [-1, -(2**31), LIMIT_BYTES + 1, 2**31 - 1]
SERVICES: dict[str, tuple[str, dict[str, Any]]] = {
    "1 unix": ("1", {"TRANSPORT": "unix"}),
    "1 tcp": ("1", {"TRANSPORT": "tcp"}),
    "2 unix": ("2", {"TRANSPORT": "unix"}),
    "2 tcp": ("2", {"TRANSPORT": "tcp"}),
    "4 unix": ("4", {"TRANSPORT": "unix"}),
    "4 tcp": ("4", {"TRANSPORT": "tcp"}),
}
OTHER_WATCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "2 poll": ("2", {"SELECTOR": "poll"}),
    "4 select": ("4", {"SELECTOR": "select"}),
    "4 single": ("4", {"SELECT_MODE": "single"}),
    "4 single select": ("4", {"SELECT_MODE": "single", "SELECTOR": "select"}),
}
KINDS = [(runtime, name) for runtime in RUNTIMES for name in SERVICES]
KINDS += [(runtime, name) for runtime in ("3.14", "3.14t") for name in OTHER_WATCHES]
CACHED = [kind for kind in KINDS if not kind[1].startswith("1")]
LARGE = [kind for kind in KINDS if kind[1] in ("1 unix", "2 tcp", "4 unix")]

BAD_BODIES: dict[bytes, int] = {
    b"": 400,
    b" ": 400,
    b"not json": 400,
    b"\xff\xfe": 400,
    b"\xef\xbb\xbf" + CALC: 400,
    CALC.decode().encode("utf-16"): 400,
    CALC + b"}": 400,
    CALC + CALC: 400,
    b"[" * 100_000: 400,
    b'{"a":' * 100_000: 400,
    b"[" * 100_000 + b"]" * 100_000: 400,
    b"null": 400,
    b"[1]": 400,
    b'"/calc"': 400,
    b"{}": 400,
    b'{"url": "/calc", "params": {"target": 7}}': 400,
    b'{"method": "POST", "params": {"target": 7}}': 400,
    b'{"method": "POST", "url": "/calc"}': 400,
    b'{"method": null, "url": "/calc", "params": {"target": 7}}': 400,
    b'{"method": "POST", "url": 1, "params": {"target": 7}}': 400,
    b'{"method": "POST", "url": ["/calc"], "params": {"target": 7}}': 400,
    b'{"method": "POST", "url": "/calc", "params": [7]}': 400,
    b'{"method": "POST", "url": "/calc", "params": {"target": 1e3}}': 400,
    b'{"method": "POST", "url": "/calc", "params": {"target": 7.0}}': 400,
    b'{"method": "POST", "url": "/calc", "params": {"target": NaN}}': 400,
    b'{"method": "POST", "url": "/calc", "params": {"target": 1' + b"0" * 5000 + b"}}": 400,
    request("/calc"): 400,
    request("/calc", target=True): 400,
    request("/calc", target=None): 400,
    request("/calc", target="7"): 400,
    request("/calc", target=[7]): 400,
    request("/calc", target=-1): 400,
    request("/calc", target=10**9 + 1): 400,
    request("/"): 400,
    request("/", msg=7): 400,
    request("/nothing"): 404,
    request(""): 404,
    request("calc", target=7): 404,
    request("/calc/", target=7): 404,
    request("/calc?target=7", target=7): 404,
    request("/calc", "GET", target=7): 405,
    request("/calc", "post", target=7): 405,
    request("/calc", "", target=7): 405,
    request("/", "DELETE", msg="x"): 405,
}
GOOD_BODIES: dict[bytes, str] = {
    CALC: "7",
    request("/calc", target=0): "0",
    b' \n{"params":{"filler":"x","target":7},"more":null,"url":"\\u002fcalc","method":"POST"}\t': "7",
    request("/", msg="hello"): "hello",
    request("/", "GET", msg=""): "",
    json.dumps({"method": "GET", "url": "/", "params": {"msg": "中\n\x00\ud800"}}).encode(): "中\n\x00\ud800",
}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A system with some of its parameters, under a runtime."""

    runtime: Runtime
    number: str
    params: dict[str, Any]

    def serving(self, sandbox: Sandbox, first: str = "", **more: Any) -> AbstractContextManager[Serving]:
        """A service of this kind."""
        return serving(self.number, self.runtime, sandbox, first=first, **self.params, **more)


@pytest.fixture(scope="module", params=KINDS, ids="-".join)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Every kind in turn; skipped where its runtime is missing."""
    runtime, name = request.param
    number, params = {**SERVICES, **OTHER_WATCHES}[name]
    return Kind(runtime=runtime_or_skip(runtime), number=number, params=params)


@pytest.fixture(scope="module")
def service(kind: Kind, sandbox: Sandbox) -> Iterator[Serving]:
    """One service of each kind for many tests of this module; at the end it has nothing to complain of."""
    with kind.serving(sandbox) as service:
        yield service
        service.end()


@pytest.fixture
def keeps_connections(kind: Kind) -> bool:
    """Whether the service answers more than one request on a connection."""
    return kind.number != "1"


def each_answer(service: Serving, bodies: list[bytes], keeps_connections: bool) -> list[Any]:
    """The answers to *bodies*: over one connection where the service keeps it."""
    if not keeps_connections:
        return [_answer_alone(service, body) for body in bodies]
    with service.peer() as peer:
        return [peer.ask(body) for body in bodies]


def _answer_alone(service: Serving, body: bytes) -> Any:
    with service.peer() as peer:
        answer = peer.ask(body)
        assert peer.is_closed()
        return answer


def test_every_bad_request_is_answered_with_its_code_and_the_connection_stays_open(
    service: Serving, keeps_connections: bool
) -> None:
    answers = each_answer(service, [*BAD_BODIES, CALC], keeps_connections)
    codes = {body[:80]: answer["code"] for body, answer in zip(BAD_BODIES, answers, strict=False)}
    assert codes == {body[:80]: code for body, code in BAD_BODIES.items()}
    for answer in answers[:-1]:
        assert set(answer) == {"code", "msg", "err", "calc_ns"}
        assert answer["msg"] == ""
        assert answer["err"]
    assert answers[-1]["msg"] == "7"


def test_every_good_request_is_answered(service: Serving, keeps_connections: bool) -> None:
    answers = each_answer(service, list(GOOD_BODIES), keeps_connections)
    assert [answer["msg"] for answer in answers] == list(GOOD_BODIES.values())
    assert {(answer["code"], answer["err"]) for answer in answers} == {(200, "")}
    assert all(type(answer["calc_ns"]) is int and answer["calc_ns"] >= 0 for answer in answers)


def test_the_frame_is_the_bytes_of_the_specification(service: Serving) -> None:
    with service.peer() as peer:
        peer.send(bytes.fromhex("0000003b") + b'{"method": "POST", "url": "/calc", "params": {"target": 7}}')
        assert peer.answer()["msg"] == "7"


@pytest.mark.parametrize("announced", TOO_LONG)
def test_a_length_that_is_negative_or_over_the_limit_is_answered_413_and_the_connection_closed(
    service: Serving, announced: int
) -> None:
    with service.peer() as peer:
        peer.send(announced.to_bytes(4, "big", signed=True))
        assert peer.answer()["code"] == 413
        assert peer.is_closed()
    service.check_it_answers(PROMPT_S)


def test_a_sender_of_too_much_still_gets_its_413(service: Serving) -> None:
    with service.peer() as peer:
        try:
            peer.send((LIMIT_BYTES + 1).to_bytes(4, "big") + b"x" * (LIMIT_BYTES + 1))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the service need not take in all of it
        assert peer.answer()["code"] == 413
        assert peer.is_closed()
    service.check_it_answers(PROMPT_S)


@pytest.mark.parametrize("kind", LARGE, ids="-".join, indirect=True)
def test_a_frame_just_below_the_limit_is_answered(service: Serving) -> None:
    bare = len(request("/calc", target=7, filler=""))
    with service.peer() as peer:
        assert peer.ask(request("/calc", target=7, filler="x" * (LIMIT_BYTES - bare)))["msg"] == "7"


@pytest.mark.parametrize("part", [b"", b"\x00", b"\x00\x00\x00", framed(CALC)[:4], framed(CALC)[:-1]])
def test_a_peer_that_stops_in_the_middle_of_a_frame_holds_up_nobody(service: Serving, part: bytes) -> None:
    with service.peer() as slow:
        slow.send(part)
        service.check_it_answers(PROMPT_S)
        slow.send(framed(CALC)[len(part) :] if part != b"\x00" else framed(CALC)[1:])
        assert slow.answer()["msg"] == "7"


@pytest.mark.parametrize("part", [b"", b"\x00\x00", framed(CALC)[:-1], framed(CALC)])
def test_a_peer_that_goes_away_in_the_middle_holds_up_nobody(service: Serving, part: bytes) -> None:
    for _ in range(5):
        with service.peer() as peer:
            peer.send(part)
    service.check_it_answers(PROMPT_S)


def test_a_peer_that_sends_byte_by_byte_is_answered_and_so_are_the_others_meanwhile(service: Serving) -> None:
    with service.peer() as slow:
        for byte in framed(CALC):
            slow.send(bytes([byte]))
            service.check_it_answers(PROMPT_S)
        assert slow.answer()["msg"] == "7"


def test_hundreds_of_silent_connections_hold_up_nobody(service: Serving) -> None:
    with ExitStack() as silent:
        for _ in range(SILENT_PEERS):
            silent.enter_context(service.peer())
        service.check_it_answers(10.0)
    service.check_it_answers(10.0)


def test_hundreds_of_half_frames_hold_up_nobody(service: Serving) -> None:
    with ExitStack() as halves:
        for _ in range(SILENT_PEERS):
            halves.enter_context(service.peer()).send(framed(CALC)[:10])
        service.check_it_answers(PROMPT_S)
    service.check_it_answers(PROMPT_S)


def test_peers_that_do_not_read_their_large_answers_hold_up_nobody(service: Serving) -> None:
    text = "x" * 6_000_000
    with ExitStack() as rude:
        peers = [rude.enter_context(service.peer(receive_buffer_bytes=4096)) for _ in range(3)]
        for peer in peers:
            peer.send(framed(request("/", msg=text)))
        service.check_it_answers(PROMPT_S)
        assert peers[0].answer()["msg"] == text
        service.check_it_answers(PROMPT_S)
    service.check_it_answers(PROMPT_S)


def test_a_peer_that_sends_much_and_reads_nothing_holds_up_nobody(service: Serving) -> None:
    much = framed(request("/", msg="x" * 1000)) * 20_000
    with service.peer(deadline_s=0.1, receive_buffer_bytes=4096) as rude:
        with pytest.raises((TimeoutError, BrokenPipeError, ConnectionResetError)):
            rude.send(much)
        service.check_it_answers(PROMPT_S)
    service.check_it_answers(PROMPT_S)


def test_a_peer_that_ends_its_side_still_gets_its_answer(service: Serving) -> None:
    with service.peer() as peer:
        peer.send(framed(request("/", msg="x" * 1_000_000)))
        peer.sock.shutdown(1)
        assert len(peer.answer()["msg"]) == 1_000_000
        assert peer.is_closed()


def test_frames_that_arrive_together_are_answered_in_order(service: Serving, keeps_connections: bool) -> None:
    with service.peer() as peer:
        peer.send(b"".join(framed(request("/", msg=str(number))) for number in range(500)))
        wanted = 500 if keeps_connections else 1
        assert [peer.answer()["msg"] for _ in range(wanted)] == [str(number) for number in range(wanted)]
        if keeps_connections:
            assert peer.ask(CALC)["msg"] == "7"
        else:
            assert peer.is_closed()


def test_a_good_frame_before_a_bad_length_is_answered_first(service: Serving, keeps_connections: bool) -> None:
    with service.peer() as peer:
        peer.send(framed(CALC) + b"\xff\xff\xff\xff" + b"more")
        assert peer.answer()["msg"] == "7"
        if keeps_connections:
            assert peer.answer()["code"] == 413
        assert peer.is_closed()


def test_multiprocessing_connection_talks_to_the_service(service: Serving) -> None:
    host, _, port = service.addresses[0].rpartition(":")
    with Client((host, int(port)) if host else service.addresses[0]) as connection:
        connection.send_bytes(CALC)
        assert connection.poll(PROMPT_S)
        assert json.loads(connection.recv_bytes())["msg"] == "7"
    with Client((host, int(port)) if host else service.addresses[0]) as connection:
        connection.send_bytes(request("/", msg="x" * 100_000))
        assert connection.poll(PROMPT_S)
        assert len(json.loads(connection.recv_bytes())["msg"]) == 100_000


# ---- services that are started for one test --------------------------------------------------------------------

RAISING = """
import core.work
def fail(params):
    raise ZeroDivisionError("on purpose")
core.work.ROUTES["/fail"] = {"POST": fail}
"""
IMPATIENT = "import services.threaded; services.threaded.READ_DEADLINE_S = 0.2"


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
        with service.peer() as next_one:
            assert next_one.ask(CALC)["msg"] == "7"
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

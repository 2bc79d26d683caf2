"""Each limit has one home: the copies in Rust and the numbers in the docs are those of core/wire.py."""

import re

from clients import quotas as workers
from clients import user_service
from core import request_plan, wire
from lab.places import REPOSITORY

LOADGEN = REPOSITORY / "native/loadgen/src"
ONLY_THERE = {"MAX_COUNTED_BYTES", "MAX_READS_AT_ONCE"}
# Rows of docs/child-contract.md, and the limits in each.
ROWS = """\
names of requests of which a client counts routes: MAX_ROUTES
an answer to `/calc`: MAX_ANSWER_BYTES
the head of a response: MAX_HEAD_BYTES MAX_HEADERS
interim responses (1xx) before the answer: MAX_INTERIM
the line with a chunk's size; all trailers together: MAX_CHUNK_LINE_BYTES
chunk sizes, trailers and frames of HTTP/2 in an answer: MAX_FRAMING_BYTES
the body of a user's service; a body that loadgen only counts: MAX_BODY_BYTES"""


def constants(file: str) -> dict[str, int]:
    """The whole numbers that a Rust file of loadgen declares as constants, by name."""
    found = re.findall(r"const ([A-Z0-9_]+): \w+ = (\d[0-9_]*)(?: << (\d+))?;", (LOADGEN / file).read_text())
    return {name: int(value.replace("_", "")) << int(shift or 0) for name, value, shift in found}


def test_the_native_client_has_the_limits_of_the_python_client() -> None:
    native = constants("limits.rs")
    both = native.keys() - ONLY_THERE
    assert native.keys() > both
    assert {name: native[name] for name in both} == {name: getattr(wire, name) for name in both}


def test_both_clients_have_the_same_numbers() -> None:
    assert constants("child.rs")["OWN_DEADLINE_NS"] == int(request_plan.ANSWER_DEADLINE_S * 1e9)
    assert constants("request/plan.rs")["ORDER_LENGTH"] == user_service.ORDER_LENGTH
    assert constants("response/body.rs")["SHOWN_BYTES"] == request_plan.SHOWN_BYTES
    assert constants("engine/exchange.rs")["MAX_FAILURES"] == workers.GIVE_UP_AFTER


def shown(value: int) -> str:
    """A limit as the docs write it."""
    if value % wire.MIB == 0:
        return f"{value // wire.MIB} MiB"
    return f"{value // wire.KIB} KiB" if value % wire.KIB == 0 else str(value)


def test_the_docs_have_the_limits_of_the_code() -> None:
    page = (REPOSITORY / "docs" / "child-contract.md").read_text(encoding="utf-8")
    for line in ROWS.splitlines():
        row, names = line.split(": ")
        (cells,) = re.findall(rf"^\| {re.escape(row)} \| (.*?) \|", page, re.MULTILINE)
        for name in names.split():
            assert shown(getattr(wire, name)) in cells, row

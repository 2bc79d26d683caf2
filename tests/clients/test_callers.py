"""Callers, and the request without a frame."""

import json

from clients.callers import kept
from clients.channel import json_message
from core.cell import Cell
from core.system import Channel
from systems import find

CELL = Cell.build(system="2", runtime="3.14", reads=find("2").parameters, values={"CALC_TARGET": 7})


def test_a_message_without_a_frame_is_the_request_of_the_wire() -> None:
    assert json.loads(json_message(CELL)) == {"method": "POST", "url": "/calc", "params": {"target": 7}}
    assert json.loads(json_message(CELL, True))["params"] == {"target": 7, "begun": True}


def test_a_caller_keeps_one_channel_to_the_first_address() -> None:
    opened: list[str] = []

    class Silent:
        def ask(self, message: bytes) -> bytes:
            return message

        def close(self) -> None:
            opened.append("closed")

    def channel(address: str) -> Channel:
        opened.append(address)
        return Silent()

    caller = kept(channel)(CELL, 0, ["here", "there"], lambda connect_ns: None)
    caller.open()
    first = caller.take()
    caller.give(first)
    assert caller.take() is first
    caller.close()
    assert opened == ["here", "closed"]

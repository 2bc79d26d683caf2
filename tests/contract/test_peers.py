"""Services whose clients are on other hosts: where they listen, and whom they serve. Checked at accept, in each."""

import json
from pathlib import Path

import pytest

from core.runtime import NATIVE
from lab.run.measured_runtimes import AnyRuntime, Native, Runtime
from systems import built_in, find
from tests.contract.dialects import HTTP
from tests.contract.peers import CALC, Peer, framed
from tests.contract.runs import NEEDS_LINUX
from tests.contract.serving import command_or_skip, small_cell
from tests.contract.speaking import Spoken

ADDRESS, PEER, STRANGER = "127.0.0.2", "127.0.0.3", "127.0.0.4"

pytestmark = NEEDS_LINUX


def spreading() -> list[tuple[str, str]]:
    """Each server that works across hosts once: the system that uses it first, and what it is, Python or native."""
    services: dict[str, tuple[str, str]] = {}
    for system in built_in():
        if system.supports_hosts and system.service:
            services.setdefault(str(system.service), (system.key, "python"))
        if system.supports_hosts and system.native_service:
            services.setdefault(system.native_service.name, (system.key, NATIVE))
    return [*services.values()]


@pytest.mark.parametrize(("key", "made_in"), spreading())
def test_it_listens_at_its_address_serves_its_peers_and_closes_and_counts_strangers(
    packaged: Runtime, short_folder: Path, key: str, made_in: str
) -> None:
    system = find(key)
    runtime: AnyRuntime = Native() if made_in == NATIVE else packaged
    told = {**small_cell(system, runtime, TRANSPORT="tcp", NUM_MULTI_SOCKET=1).to_json(), "service_id": 0}
    with Spoken(command_or_skip(runtime, system, "service"), runtime.variables) as service:
        service.tell({**told, "folder": str(short_folder), "address": ADDRESS, "peers": [PEER, "127.0.0.5"]})
        (address,) = service.line()["addresses"]
        assert address.startswith(f"{ADDRESS}:")
        for _ in range(2):
            with Peer(address, source=STRANGER) as stranger:
                assert stranger.is_closed()
        with Peer(address, source=PEER) as peer:
            peer.send(framed(CALC) if system.framed else HTTP.calc)  # what echoes takes either
            assert peer.take(1)
            status, said, _ = service.end()
    assert (status, json.loads(said.splitlines()[-1])["result"]["strangers"]) == (0, 2)

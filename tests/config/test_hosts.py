"""Hosts in plans and files; refused.txt has what is refused across hosts."""

from pathlib import Path
from shlex import split

import pytest
from yaml import safe_load

from commands.chosen import _python_clients
from config.host_options import parse_hosts
from config.options import Given
from core.runtime import NATIVE
from tests.config.planning import planned
from tests.tables import each_row

TWO = "a: {via: here, address: 10.0.0.1}\nb: {ssh: 'me@loader:2222', address: 10.0.0.2, cpus: 0-1+3, python: /opt/p}\n"


@pytest.fixture
def here(tmp_path: Path) -> str:
    """Flags that place services and clients on two hosts."""
    file = tmp_path / "hosts.yaml"
    file.write_text(TWO)
    return f"--services-on a --clients-on b --duration 1 --hosts {file}"


def test_a_file_of_hosts_is_read_and_kept_with_the_plan(here: str) -> None:
    plan = planned(f"{here} --system 4 --runtime 3.14")
    assert all(cell.transport == "tcp" for cell in plan.cells())
    layout = plan.saved().layout
    assert layout
    loader = layout.hosts["b"]
    assert (loader.ssh, loader.cpus, loader.python) == ("me@loader:2222", (0, 1, 3), ("/opt/p",))
    assert (layout.services_on, layout.clients_on, loader.address) == ("a", ("b",), "10.0.0.2")


@each_row
def test_a_host_is_reached_by_the_words_of_its_carrier(tmp_path: Path, line: str) -> None:
    given, _, command = line.partition(" ->")
    (host,) = parse_hosts(Given(value={"a": safe_load(given)}, name="--hosts", folder=tmp_path)).values()
    assert host.carrier == split(command)


def test_a_service_of_a_users_own_is_called_by_the_same_client_under_every_runtime(here: str) -> None:
    plan = planned(f"{here} --runtime 3.11,3.14t --service-command '{{python}} x {{host}}:{{port}}'")
    assert plan.method.client_runtime == NATIVE
    assert _python_clients(plan) == "3.11"  # where the native client is not built

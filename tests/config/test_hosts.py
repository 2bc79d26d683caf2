"""Hosts in plans and files, and what is refused across hosts."""

from pathlib import Path

import pytest

from config import hosts
from config.flags import Parser, add_host_flags, add_run_flags, plan_from
from config.options import Given
from core.errors import BadInput
from core.hosts import Layout
from core.messages import NOTHING

TWO = "a: {via: here, address: 10.0.0.1}\nb: {ssh: 'me@loader:2222', address: 10.0.0.2, cpus: 0-1+3, python: /opt/p}\n"
FLAGS = ("--services-on", "a", "--clients-on", "b", "--duration", "1", "--runtime", "3.14")


def plan(tmp_path: Path, *arguments: str, text: str = TWO) -> Layout:
    file = tmp_path / "hosts.yaml"
    file.write_text(text)
    parser = Parser("", NOTHING)
    add_run_flags(parser)
    add_host_flags(parser)
    planned = plan_from(parser.parse(["--hosts", str(file), *arguments]))
    assert planned.layout
    assert all(cell.transport == "tcp" for cell in planned.cells())
    return Layout.from_json(planned.to_json()["layout"])


def test_a_file_of_hosts_is_read_and_kept_with_the_plan(tmp_path: Path) -> None:
    layout = plan(tmp_path, *FLAGS, "--system", "4")
    loader = layout.hosts["b"]
    assert (loader.ssh, loader.cpus, loader.python) == ("me@loader:2222", (0, 1, 3), ("/opt/p",))
    assert (layout.services_on, layout.client_addresses) == ("a", ["10.0.0.2"])


def test_a_service_of_a_users_own_is_called_by_the_same_client_under_every_runtime(tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text(TWO)
    parser = Parser("", NOTHING)
    add_run_flags(parser)
    add_host_flags(parser)
    words = ("--runtime", "3.11,3.14t", "--service-command", "{python} x {host}:{port}", "--hosts", str(file))
    assert plan_from(parser.parse([*FLAGS[:-2], *words])).method.client_runtime == "3.11"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: {via: here}", "host a has no address"),
        ("a: {address: 10.0.0.1}", "must have either ssh"),
        ("a: {via: here, ssh: x, address: 10.0.0.1}", "must have either ssh"),
        ("a: {via: here, address: 0.0.0.0}", "address is 0.0.0.0; it must be an IPv4 address"),
        ("a: {via: here, address: '::1'}", "it must be an IPv4 address"),
        ("a: {ssh: '-oProxyCommand=x', address: 10.0.0.1}", "ssh is -oProxyCommand=x; it must be user@host"),
        ("a: {ssh: 'x; rm', address: 10.0.0.1}", "it must be user@host"),
        ("a: {ssh: x, address: 10.0.0.1, cpus: 3-1}", "CPU numbers"),
        ("a: {ssh: x, address: 10.0.0.1, python: python3}", "absolute paths"),
        ("a: {ssh: x, address: 10.0.0.1, port: 3}", "unknown key 'port'"),
        ("A b: {ssh: x, address: 10.0.0.1}", "not a host's name"),
        ("[]", "a mapping of host names"),
    ],
)
def test_what_is_no_host_is_refused_with_what_is_accepted(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as error:
        hosts.parse_hosts(Given(value=str(file), name="--hosts"))
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--services-on", "x", "--clients-on", "b"), "--services-on names 'x'; the hosts are a, b"),
        (("--services-on", "a"), "--clients-on is missing"),
        ((*FLAGS, "--system", "4", "--duration", "0"), "give a duration"),
        ((*FLAGS, "--system", "4", "--transport", "unix"), "TRANSPORT unix"),
        ((*FLAGS, "--system", "alt-grpc"), "System alt-grpc listens on this machine alone"),
        ((*FLAGS, "--service-command", "{python} x {port}"), "must say where it listens by {host} {port}"),
        ((*FLAGS[:-2], "--target", "http://127.0.0.1:8000/"), "A service that already runs"),
    ],
)
def test_what_does_not_work_across_hosts_is_refused(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(BadInput) as error:
        plan(tmp_path, *arguments)
    assert complaint in str(error.value)


def test_names_of_hosts_without_hosts_are_refused() -> None:
    parser = Parser("", NOTHING)
    add_run_flags(parser)
    add_host_flags(parser)
    with pytest.raises(BadInput, match="say what these are: --hosts FILE"):
        plan_from(parser.parse([*FLAGS]))

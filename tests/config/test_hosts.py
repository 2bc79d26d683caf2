"""Hosts in plans and files, and what is refused across hosts."""

import shlex
from pathlib import Path

import pytest

from commands.chosen import _python_clients
from config import hosts
from config.options import Given
from config.plan import Plan
from core.errors import BadInput
from core.hosts import Layout
from core.runtime import NATIVE
from record.decode import decoded
from tests.config import planning

TWO = "a: {via: here, address: 10.0.0.1}\nb: {ssh: 'me@loader:2222', address: 10.0.0.2, cpus: 0-1+3, python: /opt/p}\n"
HERE = "--services-on a --clients-on b --duration 1"


def planned(tmp_path: Path, *arguments: str) -> Plan:
    file = tmp_path / "hosts.yaml"
    file.write_text(TWO)
    return planning.planned(*arguments, "--hosts", str(file))


def test_a_file_of_hosts_is_read_and_kept_with_the_plan(tmp_path: Path) -> None:
    plan = planned(tmp_path, *HERE.split(), "--system", "4", "--runtime", "3.14")
    assert all(cell.transport == "tcp" for cell in plan.cells())
    layout = decoded(plan.to_json()["layout"], Layout)
    loader = layout.hosts["b"]
    assert (loader.ssh, loader.cpus, loader.python) == ("me@loader:2222", (0, 1, 3), ("/opt/p",))
    assert (layout.services_on, layout.client_addresses) == ("a", ["10.0.0.2"])


def test_a_service_of_a_users_own_is_called_by_the_same_client_under_every_runtime(tmp_path: Path) -> None:
    words = ("--runtime", "3.11,3.14t", "--service-command", "{python} x {host}:{port}")
    plan = planned(tmp_path, *HERE.split(), *words)
    assert plan.method.client_runtime == NATIVE
    assert _python_clients(plan) == "3.11"  # where the native client is not built


NO_HOSTS = {
    "a: {via: here}": "host a has no address",
    "a: {address: 10.0.0.1}": "must have either ssh",
    "a: {via: here, ssh: x, address: 10.0.0.1}": "must have either ssh",
    "a: {via: here, address: 0.0.0.0}": "address is 0.0.0.0; it must be an IPv4 address",
    "a: {via: here, address: '::1'}": "IPv4",
    "a: {ssh: '-oProxyCommand=x', address: 10.0.0.1}": "ssh is -oProxyCommand=x; it must be user@host",
    "a: {ssh: 'x; rm', address: 10.0.0.1}": "user@host",
    "a: {ssh: x, address: 10.0.0.1, cpus: 3-1}": "CPU numbers",
    "a: {ssh: x, address: 10.0.0.1, python: python3}": "absolute paths",
    "a: {ssh: x, address: 10.0.0.1, via: asyncssh}": "via is asyncssh; it must be one of ssh, here",
    "a: {ssh: x, address: 10.0.0.1, port: 3}": "unknown key 'port'",
    "A b: {ssh: x, address: 10.0.0.1}": "not a valid host name",
    "[]": "a mapping with 1 to 64 host names",
}


@pytest.mark.parametrize(("text", "complaint"), NO_HOSTS.items())
def test_what_is_no_host_is_refused_with_what_is_accepted(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text(text)
    with pytest.raises(BadInput, match=complaint):
        hosts.parse_hosts(Given(value=str(file), name="--hosts"))


NOT_ACROSS_HOSTS = {
    "--services-on x --clients-on b": "'x', which is not described. The described hosts are a, b",
    "--services-on a": "--clients-on is missing",
    f"{HERE} --system 4 --duration 0": "Give a duration",
    f"{HERE} --system 4 --transport unix": "TRANSPORT is unix",
    f"{HERE} --system echo-libuv": "listens only on this machine",
    f"{HERE} --service-command '{{python}} x {{port}}'": "The command must contain {host} {port}",
    f"{HERE} --service-command '{{python}} x {{host}}:{{port}}' --protocol http2 --requests asked.yml": "body_file",
    f"{HERE} --target http://127.0.0.1:8000/": r"of a service that already runs \(--target\) must run on this machine",
    f"{HERE} --system 4 --cpus 1": "apply only on this machine",
    f"{HERE} --target http://127.0.0.1:8000/ --memory 1GB": "cannot limit a service that already runs",
}


@pytest.mark.parametrize(("arguments", "complaint"), NOT_ACROSS_HOSTS.items())
def test_what_does_not_work_across_hosts_is_refused(
    tmp_path: Path, arguments: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asked.yml").write_text("[{request: POST /, body_file: asked.yml}]")
    with pytest.raises(BadInput, match=complaint):
        planned(tmp_path, *shlex.split(arguments))


def test_names_of_hosts_without_hosts_are_refused() -> None:
    with pytest.raises(BadInput, match="--hosts"):
        planning.planned(*HERE.split())

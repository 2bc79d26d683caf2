"""Cores and differences of hosts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analysis.host_facts import cores_of, host_confounds
from analysis.steps import Step
from core.system import CLIENT, SERVICE
from record.decode import decoded
from record.saved_plan import Machine
from record.saved_run import Run
from tests.reports.sample import run_of, set_plan

LOCK = Step(name="lock", denominator="3.14t+gil", numerator="3.14t", causes=("lock",))
BUILD = {"version": "3.14.7", "compiler": "GCC 13", "flags": {"lto": True}}


def run(hosts: dict[str, Any], layout: dict[str, Any] | None = None, **method: Any) -> Run:
    made = run_of([])
    made.machine = decoded({"cores_usable": 8, "hosts": hosts}, Machine)
    return set_plan(made, method=method, layout=layout)


def host(cpu: str = "A", cores: int = 4, **builds: Any) -> dict[str, Any]:
    return {"cpu": cpu, "cores_usable": cores, "builds": {"3.14t": {**BUILD, **builds}}}


def across(*clients_on: str, cpus_of_b: Sequence[int] = ()) -> dict[str, Any]:
    cpus = {"a": [], "b": [*cpus_of_b], "c": []}
    hosts = {name: {"name": name, "address": name, "cpus": of_host} for name, of_host in cpus.items()}
    return {"hosts": hosts, "services_on": "a", "clients_on": [*clients_on]}


def test_on_one_machine_cores_are_those_of_the_pins_or_all() -> None:
    pinned = run({}, pin_services=[0, 1], pin_clients=[1, 2])
    assert (cores_of(run({}), SERVICE), cores_of(pinned, SERVICE), cores_of(pinned, SERVICE, CLIENT)) == (8, 2, 3)


def test_across_hosts_each_role_has_the_cores_of_its_hosts() -> None:
    hosts = {"a": host(cores=4), "b": host(cores=16), "c": host(cores=2)}
    apart = run(hosts, across("b", "c", cpus_of_b=[0, 1, 2]))
    assert (cores_of(apart, SERVICE), cores_of(apart, CLIENT), cores_of(apart, SERVICE, CLIENT)) == (4, 3 + 2, 9)
    assert cores_of(run(hosts, across("b", "c"), pin_clients=[0]), CLIENT) == 2
    assert cores_of(run({"a": host()}, across("b")), CLIENT) == 0


def test_hosts_that_differ_confound_the_steps_of_what_differs() -> None:
    hosts = {"a": host(packages={"env": {"tornado": "6.5"}}), "b": host("B", version="3.14.5")}
    assert [*map(str, host_confounds(LOCK, run(hosts)))] == [
        "hosts differ in CPU: A (a), B (b)",
        "hosts differ in 3.14t, version: 3.14.7 (a), 3.14.5 (b)",
        "hosts differ in 3.14t, tornado: 6.5 (a), missing (b)",
    ]
    other = replace(LOCK, numerator="3.14")
    assert [*map(str, host_confounds(other, run(hosts)))] == ["hosts differ in CPU: A (a), B (b)"]
    assert host_confounds(LOCK, run({"a": host(), "b": host()})) == host_confounds(LOCK, run({})) == []

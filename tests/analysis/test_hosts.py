"""Cores and differences of hosts."""

from dataclasses import replace
from typing import Any

from yaml import safe_load

from analysis.confounds import host_confounds
from analysis.gates import cores_of
from analysis.steps import Step
from core.system import CLIENT, SERVICE
from record.decode import decoded
from record.saved_plan import Machine
from record.saved_run import Run
from tests.reports.sample import run_of, set_plan

LOCK = Step(name="lock", denominator="3.14t+gil", numerator="3.14t", causes=("lock",))
HOSTS = safe_load("""\
a: {cpu: A, cores_usable: 4, builds: {3.14t: {version: 3.14.7, compiler: GCC 13}}}
b: {cpu: B, cores_usable: 16, builds: {3.14t: {version: 3.14.5, compiler: GCC 13}}}
c: {cpu: B, cores_usable: 2}
""")
LAYOUT = safe_load("""\
hosts:
  a: {name: a, address: a, cpus: []}
  b: {name: b, address: b, cpus: [0, 1, 2]}
  c: {name: c, address: c, cpus: []}
services_on: a
clients_on: [b, c]
""")


def run(hosts: dict[str, Any], layout: dict[str, Any] | None = None, **method: Any) -> Run:
    made = run_of([])
    made.machine = decoded({"cores_usable": 8, "hosts": hosts}, Machine)
    return set_plan(made, method=method, layout=layout)


def test_on_one_machine_cores_are_those_of_the_pins_or_all() -> None:
    pinned = run({}, pin_services=[0, 1], pin_clients=[1, 2])
    assert (cores_of(run({}), SERVICE), cores_of(pinned, SERVICE), cores_of(pinned, SERVICE, CLIENT)) == (8, 2, 3)


def test_across_hosts_each_role_has_the_cores_of_its_hosts() -> None:
    apart = run(HOSTS, LAYOUT)
    assert (cores_of(apart, SERVICE), cores_of(apart, CLIENT), cores_of(apart, SERVICE, CLIENT)) == (4, 3 + 2, 9)
    assert cores_of(run(HOSTS, LAYOUT, pin_clients=[0]), CLIENT) == 2
    assert cores_of(run({"a": HOSTS["a"]}, LAYOUT), CLIENT) == 0


def test_hosts_that_differ_confound_the_steps_of_what_differs() -> None:
    hosts = {name: HOSTS[name] for name in "ab"}
    assert [*map(str, host_confounds(LOCK, run(hosts)))] == [
        "hosts differ in CPU: A (a), B (b)",
        "hosts differ in cores: 4 (a), 16 (b)",
        "hosts differ in 3.14t, version: 3.14.7 (a), 3.14.5 (b)",
    ]
    other = replace(LOCK, numerator="3.14")
    assert [*map(str, host_confounds(other, run(hosts)))] == [
        "hosts differ in CPU: A (a), B (b)",
        "hosts differ in cores: 4 (a), 16 (b)",
    ]
    assert host_confounds(LOCK, run(dict.fromkeys("ab", HOSTS["a"]))) == host_confounds(LOCK, run({})) == []

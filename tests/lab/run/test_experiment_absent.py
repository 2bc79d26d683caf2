"""What a plan asks for and this machine does not have: no cells for it, and the reason. Nothing is started here."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from core.messages import NOTHING, BadInput, message, verbatim
from core.system import System
from lab import native_builds
from lab.environments.environment import EnvironmentFailed
from lab.run.feasible import drop_absent, expect_different, prepare
from lab.run.measured_runtimes import AnyRuntime, Native, Runtime, UserServiceRuntime
from tests.config.planning import planned
from tests.lab.run.test_experiment import runtime
from tests.tables import each_row


@pytest.fixture
def here() -> dict[str, AnyRuntime]:
    """A native and a Python runtime."""
    return {"native": Native(), "3.14": runtime("3.14")}


NEEDS_CARGO = message("not built: needs {tools}", tools="cargo")


def lack(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """From now on these programs are not built and all others are."""
    monkeypatch.setattr(native_builds, "missing", lambda name: NEEDS_CARGO if name in names else NOTHING)


@each_row
def test_a_system_whose_program_is_missing_has_no_cells_there_and_a_reason(
    here: dict[str, AnyRuntime], monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    lacking, systems, runtimes, left = map(str.strip, line.split("|"))
    lack(monkeypatch, lacking)
    plan = planned(f"--system {systems} --runtime {runtimes}")
    possible = drop_absent(plan, here)
    cells = [f"{cell.system}/{cell.runtime}" for cell in possible.cells()]
    absent = [f"{system}/{runtime}" for system, runtime in possible.absent]
    assert (sorted(cells), {*possible.absent.values()}) == (sorted(left.split()), {NEEDS_CARGO})
    assert sorted(cells + absent) == sorted(f"{system.key}/{runtime}" for system, runtime in plan.pairs())
    assert {*possible.runtimes} == ({cell.runtime for cell in possible.cells()} or {*plan.runtimes})


@each_row
def test_variants_with_the_same_packages_are_refused_by_the_first_runtime_that_has_them(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, str]
) -> None:
    """The packages of the first runtime cannot be installed."""
    plan = planned(
        "--service-command '{python} x {port}' --variant a:requirements=a==1 --variant b:requirements=b==1 "
        "--runtime 3.14,3.14t"
    )
    plan = replace(plan, absent={("own", "3.14"): NEEDS_CARGO})
    asked: list[str] = []

    def python(runtime: UserServiceRuntime, system: System) -> str:
        asked.append(f"{runtime.name} {system.child_config['own']['overrides'][0][0]}")
        return asked[-1]

    monkeypatch.setattr(UserServiceRuntime, "python", python)
    monkeypatch.setattr(Runtime, "installed", lambda runtime, python: {"django": versions[str(python)[-1]]})
    is_same = versions["a"] == versions["b"]
    with pytest.raises(BadInput, match="the same packages under ") if is_same else nullcontext():
        expect_different(plan, {name: runtime(name) for name in plan.runtimes})
    assert asked == ["3.14t a", "3.14t b"]


def test_packages_that_cannot_be_installed_are_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    lack(monkeypatch)

    def fail(runtime: Runtime, requirements: str, wheels: tuple[str, ...]) -> Path:
        if requirements:
            raise EnvironmentFailed(verbatim(requirements))
        return Path("/no/python")

    monkeypatch.setattr(Runtime, "python", fail)
    runtimes: dict[str, AnyRuntime] = {"3.14": runtime("3.14")}
    possible = drop_absent(planned("--system 3,echo-uvloop,echo-asyncio --runtime 3.14"), runtimes)
    reasons = {system: str(reason) for (system, _), reason in possible.absent.items()}
    assert reasons == {"3": "requirements/tornado.txt", "echo-uvloop": "requirements/uvloop.txt"}
    assert [str(line) for line in prepare(runtimes)] == ["3.14: requirements/tornado.txt"]


def test_what_refuses_a_gil_that_is_switched_on_has_no_cells_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runtime, "python", lambda self, requirements, wheels=(): Path("/no/python"))
    names = ("3.14", "3.14t+gil", "3.14t")
    plan = planned(f"--system alt-granian-wsgi --runtime {','.join(names)}")
    possible = drop_absent(plan, {name: runtime(name) for name in names})
    assert [cell.runtime for cell in possible.cells()] == ["3.14", "3.14t"]
    assert list(possible.absent) == [("alt-granian-wsgi", "3.14t+gil")]

"""Which runtimes are compared, what each step is due to, and what a chain with gaps cannot tell apart."""

from collections.abc import Mapping
from typing import Any

import pytest

from reports.rows.steps import Step, confounds, not_separated, steps
from tests.reports.sample import RUNTIMES, facts

VERSION = ("version", "3.11", "3.14", ("version",))
BUILD = ("build", "3.14", "3.14t+gil", ("build",))
LOCK = ("lock", "3.14t+gil", "3.14t", ("lock",))


def told(arms: list[str], again: dict[str, str] | None = None) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(one.name, one.denominator, one.numerator, one.causes) for one in steps(arms, again or {}, {})]


def advice(arms: list[str]) -> list[str]:
    """The runtimes that the sentence on the only mixed step says to add."""
    (line,) = not_separated(steps(arms, {}, {}))
    return str(line.args["runtimes"]).split(",")


def pairs(*arms: str) -> list[str]:
    return [f"{name}: {before} {after}" for name, before, after, _ in told(list(arms))]


@pytest.mark.parametrize(
    ("arms", "found"),
    [
        (["3.14", "3.14+jit"], ["jit: 3.14 3.14+jit"]),
        (
            ["3.14", "3.14+jit", "3.15", "3.15t"],
            ["jit: 3.14 3.14+jit", "version: 3.14 3.15", "other: 3.15 3.15t", "whole: 3.14 3.15t"],
        ),
        (["3.14+jit", "3.15+jit"], ["version: 3.14+jit 3.15+jit"]),
        (["3.14", "3.15+jit"], ["other: 3.14 3.15+jit"]),
        (["3.14t", "3.15", "3.15t"], ["other: 3.15 3.15t", "version: 3.14t 3.15t"]),
    ],
)
def test_a_jit_is_a_step_of_its_own_beside_the_way_to_no_gil(arms: list[str], found: list[str]) -> None:
    assert pairs(*arms) == found


@pytest.mark.parametrize(
    ("arms", "add"),
    [
        (["3.14", "3.15+jit"], ["3.14", "3.15", "3.15+jit"]),
        (["3.14+jit", "3.15t"], ["3.14+jit", "3.14", "3.15", "3.15t+gil", "3.15t"]),
    ],
)
def test_what_mixes_a_jit_with_something_else_names_the_runtimes_between(arms: list[str], add: list[str]) -> None:
    assert advice(arms) == add
    assert not_separated(steps(list(dict.fromkeys([*arms, *add])), {}, {})) == []


# ---- confounds -----------------------------------------------------------------------------------------------------


def named(step: Step, **changed: Any) -> list[str]:
    """The confounds of a step whose numerator is built otherwise."""
    return texts(step, {name: facts(name) | (changed if name == step.numerator else {}) for name in RUNTIMES})


def texts(step: Step, runtimes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [*map(str, confounds(step, runtimes))]


def step_of(name: str) -> Step:
    (step,) = (one for one in steps(RUNTIMES, {}, {}) if one.name == name)
    return step


def test_a_runtime_of_which_nothing_is_known_confounds_nothing() -> None:
    assert confounds(step_of("lock"), {"3.14t": facts("3.14t")}) == []


def test_packages_of_other_versions_are_named_with_both() -> None:
    before = {"flask": "3.1.2", "numpy": "2.3.5", "typing_extensions": "4.15.0", "pip": "25.0"}
    after = {"flask": "3.1.3", "numpy": "2.3.5", "pip": "25.3", "greenlet": "3.2.0"}
    built = {name: facts(name) | {"packages": {"/shop/requirements.txt": before}} for name in RUNTIMES}
    step = step_of("version")
    built[step.numerator] |= {"packages": {"/shop/requirements.txt": after}}
    assert texts(step, built) == [
        "package flask 3.1.2 against 3.1.3",
        "package greenlet missing against 3.2.0",
        "package typing_extensions 4.15.0 against missing",
    ]

"""Which runtimes are compared, what each step is due to, and what a chain with gaps cannot tell apart."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

from reports.rows.steps import Step, confounds, not_separated, steps
from tests.reports.sample import RUNTIMES, facts

VERSION = ("version", "3.11", "3.14", ("version",))
BUILD = ("build", "3.14", "3.14t+gil", ("build",))
LOCK = ("lock", "3.14t+gil", "3.14t", ("lock",))


def told(arms: list[str], again: dict[str, str] | None = None) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(one.name, one.denominator, one.numerator, one.causes) for one in steps(arms, again or {}, {})]


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({"3.14.6t": "3.14.6", "3.14.7t": "3.14.7"}, [("patch", "3.14.6t", "3.14.7t", ("patch",))]),
        ({"3.14t": "3.14.7", "3.14.6t": "3.14.6"}, [("patch", "3.14.6t", "3.14t", ("patch",))]),
        ({"3.15.0rc1t": "3.15.0rc1", "3.15t": "3.15.0"}, [("patch", "3.15.0rc1t", "3.15t", ("patch",))]),
        ({"3.14.10": "3.14.10", "3.14.9": "3.14.9"}, [("patch", "3.14.9", "3.14.10", ("patch",))]),
        (
            {"3.14": "3.14.7", "3.14.6t": "3.14.6", "3.14.7t": "3.14.7"},
            [("other", "3.14", "3.14.7t", ("build", "lock")), ("patch", "3.14.6t", "3.14.7t", ("patch",))],
        ),
        ({"3.14": "3.14.7", "3.14t": "3.14.6"}, [("other", "3.14", "3.14t", ("patch", "build", "lock"))]),
        ({"3.11": "3.11.16", "3.14": "3.14.7"}, [("version", "3.11", "3.14", ("version",))]),
    ],
)
def test_a_step_between_patch_releases_is_a_patch_and_no_confound(
    versions: dict[str, str], expected: list[tuple[str, str, str, tuple[str, ...]]]
) -> None:
    found = steps(list(versions), {}, {name: {"version": version} for name, version in versions.items()})
    assert {(one.name, one.denominator, one.numerator, one.causes) for one in found} == {*expected}
    same = {name: {**facts(name), "version": version} for name, version in versions.items()}
    assert [said for one in found if one.name == "patch" for said in confounds(one, same)] == []


def advice(arms: list[str]) -> list[str]:
    """The runtimes that the sentence on the only mixed step says to add."""
    (line,) = not_separated(steps(arms, {}, {}))
    return str(line.args["runtimes"]).split(",")


@pytest.mark.parametrize(
    ("arms", "found"),
    [
        ([], []),
        (["3.14t"], []),
        (["3.11", "3.14"], [VERSION]),
        (["3.14", "3.14t+gil"], [BUILD]),
        (["3.14t+gil", "3.14t"], [LOCK]),
        (["3.11", "3.14t+gil"], [("other", "3.11", "3.14t+gil", ("version", "build"))]),
        (["3.11", "3.14t"], [("other", "3.11", "3.14t", ("version", "build", "lock"))]),
        (["3.14", "3.14t"], [("other", "3.14", "3.14t", ("build", "lock"))]),
        (["3.11", "3.14", "3.14t+gil"], [VERSION, BUILD, ("whole", "3.11", "3.14t+gil", ("version", "build"))]),
        (
            ["3.11", "3.14", "3.14t"],
            [
                VERSION,
                ("other", "3.14", "3.14t", ("build", "lock")),
                ("whole", "3.11", "3.14t", ("version", "build", "lock")),
            ],
        ),
        (
            ["3.11", "3.14t+gil", "3.14t"],
            [
                ("other", "3.11", "3.14t+gil", ("version", "build")),
                LOCK,
                ("whole", "3.11", "3.14t", ("version", "build", "lock")),
            ],
        ),
        (["3.14", "3.14t+gil", "3.14t"], [BUILD, LOCK, ("whole", "3.14", "3.14t", ("build", "lock"))]),
        (list(RUNTIMES), [VERSION, BUILD, LOCK, ("whole", "3.11", "3.14t", ("version", "build", "lock"))]),
    ],
)
def test_neighbours_are_steps_and_the_ends_of_three_or_more_are_the_whole(
    arms: list[str], found: list[tuple[str, str, str, tuple[str, ...]]]
) -> None:
    assert told(arms) == found


def test_the_order_of_the_arms_does_not_matter() -> None:
    assert told(["3.14t", "3.11", "3.14t+gil", "3.14"]) == told(list(RUNTIMES))


TWO_VERSIONS = ["3.14", "3.14t+gil", "3.14t", "3.15", "3.15t+gil", "3.15t"]


def pairs(*arms: str) -> list[str]:
    return [f"{name}: {before} {after}" for name, before, after, _ in told(list(arms))]


def test_two_versions_of_three_kinds_are_compared_kind_by_kind_and_version_by_version() -> None:
    assert pairs(*TWO_VERSIONS) == [
        "version: 3.14 3.15",
        "build: 3.14 3.14t+gil",
        "lock: 3.14t+gil 3.14t",
        "build: 3.15 3.15t+gil",
        "version: 3.14t+gil 3.15t+gil",
        "version: 3.14t 3.15t",
        "lock: 3.15t+gil 3.15t",
        "whole: 3.14 3.15t",
    ]
    assert not_separated(steps(TWO_VERSIONS, {}, {})) == []


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


def test_several_versions_are_steps_one_by_one() -> None:
    assert told(["3.20", "3.14", "3.11"])[:2] == [VERSION, ("version", "3.14", "3.20", ("version",))]


def test_a_second_arm_is_compared_with_its_own_runtime_and_has_no_cause() -> None:
    assert told(["3.14t"], {"3.14t again": "3.14t"}) == [("aa", "3.14t", "3.14t again", ())]
    assert told(["3.11", "3.14"], {"3.14 again": "3.14"}) == [VERSION, ("aa", "3.14", "3.14 again", ())]


def test_four_arms_leave_nothing_unseparated() -> None:
    assert not_separated(steps(RUNTIMES, {"3.14t again": "3.14t"}, {})) == []


@pytest.mark.parametrize(
    ("arms", "add"),
    [
        (["3.11", "3.14t"], ["3.11", "3.14", "3.14t+gil", "3.14t"]),
        (["3.14", "3.14t"], ["3.14", "3.14t+gil", "3.14t"]),
        (["3.11", "3.14t+gil"], ["3.11", "3.14", "3.14t+gil"]),
        (["3.11", "3.14t+gil", "3.14t"], ["3.11", "3.14", "3.14t+gil"]),
        (["3.11", "3.14", "3.14t"], ["3.14", "3.14t+gil", "3.14t"]),
    ],
)
def test_a_mixed_step_names_the_runtimes_that_would_separate_it(arms: list[str], add: list[str]) -> None:
    assert advice(arms) == add


def test_a_mixed_step_is_told_in_one_sentence() -> None:
    (line,) = not_separated(steps(["3.14", "3.14t"], {}, {}))
    assert str(line) == (
        "3.14 → 3.14t mixes build and GIL: nothing between them was measured. "
        "To separate them, add --runtime 3.14,3.14t+gil,3.14t."
    )


SUBSETS = [list(some) for count in range(1, 5) for some in combinations(RUNTIMES, count)]


@pytest.mark.parametrize("arms", [*SUBSETS, ["3.13", "3.14t"], ["3.11", "3.13t"]], ids=",".join)
def test_whoever_follows_the_advice_has_nothing_mixed_left(arms: list[str]) -> None:
    if not_separated(steps(arms, {}, {})):
        arms = list(dict.fromkeys([*arms, *advice(arms)]))
    assert not_separated(steps(arms, {}, {})) == []


@pytest.mark.parametrize("arms", [["3.13t", "3.14t+gil"], ["3.13t+gil", "3.14t"]], ids=",".join)
def test_a_default_build_separates_nothing_between_two_free_threaded_ones(arms: list[str]) -> None:
    assert "3.14" not in advice(arms)


# ---- confounds -----------------------------------------------------------------------------------------------------


def named(step: Step, **changed: Any) -> list[str]:
    """The confounds of a step whose numerator is built otherwise."""
    return texts(step, {name: facts(name) | (changed if name == step.numerator else {}) for name in RUNTIMES})


def texts(step: Step, runtimes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [*map(str, confounds(step, runtimes))]


def step_of(name: str) -> Step:
    (step,) = (one for one in steps(RUNTIMES, {}, {}) if one.name == name)
    return step


@pytest.mark.parametrize("name", ["version", "build", "lock", "whole"])
def test_like_builds_confound_nothing(name: str) -> None:
    assert named(step_of(name)) == []


def test_another_compiler_is_named_with_both() -> None:
    assert named(step_of("build"), compiler="Clang 18.1.8") == ["compiler GCC 13.2.0 against Clang 18.1.8"]


@pytest.mark.parametrize("flag", ["lto", "shared", "debug", "tail_call", "jit"])
def test_a_flag_that_only_one_has_is_named(flag: str) -> None:
    name = {"jit": "JIT built in"}.get(flag, flag)
    assert named(step_of("lock"), flags=facts("3.14t", **{flag: True})["flags"]) == [f"{name} off against on"]


def test_a_build_without_pgo_is_named() -> None:
    assert named(step_of("version"), flags=facts("3.14", pgo=False)["flags"]) == ["pgo on against off"]


def test_the_options_given_to_configure_are_no_flag() -> None:
    flags = facts("3.14t")["flags"] | {"configure": "--prefix=/elsewhere"}
    assert named(step_of("lock"), flags=flags) == []


@pytest.mark.parametrize(
    ("name", "confounded"),
    [
        ("version", []),
        ("whole", []),
        ("build", ["version 3.14.7 against 3.14.6"]),
        ("lock", ["version 3.14.7 against 3.14.6"]),
    ],
)
def test_another_version_confounds_a_step_that_is_not_about_versions(name: str, confounded: list[str]) -> None:
    assert named(step_of(name), version="3.14.6") == confounded


@pytest.mark.parametrize(
    ("before", "after", "confounded"),
    [
        ("3.11.9", "3.14.4", ["off against on"]),
        ("3.11.9", "3.14.5", []),
        ("3.14.0", "3.15.0rc1", ["on against off"]),
        ("3.14.0", "3.15.0a8", []),
        ("3.14.7", "3.15.0b1", []),
    ],
)
def test_a_garbage_collector_of_some_patch_levels_confounds(before: str, after: str, confounded: list[str]) -> None:
    """CPython took the incremental collector back in 3.14.5 and 3.15.0b1."""
    step = step_of("version")
    built = {step.denominator: facts("3.14") | {"version": before}, step.numerator: facts("3.14") | {"version": after}}
    assert texts(step, built) == [f"incremental garbage collector (3.14.0 to 3.14.4) {which}" for which in confounded]


def test_a_free_threaded_build_never_had_that_garbage_collector() -> None:
    old = {name: facts(name) | {"version": "3.14.2"} for name in RUNTIMES}
    assert texts(step_of("lock"), old) == []
    assert texts(step_of("build"), old) == ["incremental garbage collector (3.14.0 to 3.14.4) on against off"]


def test_all_that_differs_is_named() -> None:
    flags = facts("3.14t", lto=True, shared=True)["flags"]
    assert named(step_of("build"), compiler="Clang 18", flags=flags, version="3.14.6") == [
        "compiler GCC 13.2.0 against Clang 18",
        "lto off against on",
        "shared off against on",
        "version 3.14.7 against 3.14.6",
    ]


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


def test_packages_of_our_own_files_confound_nothing() -> None:
    built = {name: facts(name) | {"packages": {"requirements/tornado.txt": {"tornado": name}}} for name in RUNTIMES}
    assert confounds(step_of("version"), built) == []


def test_an_environment_that_only_one_has_confounds_nothing() -> None:
    assert named(step_of("lock"), packages={"/shop/requirements.txt": {"flask": "3.1.3"}}) == []

"""Sweeps of settings, known by hand."""

from collections.abc import Mapping

from core.cell import Value
from core.sweeps import sweeps, swept_names

Params = Mapping[str, Value]


def found(*settings: Params, fixed: tuple[str, ...] = ()) -> list[tuple[str, list[Value], Params]]:
    return [(one.name, one.values, one.others) for one in sweeps({"4": settings}, fixed)]


def test_two_swept_parameters_have_a_sweep_for_each_value_of_the_other() -> None:
    settings = [{"SELECT_MODE": mode, "NUM_MULTI_SOCKET": count} for mode in ("all", "single") for count in (1, 5)]
    assert found(*settings) == [
        ("SELECT_MODE", ["all", "single"], {"NUM_MULTI_SOCKET": 1}),
        ("SELECT_MODE", ["all", "single"], {"NUM_MULTI_SOCKET": 5}),
        ("NUM_MULTI_SOCKET", [1, 5], {"SELECT_MODE": "all"}),
        ("NUM_MULTI_SOCKET", [1, 5], {"SELECT_MODE": "single"}),
    ]


def test_as_many_clients_as_services_are_one_sweep() -> None:
    settings = [{"NUM_API_SERVICES": count, "NUM_CLIENTS": count} for count in (1, 2)]
    assert found(*settings) == [("NUM_API_SERVICES", [1, 2], {})]
    assert swept_names(settings) == {"NUM_API_SERVICES", "NUM_CLIENTS"}


def test_settings_that_differ_in_two_parameters_are_no_sweep() -> None:
    settings: list[Params] = [{"SELECT_MODE": "all", "CALC_TARGET": 1}, {"SELECT_MODE": "single", "CALC_TARGET": 5}]
    assert found(*settings) == []
    assert swept_names(settings) == set()


def test_a_topology_is_no_sweep() -> None:
    settings = [{"NUM_WORKERS_PER_API_SERVICE": count, "CALC_TARGET": load} for count in (2, 25) for load in (0, 9)]
    assert {name for name, *_ in found(*settings, fixed=("NUM_WORKERS_PER_API_SERVICE",))} == {"CALC_TARGET"}


def test_true_and_1_are_different_values() -> None:
    assert len(found({"REUSE_CLIENT": True}, {"REUSE_CLIENT": 1})) == 1

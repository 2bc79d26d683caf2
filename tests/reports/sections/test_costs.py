"""How busy the clients were, and what a request cost, with figures that one can divide in one's head."""

from dataclasses import replace
from typing import Any

import pytest

from analysis.gates import saturation
from reports.sections import costs
from reports.view import View
from tests.reports.sample import MS, SMALL, cell_of, client_of, measured, run_of, with_services
from tests.tables import each_row

CELL = cell_of("2", "3.14t", {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 2, "NUM_REQUESTS_PER_CLIENT": 500})


@each_row
def test_saturation_is_cpu_time_over_that_of_the_cores_the_clients_could_use(
    clients: list[dict[str, Any]], cores: int, share: float
) -> None:
    """The clients used 60 ms of CPU time within a second."""
    counted = [client_of(cpu_user_ns=20 * MS, cpu_system_ns=10 * MS, **one) for one in clients]
    cell = replace(measured(CELL, 1, [999 * MS]), clients=counted)
    assert saturation(cell, cores) == pytest.approx(share)


def test_the_bars_of_all_settings_have_one_scale() -> None:
    """One setting takes 100 ms of CPU time for its requests, and another one 200 ms."""
    cells = [
        with_services(
            measured(cell_of("2", "3.14t", {**SMALL, "NUM_WORKERS_PER_API_SERVICE": threads}), 1, [1000 * MS]),
            cpu_user_ns=threads * 100 * MS, cpu_system_ns=0,
        )
        for threads in (1, 2)
    ]  # fmt: skip
    times, _ = costs.section(View(run_of(cells))).tables
    strips = [cell.strip for _, cell, *_ in times.lines if cell.strip]
    longest = [strip.bars[-1][1] for strip in strips]
    assert longest[1] == pytest.approx(2 * longest[0])
    assert [strip.high for strip in strips] == [longest[1]] * 2


@pytest.mark.parametrize("calc_ns", [0, 5 * MS])
def test_what_no_handler_counted_has_no_column_and_no_explanation(calc_ns: int) -> None:
    """A service of one's own has no calculation loop: the columns were always '-'."""
    cell = replace(measured(CELL, 1, [1000 * MS]), calc_ns=calc_ns)
    times, _ = costs.section(View(run_of([cell]))).tables
    heads = [str(column.head) for column in times.columns]
    legend = [str(words) for _, words in times.keys]
    assert [bool(calc_ns)] * 3 == ["calculation" in heads, "calculation" in legend, "Calculation" in str(times.caption)]
    assert "waiting" not in heads
    assert ("user time" in legend) == (not calc_ns)

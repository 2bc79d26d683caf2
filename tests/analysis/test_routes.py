"""Routes with planted latencies: which of them a run calls, and what stands in the answer."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from random import Random

import pytest
from msgspec import structs

from analysis.comparing import compare
from analysis.comparison_words import Comparison
from analysis.metrics import pooled
from analysis.routes import names
from core.languages import ENGLISH
from core.request_plan import Request
from record.child_lines import RouteCounts
from record.saved_run import Run
from reports.document import Table
from reports.exports.texts import route_lines, routes_sheet
from reports.parts.headline import headline
from reports.sections.results import table
from reports.sections.routes import section
from reports.tables import POOLED
from reports.view import View
from tests.analysis.timed_cells import by_step, timed
from tests.reports.sample import MS, cell_of, histogram_of, measured, run_of, with_service

LOGIN = Request(method="POST", path="/login")
REQUESTS = (*(Request(path=f"/{name}") for name in "abcd"), LOGIN)
EQUAL = (1.0, 2.0, 3.0, 4.0, 5.0)
BLOCKS, ANSWERED = 14, 200


def route(latency_ms: float) -> RouteCounts:
    latency = histogram_of([round(latency_ms * MS)] * ANSWERED)
    return RouteCounts(requests=ANSWERED, answered=ANSWERED, errors={}, latency=latency)


def shop(arms: Mapping[str, Sequence[float]], speed: float = 1.0, requests: Sequence[Request] = REQUESTS) -> Run:
    """A run with the mean latencies of each arm, in ms, and 1 % of noise.

    speed: throughput of the arms after the first, divided by that of the first
    """
    chance, cells = Random(5), []
    for place, (arm, latencies_ms) in enumerate(arms.items()):
        for block in range(1, BLOCKS + 1):
            routes = [route(ms * chance.gauss(1, 0.01)) for ms in latencies_ms]
            wall_ms = 2000 * chance.gauss(1, 0.002) / (speed if place else 1)
            cell = timed(arm, block, wall_ms, answered=ANSWERED * len(routes), routes=routes)
            cells.append(replace(cell, system="shop"))
    return with_service(run_of(cells, blocks=BLOCKS), *requests)


def with_variants(slow_login_ms: float) -> Run:
    """Two variants of the service, of which the second answers a login so slowly."""
    cells = []
    for name, latencies_ms in (("before", EQUAL), ("after", (*EQUAL[:4], slow_login_ms))):
        same = shop({"3.14": latencies_ms}).cells
        cells += [replace(one, cell_id=name, params={**one.params, "variant": name}) for one in same]
    return with_service(run_of(cells, blocks=BLOCKS), *REQUESTS)


def verdicts(one: Comparison) -> list[str]:
    return [route.verdict for route in one.routes.values()]


def opposed_run() -> Run:
    """Twice the throughput without the GIL, but a login takes four times as long."""
    return shop({"3.14": EQUAL, "3.14t": (*(ms / 2 for ms in EQUAL[:4]), 20.0)}, speed=2.0)


def test_the_one_route_that_became_slower_is_called_and_its_ratio_is_that_of_the_mean_latencies() -> None:
    (one,) = compare(shop({"3.14": EQUAL, "3.14t": (*EQUAL[:4], 6.0)}))
    assert [*one.routes] == ["GET /a", "GET /b", "GET /c", "GET /d", "POST /login"]
    assert (one.verdict, verdicts(one)) == ("equivalent", [*["equivalent"] * 4, "slower"])
    assert one.routes["POST /login"].ratio == pytest.approx(5 / 6, rel=0.02)
    assert one.opposed_routes == ["POST /login"]


def test_a_route_against_the_whole_stands_in_the_headline() -> None:
    """The golden outputs have one that became slower."""
    other_way = shop({"3.14": EQUAL, "3.14t": (*(2 * ms for ms in EQUAL[:4]), 2.5)}, speed=0.6)
    assert ", but POST /login is answered at 2.00x" in str(headline(compare(other_way)[0], {}))
    (with_it,) = compare(shop({"3.14": EQUAL, "3.14t": [ms / 2 for ms in EQUAL]}, speed=2.0))
    assert "speed" not in str(headline(with_it, {}))


def test_a_route_in_which_a_runtime_differs_from_itself_has_no_verdict() -> None:
    found = by_step(shop({"3.14": EQUAL, "3.14t": (2.0, *EQUAL[1:]), "3.14t again": (2.4, *EQUAL[1:])}))
    assert (found["aa"].verdict, verdicts(found["aa"])[0]) == ("equivalent", "slower")
    assert verdicts(found["other"])[:2] == ["invalid", "equivalent"]


def test_requests_of_one_name_are_one_route_and_few_requests_give_pooled_percentiles() -> None:
    twice = [Request(title=title) for title in "xyx"]
    run = shop({"3.14t": (1.0, 3.0)}, requests=[*twice, replace(LOGIN, first=True)])
    assert names(run) == ("x", "y", "POST /login")
    x, y = View(run).routes
    assert (x.name, x.requests, x.errors, pooled(x.row.good)) == ("x", BLOCKS * ANSWERED, 0, {"p99", "p999"})
    assert y.row.figures
    assert [y.row.figures["p50_ns"], y.row.figures["p99_ns"]] == pytest.approx([3 * MS, 3 * MS], rel=0.05)
    assert names(shop({"3.14t": (1.0,)}, requests=[REQUESTS[0], replace(LOGIN, first=True)])) == ()


def test_the_mark_of_pooled_percentiles_is_explained_if_one_is_shown() -> None:
    """A p99 needs 1,000 requests, and no table shows a p99.9."""
    run = shop({"3.14": EQUAL})
    for blocks, is_shown in ((14, True), (2, False)):
        run.cells = run.cells[:blocks]
        (routes,) = section(View(run)).tables
        assert (str(POOLED) in str(routes.caption), "*" in "".join(texts(routes))) == (is_shown,) * 2
    for requests, is_shown in ((999, True), (1000, False)):
        cells = [measured(cell_of("2", "3.14"), block, [600 * MS], [MS] * requests) for block in (1, 2)]
        results = table(View(run_of(cells)), is_brief=True)
        assert (str(POOLED) in str(results.caption), "*" in "".join(texts(results))) == (is_shown,) * 2


def texts(of: Table) -> list[str]:
    return [datum.text(ENGLISH) for line in of.lines for datum in line]


def test_failed_blocks_count_in_the_errors_of_their_route() -> None:
    run = shop({"3.14": EQUAL})
    failing = structs.replace(route(5.0), requests=ANSWERED + 3, errors={"closed": 3})
    run.cells[0] = replace(run.cells[0], status="failed", routes=[*run.cells[0].routes[:4], failing])
    *_, login = View(run).routes
    assert (login.requests, login.errors) == (BLOCKS * ANSWERED + 3, 3)


def test_the_sheet_has_a_line_for_each_route_and_comparison() -> None:
    view = View(opposed_run())
    *_, login = csv.DictReader(StringIO(routes_sheet(view)))
    assert (login["name"], login["runtime"], login["errors"]) == ("POST /login", "3.14t", "0")
    assert (login["compared_with"], login["verdict"]) == ("3.14", "slower")
    assert float(login["ratio"]) == pytest.approx(0.25, rel=0.02)
    assert [line["compared_with"] for line in route_lines(view)] == [None] * 5 + ["3.14"] * 5


def test_the_routes_of_variants_are_compared_and_a_package_that_differs_is_no_change() -> None:
    run = with_variants(20.0)
    run.cells = [replace(cell, environment=str(cell.params["variant"])) for cell in run.cells]
    view = View(run)
    (table,) = section(view).tables
    assert [str(head) for head, _ in table.groups] == ["variant before → after: 3.14"]
    assert [str(line[-1].words) for line in table.lines] == [*["equivalent"] * 4, "slower"]
    *_, last = route_lines(view)
    assert (last["compared_with"], last["params"]["variant"], last["name"]) == ("before", "after", "POST /login")
    assert last["ratio"] == pytest.approx(0.25, rel=0.05)


def test_an_environment_that_changed_within_a_variant_is_a_change() -> None:
    run = with_variants(5.0)
    run.cells[-1] = replace(run.cells[-1], environment="other")
    (one,) = compare(run)
    assert "changed between cells of the run" in str(one.why)

"""The league's record: who is ranked where, and what is said of it."""

from core.result import CellResult, Run
from reports.league import league_page, lines, rankings, short
from reports.summary import rows
from tests.reports.sample import MS, TITLES, cell_of, measured

NAMES = {**TITLES, "alt-socketserver": "socketserver", "alt-waitress": "Waitress"}
TIMES_MS = {"2": 100, "4": 80, "alt-socketserver": 50, "alt-waitress": 400}


def a_run(times_ms: dict[str, int], blocks: int = 6, runtimes: tuple[str, ...] = ("3.14", "3.14t")) -> Run:
    """Every system takes its time, 1 % more in each further block."""
    cells = [
        taken(system, runtime, block, time_ms + time_ms * block // 100)
        for block in range(1, blocks + 1)
        for system, time_ms in times_ms.items()
        for runtime in runtimes
    ]
    params = {system: cell_of(system, runtimes[0]).params for system in times_ms}
    plan = {
        "name": "league",
        "view": "league",
        "blocks": blocks,
        "runtimes": list(runtimes),
        "aa": False,
        "rows": [{"system": system, "params": own} for system, own in params.items()],
    }
    return Run(run_id="r", started_at="", seed=1, command=[], plan=plan, machine={}, runtimes={}, cells=cells)


def taken(system: str, runtime: str, block: int, time_ms: int) -> CellResult:
    return measured(cell_of(system, runtime), block, [time_ms * MS])


def test_each_runtime_has_its_ranking_the_one_with_most_requests_first() -> None:
    found = rankings(rows(a_run(TIMES_MS)), NAMES)
    assert [contest.label for contest in found] == ["runtime 3.14", "runtime 3.14t"]
    for contest in found:
        assert [one.row.system for one in contest.standings] == ["alt-socketserver", "4", "2", "alt-waitress"]
        assert contest.reference.row.system == "2"


def test_an_alternative_whose_interval_is_above_ours_is_named_as_faster() -> None:
    run = a_run(TIMES_MS, runtimes=("3.14t",))
    (said,) = lines(run, rankings(rows(run), NAMES))
    # 400,000 requests in 102 to 107 ms: the median is between 400,000 / 0.104 s and 400,000 / 0.105 s
    assert said.startswith("runtime 3.14t: Single socket, connection cache serves 3,827,839 requests/s")
    assert "; faster than it: socketserver (1.9" in said
    assert "Waitress" not in said
    assert "Multi-socket pool" not in said


def test_where_ours_are_first_the_sentence_says_so() -> None:
    run = a_run({"2": 100, "4": 80, "alt-waitress": 400}, runtimes=("3.14",))
    (said,) = lines(run, rankings(rows(run), NAMES))
    assert said.endswith("; no alternative serves more than Multi-socket pool.")


def test_without_enough_blocks_nobody_is_surely_faster() -> None:
    run = a_run(TIMES_MS, blocks=1, runtimes=("3.14",))
    (said,) = lines(run, rankings(rows(run), NAMES))
    assert "no alternative is surely faster (the first, socketserver, at 2.00)" in said


def test_without_system_2_shares_are_of_the_first() -> None:
    run = a_run({"alt-socketserver": 50, "alt-waitress": 400}, runtimes=("3.14",))
    (contest,) = rankings(rows(run), NAMES)
    assert contest.reference.row.system == "alt-socketserver"
    assert lines(run, [contest])[0].endswith("the most; system 2 has no figures.")


def test_the_page_has_a_table_for_each_runtime() -> None:
    run = a_run(TIMES_MS)
    page = league_page(run, rows(run), NAMES)
    assert page.startswith("# league: r\n")
    assert page.count("| rank |") == 2
    assert "## runtime 3.14t" in page
    assert "|    3 | Single socket, connection cache (system 2) |" in page


def test_what_is_not_there_is_named() -> None:
    run = a_run(TIMES_MS, runtimes=("3.14t",))
    run.plan["absent"] = [{"system": "alt-grpc", "runtime": "3.14t", "reason": "grpcio has no wheel"}]
    assert lines(run, rankings(rows(run), NAMES))[-1] == "Not measured: alt-grpc under 3.14t: grpcio has no wheel."


def test_the_terminal_has_room_for_five_columns() -> None:
    run = a_run(TIMES_MS, runtimes=("3.14t",))
    (contest,) = rankings(rows(run), NAMES)
    table = short(contest)
    assert table.title == "runtime 3.14t"
    assert {len(line) for line in table.lines} == {len(table.heads)} == {5}

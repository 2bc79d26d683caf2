"""The HTTP clients in words: the answer, and what each setting says."""

from reports.contests.http_clients import sentences
from reports.contests.http_lines import by_setting
from reports.contests.http_story import answer
from reports.rows.summary import rows
from tests.reports.contestants import contest_run
from tests.reports.http_sample import (
    HELD,
    HELD_FREE,
    RELEASED,
    RELEASED_FREE,
    TITLES,
    UNDECLARED,
    lines_in,
    story_run,
    worked,
)


def test_the_answer_goes_across_held_released_and_undeclared() -> None:
    settings = by_setting(lines_in(HELD, HELD_FREE, RELEASED, RELEASED_FREE, UNDECLARED))
    assert answer(settings) == (
        "Beast (GIL held): serialisation 10.0 under 3.11, 1.0 under 3.14t; released: 1.0 under 3.11, 1.0 under 3.14t; "
        "a module that does not declare free-threading support turns the GIL back on and is at 8.0 again."
    )


def test_an_undeclared_module_that_is_not_serial_is_not_there_again() -> None:
    parallel = worked("http-beast-undeclared", "3.14t", [4] * 10, 5)
    assert answer(by_setting(lines_in(HELD, HELD_FREE, parallel))).endswith("turns the GIL back on and is at 1.2.")


def test_the_answer_is_of_the_first_setting_and_says_which() -> None:
    few, many = (worked("http-beast-held", "3.11", [1], 2, NUM_REQUESTS_PER_CLIENT=size) for size in (1000, 10_000))
    told = answer(by_setting(lines_in(few, many)))
    assert told == "Beast (GIL held): serialisation 2.0 under 3.11 (NUM_REQUESTS_PER_CLIENT 1000)."


def test_without_a_held_build_under_a_gil_there_is_no_answer() -> None:
    assert answer(by_setting(lines_in(HELD_FREE, RELEASED))) == ""


def test_the_story_is_told_by_the_runs_own_figures() -> None:
    run = story_run()
    assert sentences(run, rows(run), TITLES)[1:] == [
        (
            "Beast, GIL held through I/O - 3.11: serialisation 10.00 [10.00, 10.00], 1.0 in flight; "
            "3.14t: serialisation 1.00 [1.00, 1.00], 10.0 in flight."
        ),
        (
            "Beast, GIL released through I/O - 3.11: serialisation 1.00 [1.00, 1.00], 10.0 in flight; "
            "3.14t: serialisation 1.00 [1.00, 1.00], 10.0 in flight."
        ),
        (
            "Beast, GIL held, module not declared for free-threading - 3.14t: "
            "serialisation 8.00 [8.00, 8.00], 1.0 in flight."
        ),
        (
            "Bench of Beast released over that of native Beast: "
            "1.25 [1.25, 1.25] under 3.11, 1.50 [1.50, 1.50] under 3.14t."
        ),
    ]


def test_nothing_is_said_of_rows_that_are_not_there() -> None:
    run = contest_run(RELEASED, view="http-clients")
    assert [line.partition(" - ")[0] for line in sentences(run, rows(run), TITLES)] == [
        "Beast, GIL released through I/O"
    ]


def test_each_setting_has_its_story() -> None:
    few, many = (worked("http-beast-held", "3.11", [1], 2, NUM_REQUESTS_PER_CLIENT=size) for size in (1000, 10_000))
    run = contest_run(few, many, view="http-clients")
    assert [line.partition(" - ")[0] for line in sentences(run, rows(run), TITLES)[1:]] == [
        "Beast, GIL held through I/O (NUM_REQUESTS_PER_CLIENT 1000)",
        "Beast, GIL held through I/O (NUM_REQUESTS_PER_CLIENT 10000)",
    ]

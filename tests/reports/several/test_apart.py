"""What a page of several runs says must not be compared, and what differs besides."""

from dataclasses import replace

from reports.page.several.apart import obstacles, remarks, told
from reports.page.several.members import Member, members
from reports.page.texts import TEXTS
from reports.rows.view import view_of

from core.method import Method
from tests.reports.several.trio import on_another_machine, one_run, trio


def some(*views_at: int) -> list[Member]:
    return members([trio()[place] for place in views_at], TEXTS["en"], {})


def test_another_machine_is_named_with_the_runs_that_have_it() -> None:
    assert obstacles(some(0, 1, 2), "en") == ["The CPU: Sample CPU (A, B); Other CPU (C)"]
    assert obstacles(some(0, 1, 2), "zh") == ["CPU: Sample CPU (A, B); Other CPU (C)"]


def test_another_method_forbids_it_too() -> None:
    warm, cold = one_run(1, 4000, 2000), one_run(2, 4000, 2000)
    warm.plan["method"] = Method(duration_s=2).to_json()
    found = members([view_of(warm), view_of(cold)], TEXTS["en"], {})
    assert obstacles(found, "en") == ["The duration in seconds: 2 (A); none (B)"]


def test_which_runs_may_be_compared_is_said_first() -> None:
    assert told(some(0, 1), TEXTS["en"]).endswith("their completion times may be compared.")
    assert "within these runs only: A, B." in told(some(0, 1, 2), TEXTS["en"])
    assert told(some(0, 2), TEXTS["en"]).startswith("No completion time of one run may be set against one of another")


def test_kernel_commit_and_builds_differ_without_forbidding_it() -> None:
    first, second = one_run(1, 4000, 2000), on_another_machine(one_run(2, 4000, 2000))
    facts = {**second.runtimes["3.14t"], "version": "3.14.9", "packages": {"service": {"tornado": "6.5"}}}
    second = replace(second, runtimes={**second.runtimes, "3.14t": facts})
    second.machine["commit"] = "b64bdb9aa110"
    found = members([view_of(first), view_of(second)], TEXTS["en"], {})
    assert remarks(found, "en") == [
        "The kernel: Linux 6.1 (A); Linux 7.0 (B)",
        "The commit of gilscope: - (A); b64bdb9aa110 (B)",
        "3.14t, version: 3.14.2 (A); 3.14.9 (B)",
    ]
    assert remarks(found, "zh")[2] == "3.14t, 版本: 3.14.2 (A); 3.14.9 (B)"


def test_runs_that_agree_have_nothing_to_say() -> None:
    found = members([trio()[0], trio()[0]], TEXTS["en"], {})
    assert (obstacles(found, "en"), remarks(found, "en")) == ([], [])

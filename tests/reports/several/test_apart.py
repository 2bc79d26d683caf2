"""What a page of several runs says must not be compared, and what differs besides."""

from dataclasses import replace

from core.result import Run
from reports.several import side_by_side
from reports.view import View
from tests.reports.several.trio import on_another_machine, one_run, trio


def apart(*views: View) -> tuple[str, list[str], list[str]]:
    """What may be compared, what forbids it, what else differs."""
    (section,) = [section for section in side_by_side(views).sections if section.key == "apart"]
    may, *obstacles = map(str, section.sentences)
    return may, obstacles, list(map(str, section.parts[0].sentences))


def of_trio(*places: int) -> tuple[str, list[str], list[str]]:
    return apart(*(trio()[place] for place in places))


def of_runs(*runs: Run) -> tuple[str, list[str], list[str]]:
    return apart(*map(View, runs))


def test_which_runs_may_be_compared_is_said_first() -> None:
    assert of_trio(0, 1)[0].endswith("their completion times may be compared.")
    assert "only within these groups of runs: A, B." in of_trio(0, 1, 2)[0]
    assert of_trio(0, 2)[0].startswith("Completion times of different runs must not be compared")


def test_kernel_commit_and_builds_differ_without_forbidding_it() -> None:
    first, second = one_run(1, 4000, 2000), on_another_machine(one_run(2, 4000, 2000))
    facts = {**second.runtimes["3.14t"], "version": "3.14.9", "packages": {"service": {"tornado": "6.5"}}}
    second = replace(second, runtimes={**second.runtimes, "3.14t": facts})
    second.machine["commit"] = "b64bdb9aa110"
    assert of_runs(first, second)[2] == [
        "3.14t, version: 3.14.7 (A); 3.14.9 (B)",
        "the commit of gilscope: - (A); b64bdb9aa110 (B)",
        "the kernel: Linux 6.1 (A); Linux 7.0 (B)",
    ]


def test_runs_that_agree_have_nothing_to_say() -> None:
    assert of_trio(0, 0)[1:] == ([], [])

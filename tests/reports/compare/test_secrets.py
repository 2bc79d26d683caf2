"""Two runs whose secrets differ say so, by digests of one key."""

from core.result import Run
from core.secret import Secret
from reports.compare.comparable import remarks
from reports.compare.samples import of_run
from tests.reports.sample import MS, cell_of, measured, run_of


def run(value: str, key: str = "") -> Run:
    made = run_of([measured(cell_of("1", "3.14"), 1, [MS])])
    stored = Secret("...", name="--header A", value=value).to_json()
    made.plan["own"] = {"name": "own", "headers": {"A": {**stored, "digest": key + stored["digest"]}}}
    return made


def test_another_value_is_named_and_the_same_is_not() -> None:
    a, same, other, foreign = (of_run(made) for made in (run("x"), run("x"), run("y"), run("y", "other ")))
    said = "Also, the value of --header A is not the same in A and B."
    assert [said in map(str, remarks(a, b)) for b in (same, other, foreign)] == [False, True, False]

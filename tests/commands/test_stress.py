"""`runner.py stress` as it is called, against services with a planted fault and one without."""

import json
from pathlib import Path
from shlex import split

import pytest

from commands.stress import arms, main
from core.messages import BadInput
from tests.conftest import runtime_or_skip
from tests.lab.run.test_stress import SERVICE, on_linux

pytestmark = on_linux


ARMS = """\
3.14,3.14t -> 3.14t 3.14t+gil
3.13,3.14t,3.15t,3.15 -> 3.15t 3.15t+gil"""


def test_both_states_of_one_binary_take_part_and_without_a_runtime_that_has_no_gil_there_is_nothing_to_compare() -> (
    None
):
    for line in ARMS.splitlines():
        names, _, chosen = line.partition(" -> ")
        assert arms(names.split(",")) == tuple(chosen.split())
    for names in ("3.14", "3.11,3.14t+gil", "native"):
        with pytest.raises(BadInput, match="needs a runtime without a GIL"):
            arms(names.split(","))


REFUSED = f"""\
--target http://127.0.0.1:1/ -> stress must start the service itself
--service-command '{SERVICE}' --seconds 0 -> --seconds is 0; it must be a time above 0
--service-command '{SERVICE}' --out . -> already contains a stress report. Name another folder"""


@pytest.mark.parametrize("line", REFUSED.splitlines())
def test_what_cannot_be_stressed_is_refused(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime_or_skip("3.14t")
    monkeypatch.chdir(tmp_path)
    Path("stress.json").touch()
    arguments, _, why = line.partition(" -> ")
    with pytest.raises(BadInput, match=why):
        main(split(arguments))


ALONE = pytest.mark.alone  # two threads that never run at the same time have no race


@pytest.mark.parametrize(
    ("request_line", "seconds", "status", "wrong_under", "found"),
    [
        pytest.param("GET /race", "2", 1, {"3.14t"}, "Found only without the GIL: wrong answers.", marks=ALONE),
        ("GET /sound", "1", 0, set(), "Nothing was found: no wrong answer (checked: "),
    ],
)
def test_a_race_is_found_only_without_the_gil_and_a_sound_service_is_clean(
    request_line: str, seconds: str, status: int, wrong_under: set[str], found: str, tmp_path: Path
) -> None:
    runtime_or_skip("3.14t")
    folder = tmp_path / "out"
    given = ["--service-command", SERVICE, "--request", request_line, "--seconds", seconds, "--out", str(folder)]
    assert main([*given, "--quiet"]) == status
    rounds = json.loads((folder / "stress.json").read_text())["rounds"]
    wrong = [(one["runtime"], one["first_wrong"]) for one in rounds if one["wrong"]]
    assert {runtime for runtime, _ in wrong} == wrong_under
    assert {(first["request"], first["expected"]) for _, first in wrong} <= {("GET /race", "0")}
    assert found in (folder / "stress.md").read_text()

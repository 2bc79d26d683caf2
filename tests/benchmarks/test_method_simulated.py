"""The simulation uses the report's methods, and a small one agrees with docs/measurements/statistics.md."""

import pytest

from benchmarks import method_simulated
from benchmarks.method_simulated import CASES, case_row, main


@pytest.mark.parametrize("name", [name for name in CASES if "AR(1)" not in name][1::2])
def test_intervals_cover_and_alike_arms_are_not_told_apart(name: str) -> None:
    """Of 60 runs, 95 % less, and the level of 4 % plus, four standard errors."""
    covered, told_apart = (float(text.removesuffix(" %")) for text in case_row(name, 20, 60, 1)[2:4])
    assert covered >= 83
    assert told_apart <= 14


def test_the_same_seed_prints_the_same_tables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BLOCKS", "FAMILIES"):
        monkeypatch.setattr(method_simulated, name, getattr(method_simulated, name)[:1])
    main(["--runs", "1", "--seed", "3"])
    first = capsys.readouterr().out
    main(["--runs", "1", "--seed", "3"])
    assert capsys.readouterr().out == first
    assert first.count("| normal, sd 3 % |") == 1

"""At most one report in 20 has a false verdict, with all families of comparisons, and at every look.

`python -m tests.analysis.test_report_level 1000` prints the table of docs/measurements/statistics.md.
"""

import sys
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from analysis.judging import judge_family
from analysis.significance import ONCE, SHARES, Looks
from analysis.stats import Floats

COUNTS = {"throughput": 4, "tails": 8, "best": 3, "league": 5}  # comparisons of each family; tails: with routes
LOOKS: Mapping[str, tuple[Sequence[int], Looks]] = {  # after which blocks a report is made, and its tests
    "once, 10 blocks": ((10,), ONCE),
    "once, 20 blocks": ((20,), ONCE),
    "after 10 blocks, then after every 10 to 60": (range(10, 61, 10), Looks(is_anytime=True, first=10)),
    "after every block from 6 to 40": (range(6, 41), Looks(is_anytime=True)),
}
DIFFERENT = {"faster", "slower"}


def has_false_verdict(noise: Mapping[str, Floats], blocks: int, looks: Looks, faster: float) -> bool:
    """Whether a report on the first *blocks* blocks tells arms apart that are alike.

    faster: true log-ratio of the throughputs; all others are 0
    """
    told: dict[str, list[bool]] = {}
    for family, rows in noise.items():
        effect = faster if family == "throughput" else 0.0
        logs = {place: dict(enumerate((row[:blocks] + effect).tolist(), 1)) for place, row in enumerate(rows)}
        passed_on = SHARES["throughput"] if family == "tails" and all(told["throughput"]) else 0.0
        judged = judge_family(
            logs, looks=ONCE if blocks == looks.first else looks, share=SHARES[family] + passed_on
        ).values()
        told[family] = [one.verdict in DIFFERENT for one in judged]
    return any(any(claims) for family, claims in told.items() if not (faster and family == "throughput"))


def share_of_false_reports(name: str, faster: float, runs: int, counts: Mapping[str, int] = COUNTS) -> float:
    """The share of runs with a false verdict in any report; all noise is independent, which is the worst case."""
    (ends, looks), rng, false = LOOKS[name], np.random.default_rng([7, runs]), 0
    for _ in range(runs):
        noise = {family: 0.03 * rng.standard_t(3, (count, ends[-1])) for family, count in counts.items()}
        false += any(has_false_verdict(noise, end, looks, faster) for end in ends)
    return false / runs


@pytest.mark.parametrize("faster", [0.0, 0.1])
def test_a_report_with_all_families_of_alike_arms_rarely_has_a_false_verdict(faster: float) -> None:
    """5 %, and three standard errors. If all throughputs differ, their share of the level passes on to the tails."""
    assert share_of_false_reports("once, 20 blocks", faster, 60) <= 0.05 + 3 * (0.05 * 0.95 / 60) ** 0.5


def test_the_families_have_the_level_of_one_report_together() -> None:
    """With the whole level for each of five families, 14 % of reports had a false verdict, not 4 %."""
    assert sum(SHARES.values()) == pytest.approx(1)
    found = share_of_false_reports("once, 20 blocks", 0.0, 400, dict.fromkeys(SHARES, 1))
    assert found <= 0.04 + 3 * (0.04 * 0.96 / 400) ** 0.5


def main(runs: int) -> None:
    for name, (ends, _) in LOOKS.items():
        fewer = runs if len(ends) == 1 else runs // 4
        shares = (share_of_false_reports(name, faster, fewer) for faster in (0.0, 0.1))
        print(f"| {name} | {fewer} |", *(f"{100 * share:.1f} % |" for share in shares), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))

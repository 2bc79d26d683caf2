"""How cells are measured: what its texts mean."""

import os
from collections.abc import Callable

import pytest

from core.messages import BadInput
from core.method import Method, Warmup, parse_cpus, parse_duration, placement
from tests.tables import each_row

needs_affinity = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no CPU affinity")


@each_row
def test_a_warmup_is_a_share_or_seconds_or_none(line: str) -> None:
    text, _, meant = line.partition(" -> ")
    share, seconds = map(float, meant.split())
    assert Warmup.parse(text) == Warmup(share=share, seconds=seconds)
    assert bool(Warmup.parse(text)) is bool(share or seconds)


@each_row
def test_a_duration_is_in_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("parse", "texts", "said"),
    [
        (Warmup.parse, "|10|0.1|101%|-1%|86401s|1m|ten|10 %%|1e3s|nans|٣%", "warmup is {}. It must be a share"),
        (parse_duration, "|-1|86401|1min|5%|inf|nan|1e3|.5|٣", "duration is {}. It must be a number of seconds"),
    ],
)
def test_another_warmup_or_duration_is_refused_with_what_is_accepted(
    parse: Callable[[str], object], texts: str, said: str
) -> None:
    for text in texts.split("|"):
        with pytest.raises(BadInput, match=f"^{said.format(text)}"):
            parse(text)


@each_row
def test_cpus_are_numbers_ranges_and_sums_of_these_or_none(line: str) -> None:
    text, _, cpus = line.partition(" ->")
    assert parse_cpus(text) == tuple(map(int, cpus.split()))


@needs_affinity
def test_cpus_that_are_not_there_are_refused_with_those_that_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 0, 1, 2})
    Method(pin_services=(0, 3)).expect_cpus()
    with pytest.raises(BadInput, match=r"pin services is 3, 4\. Use CPU numbers out of 0, 1, 2, 3"):
        Method(pin_services=(3, 4)).expect_cpus()


@each_row
def test_a_service_is_left_several_cores_to_itself_where_there_are_enough(cores: int, advice: str) -> None:
    assert advice in str(placement(cores))

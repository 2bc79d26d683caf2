"""Prices, worked out by hand."""

import pytest

from core.errors import BadInput
from core.objective import Price


def test_a_price_of_cores_and_memory_gives_the_cost_of_as_many_instances_as_a_load_takes() -> None:
    price = Price.parse("core=25/month, gb=3/month")
    assert price.period == "month"
    assert price.cost(rate=10_000, capacity=4_000, cores=2, size_bytes=500_000_000) == pytest.approx(3 * (50 + 1.5))
    assert price.cost(rate=8_000, capacity=4_000, cores=0.5, size_bytes=0) == 2 * 12.5
    assert Price.parse("core=0.04/hour,GiB=0.5/hour").cost(1, 1, 1, 2**30) == pytest.approx(0.54)


@pytest.mark.parametrize("text", ["", "core=25", "core=25/month", "core=25/month, gb=3/hour", "core=-1/h, gb=1/h", "1"])
def test_another_price_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput, match=r"^price is '.*'; it must be .* such as 'core=25/month, gb=3/month'"):
        Price.parse(text)

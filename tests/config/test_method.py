"""What a plan and the flags say about how to measure, and until when."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.load import plan_with
from config.options import Given, parsed
from config.plan import Plan
from config.plan_options import PLAN_OPTIONS, parse_until
from core.errors import BadInput
from core.method import Method, Warmup
from core.saved import Until


def until_of(text: str) -> Until:
    return parse_until(Given(value=text, name="until"))


def method_of(given: dict[str, Any], base: Method = Method()) -> Method:  # noqa: B008 - frozen
    plan = Plan(name="p", rows=(), runtimes=(), method=base)
    return plan_with(plan, parsed(PLAN_OPTIONS, given, Path())).method


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("3%", Until(width=0.03)),
        ("0.5 %", Until(width=0.005)),
        ("600s", Until(seconds=600.0)),
        ("10min", Until(seconds=600.0)),
        ("1.5h", Until(seconds=5400.0)),
        ("3%,10min", Until(width=0.03, seconds=600.0)),
        ("1h, 5%", Until(width=0.05, seconds=3600.0)),
        ("verdict,15min", Until(verdict=True, seconds=900.0)),
    ],
)
def test_until_is_a_width_a_time_or_both(text: str, until: Until) -> None:
    assert until_of(text) == until


@pytest.mark.parametrize(
    "text", ["", "3", "0%", "0s", "3%,5%", "1min,1h", "3%,", "-3%", "3%10min", "nan%", "1d", "verdict,verdict"]
)
def test_another_until_is_refused_with_what_is_accepted(text: str) -> None:
    with pytest.raises(BadInput, match=f"^until is {text}; it must be verdict, "):
        until_of(text)


def test_a_method_keeps_what_is_not_said_anew() -> None:
    base = Method(warmup=Warmup(share=0.1), duration_s=3.0, client_runtime="3.14t+gil")
    assert method_of({}, base) == base
    assert method_of({"duration": "1"}, base) == replace(base, duration_s=1.0)
    assert method_of({"client_runtime": "same"}, base) == replace(base, client_runtime="same")


@pytest.mark.parametrize("pin", ["0", {}, {"servers": "0"}, None])
def test_a_pin_names_a_side(pin: Any) -> None:
    assert method_of({"pin": {"clients": "0"}}) == Method(pin_clients=(0,))
    with pytest.raises(BadInput, match="services=0 clients=1"):
        method_of({"pin": pin})

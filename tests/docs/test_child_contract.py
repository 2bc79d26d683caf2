"""The tables and lines of child-contract.md are what the code says."""

from typing import Any

import pytest

from core.histogram import bounds_ns, bucket_of
from core.record import ClientLine, ServiceLine
from lab.run.contract import CLIENT_MUST, SERVICE_MUST
from tests.docs.pages import DOCS, lines_of, named, needed, rows


@pytest.mark.parametrize("row", rows(DOCS / "child-contract.md", "A histogram"), ids=lambda row: row[0])
def test_buckets_are_those_of_the_histogram(row: list[str]) -> None:
    value, bucket = int(row[0]), int(row[1])
    low, high = bounds_ns(bucket)
    assert bucket_of(value) == bucket
    assert row[2] == (str(low) if high == low + 1 else f"{low} to {high - 1}")


@pytest.mark.parametrize(("who", "must"), [("service", SERVICE_MUST), ("client", CLIENT_MUST)])
def test_what_children_must_say_is_what_is_checked(who: str, must: tuple[str, ...]) -> None:
    assert sorted(needed(DOCS / "child-contract.md", f"The result of a {who}")) == sorted(must)


@pytest.mark.parametrize(("who", "kind"), [("service", ServiceLine), ("client", ClientLine)])
def test_every_key_that_a_child_may_say_is_on_the_page_or_in_result_md(who: str, kind: type[Any]) -> None:
    ours = {"client_id", "host", "program", "processes"}
    documented = {*named(DOCS / "child-contract.md", f"The result of a {who}"), *named(DOCS / "result.md", f"A {who}")}
    assert {*kind.__annotations__} - ours <= documented


@pytest.mark.parametrize("who", ["service", "client"])
def test_keys_of_the_contract_are_those_in_its_lines(who: str) -> None:
    page = DOCS / "child-contract.md"
    ((_, told), (_, ready), *_, (_, said)) = lines_of(who)
    of_the_cell = {"cell_id", "system", "runtime", "params"} if who == "client" else set()
    assert {*named(page, f"What a {who} is told"), *of_the_cell} == set(told)
    assert set(named(page, "A service is ready")) == set(ready)
    documented = {*named(page, f"The result of a {who}"), *named(DOCS / "result.md", f"A {who}")}
    assert set(said["result"]) <= documented

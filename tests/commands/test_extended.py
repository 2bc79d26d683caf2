"""A saved run that goes on with more blocks than it was planned with."""

from dataclasses import replace

import pytest

from commands.running import extended
from config.load import load_experiment
from core.messages import BadInput
from record.saved_plan import Until
from tests.analysis.timed_cells import steady
from tests.reports.sample import run_of
from tests.tables import each_row

RUN = run_of(steady("3.11", 2000) + steady("3.14", 1000), blocks=8)
PLAN = replace(load_experiment("quick"), blocks=8)


def test_blocks_are_added_to_those_of_the_plan_or_of_a_run_that_ended_by_itself_and_the_first_report_is_known() -> None:
    plan = extended(PLAN, RUN, "+20")
    assert (plan.blocks, plan.extended, plan.first_look) == (28, True, 8)
    assert extended(PLAN, RUN, None) == PLAN
    assert extended(replace(PLAN, extended=True, first_look=3), RUN, "+20").first_look == 3
    for until, first_look in ((Until(verdict=True), 0), (Until(seconds=60), 8)):
        plan = extended(replace(PLAN, blocks=10_000, until=until), RUN, "+2")
        assert (plan.blocks, plan.until, plan.first_look) == (10, Until(), first_look)


@each_row
def test_what_is_no_number_of_blocks_is_refused(added: str) -> None:
    with pytest.raises(BadInput, match="from 1 to 10000"):
        extended(PLAN, RUN, added)

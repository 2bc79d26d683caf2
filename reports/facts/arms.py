"""Services that already run as arms: which of them are compared, and the cells of each. Pure."""

from collections.abc import Mapping
from typing import Any

from core.result import CellResult, Run
from core.runtime import NATIVE
from reports.facts.cells import setting_key
from reports.facts.steps import Step


def addresses(run: Run) -> dict[str, str]:
    """{arm: where it was}, in the plan's order; empty where no service of the run already ran."""
    own = run.plan.get("own") or {}
    return {one["name"]: one["url"] for one in own.get("targets", ())}


def group_name(run: Run) -> str:
    """What comparisons between arms have in place of a system."""
    return str(run.plan["own"]["name"])


def arm_of(cell: CellResult) -> str:
    """The arm that *cell* belongs to: its service, or the name under which that took part again."""
    return cell.system if cell.arm == NATIVE else cell.arm


def arm_steps(run: Run) -> list[Step]:
    """Each arm against the first, and the first against itself where it took part twice. No cause is known of any."""
    names = list(addresses(run))
    again = dict.fromkeys(arm_of(cell) for cell in run.cells if cell.arm != NATIVE)
    others = [Step(name="other", denominator=names[0], numerator=name, causes=()) for name in names[1:]]
    return others + [Step(name="aa", denominator=names[0], numerator=name, causes=()) for name in again]


def arm_settings(run: Run) -> dict[tuple[str, str], Mapping[str, Any]]:
    """What was asked of all arms alike: {key of a comparison: parameters}, in the plan's order."""
    rows = [row["params"] for row in run.plan["rows"] if row["params"].get("NUM_CLIENTS") != 0]
    return {setting_key(group_name(run), params): params for params in rows}


def arm_cells(run: Run, params: Mapping[str, Any], arm: str) -> dict[int, CellResult]:
    """The cells of *arm* at one setting, by block."""
    return {cell.block: cell for cell in run.cells if arm_of(cell) == arm and cell.params == params}

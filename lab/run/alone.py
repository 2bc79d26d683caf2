"""The floor of services: answer() alone in a loop, under each runtime and for each work, in a child of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from config.plan import Plan
from core.cell import Cell
from core.errors import GilscopeError
from core.messages import SEMICOLON, listed, message
from core.runtime import NATIVE
from core.system import ALONE, SERVICE, System
from lab.places import REPOSITORY
from lab.run.children import READY, RESULT, Children
from lab.run.contract import alone_result, check_runtime
from lab.run.deadlines import calling_s, starting_s
from lab.run.faults import state_faults
from lab.run.measure import BEFORE_READY, Bench
from lab.run.places import AllHere
from systems import find

Key = tuple[str, Any, Any]


def floors(plan: Plan, bench: Bench, known: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each runtime and work of *plan* that is not *known* yet: `floors` of result.json.

    Of systems that answer as answer() does: those that speak our frames.
    """
    there = {(floor["runtime"], floor["calc_target"], floor["payload_bytes"]) for floor in known}
    cells: dict[Key, Cell] = {}
    for cell in plan.cells():
        if plan.systems[cell.system].framed and cell.runtime != NATIVE:
            cells.setdefault((cell.runtime, cell.calc_target, cell.payload_bytes), cell)
    return [_floor(cell, bench) for key, cell in cells.items() if key not in there]


def _floor(cell: Cell, bench: Bench) -> dict[str, Any]:
    about = {"runtime": cell.runtime, "calc_target": cell.calc_target, "payload_bytes": cell.payload_bytes}
    try:
        return {**about, **_measured(cell, find("1"), bench)}  # any that needs no packages
    except GilscopeError as error:
        return {**about, "reason": error.message.to_json()}


def _measured(cell: Cell, system: System, bench: Bench) -> dict[str, Any]:
    runtime, method = bench.runtime(cell, system, SERVICE), bench.method
    with Children(bench.sandbox, str(REPOSITORY)) as children:
        places = bench.places or AllHere(children.here, method)
        places.begin()
        place = places.of(SERVICE, 0)
        command = place.command(runtime, system, ALONE)
        child = children.start(message("answer() alone"), cell.runtime, command, runtime.variables, place)
        child.tell({**cell.to_json(), "cpus": places.service_line()["cpus"]})
        check_runtime(runtime, [child], children.hear_all([child], READY, BEFORE_READY, starting_s({})))
        child.tell("go")
        answering = message("while it was answering")
        (line,) = children.hear_all([child], RESULT, answering, calling_s(cell, system, method))
        result = alone_result(line, child)
        faults = state_faults(runtime.name.promises, [child], [result])
    if faults:
        return {"reason": listed(faults, SEMICOLON).to_json()}
    return {name: result[name] for name in ("answers", "rounds_ns")}

"""Plans of flags, as a command line makes them, and files that declare a system."""

import json
from shlex import split
from typing import Any

from config.flags import Parser, add_run_flags, plan_from
from config.run_plan import Plan
from core.cell import Cell
from core.messages import NOTHING
from core.user_service import Command, UserService
from record.decode import decoded
from record.run_file import plain
from record.saved_plan import SavedPlan

COMMAND_LINE = "--service-command '{python} -m myapp --port {port}'"
SHAPED_LINE = "--service-command '{python} -m myapp {port} {workers} {threads}'"
NAMED = "from core.system import System\nSYSTEM = System"
BARE = f'{NAMED}(name="small", title="A small one"'
SMALL = f'{BARE}, service="a:b", caller="a:c", message="a:d"'
OWN = "encode=print, decode=print, check=print"


def stored(plan: Plan) -> Plan:
    """The plan as it is read from result.json."""
    return Plan.from_saved(decoded(json.loads(json.dumps(plain(plan.saved()))), SavedPlan))


def service_of(plan: Plan) -> UserService:
    """The service of a user's own that the plan measures."""
    assert plan.user_service
    return plan.user_service


def command_of(plan: Plan) -> Command:
    """How the plan's service is started."""
    command = service_of(plan).command
    assert command
    return command


def cells_of_one(plan: Plan) -> list[Cell]:
    """The cells of the plan under its first runtime."""
    return [cell for cell in plan.cells() if cell.runtime == plan.runtimes[0]]


def parsed(line: str = "") -> dict[str, Any]:
    """The flags of a run that this line gives, as a shell splits it."""
    parser = Parser("test", NOTHING)
    add_run_flags(parser)
    return parser.parse(split(line))


def planned(line: str = "") -> Plan:
    """The plan of the flags of a run that this line gives."""
    return plan_from(parsed(line))

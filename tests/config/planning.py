"""Plans of flags, as a command line makes them."""

from config.flags import Parser, add_host_flags, add_run_flags, plan_from
from config.plan import Plan
from core.messages import NOTHING


def planned(*flags: str) -> Plan:
    """The plan of these flags of a run."""
    parser = Parser("", NOTHING)
    add_run_flags(parser)
    add_host_flags(parser)
    return plan_from(parser.parse(flags))

"""The texts of a user's service's options, from its flags."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from config.options import Given, Option, Subject, given_flags, refuse
from config.plan import Plan
from config.plan_options import CHOICE, RUNTIMES
from config.user_service.options import ARM, ENVIRONMENT, OPTIONS, SERVICE, TARGET
from config.user_service.plan import STARTS, user_service_plan
from config.user_service.requests import REQUEST
from core.errors import BadInput
from core.messages import verbatim

PAIRS = (ARM, ENVIRONMENT)
TARGET_NAME = "target"
_OF_REQUEST = tuple(option for option in REQUEST if option.flag)


def plan_from_service_flags(flags: Mapping[str, Any]) -> Plan | None:
    """The plan for the service that *flags* name; None where they name none. Raises BadInput."""
    given = service_from(flags)
    subject = next((subject for key, subject in STARTS.items() if key in given), Subject.SYSTEMS)
    refuse(subject, [(option.flag, option) for option in given_flags((*CHOICE, RUNTIMES, *OPTIONS), flags)])
    return None if subject is Subject.SYSTEMS else user_service_plan(given, Path.cwd())


def service_from(flags: Mapping[str, Any]) -> dict[str, Any]:
    """What *flags* say about the service, by config.user_service.options.KEYS. Raises BadInput."""
    options = given_flags(SERVICE, flags)
    given = {option.key: flags[option.name] for option in options if option not in (TARGET, ARM)}
    if ENVIRONMENT in options:
        given[ENVIRONMENT.key] = _pairs(ENVIRONMENT, flags)
    if TARGET in options or ARM in options:
        given[TARGET.key] = _targets(flags)
    return {**given, **_requests(flags)}


def _targets(flags: Mapping[str, Any]) -> dict[str, str]:
    arms = _pairs(ARM, flags)
    if flags.get("target") is None:
        return arms
    name = str(flags.get("name") or TARGET_NAME)
    if name in arms:
        raise BadInput("--target and --arm are both called {name}; each arm needs a name of its own.", name=name)
    return {name: flags["target"], **arms}


def _requests(flags: Mapping[str, Any]) -> dict[str, Any]:
    fields = {option.key: flags[option.name] for option in given_flags(_OF_REQUEST, flags)}
    if flags.get("requests") is not None:
        if fields:
            raise BadInput("--requests names a file with whole requests; leave out --request and the flags for it.")
        return {}
    texts = fields.pop("request", ["GET"] if fields else [])
    return {"requests": [{"request": text, **fields} for text in texts]} if texts else {}


def _pairs(option: Option, flags: Mapping[str, Any]) -> dict[str, str]:
    """{name: value} from every NAME=VALUE. Raises BadInput."""
    texts = flags.get(option.name) or []
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name or (option is ARM and not value):
            raise Given(value=text, name=option.flag).wrong(verbatim(option.metavar))
    pairs = dict(text.split("=", 1) for text in texts)
    if option is ARM and len(pairs) != len(texts):
        raise BadInput("--arm gives a name more than once; each arm needs a name of its own.")
    return pairs

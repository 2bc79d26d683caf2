"""Flags for a user's own service, and the plan that they ask for."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from config import servers
from config.own_plan import PROTOCOLS, own_plan
from config.plan import Plan
from config.requests import parse_headers
from core.errors import BadInput

OTHER_PLANS = ("experiment", "plan", "system")
ONE_ARM = "target"
_PLAIN = (
    "name",
    "app",
    "server",
    "interface",
    "protocol",
    "requirements",
    "directory",
    "topology",
    "think_time",
    "start_deadline",
)
_OF_REQUEST = ("expect_status", "expect_json", "body", "header")


def add_own_flags(parser: argparse.ArgumentParser) -> None:
    """Flags that say what the service is, and what is asked of it."""
    own = parser.add_argument_group("your own service", "docs/own-service.md")
    own.add_argument("--service-command", metavar="C", help="starts it: '{python} -m myapp --port {port}'")
    own.add_argument("--app", metavar="MODULE:NAME", help="a WSGI or ASGI application, run by --server")
    own.add_argument("--server", metavar="NAME", help=", ".join(servers.SERVERS))
    own.add_argument("--interface", metavar="KIND", choices=[servers.WSGI, servers.ASGI], help="wsgi or asgi")
    own.add_argument("--target", metavar="URL", help="it already runs: http://HOST:PORT/, unix:/PATH, tcp:HOST:PORT")
    _repeated(own, "--arm", "NAME=URL", "one of several that already run and are compared")
    own.add_argument("--protocol", metavar="P", choices=PROTOCOLS, help="http (default) or framed")
    own.add_argument("--name", metavar="NAME", help="what reports call it (default: own)")
    own.add_argument("--requirements", metavar="FILE", help="packages that it needs, installed for each runtime")
    own.add_argument("--directory", metavar="DIR", help="where it is started (default: here)")
    _repeated(own, "--env", "NAME=VALUE", "a variable of its environment")
    own.add_argument("--service-port", metavar="N", help="port of the first service (default: a free one)")
    own.add_argument("--start-deadline", metavar="T", help="how long it may take until it answers: 2min (default: 30s)")
    own.add_argument("--topology", metavar="T", help="processes x threads, such as 8x1,4x2,1x8")
    _repeated(own, "--request", "R", "what is asked: 'GET /items/3'")
    own.add_argument("--requests", metavar="FILE", help="requests with weights, in YAML")
    own.add_argument("--expect-status", metavar="N", help="status of a right answer (default 200)")
    own.add_argument("--expect-json", metavar="JSON", help="what the body of a right answer holds, at least")
    own.add_argument("--body", metavar="TEXT", help="body of every --request")
    _repeated(own, "--header", "NAME: VALUE", "a header of every --request")
    own.add_argument("--think-time", metavar="T", help="wait of each connection before its next request: 10ms")


def plan_from_own_flags(flags: Mapping[str, Any]) -> Plan | None:
    """The plan for the service that *flags* name; None where they name none. Raises BadInput."""
    given = service_from(flags)
    if not given.keys() & {"command", "app", "targets"}:
        _expect_none(flags)
        return None
    for name in OTHER_PLANS:
        if flags.get(name):
            raise BadInput(
                f"--{name} is {flags[name]}, which has no meaning beside a service of your own; leave it out."
            )
    if "targets" in given and flags.get("runtime"):
        raise BadInput(f"--runtime is {flags['runtime']}, and a service that already runs has its own; leave it out.")
    return own_plan(given, Path.cwd())


def service_from(flags: Mapping[str, Any]) -> dict[str, Any]:
    """What *flags* say about the service, by config.own_plan.KEYS; it may be nothing. Raises BadInput."""
    given = {key: flags[key] for key in _PLAIN if flags.get(key) is not None}
    if flags.get("service_command") is not None:
        given["command"] = flags["service_command"]
    targets = _targets(flags)
    if targets:
        given["targets"] = targets
    if flags.get("env"):
        given["environment"] = dict(_pair("--env", text) for text in flags["env"])
    if flags.get("service_port") is not None:
        given["port"] = flags["service_port"]
    return {**given, **_requests(flags)}


def _repeated(group: Any, flag: str, metavar: str, text: str) -> None:
    group.add_argument(flag, metavar=metavar, action="append", default=[], help=f"{text} (may be repeated)")


def _expect_none(flags: Mapping[str, Any]) -> None:
    """Raises BadInput for a flag that says something about a service which is not named."""
    for name in (*_PLAIN, *_OF_REQUEST, "env", "service_port", "request", "requests"):
        if flags.get(name) not in (None, []):
            flag = "--" + name.replace("_", "-")
            raise BadInput(
                f"{flag} is about a service of your own, and none is named; "
                "give --service-command, --app, --target or --arm."
            )


def _targets(flags: Mapping[str, Any]) -> dict[str, str]:
    arms = dict(_pair("--arm", text) for text in flags.get("arm") or [])
    if len(arms) != len(flags.get("arm") or []):
        raise BadInput(f"--arm names {', '.join(arms)} more than once; each arm has a name of its own.")
    if flags.get("target") is None:
        return arms
    name = str(flags.get("name") or ONE_ARM)
    if name in arms:
        raise BadInput(f"--target and --arm are both called {name}; each arm has a name of its own.")
    return {name: flags["target"], **arms}


def _requests(flags: Mapping[str, Any]) -> dict[str, Any]:
    said = {key: flags[key] for key in _OF_REQUEST if flags.get(key) not in (None, [])}
    if flags.get("requests") is not None:
        if flags.get("request") or said:
            raise BadInput("--requests names a file that says everything; leave out --request and what goes with it.")
        return {"requests": flags["requests"]}
    if "header" in said:
        said["headers"] = parse_headers(said.pop("header"))
    asked = flags.get("request") or (["GET"] if said else [])
    return {"requests": [{"request": text, **said} for text in asked]} if asked else {}


def _pair(flag: str, text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name or (flag == "--arm" and not value):
        raise BadInput(f"{flag} is {text}; it must be NAME={'URL' if flag == '--arm' else 'VALUE'}.")
    return name, value

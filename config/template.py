"""The commented plan that `runner.py init` writes, and the answers that it is made from. Pure: no file is read here."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from config.own import THREADS as THREADS_OF_EACH
from config.own import Own
from config.own_plan import DEFAULTS, KEYS, THREADS

BLOCKS = 10
COMMENTS = {
    "name": "What reports call it.",
    "command": "How it is started: {python} is the runtime's interpreter, {port} a free port.",
    "app": "The application, as its server wants it: MODULE:NAME.",
    "server": "gunicorn, granian, uvicorn, waitress or hypercorn; it is installed beside the requirements.",
    "targets": "Services that run already, and are compared.",
    "requirements": "Installed for each runtime. A package without a wheel for it is built, or the reason is told.",
    "directory": "Where it is started, from this file's folder.",
    "topology": "Processes against threads: so many processes x so many threads of each.",
    "requests": "What is asked, and a right answer: status, keys of the JSON that must be there.",
    "think_time": "How long each connection waits before its next request.",
}
EXAMPLES = {
    "requirements": "requirements.txt",
    "environment": "{LOG_LEVEL: warning}",
    "topology": '"2x1,1x2"',
    "think_time": "10ms",
}
SECOND_REQUEST = """\
    # - request: POST /items          # one more; it is sent three times as often as one of weight 1
    #   weight: 3
    #   headers: {Content-Type: application/json}
    #   body: '{"name": "cup"}'
    #   expect_status: 201
"""
SIZES = {
    "NUM_API_SERVICES": "How many of it are started; where the command has {workers}, how many processes it has.",
    THREADS_OF_EACH: "Threads of each process.",
    "NUM_CLIENTS": "Client processes, and connections of each.",
    "NUM_CONNECTIONS_PER_CLIENT": "",
}


def start_from(answer: str) -> dict[str, str]:
    """How a service is started, from 'shop.web:app gunicorn' or a command with {port} or {socket}."""
    words = answer.split()
    if "{" in answer or len(words) > 2:
        return {"command": answer.strip()}
    return dict(zip(("app", "server"), words, strict=False))


def requests_from(answer: str) -> list[dict[str, str]]:
    """The request, from 'GET /items/3 -> 200 {"id": 3}'; status and JSON may be left out."""
    request, _, expected = (part.strip() for part in answer.partition("->"))
    status, body = re.fullmatch(r"([0-9]{3})?(.*)", expected, re.DOTALL).groups()  # type: ignore[union-attr]
    said = {"request": request, "expect_status": status, "expect_json": body.strip()}
    return [{key: value for key, value in said.items() if value}]


def plan_text(file: str, service: Mapping[str, Any], own: Own, runtimes: Sequence[str]) -> str:
    """A plan in YAML, with a comment on each key. file: its name. own: what *service* (texts, by KEYS) makes."""
    head = [
        f"# {file}",
        f"# Look at it:  python runner.py plan --plan {file}",
        f"# Measure it:  python runner.py --plan {file}",
    ]
    head += ["# Keys: docs/own-service.md for the service, docs/plans.md for the rest.", ""]
    return "\n".join([*head, *_method(own, runtimes), *_service(service, own), *_sizes(own)]) + "\n"


def _method(own: Own, runtimes: Sequence[str]) -> list[str]:
    """How it is measured; services that run already have no runtimes."""
    what = f"Which of {', '.join(one.name for one in own.targets)} is faster?" if own.targets else ""
    description = _yaml("description", what or f"What the free-threaded build does to {own.name}.")
    sides = [
        "# Ratios refer to the first that is here; 3.14t+gil is the free-threaded build with its GIL on.",
        f"runtimes: {json.dumps(list(runtimes))}",
        "# The last runtime takes part twice: the difference is noise.",
        "aa: true",
    ]
    return [
        *description,
        *([] if own.targets else sides),
        "# How often each is measured, in random order. Four runtimes need 8 blocks for a verdict; more make it surer.",
        f"blocks: {BLOCKS}",
        "# Each measurement: so many seconds that count, after a warm-up.",
        "duration: 2",
        "warmup: 0.5s",
        "",
    ]


def _service(service: Mapping[str, Any], own: Own) -> list[str]:
    lines = ["service:"]
    for key in KEYS:
        if key not in service and not (key in EXAMPLES and _has_meaning(key, own)):
            continue
        comment = [f"# {COMMENTS[key]}"] if key in COMMENTS else []
        said = _yaml(key, service[key]) if key in service else [f"# {key}: {EXAMPLES[key]}"]
        lines += [f"  {line}" for line in (*comment, *said)]
        if key == "requests" and isinstance(service.get(key), list):
            lines += SECOND_REQUEST.splitlines()
    return [*lines, ""]


def _has_meaning(key: str, own: Own) -> bool:
    if key == "topology":
        return "{threads}" in own.command and "{workers}" in own.command
    return not own.targets or key == "think_time"


def _sizes(own: Own) -> list[str]:
    lines = ["parameters:"]
    for name, comment in SIZES.items():
        meant = name not in ("NUM_API_SERVICES", THREADS_OF_EACH) or not own.targets
        if meant and (name != THREADS_OF_EACH or "{threads}" in own.command):
            lines += [f"  # {comment}"] if comment else []
            lines.append(f"  {name}: {DEFAULTS.get(name, THREADS)}")
    return lines


def _yaml(key: str, value: Any) -> list[str]:
    """The lines of one key, whatever its value."""
    text = yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=1000, indent=2)
    items = isinstance(value, list)
    return [f"  {line}" if items and number else line for number, line in enumerate(text.splitlines())]

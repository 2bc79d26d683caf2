"""The commented plan that `runner.py init` writes, and the answers that it is made from. Pure: no file is read here."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from config.options import Option, Subject, by_key
from config.plan_options import AA, BLOCKS, DURATION, RUNTIMES, WARMUP
from config.user_service.options import SERVICE
from config.user_service.plan import DEFAULT_THREADS, DEFAULTS
from config.user_service.service import CLIENTS, CONNECTIONS, THREADS, WORKERS
from core.cell import PARAMETERS
from core.languages import ENGLISH, Language
from core.messages import Message, listed, message
from core.program import PROGRAM
from core.user_service import App, UserService

HEAD = message(
    "Look at it:  {program} plan --plan {file}\nMeasure it:  {program} --plan {file}\n"
    "Keys: docs/own-service.md for the service, docs/plans.md for the rest."
)
EXAMPLES = {
    "requirements": "requirements.txt",
    "environment": "{LOG_LEVEL: warning}",
    "topology": '"2x1,1x2"',
    "think_time": "10ms",
}
SECOND_REQUEST = """\
    # - request: POST /items
    #   weight: 3
    #   headers: {Content-Type: application/json}
    #   body: '{"name": "cup"}'
    #   expect_status: 201
"""


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
    given = {"request": request, "expect_status": status, "expect_json": body.strip()}
    return [{key: value for key, value in given.items() if value}]


def plan_text(
    file: str,
    given: Mapping[str, Any],
    service: UserService,
    runtimes: Sequence[str],
    language: Language = ENGLISH,
) -> str:
    """A plan in YAML, with a comment on each key. file: its name. service: what *given* (texts, by KEYS) describes."""
    head = Message(msgid=HEAD.msgid, args={"file": file, "program": PROGRAM})
    lines = [
        f"# {file}",
        *_comment(head, language),
        "",
        *_method(service, runtimes, language),
        "",
        *_service(given, service, language),
        "",
        *_sizes(service, language),
    ]
    return "\n".join(lines) + "\n"


def _comment(text: Message, language: Language) -> list[str]:
    return [f"# {line}" for line in language.text(text).splitlines()]


def _method(service: UserService, runtimes: Sequence[str], language: Language) -> Iterator[str]:
    """How it is measured; services that already run have no runtimes."""
    question = message("What the free-threaded build does to {name}.", name=service.name)
    if service.targets:
        question = message("Which of {names} is faster?", names=listed(target.name for target in service.targets))
    yield from _yaml("description", language.text(question))
    values: list[tuple[Option, str]] = [(BLOCKS, "10"), (DURATION, "2"), (WARMUP, "0.5s")]
    if not service.targets:
        values = [(RUNTIMES, json.dumps([*runtimes])), (AA, "true"), *values]
    for option, value in values:
        yield from (*_comment(option.help, language), f"{option.key}: {value}")


def _service(given: Mapping[str, Any], service: UserService, language: Language) -> Iterator[str]:
    yield "service:"
    for key, option in by_key(SERVICE).items():
        if key not in given and not (key in EXAMPLES and _applies(option, service)):
            continue
        lines = _yaml(key, given[key]) if key in given else [f"# {key}: {EXAMPLES[key]}"]
        yield from (f"  {line}" for line in (*_comment(option.help, language), *lines))
        if key == "requests" and isinstance(given.get(key), list):
            yield from SECOND_REQUEST.splitlines()


def _applies(option: Option, service: UserService) -> bool:
    """Whether the plan may have *option*, so that an example of it is shown."""
    if option.key == "topology":
        return service.command is not None and service.command.threaded and service.command.forks
    subject = Subject.APP if isinstance(service.start, App) else Subject.COMMAND
    return (Subject.TARGETS if service.targets else subject) in option.applies_to


def _sizes(service: UserService, language: Language) -> Iterator[str]:
    yield "parameters:"
    names = [CLIENTS, CONNECTIONS]
    if service.command:
        names = [WORKERS, *([THREADS] if service.command.threaded else []), *names]
    for name in names:
        yield from (f"  {line}" for line in _comment(Message(msgid=str(PARAMETERS[name].help)), language))
        yield f"  {name}: {DEFAULTS.get(name, DEFAULT_THREADS)}"


def _yaml(key: str, value: Any) -> list[str]:
    """The lines of one key, whatever its value."""
    text = yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=1000, indent=2)
    return [
        f"  {line}" if isinstance(value, list) and number else line for number, line in enumerate(text.splitlines())
    ]

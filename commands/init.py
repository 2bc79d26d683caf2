"""The command init: write a commented plan for a user's own service."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from commands.output import output, short
from config.flags import add_service_flags, value_of
from config.options import Flags, Option, Subject, by_key
from config.plan_options import AA, BLOCKS, DEFAULT_RUNTIMES, DURATION, RUNTIMES, WARMUP
from config.text_yaml import yaml_lines
from config.user_service.flags import service_from
from config.user_service.options import SERVICE
from config.user_service.plan import DEFAULT_THREADS, DEFAULTS, STARTS, user_service_plan
from config.user_service.service import CLIENTS, CONNECTIONS, THREADS, WORKERS
from core.cell import PARAMETERS
from core.errors import BadInput
from core.languages import ENGLISH, Language
from core.messages import NOTHING, Arg, Message, message
from core.program import PROGRAM
from core.secret import secrets_in
from core.user_service import App, UserService
from reports.exports import written

DEFAULT_FILE = "my-service.yaml"
USUAL_REQUIREMENTS = "requirements.txt"
NONE = "none"
FORCE = Option("--force", "Overwrite the plan file if it exists.")
START = message(
    "How is the service started? Give an application and its server, such as  shop.web:app "
    "gunicorn\n  or a command, such as  {python} -m myapp --port {port}"
)
REQUEST = message('Which request is sent, and which answer is correct? For example  GET /items/3 -> 200 {"id": 3}')
SECOND_REQUEST = """\
    # - request: POST /items
    #   weight: 3
    #   headers: {Content-Type: application/json}
    #   body: '{"name": "cup"}'
    #   expect_status: 201
"""


def main(arguments: Sequence[str]) -> int:
    """Run the command init, which writes a plan file for the user's service. Return its exit status: 0."""
    parser = output.parser("init", arguments)
    parser.add_names("file", message("The plan file to write (default: {file}).", file=DEFAULT_FILE), "?", DEFAULT_FILE)
    parser.add_group("the plan", FORCE, RUNTIMES)
    add_service_flags(parser)
    flags = parser.parse(arguments)
    path = Path(flags["file"])
    _expect_writable(path, force=flags["force"])
    runtimes = value_of(RUNTIMES, flags, DEFAULT_RUNTIMES)
    given = {"name": path.stem, **service_from(flags)}
    _check_flags(given)
    given = _complete(given)
    plan = user_service_plan(given, Path.cwd())
    assert plan.user_service is not None
    if flags["runtime"] is not None and not replace(plan, runtimes=runtimes).cells():
        raise BadInput(
            "--runtime is {names}, but your own service needs a Python runtime. Name one, such as 3.14t.",
            names=flags["runtime"],
        )
    text = plan_text(path.name, _relative_to(path.parent, given), plan.user_service, runtimes, output.language)
    written({path: text})
    if path.is_file() and any(secrets_in(plan.user_service)):
        path.chmod(0o600)
    output.note(
        "Show the plan:  {program} plan --plan {file}\nMeasure it:     {program} --plan {file}",
        program=PROGRAM,
        file=short(path),
    )
    print(short(path))
    return 0


def _expect_writable(path: Path, *, force: bool) -> None:
    """Raise BadInput if the plan file cannot be written. The command checks this before it asks questions."""
    reason = message("this path is a folder") if os.path.isdir(path) else NOTHING
    if not os.path.isdir(path.parent):
        reason = message("the folder {folder} does not exist", folder=path.parent)
    if reason:
        raise BadInput("{path} cannot be written: {reason}. Name another file.", path=path, reason=reason)
    if os.path.exists(path) and not force:
        raise BadInput("{path} exists. Name another file, or overwrite it with --force.", path=path)


def _check_flags(given: Flags) -> None:
    """Raise BadInput for wrong flags before the user is asked for settings. Settings without a flag count as valid."""
    missing = {"command": "{python} {port} {workers} {threads}"}
    if given.keys() & {"server", "interface"}:
        missing = {"app": "app:app", "server": "granian"}
    user_service_plan({**({} if given.keys() & STARTS.keys() else missing), **given}, Path.cwd())


def _complete(given: dict[str, Any]) -> dict[str, Any]:
    """Ask for missing settings of a service, and return all settings. Raises BadInput if stdin is not a terminal."""
    started = bool(given.keys() & STARTS.keys())
    if not sys.stdin.isatty():
        if not started or "requests" not in given:
            raise BadInput(
                "init cannot ask questions, because its input is not a terminal. Give --app and --server, "
                "--service-command or --target, and --request with --expect-status or --expect-json."
            )
        return given
    if not started:
        given |= _ask(START, "", parse_start, given)
    if "requests" not in given:
        given |= _ask(REQUEST, "", lambda answer: {"requests": parse_requests(answer)}, given)
    if "requirements" not in given and "targets" not in given:
        usual = USUAL_REQUIREMENTS if Path(USUAL_REQUIREMENTS).is_file() else NONE
        question = message("Which requirements file lists the service's packages? [{usual}]", usual=usual)
        given |= _ask(question, usual, lambda name: {} if name == NONE else {"requirements": name}, given)
    return given


def _ask(question: Arg, usual: str, read: Callable[[str], Flags], known: Flags) -> Flags:
    """Ask a question until the answer is valid. Return the settings in the answer. Raises BadInput at end of input."""
    while True:
        print(output.text(question), "> ", sep="\n", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise BadInput(
                "The input ended before all questions were answered, so no plan was written. Answer all "
                "of them, or give flags."
            )
        try:
            answer = read(line.strip() or usual)
            user_service_plan({**known, **answer}, Path.cwd())
            return answer
        except BadInput as error:
            output.note(error.message)


def _relative_to(folder: Path, given: Flags) -> Flags:
    """Return the settings of a service with their file paths made relative to *folder*, the folder of the plan."""
    files = {key: given[key] for key in ("requirements", "requests") if isinstance(given.get(key), str)}
    if "targets" not in given:
        files["directory"] = given.get("directory", ".")
    return {**given, **{key: os.path.relpath(name, folder) for key, name in files.items()}}


# ---- the text of a plan, without file access -------------------------------------------------------------------------


def parse_start(answer: str) -> dict[str, str]:
    """Parse how a service is started: 'shop.web:app gunicorn', or a command with {port} or {socket}."""
    words = answer.split()
    if "{" in answer or len(words) > 2:
        return {"command": answer.strip()}
    return dict(zip(("app", "server"), words, strict=False))


def parse_requests(answer: str) -> list[dict[str, str]]:
    """Parse a request such as 'GET /items/3 -> 200 {"id": 3}'. The status and the JSON are optional."""
    request, _, expected = (part.strip() for part in answer.partition("->"))
    status, body = re.fullmatch(r"([0-9]{3})?(.*)", expected, re.DOTALL).groups()  # type: ignore[union-attr]
    given = {"request": request, "expect_status": status, "expect_json": body.strip()}
    return [{key: value for key, value in given.items() if value}]


def plan_text(
    file: str,
    given: Flags,
    service: UserService,
    runtimes: Sequence[str],
    language: Language = ENGLISH,
) -> str:
    """Return the text of a plan file in YAML, with a comment for each key.

    file: the name of the plan's file
    given: the texts of the service, by KEYS
    service: the service that *given* describes
    """
    head = message(
        "Show this plan:  {program} plan --plan {file}\nMeasure it:      {program} --plan "
        "{file}\ngilscope's docs/own-service.md explains the keys of `service`, and docs/plans.md all "
        "other keys.",
        file=file,
        program=PROGRAM,
    )
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
    """Yield the lines of a plan file that set description, blocks, duration, warm-up and, if needed, runtimes."""
    question = message("What does the free-threaded build do to {name}?", name=service.name)
    if service.targets:
        question = message("Which of {names} is faster?", names=(target.name for target in service.targets))
    yield from yaml_lines("description", language.text(question))
    values: list[tuple[Option, str]] = [(BLOCKS, "10"), (DURATION, "2"), (WARMUP, "0.5s")]
    if not service.targets:
        values = [(RUNTIMES, json.dumps([*runtimes])), (AA, "true"), *values]
    for option, value in values:
        yield from (*_comment(option.help, language), f"{option.key}: {value}")


def _service(given: Flags, service: UserService, language: Language) -> Iterator[str]:
    yield "service:"
    for key, option in by_key(SERVICE).items():
        if key not in given and not (option.example and _applies(option, service)):
            continue
        lines = yaml_lines(key, given[key]) if key in given else [f"# {key}: {option.example}"]
        yield from (f"  {line}" for line in (*_comment(option.help, language), *lines))
        if key == "requests" and isinstance(given.get(key), list):
            yield from SECOND_REQUEST.splitlines()


def _applies(option: Option, service: UserService) -> bool:
    """Return whether *option* applies to *service*. A new plan file shows examples only for such options."""
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
        yield from (f"  {line}" for line in _comment(PARAMETERS[name].help, language))
        yield f"  {name}: {DEFAULTS.get(name, DEFAULT_THREADS)}"

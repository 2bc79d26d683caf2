"""The command init: write a commented plan for a user's own service, filled in from its project.

commands/project.py finds what no flag gives. The second half of this module makes the text of the
plan. A later run reads it with config/load.py, so each key must be the one that an Option declares.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from commands.output import output, short
from commands.project import accepted, complete_from_project, expect_python
from config.flags import add_service_flags, value_of
from config.options import Flags, Option, given_flags, parsed_flags
from config.plan_options import AA, BLOCKS, DEFAULT_RUNTIMES, DURATION, RUNTIMES, WARMUP
from config.sidecar_options import PREPARE, WITH
from config.text_yaml import yaml_lines
from config.user_service.service import CLIENTS, CONNECTIONS, THREADS, WORKERS
from config.user_service.service_flags import service_from
from config.user_service.service_options import KEYS
from config.user_service.service_plan import DEFAULT_THREADS, DEFAULTS, STARTS, user_service_plan
from core.cell import PARAMETERS
from core.messages import BadInput, Message, message
from core.program import PROGRAM
from core.secret import secrets_in
from core.user_service import UserService
from lab.places import ENVIRONMENTS
from lab.project.application import FILES, find_application
from reports.exports import written

DEFAULT_FILE = "my-service.yaml"
# the options of programs and commands, which the plan file has before `service`
BEFORE_SERVICE = (WITH, PREPARE)
FORCE = Option("--force", "Overwrite the plan file if it exists.")
# an example in comments, with the indent of an item of `requests`
SECOND_REQUEST = (
    "  # - request: POST /items",
    "  #   weight: 3",
    "  #   headers: {Content-Type: application/json}",
    """  #   body: '{"name": "cup"}'""",
    "  #   expect_status: 201",
)


def main(arguments: Sequence[str]) -> int:
    """Run the command init, which writes a plan file for the user's service, and sometimes a
    requirements file beside it. Return its exit status: 0.
    """
    parser = output.parser("init")
    parser.add_names(
        "file",
        message("The plan file to write (default: {file}).", file=DEFAULT_FILE),
        "?",
        DEFAULT_FILE,
    )
    parser.add_group("the plan", FORCE, RUNTIMES, *BEFORE_SERVICE)
    add_service_flags(parser)
    flags = parser.parse(arguments)
    path = Path(flags["file"])
    _expect_new(path, flags)
    given, names = _described(flags, path)
    plan = user_service_plan(given, Path.cwd())
    runtimes = value_of(RUNTIMES, {RUNTIMES.name: names})
    assert plan.user_service is not None
    expect_python(plan, flags)
    parsed_flags(BEFORE_SERVICE, flags)  # raises BadInput
    started = {option: flags[option.name] for option in given_flags(BEFORE_SERVICE, flags)}
    given = _keep_requirements(given, path, flags)
    shown = _relative_to(path.parent, given)
    text = plan_text(path.name, shown, plan.user_service, runtimes, started)
    written({path: text}, private=any(secrets_in(plan.user_service)))
    output.note(
        "Show the plan:  {program} plan --plan {file}\nMeasure it:     {program} --plan {file}",
        program=PROGRAM,
        file=short(path),
    )
    print(short(path))
    return 0


def _expect_new(path: Path, flags: Flags) -> None:
    if os.path.exists(path) and not flags["force"]:
        raise BadInput("{path} exists. Name another file, or overwrite it with --force.", path=path)


def _described(flags: Flags, path: Path) -> tuple[dict[str, Any], str]:
    """Read the settings of the service from flags and the project. Return them by YAML key, and the
    runtimes as text, such as '3.14,3.14t'.

    Raises BadInput. Environments may be made, but no file of the user is written.
    """
    known: dict[str, Any] = {"name": path.stem, "runtime": accepted(flags, DEFAULT_RUNTIMES)}
    filled = {**flags, **{name: flags[name] or value for name, value in known.items()}}
    if not service_from(flags).keys() & STARTS.keys():
        folder = Path(flags["directory"] or ".")
        filled["app"] = find_application(folder)
        if not filled["app"]:
            raise BadInput(
                "No application was found in {folder}: neither app, application, create_app nor "
                "make_app in {files}, nor a framework's application with one of these names in "
                "another module. Give --app MODULE:NAME, --service-command, or --target.",
                folder=folder.absolute(),
                files=FILES,
            )
    filled = complete_from_project(filled, output.note)
    given = service_from(filled)
    request = "GET" if "targets" in given else "GET /"
    return {"requests": [{"request": request}], **given}, filled["runtime"]


def _keep_requirements(given: dict[str, Any], path: Path, flags: Flags) -> dict[str, Any]:
    """Write requirements that were read from the project's own files beside the plan *path*.
    Return *given* with that file; *given* itself if a requirements file was named.
    """
    made = given.get("requirements")
    if not isinstance(made, str) or not Path(made).is_relative_to(ENVIRONMENTS):
        return given
    kept = path.with_name(f"{path.stem}-requirements.txt")
    _expect_new(kept, flags)
    written({kept: Path(made).read_bytes()}, private=True)  # a line may have a token
    return {**given, "requirements": str(kept)}


def _relative_to(folder: Path, given: Flags) -> Flags:
    """Return the settings of a service with their file paths made relative to *folder*, the folder
    of the plan.
    """
    files = {
        key: given[key] for key in ("requirements", "requests") if isinstance(given.get(key), str)
    }
    if "targets" not in given:
        files["directory"] = given.get("directory", ".")
    return {**given, **{key: os.path.relpath(name, folder) for key, name in files.items()}}


# ---- the text of a plan, without file access -----------------------------------------------------


def plan_text(
    file: str,
    given: Flags,
    service: UserService,
    runtimes: Sequence[str],
    started: Mapping[Option, Any],
) -> str:
    """Return the text of a plan file in YAML, with a comment in the user's language for each key.

    file: the name of the plan's file
    given: the texts of the service, by KEYS
    service: the service that *given* describes
    started: what is started and run before the service, by option, as flags give it
    """
    head = message(
        "Show this plan:  {program} plan --plan {file}\n"
        "Measure it:      {program} --plan {file}\n"
        "gilscope's docs/own-service.md explains the keys of `service`, and docs/plans.md all "
        "other keys.",
        file=file,
        program=PROGRAM,
    )
    lines = [f"# {file}", *_comment(head), "", *_method(service, runtimes)]
    for option, value in started.items():
        lines += [*_comment(option.help), *yaml_lines(option.key, value)]
    lines += ["", "service:"]
    lines += [f"  {line}" for line in _service(given, service)]
    lines += ["", "parameters:"]
    command = service.command
    processes = [WORKERS] if command else []
    threads = [THREADS] if command and command.threaded else []
    for name in (*processes, *threads, CLIENTS, CONNECTIONS):
        lines += [f"  {line}" for line in _comment(PARAMETERS[name].help)]
        lines.append(f"  {name}: {DEFAULTS.get(name, DEFAULT_THREADS)}")
    return "\n".join(lines) + "\n"


def _comment(text: Message) -> list[str]:
    return [f"# {line}" for line in output.text(text).splitlines()]


def _method(service: UserService, runtimes: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a plan file that set description, blocks, duration, warm-up and, if
    needed, runtimes.
    """
    question = message("How does the free-threaded build affect {name}?", name=service.name)
    # 10 blocks are enough for a verdict on each comparison of four runtimes, which needs 8
    values: list[tuple[Option, str]] = [(BLOCKS, "10"), (DURATION, "2"), (WARMUP, "0.5s")]
    if service.targets:
        question = message(
            "Which of {names} is faster?", names=(target.name for target in service.targets)
        )
    else:
        values = [(RUNTIMES, json.dumps([*runtimes])), (AA, "true"), *values]
    yield from yaml_lines("description", output.text(question))
    for option, value in values:
        yield from (*_comment(option.help), f"{option.key}: {value}")


def _service(given: Flags, service: UserService) -> Iterator[str]:
    """Yield the lines of each key in *given*, and commented examples of other keys that apply to
    the service.
    """
    subject = next(subject for key, subject in STARTS.items() if key in given)
    has_topology = service.command and service.command.threaded and service.command.forks
    for key, option in KEYS.items():
        if key in given:
            lines = yaml_lines(key, given[key])
        elif (
            option.example and subject in option.applies_to and (key != "topology" or has_topology)
        ):
            lines = [f"# {key}: {option.example}"]
        else:
            continue
        yield from (*_comment(option.help), *lines)
        if key == "requests" and isinstance(given.get(key), list):
            yield from SECOND_REQUEST

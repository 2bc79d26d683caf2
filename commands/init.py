"""The command init: a commented plan for a service of the user's own."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from commands.output import Output, output_for, short
from config.flags import add_service_flags, value_of
from config.options import Option
from config.plan_options import DEFAULT_RUNTIMES, RUNTIMES
from config.user_service.flags import service_from
from config.user_service.plan import STARTS, user_service_plan
from config.user_service.template import plan_text, requests_from, start_from
from core.errors import BadInput
from core.files import write
from core.messages import Arg, message
from core.program import PROGRAM

DEFAULT_FILE = "my-service.yaml"
USUAL_REQUIREMENTS = "requirements.txt"
NONE = "none"
FORCE = Option("--force", message("overwrite the file"))
START = message(
    "How is it started? An application and its server, such as  shop.web:app gunicorn\n"
    "  or a command, such as  {python} -m myapp --port {port}"
)
REQUEST = message('Which request, and what is the answer? Such as  GET /items/3 -> 200 {"id": 3}')


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0."""
    output = output_for(arguments)
    flags = _flags(arguments, output)
    path = Path(flags["file"])
    _expect_room(path, force=flags["force"])
    runtimes = value_of(RUNTIMES, flags, DEFAULT_RUNTIMES)
    given = {"name": path.stem, **service_from(flags)}
    _check(given)
    given = _answered(given, output)
    plan = user_service_plan(given, Path.cwd())
    assert plan.user_service is not None
    if flags["runtime"] is not None and not replace(plan, runtimes=runtimes).cells():
        raise BadInput("--runtime is {names}; services of your own do not run under it.", names=flags["runtime"])
    text = plan_text(path.name, _seen_from(path.parent, given), plan.user_service, runtimes, output.language)
    _write(path, text)
    output.note(
        message(
            "Look at it:  {program} plan --plan {file}\nMeasure it:  {program} --plan {file}",
            program=PROGRAM,
            file=str(short(path)),
        )
    )
    print(short(path))
    return 0


def _flags(arguments: Sequence[str], output: Output) -> dict[str, Any]:
    parser = output.parser("init")
    parser.add_names("file", message("the plan to write (default: {file})", file=DEFAULT_FILE), "?", DEFAULT_FILE)
    parser.add(message("the plan"), FORCE, RUNTIMES)
    add_service_flags(parser)
    return parser.parse(arguments)


def _expect_room(path: Path, *, force: bool) -> None:
    """Raises BadInput where the plan cannot be written, before anything is asked."""
    if os.path.isdir(path):
        raise _unwritable(path, message("it is a folder"))
    if not os.path.isdir(path.parent):
        raise _unwritable(path, message("there is no folder {folder}", folder=str(path.parent)))
    if os.path.exists(path) and not force:
        raise BadInput("{path} exists; name another file, or overwrite it with --force.", path=str(path))


def _check(given: dict[str, Any]) -> None:
    """Raises BadInput for flags that no answer could mend; what is still missing is taken to be right."""
    missing = {}
    if given.keys() & {"server", "interface"} and not given.keys() & STARTS.keys():
        missing = {"app": "app:app", "server": "granian"}
    elif not given.keys() & STARTS.keys():
        missing = {"command": "{python} {port} {workers} {threads}"}
    user_service_plan({**missing, **given}, Path.cwd())


def _answered(given: dict[str, Any], output: Output) -> dict[str, Any]:
    """*given* with what it does not have yet, asked for on a terminal. Raises BadInput where there is none."""
    started = bool(given.keys() & STARTS.keys())
    if not sys.stdin.isatty():
        if not started or "requests" not in given:
            raise BadInput(
                "There is no terminal to ask on; give --app and --server, --service-command or --target, "
                "and --request with --expect-status or --expect-json."
            )
        return given
    if not started:
        given |= _ask(START, "", start_from, given, output)
    if "requests" not in given:
        given |= _ask(REQUEST, "", lambda answer: {"requests": requests_from(answer)}, given, output)
    if "requirements" not in given and "targets" not in given:
        usual = USUAL_REQUIREMENTS if Path(USUAL_REQUIREMENTS).is_file() else NONE
        given |= _ask(message("Which requirements file? [{usual}]", usual=usual), usual, _requirements, given, output)
    return given


def _requirements(answer: str) -> dict[str, Any]:
    return {} if answer == NONE else {"requirements": answer}


def _ask(
    question: Arg, usual: str, read: Callable[[str], dict[str, Any]], known: dict[str, Any], output: Output
) -> dict[str, Any]:
    """What one answer gives, asked until it is valid. Raises BadInput at the end of input."""
    while True:
        print(output.text(question), "> ", sep="\n", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise BadInput("The input ended before all questions were answered; nothing was written.")
        try:
            answer = read(line.strip() or usual)
            user_service_plan({**known, **answer}, Path.cwd())
            return answer
        except BadInput as error:
            output.note(error.message)


def _seen_from(folder: Path, given: dict[str, Any]) -> dict[str, Any]:
    """*given* with its paths from *folder*, where the plan is, in place of the current one."""
    files = {key: given[key] for key in ("requirements", "requests") if isinstance(given.get(key), str)}
    if "targets" not in given:
        files["directory"] = given.get("directory", ".")
    return {**given, **{key: os.path.relpath(name, folder) for key, name in files.items()}}


def _write(path: Path, text: str) -> None:
    try:
        write(path, text)
    except OSError as error:
        raise _unwritable(path, str(error.strerror)) from error


def _unwritable(path: Path, reason: Arg) -> BadInput:
    return BadInput("{path} cannot be written: {reason}; name another file.", path=str(path), reason=reason)

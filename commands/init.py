"""Write a commented plan for a service of your own, after three questions or from flags."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from commands.saying import note, short
from config import flags
from config.load import parse_runtimes
from config.own_flags import add_own_flags, service_from
from config.own_plan import own_plan
from config.plan import DEFAULT_RUNTIMES
from config.template import plan_text, requests_from, start_from
from core.errors import BadInput

DEFAULT_FILE = "my-service.yaml"
USUAL_REQUIREMENTS = "requirements.txt"
NONE = "none"
STARTS = {"command", "app", "targets"}
START = (
    "How is it started? An application and its server, such as  shop.web:app gunicorn\n"
    "  or a command, such as  {python} -m myapp --port {port}"
)
REQUEST = 'Which request, and what does it answer? Such as  GET /items/3 -> 200 {"id": 3}'
REQUIREMENTS = "Which requirements file?"


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0."""
    given = _parsed(arguments)
    path: Path = given.file
    _expect_room(path, force=given.force)
    runtimes = DEFAULT_RUNTIMES if given.runtime is None else parse_runtimes(given.runtime)
    said = {"name": path.stem, **service_from(vars(given))}
    _check(said)
    service = _answered(said)
    plan = own_plan(service, Path.cwd())
    own = plan.own
    assert own is not None
    if given.runtime is not None and not replace(plan, runtimes=runtimes).cells():
        raise BadInput(f"--runtime is {given.runtime}, under which no service of your own runs; name another.")
    text = plan_text(path.name, _seen_from(path.parent, service), own, runtimes)
    _write(path, text)
    note(f"Look at it:  python runner.py plan --plan {short(path)}\nMeasure it:  python runner.py --plan {short(path)}")
    print(short(path))
    return 0


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = flags.Parser(prog="runner.py init", description=__doc__)
    parser.add_argument("file", metavar="FILE", type=Path, nargs="?", default=Path(DEFAULT_FILE), help=DEFAULT_FILE)
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.add_argument(
        "--runtime", metavar="NAMES", help=f"runtimes with commas (default {','.join(DEFAULT_RUNTIMES)})"
    )
    add_own_flags(parser)
    return parser.parse_args(arguments)


def _expect_room(path: Path, *, force: bool) -> None:
    """Raises BadInput where the plan cannot be written, before anything is asked."""
    if os.path.isdir(path) or not os.path.isdir(path.parent):
        why = "it is a folder" if os.path.isdir(path) else f"there is no folder {path.parent}"
        raise BadInput(f"{path} cannot be written: {why}; name another file.")
    if os.path.exists(path) and not force:
        raise BadInput(f"{path} is there already; name another file, or write over it with --force.")


def _check(service: dict[str, Any]) -> None:
    """Raises BadInput for what flags have said wrongly: no answer could mend it.

    What is not said yet is supposed to be right.
    """
    if service.keys() & STARTS:
        supposed = {}
    elif service.keys() & {"server", "interface"}:
        supposed = {"app": "app:app", "server": "granian"}
    else:
        supposed = {"command": "{python} {port} {workers} {threads}"}
    own_plan({**supposed, **service}, Path.cwd())


def _answered(service: dict[str, Any]) -> dict[str, Any]:
    """*service* with what it does not say yet, asked for where there is somebody to ask. Raises BadInput."""
    started = bool(service.keys() & STARTS)
    if not sys.stdin.isatty():
        if not started or "requests" not in service:
            raise BadInput(
                "there is no terminal to ask on; give --app and --server, --service-command or --target, "
                "and --request with --expect-status or --expect-json."
            )
        return service
    if not started:
        service |= _ask(START, "", start_from, service)
    if "requests" not in service:
        service |= _ask(REQUEST, "", lambda answer: {"requests": requests_from(answer)}, service)
    if "requirements" not in service and "targets" not in service:
        usual = USUAL_REQUIREMENTS if Path(USUAL_REQUIREMENTS).is_file() else ""
        question = f"{REQUIREMENTS} [{usual or NONE}]"
        service |= _ask(question, usual or NONE, _requirements, service)
    return service


def _requirements(answer: str) -> dict[str, Any]:
    return {} if answer == NONE else {"requirements": answer}


def _ask(question: str, usual: str, read: Callable[[str], dict[str, Any]], known: dict[str, Any]) -> dict[str, Any]:
    """What one answer says, asked until it can be meant. Raises BadInput at the end of input."""
    while True:
        print(question, "> ", sep="\n", end="", file=sys.stderr)
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise BadInput("the input ended before all three questions were answered; nothing was written.")
        try:
            said = read(line.strip() or usual)
            own_plan({**known, **said}, Path.cwd())
            return said
        except BadInput as error:
            note(f"{error}")


def _seen_from(folder: Path, service: dict[str, Any]) -> dict[str, Any]:
    """*service* with its paths from *folder*, where the plan is, in place of the current one."""
    files = {key: service[key] for key in ("requirements", "requests") if isinstance(service.get(key), str)}
    if "targets" not in service:
        files["directory"] = service.get("directory", ".")
    return {**service, **{key: os.path.relpath(name, folder) for key, name in files.items()}}


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}; name another file.") from error

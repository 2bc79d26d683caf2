"""The worker: a child process on a host that calls functions of gilscope for the runner.

It follows the child contract. A line on stdin is a call, {"call": "lab.machine.link:own_address",
"with": []}, and a line on stdout is its answer: {"answer": ...} or {"answer": null, "error": ...}.
A generator function runs up to its `yield`, and the answer is a number. {"finish": NUMBER} runs it
to its end, which returns the answer. lab/hosts/connection.py starts the worker at the first call.

lab/hosts/place.py and lab/hosts/cluster.py call the tasks in this module, which the worker imports
under its own name. A function that is called is a global function with JSON as arguments, prints
nothing, and returns JSON, bytes or a dataclass. The caller states the type of the result: change
both together. This module imports the standard library and gilscope alone.
"""

import json
import sys
import zlib
from base64 import b64decode, b64encode
from collections.abc import Generator, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from core.messages import GilscopeError, Json, Message, verbatim
from core.runtime import RuntimeFacts, RuntimeName
from lab.environments.environment import installed_packages, requirements_file
from lab.hosts.boot import extract
from lab.machine import host, quiet
from lab.places import REPOSITORY
from lab.python import interpreters
from lab.python.interpreters import Interpreter
from lab.run.measured_runtimes import Runtime, present
from lab.user_service.service_files import FILES

# how long facts() observes the load of the machine
QUIET_WINDOW_S = 0.3


def main() -> None:
    """Answer calls until stdin ends."""
    begun: list[Generator[Any, None, Any]] = []
    for line in sys.stdin:
        try:
            answer = {"answer": _answer(json.loads(line), begun)}
        except GilscopeError as error:
            answer = {"answer": None, "error": error.message}
        except Exception as error:
            answer = {"answer": None, "error": verbatim(f"{type(error).__name__}: {error}")}
        print(json.dumps(answer, default=_plain), flush=True)


# *begun*: all generators so far. It is never shortened, because the answers are indexes into it.
def _answer(asked: Json, begun: list[Generator[Any, None, Any]]) -> Any:
    if "finish" in asked:
        try:
            return next(begun[asked["finish"]])
        except StopIteration as end:
            return end.value
    answer = resolve_name(asked["call"])(*asked["with"])
    if not isinstance(answer, Generator):
        return answer
    begun.append(answer)
    next(answer)
    return len(begun) - 1


def _plain(value: Any) -> Any:
    """Return a value that JSON has. Bytes are compressed, and a dataclass becomes an object.

    A NamedTuple does not come here, because JSON has it as a list.
    """
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, bytes):
        return b64encode(zlib.compress(value, 1)).decode()
    return vars(value)


# ---- tasks ---------------------------------------------------------------------------------------


def facts() -> dict[str, Any]:
    """Observe this host for QUIET_WINDOW_S, and return facts about it for result.json
    (record.saved_plan.HostFacts).
    """
    return {**host.facts(), "quiet": quiet.facts(QUIET_WINDOW_S)}


def find_runtimes(names: Sequence[str], chosen: Sequence[str]) -> dict[str, RuntimeFacts]:
    """Return the facts of the runtimes *names* that are installed here. *chosen* are paths of
    interpreters.
    """
    wanted = [*map(RuntimeName, names)]
    paths: dict[str, Path] = {}
    for path in chosen:
        given = interpreters.ask("given", Path(path))
        if given:
            paths |= {name.binary: given.executable for name in wanted if given.is_named(name)}
    found = present(wanted, interpreters.find(wanted, paths))
    return {name: runtime.facts() for name, runtime in found.items()}


def interpreter_of(found: Json) -> Interpreter:
    """Return the interpreter that find_runtimes() described."""
    return Interpreter(executable=Path(found["executable"]), source=found["source"], facts=found)


def environment_python(name: str, found: Json, requirements: str) -> str:
    """Return the interpreter of an environment with *requirements*, which is made if needed. Raises
    EnvironmentFailed.

    requirements: a file of the repository, a user's file by its absolute path, or ""
    """
    return str(
        Runtime(name=RuntimeName(name), interpreter=interpreter_of(found)).python(requirements)
    )


def packages(python: str) -> dict[str, str]:
    """Return the packages in the environment of an interpreter, with their versions."""
    return installed_packages(Path(python))


def unpack(name: str, archive: str, requirements: Sequence[str]) -> tuple[str, str]:
    """Unpack a user's files. Return their folder, and a file of their requirements; "" if there are
    none. The folder is removed with gilscope's files. Raises OSError.

    name: of the folder, which must not exist yet
    archive: in base64
    requirements: lines in which FILES stands for the folder
    """
    folder = REPOSITORY / "files" / name
    folder.mkdir(parents=True)
    extract(b64decode(archive), str(folder))
    lines = [line.replace(FILES, str(folder)) for line in requirements]
    return str(folder), requirements_file("", lines)


if __name__ == "__main__":
    main()

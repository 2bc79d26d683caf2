"""Functions that the worker of a host calls for the runner. They import only the standard library
and gilscope.

lab/hosts/place.py and lab/hosts/cluster.py name them in HostConnection.call(), and the worker
(lab/hosts/worker.py) runs them on the host. So each is a global function with JSON as arguments,
and its result is JSON, bytes or a dataclass. The caller states the type of the result: change both
together. The runner imports this module, too, and calls interpreter_of() itself.
"""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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


# ---- the machine ---------------------------------------------------------------------------------


def facts() -> dict[str, Any]:
    """Observe this host for QUIET_WINDOW_S, and return facts about it for result.json
    (record.saved_plan.HostFacts).
    """
    return {**host.facts(), "quiet": quiet.facts(QUIET_WINDOW_S)}


# ---- runtimes ------------------------------------------------------------------------------------


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


def interpreter_of(found: Mapping[str, Any]) -> Interpreter:
    """Return the interpreter that find_runtimes() described."""
    return Interpreter(executable=Path(found["executable"]), source=found["source"], facts=found)


def environment_python(name: str, found: Mapping[str, Any], requirements: str) -> str:
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


# ---- files ---------------------------------------------------------------------------------------


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

"""The command audit: find packages that are not ready for the free-threaded build."""

import json
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from commands.output import output_for
from config.options import Option
from config.plan_options import JSON
from core.errors import BadInput
from core.messages import NOTHING, SENTENCES, Message, chained, listed, message, plural
from core.runtime import RuntimeName
from lab.gil.audit import audit, exit_status, read_requirements, to_document
from lab.python import interpreters
from lab.python.interpreters import Interpreter
from reports.document.model import Document, Section
from reports.document.shapes import Col, col, table

DEFAULT_RUNTIME = "3.14t"
PACKAGES = (
    Option(
        "-r/--requirement FILE",
        message(
            "The packages to check, from a requirements file, pyproject.toml, uv.lock, pylock.toml or project "
            "folder (default: the current folder)."
        ),
    ),
    Option("--package NAME", message("A package to check, such as numpy."), repeated=True),
)
RUNTIME = Option("--runtime NAME", message("The free-threaded build that the packages must support (default: 3.14t)."))
BUILD = Option("--build", message("Build each package that has no wheel from its source, and then import it."))


def main(arguments: Sequence[str]) -> int:
    """Run the command audit. Return its exit status: 0, or 3 if a package is not ready for the free-threaded build."""
    from commands.audit import audit_document
    from reports.render.markdown import markdown

    output = output_for(arguments)
    parser = output.parser("audit")
    parser.add(message("what to audit"), *PACKAGES, exclusive=True)
    parser.add(message("options"), RUNTIME, BUILD, JSON)
    flags = parser.parse(arguments)
    interpreter = _interpreter(RuntimeName(flags["runtime"] if flags["runtime"] is not None else DEFAULT_RUNTIME))
    asked = read_requirements(flags["package"] or Path(flags["requirement"] or "."))
    findings = audit(asked, interpreter, output.note if flags["build"] else None)
    audited = to_document(findings, interpreter)
    if flags["json"]:
        print(json.dumps(audited, indent=1))
    else:
        print(markdown(audit_document(audited), output.language).rstrip("\n"))
    return exit_status(findings)


def _interpreter(name: RuntimeName) -> Interpreter:
    """Return the interpreter of the runtime *name*. Raises BadInput if it is not installed."""
    if name.native:
        raise BadInput(
            "--runtime is {name}, but audit needs a free-threaded build of Python, such as 3.14t.", name=name
        )
    interpreter = next(iter(interpreters.find([name]).values()), None)
    if interpreter is None:
        raise BadInput(chained([interpreters.missing(name), *interpreters.refused([name])], SENTENCES))
    return interpreter


KINDS: Mapping[str, Message] = {
    "gil": message("switches the GIL on"),
    "no wheel": message("no wheel"),
    "needs": message("dependency not ready"),
    "not installable": message("not installable"),
    "import fails": message("import fails"),
    "warns": message("prints warnings"),
}


def audit_document(audit: Mapping[str, Any]) -> Document:
    """Return a report on packages that were requested, or that are not ready for the free-threaded build."""
    runtime, packages = audit["runtime"], audit["packages"]
    title = plural(
        "Audit: {count} package under {runtime} ({version})", "Audit: {count} packages under {runtime} ({version})",
        count=len(packages), runtime=runtime["name"], version=runtime["version"],
    )  # fmt: skip
    cols: list[Col[Mapping[str, Any]]] = [
        col(message("package"), itemgetter("package")),
        col(message("version"), itemgetter("version")),
        col(message("verdict"), verdict),
        col(message("ready since"), itemgetter("ready_since")),
        col(message("needed by"), lambda package: ", ".join(package["needed_by"])),
        col(message("modules"), lambda package: ", ".join(package["modules"])),
    ]
    shown = [package for package in packages if package["direct"] or not package["passes"]]
    reasons = tuple(
        message("{package}: {detail}", package=package["package"], detail=Message.from_json(problem["message"]))
        for package in packages
        for problem in package["problems"]
    )
    name = message("Packages")
    section = Section(
        key="packages",
        title=name,
        tables=(table(name, cols, [(NOTHING, shown)]),),
        parts=(Section(key="reasons", title=message("Reasons"), sentences=reasons),),
        notes=(summary(audit),),
    )
    return Document(name=str(title), title=title, about=(), sections=(section,), has_cells=False)


def summary(audit: Mapping[str, Any]) -> Message:
    """Return a sentence that names the packages that are not ready for the free-threaded build."""
    packages = audit["packages"]
    failing = [
        message("{package} ({verdict})", package=package["package"], verdict=verdict(package))
        for package in packages
        if not package["passes"]
    ]
    if failing:
        return plural(
            "{count} of {total} packages is not ready for the free-threaded build: {failing}.",
            "{count} of {total} packages are not ready for the free-threaded build: {failing}.",
            count=len(failing),
            total=len(packages),
            failing=listed(failing),
        )
    if len(packages) == 1:
        name = packages[0]["package"]
        return message(
            "{package} is ready: it installs from a wheel and imports without the GIL and without a warning.",
            package=name,
        )
    count = len(packages)
    return message(
        "All {count} packages are ready: each installs from a wheel and imports without the GIL and without a warning.",
        count=count,
    )


def verdict(package: Mapping[str, Any]) -> Message:
    """Return the problems of a package in a few words; "ok" if it has none."""
    kinds = dict.fromkeys(problem["kind"] for problem in package["problems"])
    return listed(KINDS[kind] for kind in kinds) or message("ok")

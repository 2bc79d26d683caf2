"""The command audit: find packages that are not ready for the free-threaded build.

lab/project/package_audit.py installs and imports the packages, and finds their problems. This
module reads the flags and shows the findings, as JSON or as a report in Markdown.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commands.output import output
from config.options import Option
from config.plan_options import JSON
from core.errors import BadInput
from core.messages import NOTHING, SENTENCES, Message, chained, listed, message, plural
from core.runtime import RuntimeName
from lab.project.package_audit import PackageFinding, audit, read_requirements, to_document
from lab.python import interpreters
from lab.python.interpreters import Interpreter

if TYPE_CHECKING:
    from reports.document.model import Document

# The text of RUNTIME names this default, too.
DEFAULT_RUNTIME = "3.14t"
PACKAGES = (
    Option(
        "-r/--requirement FILE",
        "The packages to check, from a requirements file, pyproject.toml, uv.lock, pylock.toml or "
        "project folder (default: the current folder).",
    ),
    Option("--package NAME", "A package to check, such as numpy.", repeated=True),
)
RUNTIME = Option(
    "--runtime NAME", "The free-threaded build that the packages must support (default: 3.14t)."
)

# texts by Problem.kind (lab/project/package_audit.py)
KINDS: Mapping[str, Message] = {
    "gil": message("switches the GIL on"),
    "no wheel": message("no wheel"),
    "not installable": message("not installable"),
    "import fails": message("import fails"),
    "warns": message("prints warnings"),
}


def main(arguments: Sequence[str]) -> int:
    """Run the command audit. Return its exit status: 0, or 3 if a package is not ready for the
    free-threaded build.
    """
    from reports.render.markdown import markdown

    parser = output.parser("audit", arguments)
    parser.add_names("folder", "The folder of a project whose packages are checked.", "?")
    parser.add_group("what to audit", *PACKAGES)
    parser.add_group("options", RUNTIME, JSON)
    flags = parser.parse(arguments)
    interpreter = _interpreter(
        RuntimeName(flags["runtime"] if flags["runtime"] is not None else DEFAULT_RUNTIME)
    )
    if sum(bool(flags[name]) for name in ("folder", "requirement", "package")) > 1:
        raise BadInput("Name either a folder, or packages with --requirement or --package.")
    file = Path(flags["folder"] or flags["requirement"] or ".")
    asked = read_requirements(flags["package"] or file, interpreter.name.version)
    findings = audit(asked, interpreter)
    if flags["json"]:
        text = json.dumps(to_document(findings, interpreter), indent=1)
    else:
        document = audit_document(findings, interpreter.name, interpreter.facts["version"])
        text = markdown(document, output.language).rstrip("\n")
    print(output.redactor.text(text))  # errors of pip may contain the password of an index
    return 0 if all(finding.passes for finding in findings) else 3


def _interpreter(name: RuntimeName) -> Interpreter:
    """Return the interpreter of the runtime *name*. Raises BadInput if it is not installed."""
    if name.native:
        raise BadInput(
            "--runtime is {name}, but audit needs a free-threaded build of Python, such as 3.14t.",
            name=name,
        )
    interpreter = next(iter(interpreters.find([name]).values()), None)
    if interpreter is None:
        raise BadInput(
            chained([interpreters.missing(name), *interpreters.refused([name])], SENTENCES)
        )
    return interpreter


def audit_document(findings: Sequence[PackageFinding], runtime: str, version: str) -> "Document":
    """Return a report on packages, except dependencies in pure Python, which need no look.

    runtime, version: the runtime's name and its Python version
    """
    from reports.document.model import Document, Section
    from reports.document.shapes import col, table

    pure = [one for one in findings if one.passes and not (one.direct or one.modules)]
    title = plural(
        "Audit: {count} package under {runtime} ({version})",
        "Audit: {count} packages under {runtime} ({version})",
        count=len(findings),
        runtime=runtime,
        version=version,
    )
    reasons = tuple(
        message("{package}: {detail}", package=finding.package, detail=problem.detail)
        for finding in findings
        for problem in finding.problems
    )
    name = message("Packages")
    section = Section(
        key="packages",
        title=name,
        tables=(
            table(
                name,
                [
                    col("package", "package"),
                    col("version", "version"),
                    col("verdict", verdict),
                    col("needed by", lambda finding: ", ".join(finding.needed_by)),
                    col("modules", lambda finding: ", ".join(finding.modules)),
                ],
                [(NOTHING, [finding for finding in findings if finding not in pure])],
            ),
        ),
        parts=(Section(key="reasons", title=message("Reasons"), sentences=reasons),),
        notes=(summary(findings), *([_left_out(len(pure))] if pure else [])),
    )
    return Document(name=str(title), title=title, about=(), sections=(section,), has_cells=False)


def summary(findings: Sequence[PackageFinding]) -> Message:
    """Return a sentence on how many packages are not ready for the free-threaded build."""
    return plural(
        "{count} of {total} packages is not ready for the free-threaded build. A ready package "
        "installs from a wheel and imports without the GIL and without a warning.",
        "{count} of {total} packages are not ready for the free-threaded build. A ready package "
        "installs from a wheel and imports without the GIL and without a warning.",
        count=sum(not finding.passes for finding in findings),
        total=len(findings),
    )


def _left_out(count: int) -> Message:
    return plural(
        "The other {count} package is a dependency in pure Python, which cannot switch the GIL on. "
        "It is not in the table.",
        "The other {count} packages are dependencies in pure Python, which cannot switch the GIL "
        "on. They are not in the table.",
        count=count,
    )


def verdict(finding: PackageFinding) -> Message:
    """Return the problems of a package in a few words; "ok" if it has none."""
    kinds = dict.fromkeys(problem.kind for problem in finding.problems)
    return listed(KINDS[kind] for kind in kinds) or message("ok")

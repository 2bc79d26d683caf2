"""Make a report of the result of `runner.py audit`, from the mapping that lab.gil.audit.document() returns."""

from collections.abc import Mapping
from typing import Any

from core.messages import NOTHING, Message, listed, message, plural
from reports.document.model import Document, Section
from reports.document.shapes import col, table

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
        tables=(
            table(
                name,
                [
                    col("package", "package"),
                    col("version", "version"),
                    col("verdict", verdict),
                    col("ready since", "ready_since"),
                    col("needed by", lambda package: ", ".join(package["needed_by"])),
                    col("modules", lambda package: ", ".join(package["modules"])),
                ],
                [(NOTHING, shown)],
            ),
        ),
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

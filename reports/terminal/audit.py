"""What `runner.py audit` found, as a document for every renderer. A mapping is what lab.gil.audit.document() makes."""

from collections.abc import Mapping
from typing import Any

from core.messages import Message, listed, message, plural
from reports.document.model import Document, Section, plain_table, words

KINDS: Mapping[str, Message] = {
    "gil": message("GIL back on"),
    "no wheel": message("no wheel"),
    "needs": message("needs another"),
    "not installable": message("not installable"),
    "import fails": message("import fails"),
    "warns": message("warns"),
}
HEADS = (
    message("package"),
    message("version"),
    message("verdict"),
    message("ready since"),
    message("needed by"),
    message("imported"),
)


def audit_document(audit: Mapping[str, Any]) -> Document:
    """A table of the packages that were asked for or are not ready, the reasons, and the sum in a sentence."""
    runtime, packages = audit["runtime"], audit["packages"]
    title = plural(
        "Audit: {count} package under {runtime} ({version})", "Audit: {count} packages under {runtime} ({version})",
        count=len(packages), runtime=runtime["name"], version=runtime["version"],
    )  # fmt: skip
    lines = [
        (
            package["package"],
            package["version"],
            words(verdict(package)),
            package["ready_since"],
            ", ".join(package["needed_by"]),
            ", ".join(package["modules"]),
        )
        for package in packages
        if package["direct"] or not package["passes"]
    ]
    table = plain_table(message("Packages"), HEADS, lines)
    reasons = Section(key="reasons", title=message("Reasons"), sentences=tuple(_reasons(audit)))
    section = Section(
        key="packages", title=message("Packages"), tables=(table,), parts=(reasons,), notes=(summary(audit),)
    )
    return Document(name=str(title), title=title, about=(), sections=(section,), has_cells=False)


def summary(audit: Mapping[str, Any]) -> Message:
    """Which packages are not ready, in one sentence."""
    packages = audit["packages"]
    failing = [
        message("{package} ({verdict})", package=package["package"], verdict=verdict(package))
        for package in packages
        if not package["passes"]
    ]
    if failing:
        return plural(
            "{count} of {total} packages is not ready: {failing}.",
            "{count} of {total} packages are not ready: {failing}.",
            count=len(failing),
            total=len(packages),
            failing=listed(failing),
        )
    if len(packages) == 1:
        name = packages[0]["package"]
        return message("{package} is ready: imported without the GIL, from a wheel, without a warning.", package=name)
    count = len(packages)
    return message("All {count} are ready: imported without the GIL, from wheels, without a warning.", count=count)


def verdict(package: Mapping[str, Any]) -> Message:
    """What is wrong with a package, in a few words; ok where nothing is."""
    kinds = dict.fromkeys(problem["kind"] for problem in package["problems"])
    return listed(KINDS[kind] for kind in kinds) or message("ok")


def _reasons(audit: Mapping[str, Any]) -> list[Message]:
    return [
        message(
            "{package}: {detail}",
            package=package["package"],
            detail=Message.from_json(problem["message"]),
        )
        for package in audit["packages"]
        for problem in package["problems"]
    ]

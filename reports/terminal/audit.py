"""What `runner.py audit` found, as Markdown and as JSON. A document is what lab.gil.audit.document() makes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reports.words.markdown import escaped, markdown_table

WORDS = {
    "gil": "GIL back on",
    "no wheel": "no wheel",
    "not installable": "not installable",
    "import fails": "import fails",
    "warns": "warns",
}
HEADS = ("package", "version", "verdict", "imported")


def audit_json(document: Mapping[str, Any]) -> str:
    """The document itself."""
    return json.dumps(document, indent=1)


def audit_markdown(document: Mapping[str, Any]) -> str:
    """A table with a line for each package, the reasons, and the sum in a sentence."""
    runtime, packages = document["runtime"], document["packages"]
    title = f"# Audit: {len(packages)} {_plural(packages, 'package')} under {runtime['name']} ({runtime['version']})"
    reasons = [f"- {escaped(line)}" for one in packages for line in _reasons(one)]
    parts = [title, _table(packages), "\n".join(reasons), audit_sentence(document)]
    return "\n\n".join(part for part in parts if part) + "\n"


def audit_sentence(document: Mapping[str, Any]) -> str:
    """Which packages do not pass, in one sentence."""
    packages = document["packages"]
    failing = [f"{one['package']} ({verdict(one)})" for one in packages if not one["passes"]]
    if not failing:
        who = f"All {len(packages)} pass" if len(packages) > 1 else f"{packages[0]['package']} passes"
        return f"{who}: imported without the GIL, from wheels, without a warning."
    verb = "does" if len(failing) == 1 else "do"
    return f"{len(failing)} of {len(packages)} {_plural(packages, 'package')} {verb} not pass: {', '.join(failing)}."


def verdict(package: Mapping[str, Any]) -> str:
    """What is wrong with a package, in a few words; ok where nothing is."""
    kinds = dict.fromkeys(problem["kind"] for problem in package["problems"])
    return ", ".join(WORDS[kind] for kind in kinds) or "ok"


def _table(packages: Sequence[Mapping[str, Any]]) -> str:
    lines = [[one["package"], one["version"], verdict(one), ", ".join(one["modules"])] for one in packages]
    return markdown_table(HEADS, lines)


def _reasons(package: Mapping[str, Any]) -> list[str]:
    return [f"{package['package']}: {problem['detail']}" for problem in package["problems"]]


def _plural(packages: Sequence[object], word: str) -> str:
    return word if len(packages) == 1 else f"{word}s"

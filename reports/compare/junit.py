"""A comparison as JUnit XML: a test case for each cell, which fails where B is slower and is an error where it is open.

Source of the format: the schema of Ant's JUnit task, as GitLab, Jenkins and GitHub's reporters read it.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from core.errors import BadInput
from core.files import write
from core.languages import Language
from core.printable import printable
from reports.compare.checks import Check
from reports.compare.runs import Compared
from reports.compare.samples import FS_PER_S

SUITE = "gilscope compare"
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(compared: Compared, checks: Sequence[Check], path: Path, language: Language) -> None:
    """Write junit() to *path*, making its folder. Raises BadInput."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, junit(compared, checks, language))
    except OSError as error:
        cause = str(error.strerror)
        raise BadInput(
            "--junit {path} cannot be written: {cause}; name another file.", path=str(path), cause=cause
        ) from error


def junit(compared: Compared, checks: Sequence[Check], language: Language) -> str:
    """The XML. A case's time is the median time of B in seconds."""
    failures, errors = (str(sum(check.outcome == outcome for check in checks)) for outcome in ("slower", "open"))
    counts = {"tests": str(len(checks)), "failures": failures, "errors": errors, "skipped": "0"}
    suites = ET.Element("testsuites", {"name": SUITE, **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": SUITE, **counts, "time": f"{sum(map(_time_s, checks)):.6f}"})
    properties = ET.SubElement(suite, "properties")
    for letter, name in zip("AB", compared.names, strict=True):
        ET.SubElement(properties, "property", {"name": letter, "value": _clean(name)})
    for check in checks:
        _add_case(suite, check, language)
    notes = ET.SubElement(suite, "system-out")
    notes.text = _clean("\n".join(map(language.text, [*compared.troubles, *compared.notes])))
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _add_case(suite: ET.Element, check: Check, language: Language) -> None:
    sample = check.comparison.sample
    system = f"system {sample.system}" if sample.system.isdigit() else sample.system
    about = {"classname": f"gilscope.{system}", "name": language.text(check.name), "time": f"{_time_s(check):.6f}"}
    case = ET.SubElement(suite, "testcase", {key: _clean(value) for key, value in about.items()})
    if check.outcome == "passed":
        ET.SubElement(case, "system-out").text = _clean(language.text(check.sentence))
        return
    kind = "failure" if check.outcome == "slower" else "error"
    ET.SubElement(case, kind, {"type": check.outcome, "message": _clean(language.text(check.sentence))})


def _time_s(check: Check) -> float:
    return (check.comparison.medians_fs[1] or 0.0) / FS_PER_S


def _clean(text: str) -> str:
    """Without the characters that XML cannot hold, or that would steer whoever prints it."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))

"""Write a comparison for continuous integration: JUnit XML, GitHub's annotations and GitHub's job summary.

Sources of the formats: the schema of Ant's JUnit task, as GitLab, Jenkins and GitHub's reporters read it; GitHub's
documentation, "Workflow commands for GitHub Actions".
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from core.errors import BadInput
from core.languages import ENGLISH, Language, printable
from core.messages import Message, message
from reports.compare.members import LEAST
from reports.compare.runs import Compared, ComparedCell, time_text
from reports.document.model import number
from reports.document.values import thousandths

SUITE = "gilscope compare"
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
KINDS = {  # by outcome: level and title of an annotation, and element of a test case
    "slower": ("error", message("Slower"), "failure"),
    "open": ("error", message("No verdict"), "error"),
    "passed": ("notice", message("Compared"), "system-out"),
}
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def sentence(one: ComparedCell) -> Message:
    """Return a sentence on a compared measurement: its verdict, its median times in both runs, and the reason."""
    seen, times = one.comparison, " -> ".join(map(time_text, one.medians_fs))
    if one.outcome == "open":
        return message(
            "it is undecided whether run {run} is slower than allowed (median times: {times}): {why}.",
            run=one.pair.letter,
            times=times,
            why=one.open_why,
        )
    if seen.ratio is None:
        return message(
            "verdict on run {run}: {word}; median times: {times}; {why}.",
            run=one.pair.letter,
            word=seen.word,
            times=times,
            why=seen.why,
        )
    ratio = number(seen.ratio, thousandths, low=seen.low, high=seen.high).text(ENGLISH)
    return message(
        "verdict on run {run}: {word}; median times: {times}, ratio {ratio}; {why}.",
        run=one.pair.letter,
        word=seen.word,
        times=times,
        ratio=ratio,
        why=seen.why,
    )


def annotations(cells: Sequence[ComparedCell], language: Language) -> list[str]:
    """Return a GitHub annotation per comparison: an error if it is slower than allowed or undecided."""
    lines = []
    for one in cells:
        level, kind, _ = KINDS[one.outcome]
        title = _escaped(f"{language.text(kind)}: {language.text(one.name)}").replace(":", "%3A").replace(",", "%2C")
        lines.append(f"::{level} title={title}::{_escaped(language.text(sentence(one)))}")
    return lines


def _escaped(text: str) -> str:
    """Return *text* with escapes for the characters that would end a GitHub Actions command."""
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def add_summary(page: str, environment: Mapping[str, str]) -> None:
    """Add *page*, the comparison as Markdown, to the GitHub job's summary. Do nothing if *environment* names no file.

    Raises BadInput if the file cannot be written.
    """
    path = environment.get(SUMMARY_VARIABLE)
    if not path:
        return
    try:
        with open(Path(path), "a", encoding="utf-8") as file:
            file.write(f"{page}\n")
    except OSError as error:
        raise BadInput(
            "{variable} names {path}, but this file cannot be written: {cause}. Make the file writable, or unset "
            "{variable}.",
            variable=SUMMARY_VARIABLE, path=path, cause=str(error.strerror),
        ) from error  # fmt: skip


def junit(compared: Compared, language: Language) -> str:
    """Return JUnit XML with a test case for each compared measurement.

    Its time is the median time per request of the run that is compared with A. The test case is a failure if this run
    is slower, and an error if the cell cannot pass or fail.
    """
    outcomes = [one.outcome for one in compared.cells]
    times_s = [(one.medians_fs[1] or 0.0) / 1e15 for one in compared.cells]
    counts = {"tests": len(outcomes), "failures": outcomes.count("slower"), "errors": outcomes.count("open")}
    about = {"name": SUITE, **{name: str(count) for name, count in counts.items()}, "skipped": "0"}
    suites = ET.Element("testsuites", about)
    suite = ET.SubElement(suites, "testsuite", about, time=f"{sum(times_s):.6f}")
    properties = ET.SubElement(suite, "properties")
    for run in compared.runs:
        ET.SubElement(properties, "property", name=run.letter, value=_clean(run.title))
    for one, time_s in zip(compared.cells, times_s, strict=True):
        # always in English, because a class name is an identifier
        system = compared.runs[0].settings.number(one.comparison.system)
        names = [language.text(one.name), *([one.pair.letter] if len(compared.runs) > LEAST else [])]
        case = ET.SubElement(
            suite, "testcase", classname=_clean(f"gilscope.{system}"), name=_clean(" ".join(names)),
            time=f"{time_s:.6f}",
        )  # fmt: skip
        said, kind = _clean(language.text(sentence(one))), KINDS[one.outcome][2]
        if one.outcome == "passed":
            ET.SubElement(case, kind).text = said
        else:
            ET.SubElement(case, kind, type=one.outcome, message=said)
    notes = ET.SubElement(suite, "system-out")
    notes.text = _clean("\n".join(map(language.text, [*compared.troubles, *compared.notes])))
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _clean(text: str) -> str:
    """Return *text* without control characters and characters that XML does not allow."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))

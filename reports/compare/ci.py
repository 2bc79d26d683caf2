"""Write a comparison for GitHub Actions: annotations and the job summary.

Source of the formats: GitHub's documentation, "Workflow commands for GitHub Actions".
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.formats import thousandths
from core.errors import BadInput
from core.languages import ENGLISH, Language, printable
from core.messages import Message, message
from reports.compare.compared_runs import ComparedCell, time_text
from reports.document.model import number

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
KINDS = {  # by outcome: level and title of an annotation
    "slower": ("error", message("Slower")),
    "open": ("error", message("No verdict")),
    "passed": ("notice", message("Compared")),
}


def sentence(one: ComparedCell) -> Message:
    """Return a sentence on a compared measurement: its verdict, its median times in both runs, and
    the reason.
    """
    seen, times = one.comparison, " -> ".join(map(time_text, one.medians_ns))
    if one.outcome == "open":
        return message(
            "it is undecided whether run {run} is slower than allowed (median times: {times}): "
            "{why}.",
            run=one.pair.letter,
            times=times,
            why=one.open_why,
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
    """Return a GitHub annotation per comparison: an error if it is slower than allowed or
    undecided.
    """
    lines = []
    for one in cells:
        level, kind = KINDS[one.outcome]
        title = (
            _escaped(f"{language.text(kind)}: {language.text(one.name)}")
            .replace(":", "%3A")
            .replace(",", "%2C")
        )
        lines.append(f"::{level} title={title}::{_escaped(language.text(sentence(one)))}")
    return lines


def _escaped(text: str) -> str:
    """Return *text* with escapes for the characters that would end a GitHub Actions command."""
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def add_summary(page: str, environment: Mapping[str, str]) -> None:
    """Add *page*, the comparison as Markdown, to the GitHub job's summary. Do nothing if
    *environment* names no file.

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
            "{variable} names {path}, but this file cannot be written: {cause}. Make the file "
            "writable, or unset {variable}.",
            variable=SUMMARY_VARIABLE, path=path, cause=str(error.strerror),
        ) from error  # fmt: skip

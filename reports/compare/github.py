"""A comparison for GitHub: annotations as its runner reads them from a step's output, and the summary of the job.

Source: GitHub's documentation, "Workflow commands for GitHub Actions".
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import BadInput
from core.languages import Language
from core.messages import message
from core.printable import printable
from reports.compare.checks import Check

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
_LEVELS = {"slower": "error", "open": "error", "passed": "notice"}
_TITLES = {"slower": message("Slower"), "open": message("No verdict"), "passed": message("Compared")}


def annotations(checks: Sequence[Check], language: Language) -> list[str]:
    """A workflow command for each cell: an error where the threshold is missed or says nothing, else a notice."""
    return [_annotation(check, language) for check in checks]


def _annotation(check: Check, language: Language) -> str:
    title = f"{language.text(_TITLES[check.outcome])}: {language.text(check.name)}"
    return f"::{_LEVELS[check.outcome]} title={_property(title)}::{_escaped(language.text(check.sentence))}"


def _escaped(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def add_summary(page: str, environment: Mapping[str, str]) -> None:
    """Add *page*, the comparison as Markdown, to the job's summary if *environment* names its file. Raises BadInput."""
    path = environment.get(SUMMARY_VARIABLE)
    if not path:
        return
    try:
        with open(Path(path), "a", encoding="utf-8") as file:
            file.write(f"{page}\n")
    except OSError as error:
        raise BadInput(
            "{variable} is {path}, which cannot be written: {cause}.",
            variable=SUMMARY_VARIABLE, path=path, cause=str(error.strerror),
        ) from error  # fmt: skip

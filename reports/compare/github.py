"""A comparison for GitHub: annotations as its runner reads them from a step's output, and the summary of the job.

Source: GitHub's documentation, "Workflow commands for GitHub Actions".
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import BadInput
from reports.compare.checks import Check
from reports.compare.runs import Compared
from reports.compare.text import compared_page

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
_LEVELS = {"slower": "error", "open": "error", "passed": "notice"}
_TITLES = {"slower": "Slower", "open": "No verdict", "passed": "Compared"}


def annotations(checks: Sequence[Check]) -> list[str]:
    """A workflow command for each cell: an error where the threshold is missed or says nothing, else a notice."""
    return [
        f"::{_LEVELS[check.outcome]} title={_property(f'{_TITLES[check.outcome]}: {check.name}')}"
        f"::{_escaped(check.sentence)}"
        for check in checks
    ]


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def add_summary(compared: Compared, titles: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Add the comparison as Markdown to the job's summary, where *environment* names its file. Raises BadInput."""
    path = environment.get(SUMMARY_VARIABLE)
    if not path:
        return
    try:
        with open(Path(path), "a", encoding="utf-8") as file:
            file.write(f"{compared_page(compared, titles)}\n")
    except OSError as error:
        raise BadInput(f"{SUMMARY_VARIABLE} is {path}, which cannot be written: {error.strerror}.") from error

"""--lang holds for all that a command prints: help, notes, questions, errors. The catalog here marks every message."""

import gettext
import re

import pytest

import commands
import runner
from commands import output
from core.languages import Language
from tests.tables import each_row


class Marked(gettext.NullTranslations):
    """A language in which every message stands between marks."""

    def gettext(self, message: str) -> str:
        return f"⟨{message}⟩"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟨{msgid2}⟩"


@pytest.fixture(autouse=True)
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "language", lambda name: Language(name, Marked()))


def unmarked(text: str) -> str:
    """What stands between no marks."""
    while re.search("⟨[^⟨⟩]*⟩", text):
        text = re.sub("⟨[^⟨⟩]*⟩", "", text)
    return text


@pytest.mark.parametrize("name", ["", *commands.NAMES])
def test_help_is_made_of_messages(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        runner.main([*filter(None, [name]), "--help", "all", "--lang", "zh"])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.err) == (0, "")
    words = re.findall(r"(?<![-\w])[a-z]{3,}", unmarked(printed.out.partition("⟨systems:⟩")[0]))
    assert [word for word in words if word not in ("all", "docs", "own", "service", *commands.NAMES)] == []


@each_row
def test_errors_are_messages(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main([*line.split(), "--lang=zh"]) == 2
    assert unmarked(capsys.readouterr().err).strip() == ""

"""Each test of a command prints in the language that it asks for, and in no other test's."""

import pytest

from commands.output import output


@pytest.fixture(autouse=True)
def own_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the language of this process after the test."""
    monkeypatch.setattr(output, "language", output.language)

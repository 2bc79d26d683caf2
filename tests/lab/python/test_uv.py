"""What uv says about a failure is quoted whole."""

import os
from pathlib import Path

import pytest

from lab.python import uv


@pytest.mark.skipif(uv.find() is None, reason="make setup has uv")
def test_the_cause_that_uv_names_is_a_whole_sentence_in_a_narrow_terminal(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("--no-index\nsqlalchemyy\n")
    arguments = ["pip", "compile", str(tmp_path / "requirements.txt")]
    _, failure = uv.run(arguments, 60.0, {**os.environ, "COLUMNS": "40"})
    assert str(failure) == (
        "Because sqlalchemyy was not found in the provided package locations and you require sqlalchemyy, we can "
        "conclude that your requirements are unsatisfiable"
    )

"""What is shown of values that are not kept, and where they come from."""

from pathlib import Path
from typing import Any

import pytest

from config.options import Given
from config.user_service import hidden as masks
from config.user_service.hidden import hidden, mask, mask_url
from config.user_service.service_options import masked_arguments
from core.messages import BadInput
from core.secret import Redactor, Secret, revealed
from tests.config.planning import COMMAND_LINE, planned, service_of
from tests.tables import each_row


@each_row
def test_names_stay_and_values_do_not(line: str) -> None:
    name, _, rest = line.partition(": ")
    text, _, shown = rest.partition(" ->")
    mask_of = getattr(masks, name)
    assert mask_of(text) == shown.strip()
    assert mask_of(shown.strip()) == shown.strip()


def test_a_variable_is_filled_in_and_shown_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "abc")
    text = hidden(Given(value="Bearer {env:TOKEN}", name="--header A"), mask)
    assert (str(text), revealed(text)) == ("Bearer {env:TOKEN}", "Bearer abc")
    monkeypatch.delenv("TOKEN")
    with pytest.raises(BadInput, match="TOKEN, which is not set"):
        hidden(Given(value="{env:TOKEN}", name="--header A"), mask)


@each_row
def test_a_key_of_a_file_is_not_called_by_a_flag_that_was_not_given(line: str, tmp_path: Path) -> None:
    request, _, said = line.partition(" -> ")
    path = tmp_path / "requests.yml"
    path.write_text(f"requests: [{request}]\n")
    with pytest.raises(BadInput) as failed:
        planned(f"{COMMAND_LINE} --requests {path}")
    assert f"{said} the environment variable UNSET" in str(failed.value)
    assert "--" not in str(failed.value).replace("--requests", "")


@pytest.mark.parametrize(("mask_of", "text"), [(mask, "..."), (mask, "Bearer ..."), (mask_url, "GET /x?key=...&a=")])
def test_a_command_in_which_values_were_left_out_is_not_run_as_it_is(mask_of: Any, text: str) -> None:
    with pytest.raises(BadInput, match=r'contains "\.\.\." in place of a secret value, which was not saved'):
        hidden(Given(value=text, name="x"), mask_of)


@each_row
def test_a_command_line_is_kept_without_values(line: str) -> None:
    given, _, kept = line.partition(" -> ")
    assert masked_arguments(given.split("|"), Redactor(["abcd"])) == kept.split("|")


@each_row
def test_an_expected_answer_that_repeats_a_secret_is_one(answer: str, is_secret: bool) -> None:
    service = service_of(planned(f"{COMMAND_LINE} --body secret --expect-json '{answer}'"))
    expected = service.requests.requests[0].expect_json
    assert isinstance(expected, Secret) if is_secret else expected == {"id": 3}

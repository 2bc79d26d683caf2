"""Messages: English by themselves, another language by its catalog, plain fields only, and their way through a file."""

import gettext
import json
from io import BytesIO
from typing import Any

import polib  # type: ignore[import-untyped]
import pytest

from core.languages import ENGLISH, Language
from core.messages import AND, LONGEST_TEXT, SEMICOLON, BadInput, Message, listed, message, plural, verbatim
from record.decode import Misfit, decoded, expect_words

CATALOG = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=1; plural=0;\\n"

msgid "{start}, {end}"
msgstr "{start}、{end}"

msgid "{start} and {end}"
msgstr "{start}和{end}"

msgid "{count} block"
msgid_plural "{count} blocks"
msgstr[0] "{count} 个区组"

msgid "{blocks}, seed {seed}"
msgstr "种子 {seed}，{blocks}"

msgid "broken {seed}"
msgstr "坏 {other}"
"""
CHINESE = Language("zh", gettext.GNUTranslations(BytesIO(polib.pofile(CATALOG).to_binary())))


def nested(msgid: str, depth: int) -> dict[str, Any]:
    """A message in a file, with *msgid* at each level and 50 characters in the innermost."""
    return {"msgid": msgid, "args": {"a": nested(msgid, depth - 1)}} if depth else {"msgid": "x" * 50}


def test_a_language_translates_messages_within_messages_and_rows_of_them() -> None:
    inner = plural("{count} block", "{count} blocks", count=3)
    assert CHINESE.text(message("{blocks}, seed {seed}", blocks=inner, seed=7)) == "种子 7，3 个区组"
    assert CHINESE.text(listed(["a", inner, "c"], last=AND)) == "a、3 个区组和c"
    assert ENGLISH.text(listed(["a", "b", "c"], last=AND)) == "a, b and c"
    assert ENGLISH.text(listed(["a", "b"], SEMICOLON)) == "a; b"
    assert ENGLISH.text(listed([])) == ""


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (message("leave {flag} out.", flag="--x"), "failed: leave --x out."),
        ("no full stop", "failed: no full stop."),
        (message("in {folder}", folder=".."), "failed: in ..."),  # a path keeps its points
        ("at ./.", "failed: at ./.."),
    ],
)
def test_a_sentence_within_a_sentence_brings_no_second_full_stop(end: str | Message, text: str) -> None:
    assert str(message("failed: {end}.", end=end)) == text
    assert str(message("{end} More.", end="This ends.")) == "This ends. More."


def test_what_a_catalog_lacks_or_has_broken_is_english() -> None:
    assert CHINESE.text(message("no such {thing}", thing="x")) == "no such x"
    assert CHINESE.text(message("broken {seed}", seed=7)) == "broken 7"


def test_braces_in_an_argument_are_text() -> None:
    assert str(BadInput("{value!r} is not a port.", value="{x}")) == "'{x}' is not a port."
    assert str(verbatim("{0.__class__}")) == "{0.__class__}"


def test_a_template_from_a_file_cannot_reach_into_its_arguments() -> None:
    stored = {"msgid": "{text.__class__}", "args": {"text": "x"}}
    with pytest.raises(KeyError):
        str(Message.from_json(stored))


@pytest.mark.parametrize("depth", [2, 12])
@pytest.mark.parametrize("msgid", ["{a}" * 100, "{a!r}" * 100, "{a:>9}" * 100])
def test_a_text_whose_arguments_repeat_is_cut_while_it_is_made(msgid: str, depth: int) -> None:
    stored = nested(msgid, depth)
    made = Message.from_json(stored)
    assert max(len(str(made)), len(CHINESE.text(made))) <= LONGEST_TEXT
    with pytest.raises(Misfit, match="a message of less than 65536 characters"):
        expect_words(made, "reason")
    for claimed in (stored, {**stored, "text": "short"}):
        with pytest.raises(Misfit, match="65536"):
            decoded(claimed, Message)


def test_a_message_comes_back_from_json_and_translates_as_before() -> None:
    made = message(
        "{blocks}, seed {seed}",
        code="blocks",
        blocks=listed([plural("{count} block", "{count} blocks", count=2), "x"], last=AND),
        seed=7,
    )
    back = Message.from_json(json.loads(json.dumps(made.to_json())))
    assert (str(back), back.code) == ("2 blocks and x, seed 7", "blocks")
    assert CHINESE.text(back) == "种子 7，2 个区组和x"

"""Secrets that come back, whole, in part or cut, are taken out of texts and messages."""

import json

import pytest

from config.user_service.hidden import mask_url, mask_userinfo
from core.messages import message, verbatim
from core.secret import Redactor, Secret, for_file, from_file, line_for_child, secrets_in
from tests.tables import each_row

TOKEN = "Sw0rdf1sh-Tr0mb0ne"


@each_row
def test_a_secret_is_taken_out_in_every_form(line: str) -> None:
    secret, text, shown = line.split(" | ")
    assert Redactor([secret.replace(r"\n", "\n")]).text(text) == shown


def test_a_text_was_long_enough_to_be_cut_if_it_was_so_before_its_secrets_were_taken_out() -> None:
    text = f"{TOKEN} was refused, {TOKEN[:7]}"
    assert Redactor([TOKEN], len(text)).text(text) == "... was refused, ..."
    assert Redactor([TOKEN], len(text) + 1).text(text) == f"... was refused, {TOKEN[:7]}"


@each_row
def test_user_information_of_any_url_is_taken_out(information: str) -> None:
    text = f"index https://{information}@pypi.example/simple, then a@b"
    assert Redactor(()).text(text) == "index https://...@pypi.example/simple, then a@b"
    masked = mask_url(f"postgres://{information}@db/x?key=value")
    assert (masked, mask_userinfo(text)) == ("postgres://...@db/x?key=...", Redactor(()).text(text))


@each_row
def test_other_texts_with_an_at_sign_stay(text: str) -> None:
    assert Redactor(()).text(text) == text


def test_a_long_text_of_slashes_takes_no_time() -> None:
    assert Redactor(()).text("//a:" * 50_000)


def test_a_message_keeps_its_id_and_loses_secrets_and_stored_text() -> None:
    said = message("It said {what}: {why}", what=verbatim(TOKEN), why=f"x {TOKEN}", count=3)
    from_child = type(said).from_json(said.to_json())
    clean = Redactor([TOKEN]).message(from_child)
    assert (clean.msgid, str(clean), clean.args["count"]) == (said.msgid, "It said ...: x ...", 3)
    assert TOKEN not in str(clean.to_json())


def test_a_secret_is_seen_only_by_a_child() -> None:
    secret = Secret("Bearer ...", name="--header A", value=f"Bearer {TOKEN}")
    line = {"headers": {"A": secret}, "other": [1, None]}
    assert TOKEN not in f"{secret} {secret!r} {line} {for_file(line)}"
    assert TOKEN in line_for_child(line)
    with pytest.raises(TypeError):
        json.dumps(line)


def test_a_secret_of_a_file_is_unknown_until_its_value_is_given() -> None:
    secret = Secret("...", name="--body", value=TOKEN)
    (stored,) = secrets_in(from_file(for_file({"body": secret})))
    with pytest.raises(ValueError, match="--body is not known"):
        stored.reveal()
    (again,) = secrets_in(from_file(for_file({"body": secret}), [secret]))
    assert (again.reveal(), again) == (TOKEN, secret)

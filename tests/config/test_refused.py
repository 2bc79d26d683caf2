"""What is refused in flags and in each kind of file: refused.txt has what is given, and words of the error."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from config.host_options import parse_hosts
from config.load import load_plan
from config.options import Given
from config.run_plan import find_system
from config.user_service.request_options import load_requests
from core.messages import BadInput
from tests.config.planning import BARE, COMMAND_LINE, NAMED, OWN, SHAPED_LINE, SMALL, planned

HOSTS = "a: {via: here, address: 10.0.0.1}\nb: {ssh: 'me@loader:2222', address: 10.0.0.2}\n"
SHORT = {
    "COMMAND": COMMAND_LINE,
    "SHAPED": SHAPED_LINE,
    "HOSTS": "--hosts hosts.yaml --services-on a --clients-on b --duration 1",
    "NAMED": NAMED,
    "BARE": BARE,
    "SMALL": SMALL,
    "OWN": OWN,
}
ODD_FLAGS = [
    [f"--blocks {'9' * 5000}", "--blocks is 9"],
    [f"COMMAND --requirements {'x' * 300}", "File name too long"],
    [f"COMMAND --directory {'x' * 300}", "it must be an existing folder"],
    ["COMMAND --request 'GET /\x00'", "request is"],
    ["COMMAND --header 'A: \ud800'", "header is"],
    ["COMMAND --body \ud800", "UTF-8"],
]


ODD_FILES = {
    "plans": [[f"blocks: {'9' * 5000}\nrows: [{{system: 1}}]", "blocks is"]],
    "requests": [[f"- request: GET /a\n  expect_json: '{'[' * 100_000}'", "it must be JSON such as"]],
}
FILES: Mapping[str, tuple[str, Callable[[Path], object]]] = {  # the name of a file of each kind, and what reads it
    "plans": ("mine.yaml", load_plan),
    "requests": ("requests.yaml", load_requests),
    "hosts": ("hosts.yaml", lambda file: parse_hosts(Given(value=str(file), name="--hosts"))),
    "system files": ("my_system.py", lambda file: find_system(str(file))),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a file of hosts and one of requests."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hosts.yaml").write_text(HOSTS)
    (tmp_path / "asked.yml").write_text("[{request: POST /, body_file: asked.yml}]")
    return tmp_path


def refused(section: str) -> list[list[str]]:
    """Return the rows of a section of refused.txt, in which a line may stand for several."""
    text = Path(__file__).with_name("refused.txt").read_text("utf-8")
    rows = text.partition(f"[{section}]\n")[2].partition("\n\n")[0].splitlines()
    return [row.replace("\\n", "\n").split(" -> ") for row in rows]


def expanded(text: str) -> str:
    for short, whole in SHORT.items():
        text = text.replace(short, whole)
    return text


def name_of(row: list[str]) -> str:
    return ascii(row[0][:60])


@pytest.mark.parametrize("row", [*refused("flags"), *ODD_FLAGS], ids=name_of)
def test_a_bad_flag_is_an_error_that_names_flag_value_and_what_is_accepted(row: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        planned(expanded(row[0]))
    assert row[1] in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "row"), [(kind, row) for kind in FILES for row in [*refused(kind), *ODD_FILES.get(kind, [])]]
)
def test_a_wrong_file_is_told_in_one_line_with_its_path_and_what_is_wrong(
    kind: str, row: list[str], folder: Path
) -> None:
    name, read = FILES[kind]
    (folder / name).write_text(expanded(row[0]))
    with pytest.raises(BadInput) as caught:
        read(folder / name)
    said = str(caught.value)
    assert row[1] in said
    assert str(folder / name) in said
    assert "\n" not in said
    assert "hunter2" not in said

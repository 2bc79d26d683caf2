"""A result.json that was damaged: no flipped bit passes unnoticed, and what is left out or refused is named."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.messages import BadInput
from lab.places import REPOSITORY
from record.run_file import RunFile, load
from record.saved_run import FILE_NAME, CellResult
from tests.campaign.sizes import SEED, size
from tests.campaign.values import TEXTS, is_json
from tests.reports.sample import FASTER

EXAMPLE = REPOSITORY / "docs" / "example-run" / FILE_NAME
CASES = size(200, 100_000)

WHOLE = load(EXAMPLE)
OTHERS = [json.loads(raw) for raw in TEXTS if is_json(raw)]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four real cells, as they are saved today; their folder."""
    folder = tmp_path_factory.mktemp("run")
    RunFile(folder).save(replace(WHOLE, cells=WHOLE.cells[:4]))
    return folder


def check_noticed(folder: Path) -> None:
    """The damage to the run in *folder* is an error that names the file, or cells that are named and left out.

    No cell that is read differs from what was saved.
    """
    cells: list[CellResult] = []
    try:
        run = load(folder)
        cells, said = run.cells, " ".join(map(str, [folder / FILE_NAME, *run.damaged])) if run.damaged else ""
    except BadInput as error:
        said = str(error)
    assert str(folder / FILE_NAME) in said
    assert all(cell in WHOLE.cells for cell in cells)
    assert len(said) < 2500


def flipped(content: bytes, place: int, bit: int) -> bytes:
    """That bit of the byte there is another."""
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def flipped_anywhere(content: bytes, rng: random.Random) -> bytes:
    return flipped(content, rng.randrange(len(content)), rng.randrange(8))


def truncated(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def without_a_part(content: bytes, rng: random.Random) -> bytes:
    """A part is missing, or zero, such as a block of the disk."""
    start = rng.randrange(len(content) - 1)
    part = content[start : start + rng.randint(1, 4096)]
    filling = rng.choice([b"", bytes(len(part))])
    return content[:start] + filling + content[start + len(part) :]


def without_a_line(content: bytes, rng: random.Random) -> bytes:
    """A whole cell is missing, and the rest is JSON all the same."""
    whole = json.loads(content)
    del whole["cells"][rng.randrange(len(whole["cells"]))]
    return json.dumps(whole).encode()


def another_value(content: bytes, rng: random.Random) -> bytes:
    """A value anywhere is another, and the rest is JSON all the same."""
    whole = json.loads(content)
    owner, key = rng.choice(places(whole))
    other = rng.choice([value for value in OTHERS if json.dumps(value) != json.dumps(owner[key])])
    owner[key] = other
    return json.dumps(whole, separators=(",", ":")).encode()


def places(value: Any) -> list[tuple[Any, Any]]:
    """(object or list, key) of every value in *value*."""
    if not isinstance(value, dict | list):
        return []
    found: list[tuple[Any, Any]] = []
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        found += [(value, key), *places(value[key])]
    return found


DAMAGES = {flipped_anywhere: 75, truncated: 10, without_a_part: 9, without_a_line: 1, another_value: 5}


def test_no_damage_passes_unnoticed(saved: Path, tmp_path: Path) -> None:
    rng, content = random.Random(SEED), (saved / FILE_NAME).read_bytes()
    for damage in rng.choices(list(DAMAGES), list(DAMAGES.values()), k=CASES):
        (tmp_path / FILE_NAME).write_bytes(damage(content, rng))
        check_noticed(tmp_path)


def test_every_byte_counts_where_a_file_is_small(tmp_path: Path) -> None:
    RunFile(tmp_path).save(replace(WHOLE, cells=WHOLE.cells[:1], comparisons=[]))
    content = (tmp_path / FILE_NAME).read_bytes()
    for place in range(0, len(content), size(397, 1)):
        for bit in range(8):
            (tmp_path / FILE_NAME).write_bytes(flipped(content, place, bit))
            check_noticed(tmp_path)


def test_a_number_that_json_does_not_have_is_saved_as_null(tmp_path: Path) -> None:
    RunFile(tmp_path).save(replace(WHOLE, cells=[], comparisons=[replace(FASTER, low=float("-inf"), high=1.5)]))
    assert load(tmp_path).comparisons == [replace(FASTER, low=None, high=1.5)]

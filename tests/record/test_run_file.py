"""result.json: comes back as it was written, survives a killed writer, and says what is wrong with a broken one."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.messages import BadInput, message, plural, verbatim
from lab.places import REPOSITORY
from record.run_file import RunFile, load, plain, to_json
from record.saved_plan import Machine
from record.saved_run import FILE_NAME, CellResult, Run
from tests.reports.sample import FASTER, cell_of, measured, run_of
from tests.tables import table

ABSENT = "absent"
PLAN: Any = run_of([]).plan
PROFILE: Any = {"kind": "locks", "system": "1", "runtime": "3.14", "sentence": {}}
NESTED: Any = {"name": "f", "value": 1}
for _ in range(200):
    NESTED = {"name": "f", "value": 1, "children": [NESTED]}
LAUGHS: Any = {"msgid": "x" * 50}
for _ in range(3):
    LAUGHS = {"msgid": "{a}" * 100, "args": {"a": LAUGHS}}
LAUGHS["text"] = "short"
KILLED_WHILE_WRITING = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from record.run_file import RunFile, load

run = load(Path(sys.argv[1]))
run.cells *= 2
setattr(os, sys.argv[2], lambda *given: os.kill(os.getpid(), signal.SIGKILL))
RunFile(Path(sys.argv[1])).save(run)
"""


def cell(number: int = 1, **more: Any) -> CellResult:
    made = measured(cell_of("4", "3.11", {"REUSE_CLIENT": True, "NUM_MAX_CONNS": None}), number, [24_000])
    return replace(made, **{"cell_id": f"1-3.11-{number:08x}", "errors": {"503": 2}, **more})


def run(*cells: CellResult, **more: Any) -> Run:
    return replace(
        run_of([]), **{"cells": [*cells], "plan": PLAN, "seed": 2**62, "machine": Machine(cpu="a CPU ™"), **more}
    )


def written(folder: Path, text: str) -> Path:
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return folder


KILLED = message("{child} was killed: {output}", code="not_ready", child=verbatim("Service 1"), output="here\n€")
SWAPPED = replace(plural("{count} page", "{count} pages", count=3), code="swapping")


@pytest.mark.parametrize("cells", [(), (cell(),), (cell(1), cell(2, status="failed", reason=KILLED))])
def test_a_run_comes_back_as_it_was_saved(tmp_path: Path, cells: tuple[CellResult, ...]) -> None:
    missing = {"3.14": message("Runtime {name} was not found.", name="3.14")}
    saved = run(*cells, missing=missing, spent_ns={"cells": 5})
    RunFile(tmp_path).save(saved)
    assert load(tmp_path) == saved
    assert load(tmp_path / FILE_NAME) == saved


WHOLE = st.integers(-(2**63), 2**63 - 1)


@given(st.text(), st.dictionaries(st.text().map("{} of ours".format), WHOLE | st.text() | st.none() | st.booleans()))
def test_any_text_and_plain_values_come_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, values: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    saved = run(cell(reason=verbatim(text), params=values, disturbances=[SWAPPED]))
    RunFile(folder).save(saved)
    assert load(folder) == saved


def test_a_file_name_that_is_not_utf8_is_saved_with_another_character(tmp_path: Path) -> None:
    RunFile(tmp_path).save(run(command=["runner.py", "--out", os.fsdecode(b"/tmp/\xff")]))
    assert load(tmp_path).command[-1] == "/tmp/?"


def test_a_rename_is_flushed_too_so_that_a_power_cut_does_not_undo_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[tuple[bool, bool]] = []

    def fsync(descriptor: int) -> None:
        flushed.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), (tmp_path / FILE_NAME).exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    RunFile(tmp_path).save(run())
    assert flushed == [(False, False), (True, True)]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_process_that_is_killed_before_the_replace_leaves_the_old_file_whole(tmp_path: Path, call: str) -> None:
    old = run(cell(1))
    RunFile(tmp_path).save(old)
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, tmp_path, call], cwd=REPOSITORY, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert load(tmp_path) == old


# The content of a file, with Python's escapes, and what is said of it.
NO_RUNS = r"""
-> is not JSON
{ -> is not JSON
{"schema": 1}x -> is not JSON
{"schema": 1, "run_id": "\xff"} -> is not JSON
{"cells": [], "schema": 3} -> this version of gilscope reads schema 4
{"cells": [], "schema": 5} -> this version of gilscope reads schema 4
5 -> has schema None
{"cells": [], "schema": "4"} -> has schema '4'"""


@pytest.mark.parametrize(
    "line", [*NO_RUNS.split("\n")[1:], f"{'[' * 200_000} -> is not JSON"], ids=lambda line: line[:24]
)
def test_what_is_not_json_or_has_an_unknown_schema_is_an_error_that_says_so(tmp_path: Path, line: str) -> None:
    content, _, said = line.partition("-> ")
    (tmp_path / FILE_NAME).write_bytes(content.rstrip().replace(r"\xff", "\xff").encode("latin-1"))
    with pytest.raises(BadInput, match=said):
        load(tmp_path)


ROWS = table(__file__)
TOO_LONG = "a message of less than 65536 characters"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        *ROWS["heads"],
        ({"profiles": [{**PROFILE, "tree": NESTED}]}, "a value with less nesting"),
        ({"plan": {**plain(PLAN), "own": {"name": 5}}}, "plan.own.name is 5, but must be `str`"),
        ({"profiles": [{**PROFILE, "params": {"NUM_CLIENTS": "all"}}]}, "profiles[0].params.NUM_CLIENTS is 'all'"),
        ({"profiles": [{**PROFILE, "sentence": LAUGHS}]}, "profiles[0].sentence.msgid is '{a}"),
        ({"comparisons": [{**plain(FASTER), "notes": [LAUGHS]}]}, TOO_LONG),
        ({"missing": {"3.11": LAUGHS}}, "missing.3.11.msgid is '{a}"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_head_with_other_values_or_without_a_key_is_an_error_that_names_it(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    whole = {name: value for name, value in (to_json(run()) | change).items() if value != ABSENT}
    with pytest.raises(BadInput, match=re.escape(said)):
        load(written(tmp_path, json.dumps(whole)))


@pytest.mark.parametrize(
    ("change", "said"),
    [*ROWS["cells"], ({"reason": LAUGHS}, TOO_LONG), ({"disturbances": [LAUGHS]}, TOO_LONG)],
    ids=lambda value: str(value)[:40],
)
def test_a_cell_that_does_not_fit_is_named_and_left_out_and_the_others_are_read(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    whole = to_json(run(cell(1), cell(2), cell(3)))
    whole["cells"][1] |= change
    read = load(written(tmp_path, json.dumps(whole)))
    assert [one.block for one in read.cells] == [1, 3]
    (damaged,) = map(str, read.damaged)
    assert damaged.startswith("Cell 2 of the file (1-3.11-00000002, block 2) is damaged and was left out: ")
    assert said in damaged


def test_a_cell_with_a_right_checksum_is_checked_all_the_same(tmp_path: Path) -> None:
    RunFile(tmp_path).save(run(cell(1), cell(2, params={"NUM_CLIENTS": "all"})))
    read = load(tmp_path)
    assert [one.block for one in read.cells] == [1]
    assert "NUM_CLIENTS" in str(read.damaged[0])

"""result.json: comes back as it was written, survives a killed writer, and says what is wrong with a broken one."""

import json
import os
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.histogram import Histogram
from core.messages import message, plural, verbatim
from core.result import COMPARISONS, FILE_NAME, CellResult, Run, RunFile, keep_comparisons, load, to_json
from core.schema import SCHEMA

REPOSITORY = Path(__file__).resolve().parents[2]
ABSENT = "absent"
KILLED_WHILE_WRITING = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from core.result import RunFile, load

run = load(Path(sys.argv[1]))
run.cells *= 2
setattr(os, sys.argv[2], lambda *given: os.kill(os.getpid(), signal.SIGKILL))
RunFile(Path(sys.argv[1])).save(run)
"""


def cell(number: int = 1, **more: Any) -> CellResult:
    latency = Histogram()
    latency.record(24_000 + number)
    known: dict[str, Any] = {
        "cell_id": f"1-3.11-{number:08x}",
        "system": "1",
        "runtime": "3.11",
        "arm": "3.11",
        "block": number,
        "params": {"NUM_MAX_CONNS": None, "REUSE_CLIENT": True, "TRANSPORT": "unix", "CALC_TARGET": 1000},
        "status": "ok",
        "errors": {"503": 2},
        "latency": latency.to_json(),
        "clients": [{"client_id": 0, "completion_ns": 5}],
    }
    return CellResult(**known | more)


def run(*cells: CellResult, **more: Any) -> Run:
    known: dict[str, Any] = {
        "run_id": "20250101T000000-quick-abcd",
        "started_at": "2025-01-01T00:00:00+00:00",
        "seed": 2**63,
        "command": ["runner.py", "--experiment", "quick"],
        "plan": {"name": "quick", "blocks": 3, "scale": 1.0, "runtimes": ["3.14t"], "rows": []},
        "machine": {"cpu": "a CPU ™", "cores": 2},
        "runtimes": {"3.11": {"version": "3.11.9"}},
        "cells": list(cells),
    }
    return Run(**known | more)


def of_schema_2(saved: Run) -> dict[str, Any]:
    """*saved* as a file of schema 2, which had no checksums, held it."""
    whole = to_json(saved) | {"schema": 2}
    for part in (whole, *whole["cells"]):
        del part["checksum"]
    return whole


def written(folder: Path, text: str) -> Path:
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return folder


KILLED = message("{child} was killed: {output}", code="not_ready", child=verbatim("Service 1"), output="here\n€")
SWAPPED = replace(plural("{count} page", "{count} pages", count=3), code="swapping")


@pytest.mark.parametrize("cells", [(), (cell(),), (cell(1), cell(2, status="failed", reason=KILLED))])
def test_a_run_comes_back_as_it_was_saved(tmp_path: Path, cells: tuple[CellResult, ...]) -> None:
    missing = {"3.14": message("Runtime {name} was not found.", name="3.14")}
    not_utf8 = ["runner.py", "--out", os.fsdecode(b"/tmp/\xff")]
    saved = run(*cells, missing=missing, spent_ns={"cells": 5}, command=not_utf8)
    RunFile(tmp_path).save(saved)
    assert load(tmp_path) == saved
    assert load(tmp_path / FILE_NAME) == saved


@given(
    st.text(),
    st.dictionaries(st.text().map("{} of ours".format), st.integers() | st.text() | st.none() | st.booleans()),
)
def test_any_text_and_plain_values_come_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, values: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    saved = run(cell(reason=verbatim(text), params=values, disturbances=[SWAPPED]), machine=values)
    RunFile(folder).save(saved)
    assert load(folder) == saved


def test_every_save_holds_all_cells_so_far_in_their_order_in_one_file(tmp_path: Path) -> None:
    growing, file = run(), RunFile(tmp_path)
    for number in range(1, 4):
        growing.cells.append(cell(number))
        file.save(growing)
        assert [one.block for one in load(tmp_path).cells] == list(range(1, number + 1))
    growing.finished_at = "2025-01-01T01:00:00+00:00"
    growing.comparisons.append({"verdict": "equivalent"})
    file.save(growing)
    assert load(tmp_path) == growing
    assert os.listdir(tmp_path) == [FILE_NAME]
    resumed = load(tmp_path)
    resumed.cells.append(cell(4))
    RunFile(tmp_path).save(resumed)
    assert [one.block for one in load(tmp_path).cells] == [1, 2, 3, 4]


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


def test_a_disk_that_is_full_is_an_error_that_names_file_and_remedy_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    growing, file = run(cell(1)), RunFile(tmp_path)
    file.save(growing)
    growing.cells.append(cell(2))
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(BadInput, match=r"result\.json cannot be written: No space left on device"):
            file.save(growing)
    assert [one.block for one in load(tmp_path).cells] == [1]
    file.save(growing)
    assert [one.block for one in load(tmp_path).cells] == [1, 2]


def test_a_folder_that_cannot_be_made_or_holds_no_run_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"file/result\.json cannot be written: "):
        RunFile(tmp_path / "file").save(run())
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(BadInput, match=f"{folder}.* cannot be read: No such file"):
            load(folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *[
            (text, "is not JSON")
            for text in (b"", b"{", b"not json", b'{"schema": 1', b'{"schema": 1}x', b"[" * 200_000)
        ],
        (b'{"schema": 1, "run_id": "\xff"}', "is not JSON"),
        *[(text, "has schema None; this version reads schema 1, 2, 3") for text in (b"{}", b"5")],
        (b'{"schema": 0}', "has schema 0"),
        (b'{"schema": "1"}', "has schema '1'"),
        (b'{"schema": 4}', "a newer gilscope wrote"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_what_is_not_json_or_has_an_unknown_schema_is_an_error_that_says_so(
    tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(BadInput, match=said):
        load(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        *[{"cells": 5}, {"cells": [5]}, {"cells": [{}]}, {"cells": [{"cell_id": "x", "more": 1}]}],
        *[{"schema": 1, "cells": [5]}, {"missing": 5}, {"plan": 5}],
        *[{"cells": ABSENT}, {"run_id": ABSENT}, {"plan": ABSENT}],
    ],
    ids=repr,
)
def test_a_file_with_other_values_or_without_a_key_is_an_error(tmp_path: Path, change: dict[str, Any]) -> None:
    whole = {name: value for name, value in (to_json(run()) | change).items() if value != ABSENT}
    with pytest.raises(BadInput, match=r"is not a whole result\.json"):
        load(written(tmp_path, json.dumps(whole)))


def test_a_file_of_schema_1_has_its_texts_as_messages_and_the_codes_of_what_disturbed_it(tmp_path: Path) -> None:
    disturbances = ["load: 3.1", "held by the quota: 5 ms in 0.5 s", "something else: 1"]
    old = of_schema_2(run(cell())) | {"schema": 1, "missing": {"3.14": "Get it."}}
    old["cells"][0] |= {"status": "failed", "reason": "killed {here}", "disturbances": disturbances}
    run_of_1 = load(written(tmp_path, json.dumps(old)))
    (only,) = run_of_1.cells
    assert (str(only.reason), run_of_1.missing) == ("killed {here}", {"3.14": verbatim("Get it.")})
    assert [str(disturbance) for disturbance in only.disturbances] == disturbances
    assert [disturbance.code for disturbance in only.disturbances] == ["load", "quota", ""]


@pytest.mark.parametrize("file", ["docs/example-run/result.json", "tests/commands/early-result.json"])
def test_a_run_that_schema_1_saved_is_read_whole_and_saved_as_todays_schema(tmp_path: Path, file: str) -> None:
    old, saved = json.loads((REPOSITORY / file).read_text(encoding="utf-8")), load(REPOSITORY / file)
    assert (old["schema"], saved.schema) == (1, SCHEMA)
    RunFile(tmp_path).save(saved)
    assert load(tmp_path) == saved


def test_keys_that_this_version_does_not_know_are_left_out(tmp_path: Path) -> None:
    whole = of_schema_2(run(cell(1)))
    whole["cells"][0]["later"] = 1
    assert load(written(tmp_path, json.dumps({**whole, "later": {}}))) == run(cell(1))


def test_comparisons_are_kept_beside_the_file_which_does_not_change(tmp_path: Path) -> None:
    RunFile(tmp_path).save(run(cell(1), cell(2)))
    before = (tmp_path / FILE_NAME).read_bytes()
    keep_comparisons(tmp_path / FILE_NAME, run(cell(1), cell(2), comparisons=[{"verdict": "faster"}]))
    assert (tmp_path / FILE_NAME).read_bytes() == before
    assert load(tmp_path) == run(cell(1), cell(2), comparisons=[{"verdict": "faster"}])


def test_comparisons_of_fewer_cells_of_another_run_or_damaged_ones_do_not_count(tmp_path: Path) -> None:
    RunFile(tmp_path).save(run(cell(1), cell(2)))
    for other in (run(cell(1)), run(cell(1), cell(2), run_id="another")):
        other.comparisons = [{"verdict": "faster"}]
        keep_comparisons(tmp_path, other)
        assert load(tmp_path).comparisons == []
    for text in ("", "[]", "[" * 100_000, '{"run_id":', "\udcff"):
        (tmp_path / COMPARISONS).write_bytes(text.encode(errors="surrogateescape"))
        assert load(tmp_path).comparisons == []

"""What the docs show is really so: children are spoken to, and system 5 is put into a copy and started."""

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import systems
from core.cell import Cell
from core.method import Method
from lab.run.cell_processes import Bench
from lab.run.children import Child
from lab.run.measure import measure
from lab.run.measured_runtimes import Runtime
from tests.contract.speaking import Spoken
from tests.docs.pages import DOCS, NEW_FLAG, blocks, lines_of, ours, system_5
from tests.experiments.test_removed import copy_packages, python


def said(who: str, direction: str) -> list[Any]:
    """The lines of child-contract.md that *who* reads (<) or writes (>)."""
    return [line for way, line in lines_of(who) if way == direction]


def shape(value: Any) -> Any:
    """The keys of a JSON value and the kinds of what is in it. Keys that are numbers count as one."""
    if isinstance(value, dict):
        return {"number" if key.isdigit() else key: shape(one) for key, one in value.items()}
    return [shape(one) for one in value[:1]] if isinstance(value, list) else type(value).__name__


def test_the_orchestrator_and_its_children_say_what_the_contract_shows(
    any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = said("client", "<")[0]
    reads = systems.find("2").parameters
    cell = Cell.build(system="2", runtime=str(any_runtime.name), reads=reads, values=shown["params"])
    spoken: list[tuple[str, str, Any]] = []

    def note(name: str, direction: str) -> None:
        method = getattr(Child, name)

        def noted(child: Child, *told: Any) -> Any:
            answer = method(child, *told)
            (line,) = told or (answer,)
            if line is not None:
                spoken.append((str(child.label).partition(" ")[0].lower(), direction, json.loads(json.dumps(line))))
            return answer

        monkeypatch.setattr(Child, name, noted)

    note("tell", "<")
    note("line", ">")
    warmed = replace(bench, method=Method.from_json(shown["method"]))
    assert measure(cell, systems.find("2"), 1, warmed).answered == cell.requests
    for who, direction in product(("service", "client"), "<>"):
        lines = [line for *way, line in spoken if way == [who, direction]]
        assert list(map(shape, lines)) == list(map(shape, said(who, direction)))
    assert [word for _, _, word in spoken if isinstance(word, str)] == ["warm", "reset", "go"]


def test_the_standard_library_can_speak_to_a_service(
    any_runtime: Runtime, short_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = blocks(DOCS / "child-contract.md", "python")
    with Spoken(any_runtime.command(systems.find("2"), "service")) as service:
        service.tell({**said("service", "<")[0], "folder": str(short_folder)})
        (address,) = service.line()["addresses"]
        exec(re.sub(r'Client\("[^"]+"\)', f"Client({address!r})", code), {})
    assert json.loads(capsys.readouterr().out)["msg"] == "1000"


def test_a_parameter_is_a_declaration_its_name_and_the_line_that_reads_it(any_runtime: Runtime, tmp_path: Path) -> None:
    page = DOCS / "add-a-system.md"
    declaration, line = (indent(text, "    ") for text in blocks(page, "python")[-2:])
    (reads,) = re.findall(r"`(reads=\(.*?\))`", page.read_text())
    file = system_5().replace('reads=("TRANSPORT",)', reads)
    copy_packages(tmp_path)
    system = file.replace("    return ThreadService(", f"{line}    return ThreadService(")
    (tmp_path / "systems" / "s5_thread.py").write_text(system)
    cell = tmp_path / "core" / "cell.py"
    cell.write_text(re.sub(r"(    payload_bytes: )", rf"{declaration}\g<1>", cell.read_text()))
    (words,) = [words for words in ours(page) if NEW_FLAG in words]
    runtime = ["--runtime", str(any_runtime.name)]
    planned = python(tmp_path, "runner.py", *words, *runtime, "--json")
    assert [row["params"]["THREAD_STACK_KIB"] for row in json.loads(planned)["rows"]] == [64, 256, 1024]
    one_cell = ["--system", "5", *runtime, "--num-api-services", "1", "--num-clients", "1", NEW_FLAG, "256"]
    short = ["--num-requests-per-client", "10", "--blocks", "1", "--quiet", "--out", str(tmp_path / "run")]
    python(tmp_path, "runner.py", *one_cell, *short)

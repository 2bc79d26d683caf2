"""The command line as it is typed: what is wrong ends with 2 and one clear line, and what only shows runs nothing."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import commands
import runner
from config import flags
from config.run_plan import Plan
from core.runtime import RuntimeName, facts
from lab.machine import host
from lab.places import REPOSITORY
from record.decode import decoded
from record.run_file import RunFile
from record.saved_plan import Machine, SavedPlan
from record.saved_run import FILE_NAME
from tests.record.test_run_file import run

RUNNER = REPOSITORY / "runner.py"
OWN_EXECUTABLE = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
OWN_NAME = f"3.{sys.version_info.minor}" + ("t" if facts()["gil_disabled_build"] else "")
OWN = ("--runtime", OWN_NAME, "--interpreter", f"{OWN_NAME}={OWN_EXECUTABLE}")
ABSENT = "3.98"


def gilscope(*arguments: str, folder: Path = REPOSITORY, **variables: str) -> subprocess.CompletedProcess[str]:
    """`python runner.py arguments...`, with nothing on its standard input and no terminal."""
    return subprocess.run(
        [sys.executable, RUNNER, *arguments],
        check=False,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=300,
        cwd=folder,
        env=os.environ | variables,
    )


Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Runs a command in this process: its exit status, what it and its children printed and complained of."""
    monkeypatch.setattr(runner, "SIGNALS", ())  # pytest keeps its handlers

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            status = runner.main(arguments)
        except SystemExit as end:  # of --help
            status = int(end.code or 0)
        return status, *capfd.readouterr()

    return run


def shown(typed: Typed, *arguments: str) -> str:
    """What a command that must end well prints."""
    status, out, err = typed(*arguments)
    assert (status, err) == (0, "")
    return out


def complaint(typed: Typed, *arguments: str) -> str:
    """The one error of a command that cannot be carried out, which is the last thing that is said."""
    status, out, err = typed(*arguments)
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert (status, out, err.endswith(f"{line}\n")) == (2, "", True)
    return line


def saved_run(folder: Path, **more: Any) -> Path:
    plan = Plan(name="p", rows=(), runtimes=(RuntimeName(OWN_NAME),)).saved()
    RunFile(folder).save(run(**{"plan": plan, "machine": Machine(**host.facts()), **more}))
    return folder


def test_help_and_the_list_of_runs_import_no_library_for_figures_and_few_modules_of_ours(tmp_path: Path) -> None:
    saved_run(tmp_path)
    for arguments in (["--help"], ["list", str(tmp_path)]):
        imported = {*gilscope(*arguments, PYTHONPROFILEIMPORTTIME="1").stderr.split()}
        assert {"matplotlib", "numpy", "scipy"}.isdisjoint(imported)
        assert "rich" not in imported or arguments != ["--help"]
        ours = {name for name in imported if (REPOSITORY / f"{name.replace('.', '/')}.py").is_file()}
        assert len(ours) < 50


def test_help_fits_on_a_page_with_the_options_that_people_use(typed: Typed) -> None:
    page = shown(typed, "--help").splitlines()
    assert len(page) <= 60
    assert max(map(len, page)) <= 80
    for name in {*flags.MOST_USED} - {"seconds"}:  # that is an option of stress
        assert any(line.strip().startswith(f"--{name.replace('_', '-')}") for line in page)


def test_the_help_lists_all_arguments_under_one_heading(typed: Typed) -> None:
    page = shown(typed, "export", "--help")
    assert page.splitlines().count("arguments:") == 1
    assert page.index("  RUN  ") < page.index("  TO  ")


WORDS = {"{own}": " ".join(OWN), "{absent}": ABSENT, "{commands}": ", ".join(commands.NAMES), "{long}": "x" * 300}
REFUSED = Path(__file__).with_suffix(".yaml").read_text("utf-8")
for word, text in WORDS.items():
    REFUSED = REFUSED.replace(word, text)


@pytest.mark.parametrize(("line", "said"), yaml.safe_load(REFUSED).items(), ids=lambda value: value[:40])
def test_what_cannot_be_done_ends_with_2_and_says_why(typed: Typed, line: str, said: str) -> None:
    assert said in complaint(typed, *line.split())


def test_the_process_ends_with_2_and_one_line_and_no_traceback() -> None:
    done = gilscope("--num-api-services", os.fsdecode(b"\xff"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "is not valid UTF-8" in done.stderr
    assert done.stderr.count("\n") == 1


SECRET = "Sw0rdf1sh-Tr0mb0ne"
PREPARE = """--prepare "sh -c 'echo $DB_PASSWORD $DB_URL; exit 4'\""""
COMMAND = f"{{python}} -m none {{port}} --db=postgres://shop:p@{SECRET}/x@db"
SERVED = f"--service-command '{COMMAND}' --duration 1 {PREPARE}"
TELLING_APP = "--app telling:app --server waitress --env"
TELLING = (
    "import os\nraise RuntimeError(os.environ['DB_PASSWORD'] + ' for //me:' + os.environ['DB_PASSWORD'][:9] + '@db')"
)


LINES = f"""\
--env {SECRET}
--env ={SECRET}
--arm http://shop:{SECRET}@127.0.0.1/
--arm http://shop:p@{SECRET}/x@127.0.0.1/
--target ftp://shop:pa/{SECRET}@127.0.0.1/
--header 'Authorization: Bearer {SECRET}' --nothing
{TELLING_APP} DB_PASSWORD={SECRET}
{TELLING_APP} DB_PASSWORD={{env:SECRET}}
{SERVED} --env DB_PASSWORD={SECRET} --env DB_URL=//me:{SECRET}@x
{SERVED} --env DB_PASSWORD={{env:SECRET}} {WORDS["{own}"]}
--plan plan.yaml {PREPARE} {WORDS["{own}"]}"""


@pytest.mark.parametrize("line", LINES.splitlines())
def test_no_text_that_leaves_has_a_secret(
    line: str, typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECRET", SECRET)
    (tmp_path / "telling.py").write_text(TELLING)
    service = {"command": COMMAND, "environment": {"DB_PASSWORD": SECRET, "DB_URL": "//me:{env:SECRET}@x"}}
    (tmp_path / "plan.yaml").write_text(json.dumps({"service": service, "blocks": "1"}))
    status, out, err = typed(*shlex.split(line))
    assert status in (1, 2)
    assert "error: " in err
    assert SECRET[:9] not in out + err


def test_an_error_that_nobody_foresaw_has_its_traceback_and_no_secret(
    monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    def broken(arguments: Sequence[str]) -> int:
        raise ValueError(f"no {SECRET}")

    monkeypatch.setattr(commands, "find", lambda name: broken)
    status, _, said = typed("--env", f"DB_PASSWORD={SECRET}")
    assert status == 1
    assert said.startswith("error: this is a bug in gilscope, not in your input. ")
    assert "python runner.py ['--env', " in said
    assert said.endswith("ValueError: no ...\n")
    assert SECRET not in said


def test_a_folder_that_holds_a_run_or_cannot_be_made_is_not_written_to(typed: Typed, tmp_path: Path) -> None:
    before = (saved_run(tmp_path) / FILE_NAME).read_bytes()
    assert f"{tmp_path} already holds a run" in complaint(typed, "--system", "1", *OWN, "--out", str(tmp_path))
    before_its_import = complaint(typed, "--app", "no_such_module:app", *OWN, "--out", str(tmp_path))
    assert f"{tmp_path} already holds a run" in before_its_import
    assert (tmp_path / FILE_NAME).read_bytes() == before
    inside_a_file = str(tmp_path / FILE_NAME / "run")
    assert inside_a_file in complaint(typed, "--system", "1", *OWN, "--out", inside_a_file)


def test_a_run_of_another_machine_does_not_go_on(typed: Typed, tmp_path: Path) -> None:
    saved_run(tmp_path, machine=host.facts() | {"cpu": "another CPU"})
    assert "another CPU" in complaint(typed, "--resume", str(tmp_path))


def test_plan_prints_cells_requests_and_about_how_long_and_runs_nothing(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    given = ("--system", "4", "--num-multi-socket", "1,5", "--num-requests-per-client", "10", *OWN)
    text = shown(typed, "plan", *given)
    assert "\x1b" not in text  # of what is piped
    total = r"A run would take about .+, for 2 measurements in each of 6 blocks\.$"
    assert re.search(total, " ".join(text.split()))
    assert all(len(line) <= 80 for line in text.splitlines())
    asked = Plan.from_saved(decoded(json.loads(shown(typed, "plan", *given, "--json")), SavedPlan))
    assert len(asked.cells()) == 2
    assert all(cell.cell_id in text for cell in asked.cells())


def test_a_missing_runtime_is_one_line_with_its_remedy_and_the_rest_goes_on(typed: Typed) -> None:
    status, out, err = typed("plan", "--system", "1", "--runtime", f"{OWN_NAME},{ABSENT}", *OWN[2:])
    assert status == 0
    assert err.startswith(f"Runtime {ABSENT} was not found, and uv does not offer CPython {ABSENT}. ")
    assert "uv python install" not in err
    assert err.count("\n") == 1
    assert ABSENT not in out
    assert OWN_NAME in out


def test_runtimes_shows_what_was_found_and_what_it_is(typed: Typed) -> None:
    text = shown(typed, "runtimes", *OWN)
    assert OWN_NAME in text.splitlines()
    for words in (facts()["version"], "GIL", "PGO", str(OWN_EXECUTABLE)):
        assert words in text
    found = json.loads(shown(typed, "runtimes", "--json", *OWN))
    assert {name: one["version"] for name, one in found.items()} == {OWN_NAME: facts()["version"]}


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, str(RUNNER), "plan", "--json", *OWN]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")

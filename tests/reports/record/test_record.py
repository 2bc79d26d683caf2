"""The record: the seed's figures beside ours, and an honest word on whatever is missing."""

import re
from pathlib import Path

import pytest

from core.result import Run
from reports.record import seed
from reports.record.record import covers_the_seed, record_page
from reports.rows.summary import rows
from reports.write import write_all
from tests.reports.sample import MS, TITLES, cell_of, faulty, measured, run_of, seed_run

MISSING = "Runtime 3.13 was not found. Install it with: uv python install 3.13"
SEED_SECONDS = {
    "client reuses connections": ["5.5 s", "5.0 s"],
    "client does not reuse connections": ["14.9 s", "10.3 s"],
    "Tornado": ["16.1 s", "17.2 s"],
    "select on all connections": ["3.03 s"],
    "select on single connections": ["5.57 s"],
}
SOCKET_SECONDS = {"1": ["2.35 s", "2.44 s"], "5": ["2.60 s", "2.47 s"], "10": ["3.03 s", "2.60 s"]}


def page(run: Run) -> str:
    return record_page(run, rows(run), TITLES)


def lines_of(text: str, what: str) -> list[list[str]]:
    """Cells of every table line that begins with *what*."""
    lines = (line for line in text.splitlines() if line.startswith(f"| {what} "))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


@pytest.fixture(scope="module")
def record() -> str:
    return page(seed_run(blocks=2, runtimes=("3.11", "3.14t")))


@pytest.mark.parametrize("what", SEED_SECONDS)
def test_every_figure_of_the_seed_stands_in_its_row(record: str, what: str) -> None:
    (line,) = lines_of(record, what)
    assert line[3:] == SEED_SECONDS[what]
    assert all(re.fullmatch(r"\d+\.\d{3} s \(\d+\.\d{3}\)", cell) for cell in line[1:3])


@pytest.mark.parametrize("sockets", SOCKET_SECONDS)
def test_both_sweeps_of_sockets_have_the_seeds_figures(record: str, sockets: str) -> None:
    lines = lines_of(record, f"NUM_MULTI_SOCKET = {sockets}")
    assert [line[-1] for line in lines] == SOCKET_SECONDS[sockets]


def test_the_seeds_figures_are_headed_as_another_machines(record: str) -> None:
    assert "another machine's: i9-13900K, Python 3.11.5 | another machine's: i9-13900K, Python 3.14.0a0" in record
    assert "another machine's: i9-13900K, interpreter not named" in record
    assert "no mark to reach" in record


def test_system_1_says_that_the_seed_has_no_figure(record: str) -> None:
    chapter = record.partition("## System 1")[2].partition("## System 2")[0]
    assert "publishes no settings and no figure" in chapter
    assert "another machine's" not in chapter


def test_the_environment_is_told_with_the_limit_of_open_files(record: str) -> None:
    for part in ("Sample CPU", "16.0 GiB", "Linux 6.1", "20000", "unlimited", seed.CPU, seed.OPEN_FILES):
        assert part in record


def test_settings_stand_beside_the_seeds(record: str) -> None:
    assert ["NUM_MULTI_SOCKET", "1, 5, 10", "10", "listening sockets per service"] in lines_of(
        record, "NUM_MULTI_SOCKET"
    )


def test_interpreters_are_told_with_their_builds_and_without_their_paths(record: str) -> None:
    assert ["3.14t", "3.14.2", "free-threaded", "GCC 13.2.0", "PGO, no LTO, static"] in lines_of(record, "3.14t")
    assert "/opt/" not in record


def test_a_record_of_the_seeds_size_has_no_warning(record: str) -> None:
    assert "**" not in record


def test_a_smaller_scale_is_said_at_the_top_in_bold() -> None:
    text = page(seed_run(requests=100, scale=0.1, blocks=1, runtimes=("3.11",)))
    bold = text.split("\n\n")[2]
    assert bold.startswith("**Scale 0.1: a cell here has 40,000 requests, one of the seed's 400,000.")
    assert bold.endswith("**")


def test_a_quick_run_has_the_rows_it_has_and_says_what_is_not_measured() -> None:
    values = {"NUM_API_SERVICES": 2, "NUM_CLIENTS": 2}
    run = run_of([measured(cell_of("4", "3.11", values), 1, [1234 * MS])], blocks=1, missing={"3.13": "Get it."})
    text = page(run)
    assert lines_of(text, "select on all connections")[0][1:4] == ["1.234 s (1.234)", "not measured", "not measured"]
    assert lines_of(text, "select on single connections")[0][1:4] == ["not measured"] * 3
    assert "This run has no system 1: not measured." in text
    assert text.split("\n\n")[2].startswith("**Not the seed's size: a cell here has 4,000 requests")
    assert "- 3.13: not measured. Get it." in text


def test_a_failed_row_says_why() -> None:
    run = run_of([faulty(cell_of("3", "3.11"), 1, "failed", "no answer")], blocks=1, runtimes=["3.11"])
    assert lines_of(page(run), "Tornado")[0][1] == "1 of 1 blocks failed: no answer"


def test_of_several_cells_that_fit_the_one_nearest_to_the_seed_is_shown() -> None:
    cells = [measured(cell_of("3", "3.11", {"CALC_TARGET": target}), 1, [target * MS]) for target in (10, 1000, 5000)]
    run = run_of(cells, blocks=1, runtimes=["3.11"])
    assert lines_of(page(run), "Tornado")[0][1] == "1.000 s (1.000)"


def test_the_record_is_written_for_its_plan_and_for_any_run_with_all_of_the_seeds_rows(tmp_path: Path) -> None:
    whole = seed_run(blocks=1, runtimes=("3.11",), name="mine")
    part = run_of(whole.cells[:3], blocks=1, runtimes=["3.11"])
    assert covers_the_seed(rows(whole))
    assert not covers_the_seed(rows(part))
    part.plan["name"] = "record"
    assert tmp_path / "record.md" in write_all(part, tmp_path, TITLES)


def test_the_record_in_chinese_has_no_english_sentence_left_in_it(tmp_path: Path) -> None:
    """But for names: of files, parameters, interpreters, machines."""
    run = seed_run(blocks=2, runtimes=("3.11", "3.14t"), missing={"3.13": MISSING})
    paths = write_all(run, tmp_path, TITLES, lang="zh")
    text = next(path for path in paths if path.name == "record.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    assert headings[:4] == ["实验记录", "测试环境", "解释器", "如何阅读结果"]
    assert all(re.search(r"[\u4e00-\u9fff]", one) for one in headings)
    assert "- 3.13：没有测量。没有找到运行时 3.13。安装命令：uv python install 3.13" in text
    prose = [line for line in text.splitlines() if not line.startswith("|")]
    assert [line for line in prose if re.search(r"\b(the|of|is|with|and)\b", line)] == []
    assert SEED_SECONDS["Tornado"] == [cell for cell in lines_of(text, "Tornado")[0] if cell in SEED_SECONDS["Tornado"]]

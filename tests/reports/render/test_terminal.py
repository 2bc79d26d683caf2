"""Tables on narrow terminals: no cell is lost, and no word or number is broken."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from analysis.formats import whole
from core.languages import ENGLISH
from core.messages import NOTHING, message, verbatim
from reports.document import Table
from reports.parts.answer import labelled
from reports.render.console import terminal, wrapped
from reports.render.terminal import print_table
from reports.tables import col, table
from tests.tables import each_row

CHINESE = "去掉全局解释锁（GIL）后，系统 4 的速度是原来的 1.31 倍 [1.26, 1.37]；自由线程构建本身多耗时 6 %。"
STATES = ("running on a core", "runnable, no core", "GIL", "lock wait", "I/O wait", "idle [share of all time]")
ROWS = [{"runtime": "3.14", **dict.fromkeys(STATES, 2416)}, {"runtime": "3.14t+gil", **dict.fromkeys(STATES, 7)}]


def wide() -> Table:
    names = (*STATES, *STATES[:2])
    return table(
        message("Profile"),
        [col("Runtime", "runtime"), *(col(name, name, whole) for name in names)],
        [(NOTHING, ROWS)],
    )


def printed(shown: Table, width: int) -> str:
    out = io.StringIO()
    print_table(shown, Console(file=out, width=width, color_system=None), ENGLISH)
    return out.getvalue()


@each_row
def test_a_table_that_does_not_fit_keeps_all_its_cells_and_words(width: int) -> None:
    text = printed(wide(), width)
    tokens = re.split(r"[\s:]+", text)
    assert (tokens.count("2,416"), tokens.count("3.14"), tokens.count("3.14t+gil")) == (8, 1, 1)
    assert {*" ".join(STATES).split()} <= {*tokens}
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width


@each_row
def test_notes_on_a_narrow_terminal_break_between_words_only(width: int) -> None:
    command = "python runner.py --resume reports/out/20261128T185833-own --blocks +3"
    text = printed(labelled([(verbatim("Next"), verbatim(command)), (verbatim("Caution"), verbatim("build"))]), width)
    assert text.split() == ["Next", *command.split(), "Caution", "build"]


@pytest.mark.parametrize("width", range(12, 60))
def test_a_chinese_sign_takes_two_columns_and_no_line_begins_with_a_mark(width: int) -> None:
    lines = wrapped(CHINESE, width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert [line for line in lines if line[0] in "，。；）"] == []


def test_signs_that_a_stream_cannot_encode_are_spelled() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
    terminal(stream).print("3.14 → 3.14t: ±3 %, 2×1, 构")
    assert raw.getvalue().decode() == "3.14 -> 3.14t: +/-3 %, 2x1, ?\n"


def test_piped_lines_have_no_blanks_at_their_ends() -> None:
    out = io.StringIO()
    print_table(wide(), terminal(out), ENGLISH)
    assert "2,416" in out.getvalue()
    assert [line for line in out.getvalue().splitlines() if line.endswith(" ")] == []

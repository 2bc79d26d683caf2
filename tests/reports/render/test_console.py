"""Lines of a terminal, of words and of wide signs."""

import pytest
from rich.cells import cell_len

from reports.render.console import wrapped

CHINESE = "去掉全局解释锁（GIL）后，系统 4 的速度是原来的 1.31 倍 [1.26, 1.37]；自由线程构建本身多耗时 6 %。"


@pytest.mark.parametrize("width", range(12, 60))
def test_a_chinese_sign_takes_two_columns_and_no_line_begins_with_a_mark(width: int) -> None:
    lines = wrapped(CHINESE, width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert [line for line in lines if line[0] in "，。；）"] == []

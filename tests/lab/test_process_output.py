"""Lines that say that threads got in each other's way."""

import pytest

from lab.process_output import MOST_NOTICES, notices

LINES = """\
RuntimeError: dictionary changed size during iteration
RuntimeError: dictionary keys changed during iteration
RuntimeError: Set changed size during iteration
RuntimeError: deque mutated during iteration
RuntimeError: OrderedDict mutated during iteration
ValueError: list modified during sort
ValueError: generator already executing
RuntimeError: reentrant call inside <_io.BufferedWriter name='x'>
shop.py:3: RuntimeWarning: this object is not thread-safe
RuntimeWarning: The global interpreter lock (GIL) has been enabled to load module 'x', which has not declared"""


@pytest.mark.parametrize("line", LINES.splitlines())
def test_a_line_about_threads_is_a_notice_once(line: str) -> None:
    assert notices(f"GET / 200\n  {line}\n{line}\nTraceback") == [line]


def test_other_lines_are_none_and_there_is_a_bound() -> None:
    assert notices("this page is about thread safety\nKeyError: 3\nthread-safe: yes") == []
    many = "\n".join(f"RuntimeError: Set changed size during iteration {number}" for number in range(100))
    assert len(notices(many)) == MOST_NOTICES

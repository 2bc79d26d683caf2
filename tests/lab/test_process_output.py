"""Lines that say that threads got in each other's way."""

from lab.process_output import MOST_NOTICES, notices
from tests.tables import each_row


@each_row
def test_a_line_about_threads_is_a_notice_once(line: str) -> None:
    assert notices(f"GET / 200\n  {line}\n{line}\nTraceback") == [line]


def test_other_lines_are_none_and_there_is_a_bound() -> None:
    assert notices("this page is about thread safety\nKeyError: 3\nthread-safe: yes") == []
    many = "\n".join(f"RuntimeError: Set changed size during iteration {number}" for number in range(100))
    assert len(notices(many)) == MOST_NOTICES

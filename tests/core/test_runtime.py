"""Runtime names and what an interpreter tells of itself."""

import pytest

from core.messages import BadInput
from core.runtime import NATIVE, RuntimeName
from tests.tables import each_row


@each_row
def test_a_name_says_which_interpreter_which_variables_and_whether_there_is_a_gil_and_a_jit(line: str) -> None:
    text, interpreter, has_gil, has_jit, *variables = line.split()
    name = RuntimeName(text)
    assert (str(name), name.interpreter, name.native) == (text, interpreter, text == NATIVE)
    assert [*map(str, name.promises.values())] == [has_gil, has_jit]
    assert sorted(map("=".join, name.variables.items())) == variables


@each_row
def test_another_form_or_a_build_that_cannot_be_so_is_refused(text: str, refusal: str) -> None:
    with pytest.raises(BadInput) as caught:
        RuntimeName(text)
    assert repr(text) in str(caught.value)
    assert refusal in str(caught.value)

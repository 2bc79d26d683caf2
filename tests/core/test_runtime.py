"""Runtime names and what an interpreter tells of itself."""

import pytest

from core.messages import BadInput
from core.runtime import NATIVE, RuntimeName
from tests.tables import each_row

# A name, its interpreter, whether there is a GIL and a JIT, and the variables that see to it.
NAMES = """\
3.11 3.11 True False PYTHON_JIT=0
3.14.6t+gil 3.14.6t True False PYTHON_GIL=1 PYTHON_JIT=0
3.15.0rc1t 3.15.0rc1t False False PYTHON_JIT=0
3.14+jit 3.14 True True PYTHON_JIT=1
3.14.10b2+jit 3.14.10b2 True True PYTHON_JIT=1
3.13t 3.13t False False PYTHON_JIT=0
native native False False"""


@pytest.mark.parametrize("line", NAMES.splitlines())
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

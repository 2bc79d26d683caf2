"""Runtime names and what an interpreter tells of itself."""

import pytest

from core.messages import BadInput
from core.runtime import NATIVE, RuntimeName

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


FORMS = "3.11, 3.14, 3.14t, 3.14t+gil"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        *[(text, FORMS) for text in ("", "3", "2.7", "3.14T", "3.14t+", " 3.14", "3.14\n", "3.14.1.2")],
        *[(text, FORMS) for text in ("3.14.0rc", "python3.14", "3.14+jet", "3.14+jit+jit")],
        *[(text, "and native") for text in ("native+gil", "Native", " native")],
        ("3.14+gil", "+gil needs a free-threaded build"),
        ("3.15t+jit", "a free-threaded build has no JIT"),
        ("3.13+jit", "is too old"),
        ("3.12t", "is too old"),
    ],
)
def test_another_form_or_a_build_that_cannot_be_so_is_refused(text: str, refusal: str) -> None:
    with pytest.raises(BadInput) as caught:
        RuntimeName(text)
    assert repr(text) in str(caught.value)
    assert refusal in str(caught.value)

"""Runtime names and what an interpreter tells of itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.runtime import NATIVE, RuntimeName, facts, gil_enabled
from lab.python.interpreters import scrubbed_environment
from lab.run.runtimes import Runtime

REPOSITORY = Path(__file__).resolve().parents[2]
ASK_GIL = "import sys; sys.path.insert(0, sys.argv[1]); import core.runtime as r; print(r.gil_enabled())"


@pytest.mark.parametrize(
    ("text", "interpreter", "options", "promises_gil"),
    [
        ("3.11", "3.11", (), True),
        ("3.14", "3.14", (), True),
        ("3.14t", "3.14t", (), False),
        ("3.14t+gil", "3.14t", ("-X", "gil=1"), True),
    ],
)
def test_a_name_says_which_binary_which_options_and_whether_there_is_a_gil(
    text: str, interpreter: str, options: tuple[str, ...], promises_gil: bool
) -> None:
    name = RuntimeName.parse(text)
    assert (name.interpreter, name.options, name.gil_enabled) == (interpreter, options, promises_gil)


@given(st.from_regex(r"3\.1[1-9]|3\.1[3-9]t(\+gil)?", fullmatch=True))
def test_a_name_comes_back_as_it_was_written(text: str) -> None:
    assert str(RuntimeName.parse(text)) == text


@pytest.mark.parametrize("text", ["", "3", "2.7", "3.14T", "3.14t+", " 3.14", "3.14\n", "3.14.1", "python3.14"])
def test_another_form_is_refused_with_what_is_accepted(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        RuntimeName.parse(text)
    assert repr(text) in str(caught.value)
    assert "3.11, 3.14, 3.14t, 3.14t+gil" in str(caught.value)


def test_native_is_a_runtime_without_interpreter_options_or_gil() -> None:
    name = RuntimeName.parse("native")
    assert (name.native, name.interpreter, name.options, name.gil_enabled) == (True, NATIVE, (), False)
    assert str(name) == "native"
    assert not RuntimeName.parse("3.14t").native


@pytest.mark.parametrize("text", ["native+gil", "Native", "nativet", " native"])
def test_another_form_of_native_is_refused_with_the_one_there_is(text: str) -> None:
    with pytest.raises(BadInput, match="and native"):
        RuntimeName.parse(text)


def test_a_gil_cannot_be_forced_on_a_default_build() -> None:
    with pytest.raises(BadInput, match="only a free-threaded build can switch its GIL on"):
        RuntimeName.parse("3.14+gil")


def test_the_facts_describe_the_running_interpreter() -> None:
    mine = json.loads(json.dumps(facts()))
    assert tuple(map(int, mine["version"].split(".")[:2])) == sys.version_info[:2]
    assert mine["implementation"] == sys.implementation.name
    assert mine["gil_enabled"] is gil_enabled()
    assert mine["compiler"] in sys.version
    assert set(mine["flags"]) == {"pgo", "lto", "shared", "debug", "tail_call", "jit", "configure"}


def test_a_default_build_has_its_gil_and_a_free_threaded_one_has_none(runtime: Runtime) -> None:
    facts, free_threaded = runtime.interpreter.facts, runtime.name.free_threaded
    assert facts["gil_disabled_build"] is free_threaded
    assert facts["gil_enabled"] is not free_threaded
    assert ("free-threading" in facts["build"]) is free_threaded


def test_the_gil_is_what_the_runtimes_name_promises(runtime: Runtime) -> None:
    command = [str(runtime.interpreter.executable), *runtime.name.options, "-I", "-c", ASK_GIL, str(REPOSITORY)]
    seen = subprocess.check_output(command, text=True, timeout=30, env=scrubbed_environment())
    assert seen.strip() == str(runtime.name.gil_enabled)

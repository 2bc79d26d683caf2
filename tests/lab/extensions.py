"""Extension modules that are compiled here: one that declares that it can do without the GIL, and one that does not."""

import subprocess
import sysconfig
from pathlib import Path

import pytest

from lab.python.interpreters import Interpreter

EXTENSION = """
#include <Python.h>
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "%(name)s", NULL, 0, NULL, NULL};
PyMODINIT_FUNC PyInit_%(name)s(void) { return PyModuleDef_Init(&definition); }
"""
SUPPORTED = """
#include <Python.h>
static PyModuleDef_Slot slots[] = {{Py_mod_gil, Py_MOD_GIL_NOT_USED}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "%(name)s", NULL, 0, NULL, slots};
PyMODINIT_FUNC PyInit_%(name)s(void) { return PyModuleDef_Init(&definition); }
"""


def extension(interpreter: Interpreter, folder: Path, name: str, code: str) -> bytes:
    """A compiled extension module; the test is skipped where there is no compiler or no header."""
    built = folder / f"built/{name}.so"
    built.parent.mkdir(exist_ok=True)
    built.with_suffix(".c").write_text(code % {"name": name})
    ask = [str(interpreter.executable), "-c", "import sysconfig; print(sysconfig.get_path('include'))"]
    include = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    compiler = str(sysconfig.get_config_var("CC") or "cc").split()[0]
    command = [compiler, "-O1", "-shared", "-fPIC", f"-I{include}", str(built.with_suffix(".c")), "-o", str(built)]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"{compiler} does not run: {error.strerror}")
    if done.returncode:
        pytest.skip(f"{compiler} cannot compile against {include}: {done.stderr.strip()[-200:]}")
    return built.read_bytes()

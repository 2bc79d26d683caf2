"""Which packages of an environment switch the GIL on; packages are made here, and nothing is downloaded."""

from pathlib import Path

import pytest

from lab.environments.environment import environment
from lab.gil import switching as module
from lab.gil.imports import Imported
from lab.gil.switching import switching
from lab.python import uv
from tests.conftest import runtime_or_skip
from tests.lab.extensions import EXTENSION, SUPPORTED, extension
from tests.lab.wheels import wheel

pytestmark = pytest.mark.skipif(uv.find() is None, reason="uv was not found")


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Python of an environment with three packages: one switches the GIL on."""
    interpreter = runtime_or_skip("3.14t").interpreter
    held, free = (extension(interpreter, tmp_path, *one) for one in (("_held", EXTENSION), ("_free", SUPPORTED)))
    wheel(tmp_path, "holding", {"holding/__init__.py": b"from holding import _held\n", "holding/_held.so": held})
    wheel(tmp_path, "freed", {"freed/__init__.py": b"from freed import _free\n", "freed/_free.so": free})
    wheel(tmp_path, "plain", {"plain.py": b"raise SystemExit\n"})
    wanted = tmp_path / "requirements.txt"
    wanted.write_text(f"--no-index\n--find-links {tmp_path}\nholding\nfreed\nplain\n")
    return environment(interpreter, wanted, tmp_path / "runtimes", hashed=False)


def test_the_package_that_switches_the_gil_on_is_named_with_its_module(python: Path) -> None:
    assert [str(line) for line in switching(python)] == [
        "of its packages, importing holding switches the GIL on, by holding._held"
    ]


def test_packages_of_python_alone_are_not_imported(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def fake(python: Path, module: str, folder: Path, timeout_s: float) -> Imported:
        seen.append(module)
        return Imported(module=module)

    monkeypatch.setattr(module, "imported", fake)
    assert switching(python) == switching(python) == []
    assert seen == ["freed", "holding"]  # once


def test_what_takes_too_long_is_left_out(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SWITCHING_BUDGET_S", 0.0)
    assert [str(line) for line in switching(python)] == []

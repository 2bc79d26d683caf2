"""The audit, of tiny packages that are made here: nothing is downloaded."""

import io
import sysconfig
import tarfile
from pathlib import Path

import pytest

from core.errors import BadInput
from lab.environments.requirements import Requirements
from lab.gil.package_audit import NO_WHEEL, NOT_INSTALLABLE, PackageFinding, audit, read_requirements
from lab.python import uv
from lab.python.interpreters import Interpreter
from tests.conftest import runtime_or_skip
from tests.lab.extensions import EXTENSION, SUPPORTED, extension
from tests.lab.wheels import BACKEND, wheel, write_project

HAVE_UV = uv.find() is not None
pytestmark = pytest.mark.skipif(not HAVE_UV, reason="audit installs with uv, which was not found; make setup has it")
PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")
LOCKED, FREE = f"cp314-cp314-{PLATFORM}", f"cp314-cp314t-{PLATFORM}"
NAMES = ["plain", "raising", "dying", "warning", "holding", "leaning", "freed", "sourced", "nowhere"]
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.fixture(scope="module")
def free_threaded() -> Interpreter:
    return runtime_or_skip("3.14t").interpreter


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, free_threaded: Interpreter) -> Path:
    """A folder of packages, as an index would have them."""
    folder = tmp_path_factory.mktemp("shelf")
    wheel(folder, "plain", {"plain/__init__.py": b"import plain.inner\n", "plain/inner.py": b"x = 1\n"})
    wheel(folder, "raising", {"raising.py": b"import nothing_of_that_name\n"})
    wheel(folder, "dying", {"dying.py": b"import os\nos._exit(7)\n"})
    warnings = [("not thread-safe", "RuntimeWarning"), ("old", "DeprecationWarning")]
    lines = [f"warnings.warn({text!r}, {category})\n" for text, category in warnings]
    wheel(folder, "warning", {"warning.py": "".join(["import warnings\n", *lines]).encode()})
    held = extension(free_threaded, folder, "_held", EXTENSION)
    free = extension(free_threaded, folder, "_free", SUPPORTED)
    wheel(folder, "holding", {"holding/__init__.py": b"from holding import _held\n", "holding/_held.so": held})
    wheel(folder, "leaning", {"leaning.py": b"import holding\n"}, needs="holding")
    wheel(folder, "freed", {"freed/__init__.py": b"from freed import _free\n", "freed/_free.so": free})
    source(folder, "sourced", BACKEND.replace("shop", "sourced"), "sourced.py")
    for version, tag in {"1.0": "py3-none-any", "1.1": LOCKED, "1.2": FREE, "1.3": FREE}.items():
        wheel(folder, "improved", {"improved.py": b""}, version=version, tag=tag)
    wheel(folder, "abandoned", {"abandoned.py": b""}, tag=LOCKED)
    wheel(folder, "middle", {"middle.py": b"import improved\n"}, needs="improved==1.1")
    wheel(folder, "application", {"application.py": b"import middle\n"}, needs="middle")
    return folder


def source(folder: Path, name: str, backend: str, module: str = "module.py") -> None:
    """A source distribution of version 1.0, built by a backend of its own."""
    metadata = f"Metadata-Version: 2.2\nName: {name}\nVersion: 1.0\n"
    files = {"backend.py": backend, "pyproject.toml": PROJECT, "PKG-INFO": metadata, module: "x = 1\n"}
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"{name}-1.0/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))


def shelved(shelf: Path, *names: str) -> Requirements:
    return Requirements(options=("--no-index", f"--find-links {shelf}"), entries=names)


@pytest.fixture(scope="module")
def findings(shelf: Path, free_threaded: Interpreter) -> dict[str, PackageFinding]:
    """What is found of these."""
    return {finding.package: finding for finding in audit(shelved(shelf, *NAMES), free_threaded)}


@pytest.fixture(scope="module")
def unbuilt(shelf: Path, free_threaded: Interpreter) -> dict[str, PackageFinding]:
    """What wheels alone say of a tree, and of packages with extensions."""
    asked = shelved(shelf, "application", "improved", "abandoned", "sourced", "freed ; python_version < '3'")
    return {finding.package: finding for finding in audit(asked, free_threaded)}


def test_a_package_that_leaves_the_gil_off_passes(findings: dict[str, PackageFinding]) -> None:
    for name in ("plain", "freed"):
        assert findings[name] == PackageFinding(package=name, version="1.0", modules=(name,))
        assert findings[name].passes


# A package, what is wrong with it, and the module that did it. The second one does it by what it needs.
WRONG = """\
holding | gil holding._held | importing holding switches the GIL on because holding loads holding._held
leaning | gil holding._held | importing leaning switches
raising | import fails | importing raising fails: ModuleNotFoundError: No module named 'nothing_of
dying | import fails | importing dying fails: the interpreter exited with status 7
warning | warns | RuntimeWarning: not thread-safe
sourced | no wheel | sourced 1.0 has no wheel
nowhere | not installable | Because nowhere was not found"""


@pytest.mark.parametrize("line", WRONG.splitlines())
def test_what_is_wrong_with_a_package_is_told_with_the_module_that_did_it_and_the_others_are_looked_at(
    findings: dict[str, PackageFinding], line: str
) -> None:
    name, kind, detail = line.split(" | ")
    (problem,) = findings[name].problems
    assert f"{problem.kind} {problem.culprit}".strip() == kind
    assert str(problem.detail).startswith(detail)
    assert bool(findings[name].modules) is (problem.kind not in (NOT_INSTALLABLE, NO_WHEEL))


def test_nothing_is_built_and_a_version_that_has_the_wheel_is_named(
    unbuilt: dict[str, PackageFinding],
) -> None:
    for name, change in {
        "improved": "version 1.3 of the package has a wheel for this runtime",
        "abandoned": "no version of the package has a wheel for this runtime",
    }.items():
        (problem,) = unbuilt[name].problems
        assert str(problem.detail).endswith(f" has no wheel for 3.14t; {change}")


def test_what_leads_to_a_package_without_a_wheel_is_named_and_cannot_be_imported(
    unbuilt: dict[str, PackageFinding],
) -> None:
    assert unbuilt["improved"].needed_by == ("application",)
    (problem,) = unbuilt["application"].problems
    assert str(problem.detail) == "importing application fails: ModuleNotFoundError: No module named 'improved'"
    assert (unbuilt["middle"].direct, unbuilt["middle"].modules) == (False, ())
    assert "freed" not in unbuilt  # a marker leaves it out


def test_a_folder_of_ones_own_is_not_blamed_for_having_no_wheel(
    shelf: Path, free_threaded: Interpreter, tmp_path: Path
) -> None:
    write_project(tmp_path / "shop", value=1)
    asked = read_requirements([str(tmp_path / "shop")])
    with pytest.raises(BadInput, match="are folders"):
        audit(asked, free_threaded)
    (found,) = audit(shelved(shelf, "plain")._replace(entries=("plain", *asked.entries)), free_threaded)
    assert found == PackageFinding(package="plain", version="1.0", modules=("plain",))

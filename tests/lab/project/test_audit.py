"""The audit, of tiny packages that are made here: nothing is downloaded."""

import sysconfig
import tarfile
from pathlib import Path

import pytest
import yaml

from core.messages import BadInput
from lab.environments.requirements import Requirements
from lab.project.package_audit import NO_WHEEL, NOT_INSTALLABLE, PackageFinding, audit, read_requirements
from lab.python import uv
from lab.python.interpreters import Interpreter
from tests.conftest import runtime_or_skip
from tests.lab.extensions import EXTENSION, SUPPORTED, extension
from tests.lab.wheels import wheel, write_project
from tests.tables import each_row

HAVE_UV = uv.find() is not None
pytestmark = pytest.mark.skipif(not HAVE_UV, reason="audit installs with uv, which was not found; make setup has it")
PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")
SHELF = Path(__file__).with_name("shelf.yaml").read_text().replace("PLATFORM", PLATFORM)
NAMES = ["plain", "raising", "dying", "warning", "holding", "leaning", "freed", "shop", "nowhere"]


@pytest.fixture(scope="module")
def free_threaded() -> Interpreter:
    return runtime_or_skip("3.14t").interpreter


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, free_threaded: Interpreter) -> Path:
    """A folder of packages, as an index would have them."""
    folder = tmp_path_factory.mktemp("shelf")
    modules = {
        "HELD": extension(free_threaded, folder, "_held", EXTENSION),
        "FREE": extension(free_threaded, folder, "_free", SUPPORTED),
    }
    for package in yaml.safe_load(SHELF):
        files = {path: modules.get(text, text.encode()) for path, text in package.pop("files").items()}
        wheel(folder, files=files, **package)
    project = folder / "shop-1.0"
    write_project(project, value=1)
    (project / "PKG-INFO").write_text("Metadata-Version: 2.2\nName: shop\nVersion: 1.0\n")
    with tarfile.open(folder / "shop-1.0.tar.gz", "w:gz") as archive:
        archive.add(project, project.name)
    return folder


def shelved(shelf: Path, *names: str) -> Requirements:
    return Requirements(options=("--no-index", f"--find-links {shelf}"), entries=names)


@pytest.fixture(scope="module")
def findings(shelf: Path, free_threaded: Interpreter) -> dict[str, PackageFinding]:
    """What is found of these."""
    return {finding.package: finding for finding in audit(shelved(shelf, *NAMES), free_threaded)}


@pytest.fixture(scope="module")
def unbuilt(shelf: Path, free_threaded: Interpreter) -> dict[str, PackageFinding]:
    """What wheels alone say of a tree, and of packages with extensions."""
    asked = shelved(shelf, "application", "improved", "abandoned", "shop", "freed ; python_version < '3'")
    return {finding.package: finding for finding in audit(asked, free_threaded)}


def test_a_package_that_leaves_the_gil_off_passes(findings: dict[str, PackageFinding]) -> None:
    for name in ("plain", "freed"):
        assert findings[name] == PackageFinding(package=name, version="1.0", modules=(name,))
        assert findings[name].passes


@each_row
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

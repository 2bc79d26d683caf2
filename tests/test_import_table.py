"""The table of test_import_table.yaml: which package may import what. Sources are read, not run."""

import ast
import re
import sys
from collections.abc import Iterator

import pytest

from lab.places import REPOSITORY
from tests.tables import table

PACKAGES = (
    *("core", "services", "clients", "experiments", "systems", "record", "config", "analysis", "lab", "reports"),
    "commands",
)
MEASURED = ("core", "services", "clients", "experiments", "systems")
MEASURED_SYNTAX = (3, 11)
NEWER_THAN_MEASURED = {"annotationlib", "compression"}
STANDARD_LIBRARY = sys.stdlib_module_names | {"__future__", "_remote_debugging"}  # the latter from 3.14 on

TABLE = table(__file__)
LAB = TABLE["lab"]


def imports(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Line and top-level module of every import in *source*, those inside functions and those by name included.

    Relative ones are *package*'s.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, top(alias.name)) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, package if node.level else top(node.module or "")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            named = [argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)]
            yield from ((node.lineno, top(str(name))) for name in named)


def is_section(path: str) -> bool:
    """Whether *path* is of an experiment's section of the report."""
    return path.startswith("experiments/") and "_section" in path.rpartition("/")[2]


def top(module: str) -> str:
    return module.partition(".")[0]


def forbidden(path: str, source: str) -> list[str]:
    """What *source* imports against the table, as 'path:line imports module'. path: from the repository's root."""
    package = "sections" if is_section(path) else path.partition("/")[0]
    more = TABLE["libraries"].get(package, ""), TABLE["one_file"].get(path, "")
    allowed = {package, *" ".join((TABLE["own"][package], *more)).split()} | STANDARD_LIBRARY
    if package in MEASURED:
        allowed -= NEWER_THAN_MEASURED
    found = sorted({*imports(source, package)})
    return [f"{path}:{line} imports {module}" for line, module in found if module not in allowed]


def sources(*packages: str) -> dict[str, str]:
    """Every Python file of *packages* by its path from the repository's root; runs' folders are left out."""
    folders = [REPOSITORY / package for package in packages]
    paths = [path for folder in folders for path in (*sorted(folder.rglob("*.py")), folder.with_suffix(".py"))]
    names = {path.relative_to(REPOSITORY).as_posix(): path for path in paths if path.is_file()}
    return {name: path.read_text("utf-8") for name, path in names.items() if not name.startswith("reports/out/")}


@pytest.mark.parametrize("package", [*PACKAGES, "runner"])
def test_a_package_imports_only_what_the_table_lets_it(package: str) -> None:
    files = sources(package)
    assert files
    assert [line for path, source in files.items() for line in forbidden(path, source)] == []


def test_an_experiment_imports_no_other_and_only_sections_import_a_section() -> None:
    for path, source in sources("experiments").items():
        for module in re.findall(r"^ *(?:from|import) (experiments\.[\w.]+)", source, re.MULTILINE):
            imported = module.replace(".", "/")
            assert imported.split("/")[1] == path.split("/")[1]
            assert is_section(path) or not is_section(imported)


def parts(package: str, top_package: str) -> set[str]:
    """The packages of *top_package* that one of them imports from."""
    text = "\n".join(sources(f"{top_package}/{package}").values())
    return set(re.findall(rf"^ *(?:from|import) {top_package}\.(\w+)", text, re.MULTILINE))


def test_a_package_of_lab_imports_only_those_below_it() -> None:
    for place, package in enumerate(LAB[2:], 3):
        assert parts(package, "lab") <= {*LAB[:place]}, package


def test_the_packages_of_reports_stand_in_order_and_import_only_those_below_them() -> None:
    below: set[str] = set()
    for package, allowed in TABLE["reports"].items():
        assert parts(package, "reports") - {package} == {*allowed.split()} <= below, package
        below.add(package)
    files = (REPOSITORY / "reports").glob("*.py")
    packages = (path.parent for path in (REPOSITORY / "reports").glob("*/__init__.py"))
    assert below == {path.stem for path in (*files, *packages)} - {"__init__"}


def test_no_section_of_a_report_imports_another() -> None:
    for path, source in sources("reports/sections").items():
        assert "reports.sections" not in source or path.endswith("__init__.py"), path


def test_every_package_of_the_repository_is_in_the_table() -> None:
    packages = {path.parent.name for path in REPOSITORY.glob("*/__init__.py")}
    assert packages - {"benchmarks", "gilscope", "tests"} == set(PACKAGES)
    assert {path.name for path in REPOSITORY.glob("*.py")} == {"hatch_build.py", "runner.py"}
    named = [REPOSITORY / file for file in TABLE["one_file"]]
    assert all(path.is_file() for path in named if path.parent.is_dir())  # an experiment may be removed


def test_measured_code_has_syntax_that_3_11_reads() -> None:
    for path, source in sources(*MEASURED).items():
        ast.parse(source, path, feature_version=MEASURED_SYNTAX)

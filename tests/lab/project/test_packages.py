"""What a project needs, from the files that projects have. Nothing is downloaded."""

from pathlib import Path

import pytest

from core.messages import NOTHING, BadInput, Message, message
from core.runtime import RuntimeName
from lab.project import packages
from lab.project.packages import PythonBound, python_bound, read_dependencies
from lab.python import uv
from tests.lab.wheels import BACKEND, PROJECT, wheel
from tests.tables import each_row

NO_NETWORK = message("no network: {symptom}", symptom="unreachable", code=uv.NETWORK)
NEEDS_UV = pytest.mark.skipif(uv.find() is None, reason="needs uv")
MANIFEST = """
[project]
name = "shop"
version = "1"
dependencies = ["flask"]

[project.optional-dependencies]
Fast_Json = ["orjson"]

[dependency-groups]
test = ["pytest", {include-group = "types"}]
types = ["mypy"]
"""
UV = """
[tool.uv]
constraint-dependencies = ["flask<3.2"]
override-dependencies = ["werkzeug==2.0"]

[tool.uv.sources]
near = { path = "near by", editable = true }
special = { index = "special" }

[[tool.uv.index]]
name = "shelf"
url = "FOLDER/shelf"
format = "flat"
default = true

[[tool.uv.index]]
name = "special"
url = "FOLDER/special"
format = "flat"
explicit = true
"""
BUILD = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
PYLOCK = """
lock-version = "1.0"
packages = [
    {name = "flask", version = "3.1.3", wheels = [{url = "https://example.org/flask.whl", hashes = {sha256 = "0"}}]},
    {name = "colorama", version = "0.4.6", marker = "sys_platform == 'win32'"},
    {name = "orjson", version = "3.12", marker = "'fast' in extras"},
    {name = "mypy", version = "1.20", marker = "'types' in dependency_groups"},
    {name = "tool", vcs = {type = "git", url = "https://example.org/tool.git", commit-id = "abc", subdirectory = "a"}},
    {name = "near", directory = {path = "near by"}},
    {name = "corp", version = "1", index = "https://me.example/simple"},
    {name = "shop", directory = {path = "."}},
]
"""
UV_LOCK = """
version = 1
revision = 3
requires-python = ">=3.11"

[[package]]
name = "itsdangerous"
version = "2.2.0"
source = { registry = "https://example.org/simple" }
wheels = [{ url = "https://example.org/itsdangerous-2.2.0-py3-none-any.whl", hash = "sha256:HASH" }]

[[package]]
name = "shop"
version = "1"
source = { virtual = "." }
dependencies = [{ name = "itsdangerous" }]

[package.metadata]
requires-dist = [{ name = "itsdangerous" }]
""".replace("HASH", "0" * 64)


def entries(folder: Path, **files: str) -> tuple[str, ...]:
    """What a project of these files needs; `_` in a file's name is a dot."""
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)
    needed = read_dependencies(folder)
    assert needed
    return needed.entries


def write_tree(folder: Path, build: str = "", needs: str = '"flask", "near", "special"') -> None:
    """A project with settings for uv, a folder of packages, an index of its own for one package, and a near project."""
    for name in ("shelf", "special", "near by"):
        (folder / name).mkdir()
    for package in ["flask-3.2", "werkzeug-2.0", "orjson-3.12", "pytest-9.0", "mypy-1.20", "special-2.0"]:
        name, version = package.split("-")
        wheel(folder / "shelf", name, {f"{name}.py": b""}, version=version)
    wheel(folder / "shelf", "flask", {"flask.py": b""}, version="3.1.3", needs="werkzeug>3")
    wheel(folder / "special", "special", {"special.py": b""})
    (folder / "near by/pyproject.toml").write_text(PROJECT.replace('"shop"', '"near"'))
    (folder / "backend.py").write_text(BACKEND)
    text = MANIFEST.replace('"flask"', needs) + build + UV.replace("FOLDER", folder.as_uri())
    (folder / "pyproject.toml").write_text(text)


@NEEDS_UV
@pytest.mark.parametrize("build", ["", BUILD])
def test_uv_reads_sources_indexes_constraints_and_overrides_of_a_project_without_a_lock_file(
    tmp_path: Path, build: str
) -> None:
    """The version of an explicit index is taken, although the shelf has a newer one."""
    write_tree(tmp_path, build)
    needed = read_dependencies(tmp_path, ["fast-json"], ["Test"])
    assert needed
    versions = [line for line in needed.entries if not line.startswith("--find-links")]
    assert sorted(versions) == sorted(
        ["flask==3.1.3", "werkzeug==2.0", "special==1.0", "orjson==3.12", "pytest==9.0", "mypy==1.20"]
        + [(tmp_path / "near by").as_uri()]
        + [f"{tmp_path}[fast-json]"] * bool(build)
    )
    assert f"--find-links {(tmp_path / 'special').as_uri()}" in needed.entries
    assert (needed.file, needed.installs) == ("pyproject.toml", bool(build))
    assert not (tmp_path / "uv.lock").exists()


@NEEDS_UV
def test_a_member_of_a_workspace_is_read_with_the_settings_of_its_root(tmp_path: Path) -> None:
    write_tree(tmp_path, needs='"flask"')
    with (tmp_path / "pyproject.toml").open("a") as manifest:
        manifest.write('[tool.uv.workspace]\nmembers = ["m"]\n')
    (tmp_path / "m").mkdir()
    member = '[project]\nname = "m"\nversion = "1"\ndependencies = ["shop"]\n'
    (tmp_path / "m/pyproject.toml").write_text(f"{member}[tool.uv.sources]\nshop = {{ workspace = true }}\n")
    needed = read_dependencies(tmp_path / "m")
    assert needed
    assert {"flask==3.1.3", tmp_path.as_uri()} <= {*needed.entries}


def test_the_password_of_an_index_is_not_in_the_requirements(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """uv leaves it out. Packages of an index that is not PyPI are found on their own pages."""
    answer = "corp==1.0\n    # from https://me.example/simple/\nflask==3 ; python_version < '3.14'\n"
    (tmp_path / "pyproject.toml").write_text(MANIFEST)
    monkeypatch.setattr(packages, "_read_by_uv", lambda *_: answer + "    # from https://pypi.org/simple\n")
    assert entries(tmp_path) == (
        "corp==1.0",
        "--find-links https://me.example/simple/corp/",
        "flask==3 ; python_version < '3.14'",
    )


@NEEDS_UV
def test_without_a_network_the_cache_of_uv_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same project can be measured again; if the cache has not all, the network is the reason."""
    answers = iter([("", NO_NETWORK), ("flask==3.1.3\n", NOTHING), ("", NO_NETWORK), ("", message("not in the cache"))])
    asked: list[list[str]] = []

    def run(command: list[str], *_: object, **__: object) -> tuple[str, Message]:
        asked.append(command)
        return next(answers)

    monkeypatch.setattr(uv, "run", run)
    assert entries(tmp_path, pyproject_toml=MANIFEST) == ("flask==3.1.3",)
    assert ["--offline" in command for command in asked] == [False, True]
    with pytest.raises(BadInput, match=r"cannot be determined: no network: unreachable\. Check the network"):
        read_dependencies(tmp_path)


@NEEDS_UV
def test_an_extra_or_group_that_the_project_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no pyproject"):
        read_dependencies(tmp_path, ["none"])
    write_tree(tmp_path)
    for extras, groups, reason in (
        (["none"], [], r"pyproject\.toml cannot be determined: Requested extra not found: none\. Correct"),
        ([], ["none"], "dependency group 'none' was not found"),
    ):
        with pytest.raises(BadInput, match=reason):
            read_dependencies(tmp_path, extras, groups)
    (tmp_path / "pylock.toml").write_text(PYLOCK)
    reason = r"pylock\.toml cannot be read: it has no packages for an extra or a dependency group named none, "
    with pytest.raises(BadInput, match=reason):
        read_dependencies(tmp_path, (), ["none"])


@NEEDS_UV
def test_a_project_of_setuptools_or_poetry_is_read_by_its_own_backend_and_what_uv_cannot_read_is_refused_in_words(
    tmp_path: Path,
) -> None:
    (tmp_path / "setup.cfg").write_text("[metadata]\nname = shop\n[options]\ninstall_requires =\n    flask\n")
    with pytest.raises(BadInput, match=r"setup\.cfg cannot be read: uv reads this file only if the same folder has"):
        read_dependencies(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.poetry.dependencies]\npython = "^3.11"\n')
    with pytest.raises(
        BadInput, match=r"pyproject\.toml cannot be read: uv reads \[tool\.poetry\] only if the file also"
    ):
        read_dependencies(tmp_path)
    (tmp_path / "pyproject.toml").write_text(BUILD)  # with a backend that knows name and dependencies
    (tmp_path / "backend.py").write_text(BACKEND)
    (tmp_path / "shop.py").write_text("")
    (tmp_path / "poetry.lock").write_text("")
    needed = read_dependencies(tmp_path)
    assert needed
    assert needed.entries == (str(tmp_path),)
    assert "without the versions of poetry.lock, which uv cannot read" in str(needed.source)
    (tmp_path / "pyproject.toml").write_text('project = "shop"')
    with pytest.raises(BadInput, match=r"pyproject\.toml cannot be read: project is not a table"):
        read_dependencies(tmp_path)


@each_row
def test_a_bound_accepts_versions_by_the_standard_or_by_poetrys_rules(line: str) -> None:
    """Source: packaging.python.org, version specifiers; python-poetry.org, dependency specification."""
    text, accepted = line.split(" -> ")
    bound = PythonBound(file=Path("pyproject.toml"), text=text)
    assert " ".join(name for name in ("3.11", "3.13", "3.14t", "3.15") if bound.accepts(RuntimeName(name))) == accepted


@each_row
def test_the_bound_on_python_is_found_in_each_kind_of_project(tmp_path: Path, line: str) -> None:
    file, text = line.replace("\\n", "\n").split(" | ")
    assert python_bound(tmp_path) == PythonBound()
    (tmp_path / file).write_text(text)
    assert python_bound(tmp_path) == PythonBound(file=tmp_path / file, text="<3.14")
    with pytest.raises(BadInput, match="cannot be read: Invalid specifier"):
        PythonBound(file=tmp_path / file, text="new").accepts(RuntimeName("3.14"))


def test_a_pylock_gives_versions_and_places_and_its_markers_know_what_was_chosen(tmp_path: Path) -> None:
    assert entries(tmp_path, pyproject_toml=MANIFEST, pylock_toml=PYLOCK) == (
        "flask==3.1.3",
        "colorama==0.4.6 ; sys_platform == 'win32'",
        "orjson==3.12 ; python_version < '3'",
        "mypy==1.20 ; python_version < '3'",
        "tool @ git+https://example.org/tool.git@abc#subdirectory=a",
        f"near @ file://{tmp_path}/near%20by",
        "--find-links https://me.example/simple/corp/",
        "corp==1",
    )
    needed = read_dependencies(tmp_path, (), ["types"])
    assert needed
    assert "mypy==1.20 ; python_version > '3'" in needed.entries
    assert str(needed.source) == "pyproject.toml, with the versions from pylock.toml"


@NEEDS_UV
def test_a_uv_lock_gives_versions_without_a_network_and_is_left_as_it_is(tmp_path: Path) -> None:
    manifest = MANIFEST.replace("flask", "itsdangerous")
    link = "--find-links https://example.org/simple/itsdangerous/"
    assert entries(tmp_path, pyproject_toml=manifest, uv_lock=UV_LOCK) == (link, "itsdangerous==2.2.0")
    assert (tmp_path / "uv.lock").read_text() == UV_LOCK
    (tmp_path / "uv.lock").write_text("version = 99")
    with pytest.raises(BadInput, match=r"uv\.lock cannot be determined: TOML parse error"):
        read_dependencies(tmp_path)


def test_without_a_project_there_is_requirements_txt_or_nothing(tmp_path: Path) -> None:
    """Hashes are left out, because the server that is added has none."""
    assert read_dependencies(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    assert entries(tmp_path, requirements_txt="flask") == (f"-r {tmp_path / 'requirements.txt'}",)
    text = "--require-hashes\n--only-binary :all:\nflask==3.1.3 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n"
    assert entries(tmp_path, requirements_txt=text) == ("--only-binary :all:", "flask==3.1.3")


def test_a_manifest_that_is_no_toml_or_includes_a_missing_group_is_named_with_the_reason(tmp_path: Path) -> None:
    for manifest, reason in (
        ("[project", r"pyproject\.toml cannot be read: "),
        (MANIFEST.replace('include-group = "types"', 'include-group = "none"'), "Failed to find group"),
    ):
        (tmp_path / "pyproject.toml").write_text(manifest)
        with pytest.raises(BadInput, match=reason):
            read_dependencies(tmp_path, (), ["test"])

"""What a project needs, from the files that projects have."""

from pathlib import Path

import pytest

from core.errors import BadInput
from lab.project.packages import read_dependencies
from lab.python import uv

MANIFEST = """
[project]
name = "shop"
version = "1"
dependencies = ["flask==3.1.3"]

[project.optional-dependencies]
Fast_Json = ["orjson"]

[dependency-groups]
test = ["pytest", {include-group = "types"}]
types = ["mypy"]
"""
BUILD = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
PYLOCK = """
lock-version = "1.0"
packages = [
    {name = "flask", version = "3.1.3", wheels = [{url = "https://example.org/flask.whl", hashes = {sha256 = "0"}}]},
    {name = "colorama", version = "0.4.6", marker = "sys_platform == 'win32'"},
    {name = "orjson", version = "3.12", marker = "'fast' in extras"},
    {name = "mypy", version = "1.20", marker = "'types' in dependency_groups"},
    {name = "tool", vcs = {type = "git", url = "https://example.org/tool.git", commit-id = "abc"}},
    {name = "near", directory = {path = "near"}},
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


def test_a_project_with_a_build_is_installed_and_one_without_is_used_in_its_folder_and_needs_its_dependencies(
    tmp_path: Path,
) -> None:
    assert entries(tmp_path, pyproject_toml=MANIFEST) == ("flask==3.1.3",)
    assert entries(tmp_path, pyproject_toml=MANIFEST + BUILD) == (str(tmp_path),)


def test_extras_and_groups_are_added_by_any_spelling_of_their_names(tmp_path: Path) -> None:
    for build, entries in (("", ("flask==3.1.3", "orjson")), (BUILD, (f"{tmp_path}[fast-json]",))):
        (tmp_path / "pyproject.toml").write_text(MANIFEST + build)
        needed = read_dependencies(tmp_path, ["fast-json"], ["Test"])
        assert needed
        assert needed.entries == (*entries, "pytest", "mypy")


def test_an_extra_or_group_that_the_project_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no pyproject"):
        read_dependencies(tmp_path, ["none"])
    (tmp_path / "pyproject.toml").write_text(MANIFEST)
    with pytest.raises(BadInput, match=r"has no optional dependency group none\. Available: "):
        read_dependencies(tmp_path, ["none"])
    with pytest.raises(BadInput, match=r"has no dependency group none\. Available: "):
        read_dependencies(tmp_path, (), ["none"])


def test_a_pylock_gives_versions_and_places_and_its_markers_know_what_was_chosen(tmp_path: Path) -> None:
    assert entries(tmp_path, pyproject_toml=MANIFEST, pylock_toml=PYLOCK) == (
        "flask==3.1.3",
        "colorama==0.4.6 ; sys_platform == 'win32'",
        "orjson==3.12 ; python_version < '3'",
        "mypy==1.20 ; python_version < '3'",
        "tool @ git+https://example.org/tool.git@abc",
        f"near @ file://{tmp_path}/near",
    )
    needed = read_dependencies(tmp_path, (), ["types"])
    assert needed
    assert "mypy==1.20 ; python_version > '3'" in needed.entries
    assert str(needed.source) == "pyproject.toml, with the versions from pylock.toml"


@pytest.mark.skipif(uv.find() is None, reason="needs uv")
def test_a_uv_lock_gives_versions_without_a_network_and_is_left_as_it_is(tmp_path: Path) -> None:
    manifest = MANIFEST.replace("flask==3.1.3", "itsdangerous")
    assert entries(tmp_path, pyproject_toml=manifest, uv_lock=UV_LOCK) == ("itsdangerous==2.2.0",)
    assert (tmp_path / "uv.lock").read_text() == UV_LOCK
    (tmp_path / "uv.lock").write_text("version = 99")
    with pytest.raises(BadInput, match=r"uv\.lock cannot be read: "):
        read_dependencies(tmp_path)


def test_without_a_project_there_is_requirements_txt_or_nothing(tmp_path: Path) -> None:
    assert read_dependencies(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    assert entries(tmp_path, requirements_txt="flask") == (f"-r {tmp_path / 'requirements.txt'}",)


def test_hashes_are_left_out_for_the_server_that_is_added_has_none(tmp_path: Path) -> None:
    text = "--require-hashes\n--only-binary :all:\nflask==3.1.3 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n"
    assert entries(tmp_path, requirements_txt=text) == ("--only-binary :all:", "flask==3.1.3")


def test_a_manifest_that_is_no_toml_or_includes_a_missing_group_is_named_with_the_reason(tmp_path: Path) -> None:
    for manifest, reason in (
        ("[project", r"pyproject\.toml cannot be read: "),
        (MANIFEST.replace('include-group = "types"', 'include-group = "none"'), "'none' not found"),
    ):
        (tmp_path / "pyproject.toml").write_text(manifest)
        with pytest.raises(BadInput, match=reason):
            read_dependencies(tmp_path, (), ["test"])

"""Requirements files, taken apart."""

from pathlib import Path

import pytest

from core.errors import BadInput
from lab.requirements import Requirements, listed, name_of, read

FILE = """\
# what the shop needs
--index-url=https://packages.example/simple
-c limits.txt
Flask==3.1.3 \\
    --hash=sha256:00 \\
    --hash=sha256:01
numpy>=2 ; python_version >= "3.11"  # fast
-r more.txt
"""


def test_options_hold_for_all_and_an_entry_keeps_its_hashes(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(FILE)
    (tmp_path / "more.txt").write_text("--find-links wheels\nrpyc\nrpyc\n")
    found = read(tmp_path / "requirements.txt")
    assert found.options == (
        "--index-url=https://packages.example/simple",
        f"-c {tmp_path}/limits.txt",
        f"--find-links {tmp_path}/wheels",
    )
    assert found.entries == (
        "Flask==3.1.3 --hash=sha256:00 --hash=sha256:01",
        'numpy>=2 ; python_version >= "3.11"',
        "rpyc",
    )
    assert found.hashed


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("Flask==3.1.3 --hash=sha256:00", "flask"),
        ("ruamel.yaml", "ruamel-yaml"),
        ("uvicorn[standard]>=0.30", "uvicorn"),
        ("shop @ file:///home/me/shop", "shop"),
        ("./wheels/my_shop-1.0-py3-none-any.whl", "my-shop"),
        ("https://example.org/my_shop-1.0.tar.gz", "my-shop"),
        ("./shop", "./shop"),
    ],
)
def test_an_entry_says_which_package_it_asks_for(entry: str, name: str) -> None:
    assert name_of(entry) == name


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.txt cannot be read \(No such file or directory\)"):
        read(tmp_path / "none.txt")


@pytest.mark.parametrize("given", ["", "--index-url=x", "a\nb"])
def test_a_package_that_is_an_option_or_nothing_is_refused(given: str) -> None:
    with pytest.raises(BadInput, match="it must be a name"):
        listed([given])


def test_packages_may_be_named_one_by_one() -> None:
    assert listed(["numpy", "numpy", "rpyc==6.0.2"]) == Requirements(entries=("numpy", "rpyc==6.0.2"))

"""Requirements files, taken apart."""

from pathlib import Path

import pytest

from core.messages import BadInput
from lab.environments.requirements import Requirements, from_names, name_of, read
from tests.tables import each_row

FILE = """\
# what the shop needs
--index-url=https://packages.example/simple
-c limits.txt
Flask==3.1.3 \\
    --hash=sha256:00 \\
    --hash=sha256:01
numpy>=2 ; python_version >= "3.11"  # fast
-r more.txt
-r more.txt
-r https://example.org/more.txt
"""


def test_options_hold_for_all_and_an_entry_keeps_its_hashes(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(FILE)
    (tmp_path / "more.txt").write_text("--find-links wheels\nrpyc\nrpyc\n")
    found = read(tmp_path / "requirements.txt")
    assert found.options == (
        "--index-url=https://packages.example/simple",
        f"-c {tmp_path}/limits.txt",
        f"--find-links {tmp_path}/wheels",
        "-r https://example.org/more.txt",
    )
    assert found.entries == (
        "Flask==3.1.3 --hash=sha256:00 --hash=sha256:01",
        'numpy>=2 ; python_version >= "3.11"',
        "rpyc",
    )
    assert found.hashed


@each_row
def test_an_entry_says_which_package_it_asks_for(line: str) -> None:
    entry, name = line.split(" -> ")
    assert name_of(entry) == name


def test_packages_may_be_named_one_by_one_but_not_an_option_or_nothing() -> None:
    assert from_names(["numpy", "numpy", "rpyc==6.0.2"]) == Requirements(entries=("numpy", "rpyc==6.0.2"))
    for given in ("", "--index-url=x", "a\nb"):
        with pytest.raises(BadInput, match="is not a package"):
            from_names([given])


@each_row
def test_a_file_that_names_itself_is_refused_with_the_way_round_and_one_that_is_not_there_is_named(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "x/requirements.txt"
    with pytest.raises(BadInput, match=r"requirements\.txt cannot be read"):
        read(file)
    file.parent.mkdir()
    file.write_text(f"flask\n{text}\n")
    file.with_name("more.txt").write_text("--requirement requirements.txt\n")
    with pytest.raises(BadInput, match=r"requirements\.txt includes itself .*: requirements\.txt -> "):
        read(file)

"""The version of each row, as the run has it."""

from dataclasses import replace
from typing import Any

import pytest

from reports.facts.builds import service_version
from reports.facts.cells import Cells
from tests.reports.contestants import blocks_of, contest_run


@pytest.mark.parametrize(
    ("program", "version"),
    [
        ({"program": "echo-libuv", "version": "0.1.0", "packages": {"libuv": "1.44.2"}}, "libuv 1.44.2"),
        (
            {"program": "echo-netty", "java": "17.0.15+6", "packages": {"netty": "4.2.10"}},
            "netty 4.2.10, Java 17.0.15+6",
        ),
    ],
)
def test_of_a_native_service_it_is_that_of_its_library_and_of_java(program: Any, version: str) -> None:
    cells = blocks_of("echo-libuv", 1000)
    run = contest_run([replace(cell, services=[{**cell.services[0], "program": program}]) for cell in cells])
    (row,) = Cells(run).rows
    assert service_version(run, row) == version

"""The version of each row, as the run has it."""

from collections.abc import Mapping
from dataclasses import replace

from core.result import Run
from reports.rows.summary import Row, rows
from reports.rows.versions import service_version
from tests.reports.contestants import blocks_of, contest_run

LIBUV = {"program": "echo-libuv", "version": "0.1.0", "compiler": "GCC 12.2.0", "packages": {"libuv": "1.44.2"}}
PYTHON = {"version": "3.14.7", "packages": {"requirements/uvloop.txt": {"uvloop": "0.23.0"}}}


def row_of(run: Run) -> Row:
    """Its only row."""
    (row,) = rows(run)
    return row


def served_by(program: Mapping[str, object]) -> Run:
    """A native service that says what it is."""
    cells = blocks_of("echo-libuv", 1000)
    return contest_run([replace(cell, services=[{**cell.services[0], "program": program}]) for cell in cells])


def test_of_a_native_service_it_is_that_of_its_library() -> None:
    run = served_by(LIBUV)
    assert service_version(run, row_of(run)) == "libuv 1.44.2"


def test_of_a_java_service_it_is_the_javas_too() -> None:
    run = served_by({"program": "echo-netty", "version": "1", "java": "17.0.15+6", "packages": {"netty": "4.2.10"}})
    assert service_version(run, row_of(run)) == "netty 4.2.10, Java 17.0.15+6"

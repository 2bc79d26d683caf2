"""Other load generators: how each is called, and what is read of what they print."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.loadgen.peers import GENERATORS, UNKNOWN, Load
from tests.lab.python.fake_pythons import script
from tests.tables import each_row, table

URL = "http://127.0.0.1:1/"


PRINTED = table(__file__)
LOAD = Load(url=URL, connections=21, requests=1000, seconds=3, keep_alive=True, threads=2)


def test_what_a_generator_prints_is_read() -> None:
    for name, printed, answered, failed, seconds in PRINTED["says"]:
        report = GENERATORS[name].read(PRINTED[printed])
        assert (report.answered, report.failed) == (answered, failed), printed
        assert report.seconds == pytest.approx(seconds)


@pytest.mark.parametrize("name", ["ab", "wrk"])
def test_what_is_no_report_is_refused_with_what_was_printed(name: str) -> None:
    with pytest.raises(ValueError, match="Segmentation fault"):
        GENERATORS[name].read("Segmentation fault")


LOADS: dict[str, dict[str, Any]] = {
    "usual": {}, "fresh": {"keep_alive": False}, "timed": {"timed": True}, "single": {"connections": 1}
}  # fmt: skip


@each_row
def test_a_generator_is_called_as_its_documentation_says(line: str) -> None:
    kind, _, called = line.partition(": ")
    name = called.split()[0]
    assert " ".join(GENERATORS[name].command(replace(LOAD, **LOADS[kind]))) == f"{called} {URL}"


@pytest.mark.parametrize(
    ("name", "program", "version"),
    [
        ("ab", "echo 'This is ApacheBench, Version 2.3 <$Revision: 1 $>'\nexit 1", "2.3"),
        ("wrk", "echo 'wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012'", "debian/4.1.0-3+b2"),
        ("oha", "echo something else", UNKNOWN),
    ],
)
def test_a_generator_that_is_there_has_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, program: str, version: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert GENERATORS[name].version() == UNKNOWN
    script(tmp_path / name, program)
    assert GENERATORS[name].version() == version

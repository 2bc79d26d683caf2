"""Other load generators: how each is called, and what is read of what they print."""

from pathlib import Path
from typing import Any

import pytest

from clients.generators import GENERATORS, UNKNOWN, Load
from tests.clients.printed import HEY, PRINTED

URL = "http://127.0.0.1:1/"


def load(**more: Any) -> Load:
    """21 connections, 1000 requests, kept connections, two cores."""
    known = {"url": URL, "connections": 21, "requests": 1000, "seconds": 3, "keep_alive": True, "threads": 2}
    return Load(**{**known, **more})


@pytest.mark.parametrize("case", PRINTED)
def test_what_a_generator_prints_is_read(case: str) -> None:
    name, printed, expected = PRINTED[case]
    report = GENERATORS[name].read(printed)
    assert (report.answered, report.failed) == (expected.answered, expected.failed)
    assert report.seconds == pytest.approx(expected.seconds)
    assert dict(report.percentiles_ms) == pytest.approx(expected.percentiles_ms)


@pytest.mark.parametrize("name", ["ab", "wrk", "hey"])
def test_what_is_no_report_is_refused_with_what_was_printed(name: str) -> None:
    with pytest.raises(ValueError, match="Segmentation fault"):
        GENERATORS[name].read("Segmentation fault")


@pytest.mark.parametrize(
    ("name", "keep_alive", "called"),
    [
        ("ab", True, f"ab -q -k -n 1000 -c 21 {URL}"),
        ("ab", False, f"ab -q -n 1000 -c 21 {URL}"),
        ("wrk", True, f"wrk -t2 -c21 -d3s --latency {URL}"),
        ("wrk", False, f"wrk -t2 -c21 -d3s --latency -H Connection: close {URL}"),
        ("oha", True, f"oha --no-tui --output-format json -n 1000 -c 21 {URL}"),
        ("oha", False, f"oha --no-tui --output-format json --disable-keepalive -n 1000 -c 21 {URL}"),
        ("hey", True, f"hey -n 1000 -c 21 {URL}"),
        ("hey", False, f"hey -disable-keepalive -n 1000 -c 21 {URL}"),
    ],
)
def test_a_generator_is_called_as_its_documentation_says(name: str, keep_alive: bool, called: str) -> None:
    assert " ".join(GENERATORS[name].command(load(keep_alive=keep_alive))) == called


def test_wrk_has_no_more_threads_than_connections() -> None:
    assert "-t1" in GENERATORS["wrk"].command(load(connections=1))


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("ab", f"ab -q -k -t 3 -n 600000 -c 21 {URL}"),
        ("wrk", f"wrk -t2 -c21 -d3s --latency {URL}"),
        ("oha", f"oha --no-tui --output-format json -w -z 3s -c 21 {URL}"),
        ("hey", f"hey -z 3s -c 21 {URL}"),
    ],
)
def test_a_duration_ends_every_generator(name: str, called: str) -> None:
    assert " ".join(GENERATORS[name].command(load(timed=True))) == called


def test_hey_counts_more_answers_than_it_remembers_the_status_of() -> None:
    """At 7041.646 requests/s, 300 s are 2,112,494 requests."""
    printed = HEY.replace("0.2840", "300.0000").replace("2000 responses", "1000000 responses")
    report = GENERATORS["hey"].read(printed)
    assert (report.answered, report.failed) == (2_112_494, 0)


@pytest.mark.parametrize(
    ("name", "prints", "version"),
    [
        ("ab", "This is ApacheBench, Version 2.3 <$Revision: 1 $>", "2.3"),
        ("wrk", "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer", "debian/4.1.0-3+b2"),
        ("oha", "oha 1.16.0", "1.16.0"),
        ("oha", "something else", UNKNOWN),
    ],
)
def test_a_generator_is_asked_for_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, prints: str, version: str
) -> None:
    (tmp_path / name).write_text(f"#!/bin/sh\necho '{prints}'\nexit 1\n")
    (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert GENERATORS[name].version() == version


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_that_is_not_there_has_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert GENERATORS[name].version() == UNKNOWN


def test_the_version_of_hey_is_what_go_wrote_into_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    built = b"\x7fELF\x00path\tgithub.com/rakyll/hey\nmod\tgithub.com/rakyll/hey\tv0.1.5\th1:oc3Q=\n\x00"
    (tmp_path / "hey").write_bytes(built)
    (tmp_path / "hey").chmod(0o755)
    assert GENERATORS["hey"].version() == "v0.1.5"

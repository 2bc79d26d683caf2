"""What loadgen's reports hold, its figures against known ones, and how a run is stopped."""

import re
import signal
import subprocess

import pytest

from tests.native.loadgen_peers import (
    DEADLINE_S,
    HELLO,
    loadgen,
    read_http,
    reported,
    says,
    scripted,
)
from tests.native.programs import program_or_skip
from tests.tables import each_row


def test_the_json_report_has_its_histograms_without_the_warm_up_and_what_was_used() -> None:
    with scripted(says(HELLO), read_http) as server:
        report = reported("-c", 2, "-n", 1000, "--warmup", 40, server.url, status=0)
        assert (report["answered"], server.requests) == (1000, 1040)
    for name, count in {"latency": 1000, "first_byte": 1000, "connect": 2}.items():
        summary = report[name]
        assert sum(number for _, number in summary["counts"]) == summary["count"] == count
        assert summary["min_ns"] <= summary["mean_ns"] <= summary["max_ns"]
    assert {"cpu_user_ns", "cpu_system_ns", "max_rss_bytes", "wall_ns", "sent", "flags"} <= set(report)
    assert report["requests_per_s"] == pytest.approx(1000 / report["wall_ns"] * 1e9)
    assert {"p999_ns", "p9999_ns"} & set(report["latency"]) == set()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_with_the_report_of_what_there_is(number: signal.Signals, status: int) -> None:
    with scripted(says(HELLO), read_http) as server:
        command = [program_or_skip("loadgen"), "-c", "2", "-n", "1000000", server.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            while server.requests < 50:
                server.stall(0.001)
            process.send_signal(number)
            said, _ = process.communicate(timeout=DEADLINE_S)
            assert process.returncode == status
    complete = re.search(r"Complete requests: +([0-9]+)", said)
    assert complete
    assert 48 <= int(complete[1]) < 1_000_000
    assert " 100% " in said


@each_row
def test_what_cannot_be_is_refused_by_name(line: str) -> None:
    flags, status, named = line.split(" | ")
    done = loadgen(*flags.split())
    assert (done.returncode, done.stdout) == (int(status), "")
    assert named in done.stderr

"""What loadgen's reports hold, its figures against known ones, and how a run is stopped."""

import base64
import re
import signal
import struct
import subprocess

import pytest

from tests.native.loadgen_peers import (
    DEADLINE_S,
    HELLO,
    echo,
    loadgen,
    read_http,
    read_message,
    reported,
    says,
    scripted,
)
from tests.native.programs import program_or_skip

VMBENCH = r"""5000 0\.1KiB messages in .*
Latency: min ([\d.]+)ms; max [\d.]+ms; mean [\d.]+ms; std: [\d.]+ms \([\d.]+%\)
Latency distribution: 25% under ([\d.]+)ms; 50% under ([\d.]+)ms; 75% under ([\d.]+)ms; \
90% under ([\d.]+)ms; 99% under ([\d.]+)ms
Requests/sec: .*
Transfer/sec: .*
Requests/sec x mean latency = ([\d.]+) \(concurrency 3\)
TCP_NODELAY false; socket buffers 65536 bytes \(actual: send 131072, receive 131072\)
""".replace("\\\n", "")


def test_the_report_vmbench_has_the_form_of_the_record_and_its_figures_fit_together() -> None:
    flags = ("--protocol", "echo", "--message-bytes", 100, "--report", "vmbench", "-c", 3, "-n", 5000)
    with scripted(echo, read_message) as server:
        done = loadgen(*flags, "--nodelay", "false", "--buffer-bytes", 65536, server.address)
    said = re.fullmatch(VMBENCH, done.stdout)
    assert said
    *figures, littles_law = map(float, said.groups())
    assert figures == sorted(figures)
    assert 1.5 < littles_law <= 3.01  # less than 3 where threads wait for a core


# ---- figures ------------------------------------------------------------------------------------------------------


def test_the_json_report_has_its_histograms_also_as_hdrhistogram_without_the_warm_up_and_what_was_used() -> None:
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
    encoded = base64.b64decode(report["latency"]["hdr_v2_base64"])
    cookie, size_bytes, offset, digits, low, _high, ratio = struct.unpack_from("!iiiiqqd", encoded)
    assert (cookie & ~0xF0, offset, digits, low, ratio) == (0x1C849303, 0, 3, 1, 1.0)
    assert len(encoded) == 40 + size_bytes
    assert sum(number for number in zigzags(encoded[40:]) if number > 0) == 1000


def zigzags(data: bytes) -> list[int]:
    """The numbers in ZigZag LEB128. Source: HdrHistogram's wiki, V2 encoding."""
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append((value >> 1) ^ -(value & 1))
            value = shift = 0
    return numbers


# ---- the end ------------------------------------------------------------------------------------------------------


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


HERE = "http://127.0.0.1:1/"
# Each with its exit status and what its complaint names.
WRONG_FLAGS = {
    HERE: (2, "--requests"),
    "-n 1": (2, "target"),
    f"-n 1 -H x {HERE}": (2, "--header"),
    f"-n 1 -t 0 {HERE}": (2, "1 to 1000"),
    "--report child -c 5": (2, "--connections"),
    "-n 1 ftp://x": (1, "http://host:port/path or unix:/path.sock:/path"),
}


@pytest.mark.parametrize("flags", WRONG_FLAGS)
def test_what_cannot_be_is_refused_by_name(flags: str) -> None:
    status, named = WRONG_FLAGS[flags]
    done = loadgen(*flags.split())
    assert (done.returncode, done.stdout) == (status, "")
    assert named in done.stderr

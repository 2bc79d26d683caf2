"""The report ab has the fields that ApacheBench has, and counts as it does."""

import re
import socket
from itertools import count

import pytest

from tests.native.loadgen_peers import (
    CLOSING,
    HELLO,
    Script,
    Scripted,
    loadgen,
    on_each_connection,
    read_http,
    reset,
    says,
    scripted,
)

REFUSED = HELLO.replace(b"200 OK", b"503 Full")
LONGER = REFUSED.replace(b": 5", b": 6") + b"!"
# What ab 2.3 (Debian 12) printed for `ab -q -k -c 2 -n 100 -p BODY http://127.0.0.1:44311/a`, but for its three lines
# about itself. The server answered 503 with 5 bytes, and once with 6.
AB_SAYS = """\
Server Software:        scripted/1
Server Hostname:        127.0.0.1
Server Port:            44311

Document Path:          /a
Document Length:        5 bytes

Concurrency Level:      2
Time taken for tests:   0.009 seconds
Complete requests:      100
Failed requests:        1
   (Connect: 0, Receive: 0, Length: 1, Exceptions: 0)
Non-2xx responses:      100
Keep-Alive requests:    100
Total transferred:      8901 bytes
Total body sent:        16500
HTML transferred:       501 bytes
Requests per second:    10711.23 [#/sec] (mean)
Time per request:       0.187 [ms] (mean)
Time per request:       0.093 [ms] (mean, across all concurrent requests)
Transfer rate:          931.06 [Kbytes/sec] received
                        1725.93 kb/s sent
                        2656.99 kb/s total

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.0      0       0
Processing:     0    0   0.7      0       7
Waiting:        0    0   0.7      0       7
Total:          0    0   0.7      0       7

Percentage of the requests served within a certain time (ms)
  50%      0
  66%      0
  75%      0
  80%      0
  90%      0
  95%      0
  98%      2
  99%      7
 100%      7 (longest request)
"""


def shapes(report: str) -> list[str]:
    """Its lines without blanks, a number being any number but a percentage."""
    lines = (re.sub(r"\d+(\.\d+)?(?!%|\d|\.)", "0", line) for line in report.splitlines())
    return ["".join(line.split()) for line in lines]


def test_the_report_ab_has_every_field_of_ab_in_its_order() -> None:
    numbers = count(1)

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        connection.sendall(LONGER if next(numbers) == 50 else REFUSED)
        return True

    flags = ("-n", 100, "-c", 2, "--body", "x" * 10, "--expect-status", 503, "--expect-length", 5)
    said = report_of(script, *flags, status=1)
    ours = iter(shapes(said))
    missing = [line for line in shapes(AB_SAYS) if line not in ours]  # `in` goes on from where it has found the last
    assert missing == []
    received, sent, total = map(float, re.findall(r"([0-9.]+) (?:\[Kbytes/sec\]|kb/s)", said))
    assert total == pytest.approx(sent + received, abs=0.02)


def field(report: str, name: str) -> str:
    """The value behind a name."""
    found = re.search(rf"^ *{re.escape(name)}: *(.*)$", report, re.M)
    assert found, f"{name} is not in {report}"
    return found[1]


def report_of(script: Script, *flags: str | int, status: int) -> str:
    """The report of 20 requests, or as many as *flags* say."""
    with scripted(script, read_http) as server:
        done = loadgen(*(flags if "-n" in flags else ("-n", 20, *flags)), server.url)
    assert done.returncode == status
    return done.stdout


@pytest.mark.parametrize(
    ("script", "failed", "line"),
    [
        (says(REFUSED), "0", "Non-2xx responses:      20"),
        (reset, "10", "   (Connect: 0, Receive: 10, Length: 0, Exceptions: 0)"),
        (says(b"what?\r\n\r\n"), "10", "   (Connect: 0, Receive: 0, Length: 0, Exceptions: 10)"),
    ],
    ids=["another status", "resets", "no HTTP"],
)
def test_failed_requests_are_told_apart_as_ab_does(script: Script, failed: str, line: str) -> None:
    said = report_of(script, status=1)
    assert field(said, "Failed requests") == failed
    assert re.findall(r"^.*(?:\(Connect:|Non-2xx).*$", said, re.M) == [line]


def test_connections_are_kept_only_where_the_server_kept_them() -> None:
    closing = on_each_connection(4, says(CLOSING, keep=False), HELLO)
    assert field(report_of(closing, status=0), "Connections") == "kept after 16 of 20 answers"
    assert field(report_of(says(HELLO), "--fresh", status=0), "Connections") == "a connection for each request"

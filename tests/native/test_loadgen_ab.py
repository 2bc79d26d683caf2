"""The report ab has the fields that ApacheBench has, and counts as it does."""

import re
import socket
from itertools import count

import pytest

from tests.native.loadgen_peers import HELLO, Script, Scripted, loadgen, read_http, reset, says, scripted

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


def refusing() -> Script:
    """503 for all, one of them a byte longer."""
    numbers = count(1)

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        connection.sendall(LONGER if next(numbers) == 50 else REFUSED)
        return True

    return script


def test_the_report_ab_has_every_field_of_ab_in_its_order() -> None:
    with scripted(refusing(), read_http) as server:
        flags = ("-c", 2, "-n", 100, "--body", "x" * 10, "--expect-status", 503, "--expect-length", 5)
        done = loadgen(*flags, server.url)
    ours = iter(shapes(done.stdout))
    missing = [line for line in shapes(AB_SAYS) if line not in ours]  # `in` goes on from where it has found the last
    assert missing == []


def field(report: str, name: str) -> str:
    """The value behind a name."""
    found = re.search(rf"^ *{re.escape(name)}: *(.*)$", report, re.M)
    assert found, f"{name} is not in {report}"
    return found[1]


def report_of(script: Script, *flags: str | int, status: int) -> str:
    """The report of 20 requests."""
    with scripted(script, read_http) as server:
        done = loadgen("-n", 20, *flags, server.url)
    assert done.returncode == status
    return done.stdout


# A server, the exit status, failed requests, and where they and those of another status are told.
FAILURES: dict[str, tuple[Script, int, str, list[str]]] = {
    "nothing": (says(HELLO), 0, "0", []),
    "another status": (says(REFUSED), 1, "0", ["Non-2xx responses:      20"]),
    "resets": (reset, 1, "10", ["   (Connect: 0, Receive: 10, Length: 0, Exceptions: 0)"]),
    "no HTTP": (says(b"what?\r\n\r\n"), 1, "10", ["   (Connect: 0, Receive: 0, Length: 0, Exceptions: 10)"]),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failed_requests_are_told_apart_as_ab_does(name: str) -> None:
    script, status, failed, lines = FAILURES[name]
    said = report_of(script, status=status)
    assert field(said, "Failed requests") == failed
    assert [line for line in said.splitlines() if "(Connect:" in line or "Non-2xx" in line] == lines


def test_a_body_that_is_sent_is_in_the_transfer_rate() -> None:
    said = report_of(says(HELLO), "--body", "hello", status=0)
    sent, total = (re.search(rf"^ {{24}}([0-9.]+) kb/s {which}$", said, re.M) for which in ("sent", "total"))
    received = field(said, "Transfer rate").split()[0]
    assert sent
    assert total
    assert float(total[1]) == pytest.approx(float(sent[1]) + float(received), abs=0.02)


def test_connections_are_kept_only_where_the_server_kept_them() -> None:
    closing = HELLO.replace(b"Server", b"Connection: close\r\nServer")

    def every_fifth(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        last = server.requests % 5 == 0
        connection.sendall(closing if last else HELLO)
        return not last

    assert field(report_of(every_fifth, status=0), "Connections") == "kept after 16 of 20 answers"
    assert field(report_of(says(HELLO), "--fresh", status=0), "Connections") == "a connection for each request"

"""Build the command lines of other load generators, parse their output, and read their versions.

Sources of the options: https://httpd.apache.org/docs/2.4/programs/ab.html, and the README of
https://github.com/wg/wrk and https://github.com/hatoo/oha.

peers.py runs the command lines and sends the Report on. A new generator is an entry of GENERATORS,
and a _peer() of load_systems.py.
"""

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass

LAST_BYTES = 1000  # of the output, in errors
VERSION_TIMEOUT_S = 10
UNKNOWN = "unknown"  # version of a program that prints none
# more than ab can send; ab stops at a number of requests even if a time is given
MOST_PER_S = 200_000


@dataclass(frozen=True, kw_only=True)
class Load:
    """The load that a generator must send.

    timed: whether the generator stops after *seconds* and not after *requests*. A generator without
        an option for the number of requests always stops after *seconds*
    """

    url: str
    connections: int
    requests: int
    seconds: int
    keep_alive: bool
    threads: int
    timed: bool = False


@dataclass(frozen=True, kw_only=True)
class Report:
    """The figures that a load generator printed: answers of any status, failed requests and run
    time.
    """

    answered: int
    failed: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Generator:
    """A load generator of another project: its command line, its output and its version.

    begin, end: the command line before and after the options of *connections* and *amount*, with
        the fields of Load
    connections: the options for new connections, and for kept connections
    amount: the options for a number of requests, and for a time
    read(output): parses the output
    prints_version: the command that prints the version
    by_time: whether the generator has no option for the number of requests
    """

    begin: str
    connections: tuple[str, str]
    amount: tuple[str, str] = ("", "")
    end: str = "-c {connections} {url}"
    read: Callable[[str], Report]
    prints_version: str
    by_time: bool = False

    def command(self, load: Load) -> list[str]:
        """Return the command line that sends *load*."""
        most = {
            "most_threads": min(load.threads, load.connections),
            "most_requests": load.seconds * MOST_PER_S,
        }
        line = (
            f"{self.begin} {self.connections[load.keep_alive]} {self.amount[load.timed]} {self.end}"
        )
        return shlex.split(line.format(**vars(load), **most))

    def version(self) -> str:
        """Return the version that the program prints, even if it then exits with status 1. UNKNOWN
        if it is missing.
        """
        command = self.prints_version.split()
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=VERSION_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return UNKNOWN
        printed = (done.stdout + done.stderr).decode(errors="replace")
        return _match(rf"(?:Version|{command[0]}) (\S+)", printed, UNKNOWN)


def _read_ab(output: str) -> Report:
    return Report(
        answered=int(_match(r"Complete requests:\s+(\d+)", output)),
        failed=int(_match(r"Failed requests:\s+(\d+)", output))
        + int(_match(r"Non-2xx responses:\s+(\d+)", output, "0")),
        seconds=float(_match(r"Time taken for tests:\s+([\d.]+)", output)),
    )


def _read_wrk(output: str) -> Report:
    failures = re.search(
        r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output
    )
    sockets = sum(map(int, failures.groups())) if failures else 0
    answered = int(_match(r"(\d+) requests in ", output))
    rate = float(_match(r"Requests/sec:\s+([\d.]+)", output))
    return Report(
        answered=answered,
        failed=sockets + int(_match(r"Non-2xx or 3xx responses: (\d+)", output, "0")),
        seconds=answered / rate if rate else 0.0,
    )


def _read_oha(output: str) -> Report:
    printed = json.loads(output)
    statuses: Mapping[str, int] = printed["statusCodeDistribution"]
    good = sum(number for code, number in statuses.items() if code.startswith("2"))
    answered = sum(statuses.values())
    return Report(
        answered=answered,
        failed=answered - good + sum(printed["errorDistribution"].values()),
        seconds=printed["summary"]["total"],
    )


# Raises ValueError with the end of *output* if there is no match and no *default*.
def _match(pattern: str, output: str, default: str | None = None) -> str:
    match = re.search(pattern, output)
    if match is None and default is None:
        raise ValueError(f"the load generator's output has no {pattern!r}: {output[-LAST_BYTES:]}")
    return match[1] if match else str(default)


GENERATORS = {
    "ab": Generator(
        begin="ab -q",
        connections=("", "-k"),
        amount=(
            "-n {requests}",
            "-t {seconds} -n {most_requests}",
        ),  # -n follows -t, because -t sets -n to 50,000
        read=_read_ab,
        prints_version="ab -V",
    ),
    "wrk": Generator(
        begin="wrk -t{most_threads} -c{connections} -d{seconds}s",
        connections=("-H 'Connection: close'", ""),
        end="{url}",
        read=_read_wrk,
        prints_version="wrk -v",
        by_time=True,
    ),
    "oha": Generator(
        begin="oha --no-tui --output-format json",
        connections=("--disable-keepalive", ""),
        amount=("-n {requests}", "-w -z {seconds}s"),  # -w: wait for requests in flight
        read=_read_oha,
        prints_version="oha --version",
    ),
}

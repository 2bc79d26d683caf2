"""Other load generators as clients of the experiment loadgen: `python -m clients.peers wrk`, by the child contract.

Each is run as its own documentation says, with the cell's connections and its number of requests. What came of it
is what it says itself; its CPU time is what the operating system counts for its process.
"""

import ctypes
import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

from core.cell import Cell
from core.child import STOPPED_EARLY, ParentWatch, exit_at_once, next_word, read_cell, say_done, say_ready, stay_on
from core.histogram import Histogram
from core.method import Method

WARM_UP_S = 1
PR_SET_PDEATHSIG = 1
LAST_BYTES = 1000


@dataclass(frozen=True, kw_only=True)
class Load:
    """What is asked of a generator. seconds: for one that knows no number of requests."""

    url: str
    connections: int
    requests: int
    seconds: int
    keep_alive: bool
    threads: int


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a generator said: answers of any status, those that it calls failed, its seconds, its percentiles (ms)."""

    answered: int
    failed: int
    seconds: float
    percentiles_ms: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Peer:
    """command(load): how it is called. read(its output): what it said.

    by_time: it knows no number of requests. in_equal_shares: each of its connections sends as many as the others.
    """

    command: Callable[[Load], list[str]]
    read: Callable[[str], Said]
    by_time: bool = False
    in_equal_shares: bool = False


def _ab(load: Load) -> list[str]:
    keep = ["-k"] if load.keep_alive else []
    return ["ab", "-q", *keep, "-n", str(load.requests), "-c", str(load.connections), load.url]


def _read_ab(output: str) -> Said:
    return Said(
        answered=int(_found(r"Complete requests:\s+(\d+)", output)),
        failed=int(_found(r"Failed requests:\s+(\d+)", output))
        + int(_found(r"Non-2xx responses:\s+(\d+)", output, "0")),
        seconds=float(_found(r"Time taken for tests:\s+([\d.]+)", output)),
        percentiles_ms={f"p{share}": float(ms) for share, ms in re.findall(r"^\s+(50|99)%\s+(\d+)", output, re.M)},
    )


def _wrk(load: Load) -> list[str]:
    close = [] if load.keep_alive else ["-H", "Connection: close"]
    threads = min(load.threads, load.connections)
    return ["wrk", f"-t{threads}", f"-c{load.connections}", f"-d{load.seconds}s", "--latency", *close, load.url]


def _read_wrk(output: str) -> Said:
    failures = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output)
    sockets = sum(map(int, failures.groups())) if failures else 0
    answered = int(_found(r"(\d+) requests in ", output))
    rate = float(_found(r"Requests/sec:\s+([\d.]+)", output))
    units = {"us": 1e-3, "ms": 1.0, "s": 1e3}
    shares = re.findall(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s)\b", output, re.M)
    return Said(
        answered=answered,
        failed=sockets + int(_found(r"Non-2xx or 3xx responses: (\d+)", output, "0")),
        seconds=answered / rate if rate else 0.0,
        percentiles_ms={f"p{share}": float(number) * units[unit] for share, number, unit in shares},
    )


def _oha(load: Load) -> list[str]:
    close = [] if load.keep_alive else ["--disable-keepalive"]
    size = ["-n", str(load.requests), "-c", str(load.connections)]
    return ["oha", "--no-tui", "--output-format", "json", *close, *size, load.url]


def _read_oha(output: str) -> Said:
    said = json.loads(output)
    statuses: Mapping[str, int] = said["statusCodeDistribution"]
    good = sum(number for code, number in statuses.items() if code.startswith("2"))
    answered = sum(statuses.values())
    return Said(
        answered=answered,
        failed=answered - good + sum(said["errorDistribution"].values()),
        seconds=said["summary"]["total"],
        percentiles_ms={
            name: seconds * 1e3 for name in ("p50", "p99") if (seconds := said["latencyPercentiles"][name]) is not None
        },
    )


def _hey(load: Load) -> list[str]:
    close = [] if load.keep_alive else ["-disable-keepalive"]
    return ["hey", *close, "-n", str(load.requests), "-c", str(load.connections), load.url]


def _read_hey(output: str) -> Said:
    statuses = {code: int(number) for code, number in re.findall(r"^\s+\[(\d{3})\]\s+(\d+) responses", output, re.M)}
    failures = output.partition("Error distribution:")[2]
    answered = sum(statuses.values())
    good = sum(number for code, number in statuses.items() if code.startswith("2"))
    return Said(
        answered=answered,
        failed=answered - good + sum(int(number) for number in re.findall(r"^\s+\[(\d+)\]", failures, re.M)),
        seconds=float(_found(r"Total:\s+([\d.]+) secs", output)),
        percentiles_ms={
            f"p{share}": float(seconds) * 1e3
            for share, seconds in re.findall(r"^\s+(50|99)%+ in ([\d.]+) secs", output, re.M)
        },
    )


def _found(pattern: str, output: str, default: str | None = None) -> str:
    match = re.search(pattern, output)
    if match is None and default is None:
        raise ValueError(f"its output has no {pattern!r}: {output[-LAST_BYTES:]}")
    return match[1] if match else str(default)


PEERS = {
    "ab": Peer(command=_ab, read=_read_ab),
    "wrk": Peer(command=_wrk, read=_read_wrk, by_time=True),
    "oha": Peer(command=_oha, read=_read_oha),
    "hey": Peer(command=_hey, read=_read_hey, in_equal_shares=True),
}


def _run(peer: Peer, load: Load) -> Said:
    """Run the generator once. Raises ValueError with what it printed where that is no report of an answer."""
    done = subprocess.run(
        peer.command(load),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_die_with_parent,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise ValueError(f"it exited with status {done.returncode}: {(done.stdout + done.stderr)[-LAST_BYTES:]}")
    said = peer.read(done.stdout)
    if not said.answered:
        raise ValueError(f"it got no answer at all: {(done.stdout + done.stderr)[-LAST_BYTES:]}")
    return said


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _result(said: Said, asked: int, started_ns: int) -> dict[str, Any]:
    completion_ns = round(said.seconds * 1e9)
    return {
        "started_ns": started_ns,
        "finished_ns": started_ns + completion_ns,
        "completion_ns": completion_ns,
        "requests": asked,
        "answered": said.answered,
        "wrong": 0,
        "errors": {"failed": said.failed} if said.failed else {},
        "latency": Histogram().to_json(),
        "said": {"seconds": said.seconds, "percentiles_ms": dict(said.percentiles_ms)},
        "gil_enabled_ready": False,
        "gil_enabled_end": False,
    }


class _ChildUsage:
    """What the operating system has counted for child processes that have ended, since the object was made."""

    def __init__(self) -> None:
        self._start = resource.getrusage(resource.RUSAGE_CHILDREN)

    def to_json(self) -> dict[str, int]:
        start, now = self._start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "cpu_user_ns": round((now.ru_utime - start.ru_utime) * 1e9),
            "cpu_system_ns": round((now.ru_stime - start.ru_stime) * 1e9),
            "voluntary_switches": now.ru_nvcsw - start.ru_nvcsw,
            "involuntary_switches": now.ru_nivcsw - start.ru_nivcsw,
            "max_rss_bytes": now.ru_maxrss * 1024,
        }


def _load(told: Mapping[str, Any], seconds: int) -> Load:
    cell = Cell.from_json(told)
    return Load(
        url=f"http://{told['addresses'][0][0]}/",
        connections=cell.num_connections_per_client,
        requests=cell.num_requests_per_client,
        seconds=seconds,
        keep_alive=cell.keep_alive,
        threads=len(os.sched_getaffinity(0)),
    )


def _seconds(said: Said, requests: int) -> int:
    """How long a generator that knows no number of requests has to run for as many."""
    return max(1, round(requests * said.seconds / said.answered))


def main(name: str) -> None:
    """Take the part of a client. A generator that is told a time learns in its warm-up how long that must be."""
    peer, told = PEERS[name], read_cell()
    stay_on(told.get("cpus", ()))
    method = Method.from_json(told["method"])
    load = _load(told, round(method.duration_s) or WARM_UP_S)
    say_ready([])
    while (word := next_word()) != "go":
        if word != "warm":
            exit_at_once(STOPPED_EARLY)
        said = _run(peer, _smaller(load, method.warmup.share))
        if peer.by_time and not method.duration_s:
            load = _load(told, _seconds(said, load.requests))
        say_done(word)
    watch, usage, started_ns = ParentWatch(), _ChildUsage(), perf_counter_ns()
    said = _run(peer, load)
    left_over = load.requests % load.connections if peer.in_equal_shares else 0
    asked = said.answered if peer.by_time else load.requests - left_over
    watch.say_result_and_stay({**usage.to_json(), **_result(said, asked, started_ns)})


def _smaller(load: Load, share: float) -> Load:
    requests = max(load.connections, round(load.requests * share))
    return Load(**{**vars(load), "requests": requests, "seconds": WARM_UP_S})


if __name__ == "__main__":
    if sys.argv[1:] not in [[name] for name in PEERS]:
        sys.exit(f"usage: python -m clients.peers {'|'.join(PEERS)}")
    main(sys.argv[1])

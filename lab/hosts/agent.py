"""The agent: a process on a remote host that starts child processes for one run, relays their streams and ends them.

The agent exchanges messages (lab.hosts.protocol) on stdin and stdout. It ends when its stdin is closed, or when it has
heard nothing for the time of its lease. In timed windows only `ssh` sends: keep-alive messages, which sshd answers, so
no other process on this host wakes up. SSH's TCP segments then show that the connection works. In every case the reaper
(lab/reaper.py) kills its children and removes their folder. The agent imports only the standard library and gilscope.
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, NoReturn

from core.errors import GilscopeError
from core.messages import message
from core.parent import die_with_parent
from lab.folders import Sandbox
from lab.hosts.agent_calls import AgentCalls
from lab.hosts.protocol import BYTES, LEASE_S, SESSION, MessageReader, encoded
from lab.machine import host
from lab.run.runtimes import start_child

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, INET_DIAG_INFO = 4, 20, 2
NO_COOKIE = 0xFFFFFFFF
MESSAGE_BYTES, ANSWER_BYTES = 16, 72  # nlmsghdr and inet_diag_msg
SEGMENTS_IN = 140  # tcpi_segs_in of struct tcp_info
ANSWER_S = 1.0
LOOK_S = 1.0


class Lease:
    """A watchdog that ends this process when the runner has ended or cannot be reached.

    This process runs as long as its lease is renewed: by a message of the runner, or by a TCP segment from its host.
    If segments cannot be counted, an announced silence also keeps the lease.
    """

    def __init__(self) -> None:
        self._heard_s, self._silent_until_s = time.monotonic(), 0.0
        threading.Thread(target=self._watch, name="lease", daemon=True).start()

    def renew(self, silence_s: float = 0.0) -> None:
        """Renew the agent's lease, so that the agent keeps running.

        silence_s: announced time in which the runner may send nothing
        """
        self._heard_s = time.monotonic()
        self._silent_until_s = self._heard_s + silence_s

    def _watch(self) -> NoReturn:
        pause, segments = threading.Event(), segments_heard()
        while time.monotonic() - self._heard_s < LEASE_S:
            pause.wait(LOOK_S)
            before, segments = segments, segments_heard()
            is_silent = segments is None and time.monotonic() < self._silent_until_s
            if is_silent or segments != before:
                self._heard_s = time.monotonic()
        os._exit(4)


def segments_heard() -> int | None:
    """Return how many TCP segments the SSH session has received; None if the number is unknown.

    Source: sock_diag(7), and struct tcp_info in linux/tcp.h.
    """
    with suppress(OSError, ValueError, AttributeError, struct.error):
        there, there_port, here, here_port = os.environ.get(SESSION, "").split()
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as netlink:
            netlink.settimeout(ANSWER_S)
            netlink.send(_question(here, int(here_port), there, int(there_port)))
            return _segments(netlink.recv(1 << 14))
    return None


def _question(here: str, here_port: int, there: str, there_port: int) -> bytes:
    family = socket.AF_INET6 if ":" in here else socket.AF_INET
    addresses = b"".join(socket.inet_pton(family, address).ljust(16, b"\0") for address in (here, there))
    socket_id = struct.pack("!HH", here_port, there_port) + addresses + struct.pack("=III", 0, NO_COOKIE, NO_COOKIE)
    body = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 0, NO_COOKIE) + socket_id
    return struct.pack("=IHHII", MESSAGE_BYTES + len(body), SOCK_DIAG_BY_FAMILY, 1, 0, 0) + body


def _segments(answer: bytes) -> int | None:
    """Parse the number of received TCP segments from the kernel's answer. Raises struct.error if it is malformed."""
    size, kind = struct.unpack_from("=IH", answer)
    at = MESSAGE_BYTES + ANSWER_BYTES
    while kind == SOCK_DIAG_BY_FAMILY and at < size:
        length, attribute = struct.unpack_from("=HH", answer, at)
        if attribute == INET_DIAG_INFO:
            return int(struct.unpack_from("=I", answer, at + 4 + SEGMENTS_IN)[0])
        at += max(4, length + 3 & ~3)
    return None


RELAY_BYTES = 64 << 10
MOST_HELD_BYTES = 16 << 20
CALLERS = 8


class Relay:
    """A sender of messages to the runner. It holds messages back while children are timed."""

    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._held = bytearray()
        self._held_until_ns = 0

    def send(self, **fields: Any) -> None:
        """Send a message to the runner: at once, or after the timed window if messages are held back."""
        with self._writing:
            self._held += encoded(**fields)
            if not time.perf_counter_ns() < self._held_until_ns or len(self._held) > MOST_HELD_BYTES:
                self._write()

    def hold(self, until_ns: int) -> None:
        """Keep all messages in memory until the time *until_ns*, instead of sending them to the runner."""
        self._held_until_ns = until_ns
        timer = threading.Timer((until_ns - time.perf_counter_ns()) / 1e9, self.release, (until_ns,))
        timer.daemon = True
        timer.start()

    def release(self, until_ns: int | None = None) -> None:
        """Send all messages that hold() kept in memory. The timed window is over, or the measurement has failed.

        until_ns: do nothing if hold() was last called with another time; None to send the messages in any case
        """
        with self._writing:
            if until_ns in (None, self._held_until_ns):
                self._held_until_ns = 0
                self._write()

    def _write(self) -> None:
        view = memoryview(bytes(self._held))
        self._held.clear()
        while view:
            view = view[os.write(1, view) :]


class Agent:
    """A server that executes the commands of one runner, the process on another host that controls the run.

    A thread pool executes commands that take long.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._relay = Relay()
        self._lease = Lease()
        self._calls = AgentCalls(sandbox)
        self._callers = ThreadPoolExecutor(CALLERS)  # lasting threads, because a process can end with its parent thread
        self._at_once: dict[str, Callable[..., Any]] = {
            "start": self._start,
            "write": self._write,
            "close": lambda child: self._stdin(child).close(),
            "kill": lambda child: self._children[child].kill(),
            "release": self._release,
            "clock": time.perf_counter_ns,
        }

    def run(self) -> None:
        """Serve the runner's calls until stdin is closed."""
        cpus = sorted(host.usable_cpus())
        self._relay.send(folder=str(self._sandbox.folder), python=sys.executable, cpus=cpus)
        reader = MessageReader()
        while data := os.read(0, 1 << 20):
            self._lease.renew()
            self._relay.release()  # the runner sends nothing during a window unless the cell has failed
            for asked in reader.feed(data):
                call, what, given = asked["call"], asked["what"], asked["with"]
                if do := self._at_once.get(what):
                    self._answer(call, do, given)
                else:
                    self._callers.submit(self._answer, call, getattr(self._calls, what), given)
        self._calls.close()

    def _answer(self, call: int, do: Callable[..., Any], given: Mapping[str, Any]) -> None:
        try:
            reply = {"answer": do(**given)}
        except GilscopeError as error:
            reply = {"error": error.message.to_json()}
        except Exception as error:
            reply = {"error": message("{error}", error=f"{type(error).__name__}: {error}").to_json()}
        self._relay.send(reply=call, **reply)

    def _start(self, child: int, command: list[str], variables: dict[str, str]) -> int:
        """Start a child process, which the runner calls by the number *child*. Return its pid."""
        process = start_child(command, self._sandbox.process_group, variables, subprocess.PIPE)
        self._children[child] = process
        threading.Thread(target=self._follow, args=(child, process), daemon=True).start()
        return process.pid

    def _follow(self, child: int, process: "subprocess.Popen[bytes]") -> None:
        """Relay the child's output to the runner, and report its exit status."""
        with process:
            complaining = threading.Thread(target=self._pump, args=(child, "err", process.stderr), daemon=True)
            complaining.start()
            self._pump(child, "out", process.stdout)
            complaining.join()
        self._relay.release()  # a child that ends during a window fails the cell
        self._relay.send(child=child, status=process.returncode)

    def _pump(self, child: int, stream: str, source: IO[bytes] | None) -> None:
        assert source
        data = b"."
        while data:
            data = os.read(source.fileno(), RELAY_BYTES)
            self._relay.send(child=child, stream=stream, text=data.decode(errors=BYTES))

    def _stdin(self, child: int) -> IO[bytes]:
        stdin = self._children[child].stdin
        assert stdin
        return stdin

    def _write(self, child: int, text: str) -> None:
        """Write to a child's stdin. If the child has ended, do nothing."""
        with suppress(OSError, ValueError):
            self._stdin(child).write(text.encode(errors=BYTES))

    def _release(self, at_ns: int, hold_ns: int, words: str, children: list[int]) -> None:
        """Send the start command *words* to the children. Hold back messages to the runner until their window is over.

        The command contains the start time, which is on this host's clock.
        """
        self._lease.renew((at_ns + hold_ns - time.perf_counter_ns()) / 1e9)
        self._relay.hold(at_ns + hold_ns)
        for child in children:
            self._write(child, words + "\n")


def main() -> None:
    """Start and watch child processes for the runner, as its agent on this host, until stdin is closed."""
    die_with_parent(os.getppid(), signal.SIGKILL)  # the SSH session; SIGKILL ends this process even if it is stopped
    with suppress(BrokenPipeError, ValueError), Sandbox() as sandbox:
        Agent(sandbox).run()
    os._exit(0)


if __name__ == "__main__":
    main()

"""The agent: runs on a host for one run, starts children there, relays their streams, and ends with all of them.

It speaks frames (lab.hosts.frames) on stdin and stdout. It ends at the end of its stdin, and when nothing was heard for
its lease, or of the connection while nothing is said; the reaper (lab/reaper.py) ends its children and removes their
folder however it ends. Standard library only.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NoReturn

from core.errors import GilscopeError
from core.messages import message
from core.parent import die_with_parent
from lab.hosts.errands import Errands
from lab.hosts.frames import CLOCK, KEPT_ALIVE_S, LEASE_S, MOST_BYTES, RELAY_BYTES, BadFrame, Frames, Kind, frame
from lab.hosts.session import segments_heard
from lab.machine import host
from lab.places import REPOSITORY
from lab.python.interpreters import scrubbed_environment
from lab.run.sandbox import Sandbox

MOST_HELD_BYTES = 16 << 20
CALLERS = 8


class Lease:
    """Ends this process when it is over: the runner is gone, or its host, or the link."""

    def __init__(self) -> None:
        self._until_s = time.monotonic() + LEASE_S
        threading.Thread(target=self._watch, name="lease", daemon=True).start()

    def renew(self, silence_s: float = 0.0) -> None:
        """Something was heard; for *silence_s* more nothing will be."""
        self._until_s = max(self._until_s, time.monotonic() + LEASE_S + silence_s)

    def _watch(self) -> NoReturn:
        pause, segments, heard_s = threading.Event(), segments_heard(), 0.0
        while (left_s := self._until_s - time.monotonic()) > 0:
            before, now_s = segments, time.monotonic()
            if left_s > LEASE_S:  # nothing is said
                segments = segments_heard()
            if left_s <= LEASE_S or segments is None or segments != before:
                heard_s = now_s
            elif now_s - heard_s > LEASE_S - KEPT_ALIVE_S:
                break
            pause.wait(min(left_s, KEPT_ALIVE_S))
        os._exit(4)


class Relay:
    """Frames to the runner; none while children are timed."""

    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._held = bytearray()
        self.held_until_ns = 0

    def send(self, kind: Kind, number: int, payload: bytes = b"") -> None:
        """One frame, at once or when the window is over."""
        data = frame(kind, number, payload)
        with self._writing:
            if time.perf_counter_ns() < self.held_until_ns and len(self._held) < MOST_HELD_BYTES:
                self._held += data
                return
            self._write(bytes(self._held) + data)
            self._held.clear()

    def release(self) -> None:
        """What was held: the window is over, or the cell has failed."""
        with self._writing:
            self.held_until_ns = 0
            self._write(bytes(self._held))
            self._held.clear()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]


class Child:
    """A process of this host, by the number that the runner gave it."""

    def __init__(self, number: int, process: "subprocess.Popen[bytes]") -> None:
        self.number, self.process = number, process
        self.open = 2

    def write(self, data: bytes) -> None:
        """To its stdin; one that is gone takes nothing."""
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):
            self.process.stdin.write(data)

    def close(self) -> None:
        """End of file on its stdin."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()


class Agent:
    """Serves one runner."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._children: dict[int, Child] = {}
        self._frames = Frames()
        self._relay = Relay()
        self._lease = Lease()
        self._selector = selectors.DefaultSelector()
        self._errands = Errands(sandbox)
        self._callers = ThreadPoolExecutor(CALLERS)  # they stay: what a thread has started may end with it
        self._handlers: dict[Kind, Callable[[int, bytes], None]] = {
            Kind.START: self._start,
            Kind.IN: lambda number, data: self._children[number].write(data),
            Kind.CLOSE: lambda number, _: self._children[number].close(),
            Kind.KILL: lambda number, _: self._children[number].process.kill(),
            Kind.WINDOW: self._window,
            Kind.CALL: self._call,
            Kind.BEAT: lambda number, _: self._beat(number),
        }

    def run(self) -> None:
        """Until the end of stdin."""
        cpus = sorted(host.usable_cpus())
        hello = {"folder": str(self._sandbox.folder), "pid": os.getpid(), "python": sys.executable, "cpus": cpus}
        self._relay.send(Kind.REPLY, 0, json.dumps(hello).encode())
        self._selector.register(0, selectors.EVENT_READ, None)
        while True:
            left_ns = self._relay.held_until_ns - time.perf_counter_ns()
            for key, _ in self._selector.select(left_ns / 1e9 if left_ns > 0 else None):
                if key.data is not None:
                    self._read_child(key)
                elif not self._read_runner():
                    return
            if 0 < self._relay.held_until_ns <= time.perf_counter_ns():
                self._relay.release()

    def _read_runner(self) -> bool:
        data = os.read(0, 1 << 20)
        self._lease.renew()
        if self._relay.held_until_ns:  # a runner that speaks in a window has given the cell up
            self._relay.release()
        for kind, number, payload in self._frames.feed(data):
            if kind in (Kind.IN, Kind.CLOSE, Kind.KILL) and number not in self._children:
                continue  # it has ended
            self._handlers[kind](number, payload)
        return bool(data)

    def _read_child(self, key: selectors.SelectorKey) -> None:
        child, kind = key.data
        data = os.read(key.fd, RELAY_BYTES)
        if data or kind is Kind.OUT:
            self._relay.send(kind, child.number, data)
        if not data:
            self._selector.unregister(key.fileobj)
            child.open -= 1
            if not child.open:
                threading.Thread(target=self._wait, args=(child,), daemon=True).start()

    def _wait(self, child: Child) -> None:
        status = child.process.wait()
        self._children.pop(child.number, None)
        self._relay.release()  # one that ends in a window fails the cell
        self._relay.send(Kind.EXIT, child.number, json.dumps({"status": status}).encode())

    def _start(self, number: int, payload: bytes) -> None:
        told = json.loads(payload)
        try:
            process = subprocess.Popen(
                told["command"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=self._sandbox.process_group,
                cwd=REPOSITORY,
                env=scrubbed_environment() | told["variables"],
                bufsize=0,
            )
        except OSError as error:
            self._relay.send(Kind.EXIT, number, json.dumps({"error": [error.errno, error.strerror]}).encode())
            return
        child = self._children[number] = Child(number, process)
        self._relay.send(Kind.EXIT, number, json.dumps({"pid": process.pid}).encode())
        assert process.stdout is not None
        assert process.stderr is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, (child, Kind.OUT))
        self._selector.register(process.stderr, selectors.EVENT_READ, (child, Kind.ERR))

    def _window(self, _: int, payload: bytes) -> None:
        """Tell children at which time of this host's clock they begin, and hold the relay until the window is over."""
        told = json.loads(payload)
        at_ns, hold_ns = told["at_ns"], told["hold_ns"]
        self._lease.renew((at_ns + hold_ns - time.perf_counter_ns()) / 1e9)
        self._relay.held_until_ns = at_ns + hold_ns
        for number in told["children"]:
            if number in self._children:
                self._children[number].write(b"go %d\n" % at_ns)

    def _beat(self, number: int) -> None:
        self._relay.send(Kind.BEAT, number, CLOCK.pack(time.perf_counter_ns()))

    def _call(self, number: int, payload: bytes) -> None:
        self._callers.submit(self._answer, number, json.loads(payload))

    def _answer(self, number: int, told: dict[str, Any]) -> None:
        try:
            reply = {"answer": self._errands.do(told["what"], told["with"])}
        except GilscopeError as error:
            reply = {"error": error.message.to_json()}
        except Exception as error:
            reply = {"error": message("{error}", error=f"{type(error).__name__}: {error}").to_json()}
        data = json.dumps(reply).encode()
        *parts, last = (data[start : start + MOST_BYTES] for start in range(0, len(data), MOST_BYTES))
        for part in parts:
            self._relay.send(Kind.PART, number, part)
        self._relay.send(Kind.REPLY, number, last)


def main() -> None:
    """Serve until the end of stdin."""
    die_with_parent(os.getppid(), signal.SIGKILL)  # the session's; also where this process was stopped
    with suppress(BrokenPipeError, BadFrame), Sandbox() as sandbox:
        Agent(sandbox).run()
    os._exit(0)


if __name__ == "__main__":
    main()

"""The agent: the process on a host that starts child processes for one run, passes on their lines,
and ends them.

It reads orders (lab.hosts.protocol) from stdin: start a child, write to it, close its stdin, kill
it, hold back messages while clients are timed, tell the time. It ends when its stdin ends, and when
it has heard nothing for LEASE_S: the runner asks for the time more often than that. The reaper
(lab/reaper.py) then kills the children, and removes gilscope's files from this host.
lab/hosts/boot.py turns its own process into the agent. lab/hosts/connection.py is the other side.
The agent imports only the standard library and gilscope. It has one thread, so an order must not
wait: while one is carried out, no other is read, and after LEASE_S the alarm kills the agent.
"""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from core.parent import die_with_parent
from lab.folders import Sandbox
from lab.hosts.protocol import BYTES, LEASE_S, PIECE_BYTES, MessageReader, encoded
from lab.machine.host import usable_cpus
from lab.places import REPOSITORY
from lab.processes import start_child

# messages that are held back; if there are more, they are sent even while clients are timed
MOST_HELD_BYTES = 16 << 20
# how often the agent looks whether a child has ended that has closed its streams
ENDING_S = 0.02


def main() -> None:
    """Serve the runner until stdin ends, or until this process is killed by its alarm."""
    if os.getppid():  # 0 in a container, whose engine starts this process from outside
        die_with_parent(
            os.getppid(), signal.SIGKILL
        )  # SIGKILL ends this process even if it is stopped
    sandbox = Sandbox()
    sandbox.remove_at_end(REPOSITORY)
    with suppress(BrokenPipeError, ValueError):
        Agent(sandbox).run()
    os._exit(
        0
    )  # at once, because the reaper removes REPOSITORY when this process has freed its lock


class Agent:
    """The children of one runner. While clients are timed, messages about the children are held
    back.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        # by the numbers that the runner chose
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._streams = selectors.DefaultSelector()
        self._held = bytearray()
        # when held messages may be sent, on this host's perf_counter_ns()
        self._held_until_ns = 0

    def run(self) -> None:
        """Carry out the runner's orders until stdin ends."""
        folder, cpus = str(self._sandbox.folder), sorted(usable_cpus())
        self._report(folder=folder, python=sys.executable, cpus=cpus, pid=os.getpid())
        self._streams.register(0, selectors.EVENT_READ)
        orders = MessageReader()
        while True:
            is_ending = self._report_ended()
            self._write_held()
            for key, _ in self._streams.select(ENDING_S if is_ending else self._patience_s()):
                if key.data:
                    self._pass_on(key.fd, *key.data)
                    continue
                data = os.read(0, PIECE_BYTES)
                if not data:
                    return
                # kills this process; until the first order, the alarm of lab/hosts/boot.py runs
                signal.alarm(LEASE_S)
                for order in orders.feed(data):
                    self._obey(order)

    def _obey(self, order: Mapping[str, Any]) -> None:
        number = order.get("number", 0)
        if order["do"] == "clock":
            # also while clients are timed, because the answer shows a live connection
            _write(encoded(number=number, answer=time.perf_counter_ns()))
            return
        # otherwise the runner is silent during a timed window, unless the cell has failed
        self._held_until_ns = 0
        with suppress(KeyError, OSError, ValueError):  # the child has ended
            match order["do"]:
                case "start":
                    self._start(number, order["command"], order["variables"])
                case "write":
                    # a child reads a line before it writes its answer (docs/child-contract.md)
                    self._stdin(number).write(order["text"].encode(errors=BYTES))
                case "close":
                    self._stdin(number).close()
                case "kill":
                    self._children[number].kill()
                case "hold":
                    self._held_until_ns = order["until_ns"]

    def _start(self, child: int, command: list[str], variables: dict[str, str]) -> None:
        try:
            process = start_child(command, self._sandbox.process_group, variables, subprocess.PIPE)
        except (OSError, ValueError) as error:
            self._report(number=child, error=f"{command[0]}: {error}")
            return
        self._children[child] = process
        for stream, source in (("out", process.stdout), ("err", process.stderr)):
            assert source
            self._streams.register(source, selectors.EVENT_READ, (child, stream))
        self._report(number=child, answer=process.pid)

    def _stdin(self, child: int) -> Any:
        return self._children[child].stdin

    def _pass_on(self, descriptor: int, child: int, stream: str) -> None:
        """Report what a child wrote: an empty text if it has closed the stream."""
        data = os.read(descriptor, PIECE_BYTES)
        self._report(number=child, **{stream: data.decode(errors=BYTES)})
        if not data:
            self._streams.unregister(descriptor)

    def _report_ended(self) -> bool:
        """Report the status of each child that has ended and closed both streams. Return whether
        there is another child that has closed both streams.
        """
        writing = {key.data[0] for key in self._streams.get_map().values() if key.data}
        ending = self._children.keys() - writing
        for child in ending:
            status = self._children[child].poll()
            if status is not None:
                del self._children[child]
                self._held_until_ns = 0  # a child that ends during a timed window fails the cell
                self._report(number=child, status=status)
        return not ending.isdisjoint(self._children)

    def _patience_s(self) -> float | None:
        """Return after how many seconds held messages are due, even if nobody writes; None if there
        are none.
        """
        return (self._held_until_ns - time.perf_counter_ns()) / 1e9 if self._held else None

    # only adds to the held messages; run() writes them
    def _report(self, **fields: Any) -> None:
        self._held += encoded(**fields)

    def _write_held(self) -> None:
        if time.perf_counter_ns() >= self._held_until_ns or len(self._held) > MOST_HELD_BYTES:
            _write(self._held)
            self._held = bytearray()


# Blocks until the carrier has taken all data. If the runner reads nothing, the alarm kills this.
def _write(data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()

"""A child on another host, behind the seam of lab.run.process."""

import json
import os
import threading
from typing import TYPE_CHECKING

from core.errors import ChildFailed
from core.limits import MAX_LINE_BYTES
from core.messages import NOTHING, Message, message
from lab.hosts.frames import LEASE_S, RELAY_BYTES, Kind
from lab.output import Kept

if TYPE_CHECKING:
    from lab.hosts.connection import Connection

START_S = 60.0
NOT_STARTED = 127  # as a shell says it


class RemoteProcess:
    """A child on a host, behind the seam of lab.run.process."""

    def __init__(self, connection: "Connection", number: int) -> None:
        self._connection, self.number = connection, number
        self.stderr = Kept()
        self.pid = 0
        self.error: tuple[int, str] | None = None
        self._status: int | None = None
        self._out = bytearray()
        self._out_ended = False
        self._changing = threading.Condition()
        self._ready, self._waker = os.pipe()
        self._is_ready = self._closed = False

    def __repr__(self) -> str:
        return f"RemoteProcess(pid {self.pid} on {self._connection.host.name})"

    @property
    def lost(self) -> Message:
        """Why nothing is known of it any more."""
        return self._connection.lost if self._status is None else NOTHING

    def fileno(self) -> int:
        """Readable when there is something to read, or the end."""
        return self._ready

    def read(self) -> bytes:
        """What has come from its stdout; nothing at its end."""
        with self._changing:
            data = bytes(self._out)
            self._out.clear()
            if self._is_ready and not self._out_ended:
                self._is_ready = False
                os.read(self._ready, 1)
            return data

    def write(self, data: bytes) -> None:
        """To its stdin."""
        for start in range(0, len(data), RELAY_BYTES):
            self._connection.send(Kind.IN, self.number, data[start : start + RELAY_BYTES])

    def close_stdin(self) -> None:
        """End of file."""
        self._connection.send(Kind.CLOSE, self.number)

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Its exit status, negative for a signal; None if it has not ended in time, or its host is lost."""
        with self._changing:
            self._changing.wait_for(lambda: self._status is not None or bool(self._connection.lost), deadline_s)
            return self._status

    def kill(self) -> None:
        """End it at once."""
        if self._status is None:
            self._connection.send(Kind.KILL, self.number)

    def close(self) -> None:
        """Forget it, once it has ended, or its host has not said so in time."""
        self.wait(LEASE_S)
        self._connection.forget(self.number)
        with self._changing:
            if not self._closed:
                self._closed = True
                os.close(self._ready)
                os.close(self._waker)

    def wait_started(self) -> None:
        """Until it has a process. Raises OSError if it cannot be started, ChildFailed if the host is lost."""
        with self._changing:
            self._changing.wait_for(lambda: self.pid or self.error or self._connection.lost, START_S)
        if self.error:
            raise OSError(*self.error)
        if not self.pid:
            raise ChildFailed(self._connection.lost or message("Host {host} does not answer.", host=self.host_name))

    @property
    def host_name(self) -> str:
        """Where it runs."""
        return self._connection.host.name

    def take(self, kind: Kind, data: bytes) -> None:
        """What its agent says of it; for the connection's own thread."""
        if kind is Kind.ERR:
            self.stderr.add(data)
            return
        with self._changing:
            if kind is Kind.OUT and len(self._out) <= MAX_LINE_BYTES:  # more is not kept: the cell fails by it
                self._out += data
                self._wake(ended=not data)
            elif kind is Kind.EXIT:
                told = json.loads(data)
                self.pid = int(told.get("pid", self.pid))
                if "status" in told:
                    self._status = int(told["status"])
                if "error" in told:
                    self.error = (int(told["error"][0]), str(told["error"][1])[:200])
                    self._status = NOT_STARTED
            self._changing.notify_all()

    def host_lost(self) -> None:
        """Its connection is gone; it is at its end, for all that can be known."""
        with self._changing:
            self._wake(ended=True)
            self._changing.notify_all()

    def _wake(self, *, ended: bool) -> None:
        """Make fileno() readable, where it is not already."""
        self._out_ended = self._out_ended or ended
        if not self._is_ready and not self._closed:
            self._is_ready = True
            os.write(self._waker, b".")

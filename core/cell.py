"""The parameters of a cell, declared once: flag, YAML key, validation, column and axis label come from here."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from core.errors import BadInput

Value = bool | int | str | None
NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter: its name (NUM_CLIENTS), what values it takes, its unit and its line of help.

    same_as names the parameter whose value stands in when none is given; optional ones take `none`.
    """

    name: str
    kind: type
    default: Value
    help: str
    unit: str = ""
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    optional: bool = False
    same_as: str = ""

    @property
    def flag(self) -> str:
        """The command-line flag: --num-clients."""
        return "--" + self.name.lower().replace("_", "-")

    @property
    def field(self) -> str:
        """The attribute of Cell: num_clients."""
        return self.name.lower()

    @property
    def label(self) -> str:
        """Column head and axis label."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    @property
    def accepted(self) -> str:
        """What values are accepted, in words that complete 'it must be ...'."""
        if self.kind is bool:
            words = "true or false"
        elif self.choices:
            words = "one of " + ", ".join(self.choices)
        else:
            words = f"a whole number from {self.low} to {self.high}"
        return words + (f", or {NONE}" if self.optional else "")

    def parse(self, given: Any) -> Value:
        """The value that *given* (a YAML value or a flag's text) stands for. Raises BadInput."""
        if self.optional and (given is None or given == NONE):
            return None
        if self.same_as and given is None:
            return None
        value = _from_text(given) if isinstance(given, str) and not self.choices else given
        if not self._accepts(value):
            shown = given if isinstance(given, str) else json.dumps(given, default=str)
            raise BadInput(f"{self.name} is {shown}; it must be {self.accepted}.")
        return value

    def _accepts(self, value: Any) -> bool:
        if type(value) is not self.kind:
            return False
        if self.choices:
            return value in self.choices
        return type(value) is not int or self.low <= value <= self.high


def _from_text(text: str) -> Value:
    word = text.strip().lower()
    if word in ("true", "false"):
        return word == "true"
    return int(word) if re.fullmatch(r"[+-]?[0-9]{1,18}", word) else text


def _whole(default: int | None, text: str, *, low: int, high: int, unit: str = "", **more: Any) -> Any:
    return field(default=default, metadata={"kind": int, "help": text, "low": low, "high": high, "unit": unit, **more})


def _claim(default: bool, text: str) -> Any:
    return field(default=default, metadata={"kind": bool, "help": text})


def _choice(default: str, text: str, *choices: str) -> Any:
    return field(default=default, metadata={"kind": str, "help": text, "choices": choices})


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One full set of parameter values: a system, a runtime, and the value of every parameter.

    reads: names of the parameters that the system reads; the others keep their defaults and are no part of
    the cell's identity.
    """

    system: str
    runtime: str
    reads: tuple[str, ...]
    num_api_services: int = _whole(20, "service processes", low=1, high=1000)
    num_workers_per_api_service: int = _whole(25, "worker threads per service", low=1, high=1000)
    num_clients: int = _whole(
        None,
        "client processes (as many as services, if not given)",
        low=0,
        high=1000,
        same_as="NUM_API_SERVICES",
    )
    num_requests_per_client: int = _whole(1000, "requests from each client to each service", low=1, high=10**8)
    num_threads_per_client: int = _whole(25, "threads per client", low=1, high=1000)
    calc_target: int = _whole(1000, "CPU load of one request: how far it counts", low=0, high=10**9)
    num_multi_socket: int = _whole(10, "listening sockets per service", low=1, high=1000)
    num_max_conns: int | None = _whole(
        None, "connections that a service caches; none = no limit", low=1, high=10**6, optional=True
    )
    reuse_client: bool = _claim(True, "reuse a connection (true) or open one per request (false)")
    select_mode: str = _choice("all", "one selector for all connections, or ask each single one", "all", "single")
    client_binding: str = _choice("random", "which of a service's sockets a client uses", "random", "pinned")
    selector: str = _choice(
        "auto", "how a service waits for its connections", "auto", "epoll", "poll", "select", "kqueue"
    )
    transport: str = _choice("unix", "Unix sockets or TCP on loopback", "unix", "tcp")
    payload_bytes: int = _whole(0, "filler text in each request", low=0, high=16 * 2**20 - 4096, unit="bytes")
    num_connections_per_client: int = _whole(
        1, "connections of one client, which divide its requests among them", low=1, high=100_000
    )
    num_server_threads: int = _whole(1, "event-loop threads of a server", low=1, high=1000)
    message_bytes: int = _whole(1000, "size of one echoed message", low=1, high=16 * 2**20, unit="bytes")
    keep_alive: bool = _claim(True, "keep a connection for many requests (true) or open one per request (false)")
    nodelay: bool = _claim(True, "TCP_NODELAY on both sides: small messages do not wait for an acknowledgement")
    buffer_bytes: int = _whole(
        0, "send and receive buffers of each connection; 0 = the kernel's choice", low=0, high=2**30, unit="bytes"
    )
    rate: int = _whole(
        0,
        "requests per second of one client, at fixed times whatever the answers; 0 = after each answer the next",
        low=0,
        high=10**8,
        unit="1/s",
    )
    delay_us: int = _whole(0, "time that a server waits before each answer", low=0, high=10**8, unit="us")

    def __post_init__(self) -> None:
        for parameter in PARAMETERS.values():
            if parameter.same_as and getattr(self, parameter.field) is None:
                object.__setattr__(self, parameter.field, getattr(self, parameter.same_as.lower()))

    @classmethod
    def build(cls, *, system: str, runtime: str, reads: tuple[str, ...], values: Mapping[str, Any]) -> "Cell":
        """A cell from parameter values by name; those not in *reads* are dropped.

        Raises BadInput for an unknown name or a value outside its bounds.
        """
        known = {name: parameter(name).parse(given) for name, given in values.items()}
        read: dict[str, Any] = {PARAMETERS[name].field: value for name, value in known.items() if name in reads}
        return cls(system=system, runtime=runtime, reads=reads, **read)

    @property
    def params(self) -> dict[str, Value]:
        """Value of every parameter that the system reads, by name, in the order of declaration."""
        return {name: getattr(self, one.field) for name, one in PARAMETERS.items() if name in self.reads}

    @property
    def cell_id(self) -> str:
        """Stable name of the cell: system, runtime and a digest of its parameters."""
        text = json.dumps(self.params, sort_keys=True)
        return f"{self.system}-{self.runtime}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @property
    def requests(self) -> int:
        """Requests of the whole cell."""
        return self.num_clients * self.num_api_services * self.num_requests_per_client

    def to_json(self) -> dict[str, Any]:
        """The cell as a child reads it from its standard input."""
        return {
            "cell_id": self.cell_id,
            "system": self.system,
            "runtime": self.runtime,
            "params": self.params,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> "Cell":
        """The cell that to_json wrote."""
        params = told["params"]
        return cls.build(system=told["system"], runtime=told["runtime"], reads=tuple(params), values=params)


PARAMETERS: dict[str, Parameter] = {
    one.name.upper(): Parameter(name=one.name.upper(), default=one.default, **one.metadata)
    for one in fields(Cell)
    if one.metadata and one.default is not MISSING
}


def parameter(name: str) -> Parameter:
    """The parameter called *name*. Raises BadInput with the names there are."""
    if name not in PARAMETERS:
        raise BadInput(f"{name} is not a parameter; accepted are {', '.join(PARAMETERS)}.")
    return PARAMETERS[name]

"""Declare the parameters of a cell, the smallest measured unit. Flags, YAML keys and labels are
made from them.

config/ makes cells of a plan, lab/run sends each to its child processes as JSON, and services and
clients read its attributes. Most parameters concern a few systems only (System.reads).
To add a parameter, add one field with _whole(), _claim() or _choice() to Cell. The order of the
fields is the order of Cell.params. cell_id is a digest of names and values, so a renamed
parameter, or another one that a system reads, gives its cells new ids.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, NamedTuple

from core.messages import BadInput, Json, Message, message
from core.runtime import RuntimeName

Value = bool | int | str | None
NONE = "none"  # what users write for the value None of an optional parameter
MACHINE_PARAMETERS = ("KEEP_AWAKE",)  # a plan may set these parameters for the cells of any system


class Parameter(NamedTuple):
    """A parameter of cells, such as NUM_CLIENTS: its name, accepted values, unit and line of help.

    same_as:  the parameter whose value is used if this parameter is not given
    optional: whether `none` is also accepted
    """

    name: str
    kind: type
    default: Value
    help: Message
    unit: str = ""
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    optional: bool = False
    same_as: str = ""

    @property
    def flag(self) -> str:
        """Return the parameter's command-line flag, such as --num-clients."""
        return "--" + self.name.lower().replace("_", "-")

    @property
    def field(self) -> str:
        """Return the name of the attribute of class Cell that has the parameter's value, such as
        num_clients.
        """
        return self.name.lower()

    @property
    def label(self) -> str:
        """Return the parameter's name with its unit, for column heads and axis labels."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    @property
    def accepted(self) -> Message:
        """Return a phrase for the accepted values, which completes 'it must be ...'."""
        accepted = message("a whole number from {low} to {high}", low=self.low, high=self.high)
        if self.kind is bool:
            accepted = message("true or false")
        elif self.choices:
            accepted = message("one of {choices}", choices=self.choices)
        return message("{accepted}, or none", accepted=accepted) if self.optional else accepted

    def parse(self, given: Any) -> Value:
        """Convert *given*, a YAML value or the text of a flag, to a value of this parameter. Raises
        BadInput.
        """
        value: Value = given
        if isinstance(given, str):
            shown = given.strip()
            value = shown if self.choices else _from_text(shown)
            if self.optional and shown == NONE:
                value = None
        else:
            shown = json.dumps(given, default=str)
        if not self.accepts(value):
            raise BadInput(
                "{name} is {value}; it must be {accepted}.",
                name=self.name,
                value=shown,
                accepted=self.accepted,
            )
        return value

    def accepts(self, value: Any) -> bool:
        """Return whether the parameter accepts *value*, which must already have the parameter's
        type.
        """
        if value is None:
            return self.optional or self.same_as != ""
        if type(value) is not self.kind:
            return False
        if self.choices:
            return value in self.choices
        return type(value) is not int or self.low <= value <= self.high


def _from_text(text: str) -> Value:
    word = text.lower()
    if word in ("true", "false"):
        return word == "true"
    return int(word) if re.fullmatch(r"[+-]?[0-9]{1,18}", word) else text


def _declared(kind: type, default: Value, meaning: str, *choices: str, **more: Any) -> Any:
    own = {"kind": kind, "default": default, "help": Message(msgid=meaning), "choices": choices}
    return field(default=default, metadata={**own, **more})


# They declare a parameter as a field of Cell: a whole number, true or false, one of some words.
_whole, _claim, _choice = (partial(_declared, kind) for kind in (int, bool, str))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A system, a runtime, and a value for every parameter: the smallest unit that is measured.

    reads: names of the parameters that the system reads. All other parameters keep their defaults
        and are not part of the cell's identity.
    knobs: the names and values of settings of a user's service that are no parameters of gilscope
    """

    system: str
    runtime: RuntimeName
    reads: tuple[str, ...]
    knobs: tuple[tuple[str, Value], ...] = ()
    num_api_services: int = _whole(20, "service processes", low=1, high=1000)
    num_workers_per_api_service: int = _whole(25, "worker threads per service", low=1, high=1000)
    num_clients: int = _whole(
        None,
        "client processes (default: as many as services)",
        low=0,
        high=1000,
        same_as="NUM_API_SERVICES",
    )
    num_requests_per_client: int = _whole(
        1000, "requests that each client sends to each service", low=1, high=10**8
    )
    num_threads_per_client: int = _whole(25, "threads per client", low=1, high=1000)
    calc_target: int = _whole(
        1000, "CPU work of one request: the service counts from 0 to this number", low=0, high=10**9
    )
    num_multi_socket: int = _whole(10, "listening sockets per service", low=1, high=1000)
    num_max_conns: int | None = _whole(
        None,
        "limit of open connections per service; none = no limit",
        low=1,
        high=10**6,
        optional=True,
    )
    reuse_client: bool = _claim(True, "reuse a connection (true) or open one per request (false)")
    select_mode: str = _choice(
        "all",
        "wait for all connections with one selector (all), or ask each connection in turn (single)",
        "all",
        "single",
    )
    client_binding: str = _choice(
        "random", "which listening socket of a service a client connects to", "random", "pinned"
    )
    selector: str = _choice(
        "auto",
        "system call with which a service waits for its connections",
        "auto",
        "epoll",
        "poll",
        "select",
    )
    dispatch: str = _choice(
        "any",
        "how workers wait on connections: all on one selector (any), one worker at a time "
        "(leader), each on its own connections (owned), or auto: leader if the GIL is on, any "
        "if it is off",
        "any",
        "leader",
        "owned",
        "auto",
    )
    transport: str = _choice("unix", "Unix sockets or TCP on loopback", "unix", "tcp")
    payload_bytes: int = _whole(
        0, "filler text in each request", low=0, high=16 * 2**20 - 4096, unit="bytes"
    )
    num_connections_per_client: int = _whole(
        1, "connections of each client; its requests are divided among them", low=1, high=100_000
    )
    num_server_threads: int = _whole(1, "event-loop threads of a server", low=1, high=1000)
    message_bytes: int = _whole(
        1000, "size of each echoed message", low=1, high=16 * 2**20, unit="bytes"
    )
    keep_alive: bool = _claim(
        True, "keep a connection for many requests (true) or open one per request (false)"
    )
    nodelay: bool = _claim(
        True,
        "set TCP_NODELAY on both sides, so that small messages do not wait for an acknowledgement",
    )
    buffer_bytes: int = _whole(
        0,
        "size of each connection's send and receive buffers; 0 = the kernel's choice",
        low=0,
        high=2**30,
        unit="bytes",
    )
    rate: int = _whole(
        0,
        "requests per second that each client sends, at fixed times; 0 = closed loop: send after "
        "each answer",
        low=0,
        high=10**8,
        unit="1/s",
    )
    delay_us: int = _whole(
        0, "time that a server waits before it sends an answer", low=0, high=10**8, unit="us"
    )
    keep_awake: bool = _claim(
        False,
        "keep idle cores from sleeping; otherwise, with few connections, wake-up latency would "
        "dominate the result",
    )

    def __post_init__(self) -> None:
        for parameter in PARAMETERS.values():
            if parameter.same_as and getattr(self, parameter.field) is None:
                object.__setattr__(self, parameter.field, getattr(self, parameter.same_as.lower()))

    @classmethod
    def build(cls, *, system: str, runtime: str, reads: tuple[str, ...], values: Json) -> "Cell":
        """Return a cell, the smallest measured unit, with the parameter *values* given by name.

        Values of parameters that are neither in *reads* nor in MACHINE_PARAMETERS are dropped. A
        name of *reads* that is no parameter is a knob. Raises BadInput for an unknown name or a
        value outside its bounds.
        """
        reads = tuple(dict.fromkeys((*reads, *(values.keys() & MACHINE_PARAMETERS))))
        knobs = tuple((name, values[name]) for name in knobs_in(reads) if name in values)
        read: dict[str, Any] = {}
        for name, given in values.items():
            if name in dict(knobs):
                continue
            value = parameter(name).parse(given)
            if name in reads:
                read[PARAMETERS[name].field] = value
        return cls(system=system, runtime=RuntimeName(runtime), reads=reads, knobs=knobs, **read)

    @property
    def params(self) -> dict[str, Value]:
        """Return the value of every parameter that the system reads, by name, in the order of
        declaration, then those of knobs.
        """
        read = {name: getattr(self, name.lower()) for name in PARAMETERS if name in self.reads}
        return {**read, **dict(self.knobs)}

    @property
    def cell_id(self) -> str:
        """Return a stable name for what is measured: system, runtime and a digest of the
        parameters.
        """
        import hashlib  # imported here because measured children never need it

        text = json.dumps(self.params, sort_keys=True)
        return f"{self.system}-{self.runtime}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @property
    def requests(self) -> int:
        """Return how many requests all clients of this measurement send together."""
        return self.num_clients * self.num_api_services * self.num_requests_per_client

    @property
    def paced_s(self) -> float:
        """Return the seconds until a client's last request is due if clients send at a RATE;
        otherwise 0.
        """
        return self.rate and self.num_api_services * self.num_requests_per_client / self.rate

    def to_json(self) -> Json:
        """Return the JSON that tells a child process what to measure. The child reads it from
        standard input.
        """
        return {
            "cell_id": self.cell_id,
            "system": self.system,
            "runtime": self.runtime,
            "params": self.params,
        }

    @classmethod
    def from_json(cls, stored: Json) -> "Cell":
        """Decode a cell (a system, a runtime and parameters) that to_json() encoded."""
        params = stored["params"]
        return cls.build(
            system=stored["system"], runtime=stored["runtime"], reads=tuple(params), values=params
        )


# by name, in the order of declaration
PARAMETERS: dict[str, Parameter] = {
    declared.name.upper(): Parameter(name=declared.name.upper(), **declared.metadata)
    for declared in fields(Cell)
    if declared.metadata
}


def knobs_in(names: Iterable[str]) -> list[str]:
    """Return those of *names* that are no parameters of gilscope."""
    return [name for name in names if name not in PARAMETERS]


def parameter(name: str) -> Parameter:
    """Return the parameter called *name*. Raises BadInput, which lists all parameters, if there is
    none.
    """
    if name not in PARAMETERS:
        raise BadInput(
            "{name} is not a parameter. Use one of: {names}.", name=name, names=PARAMETERS
        )
    return PARAMETERS[name]

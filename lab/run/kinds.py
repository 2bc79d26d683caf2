"""What each key that a child sends must hold: its type and its bounds, a table for each line of the child contract."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

from core.messages import Message, message
from core.shape import LARGEST
from core.slices import WIDTH_NS

SLOW, SLICES = "slow", "slices"
MOST_CHARACTERS = 4096
MOST_SLOW = 4096
MOST_SLICES = 4096
MOST_WIDTH_NS = 10**12

Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Text = Annotated[str, Meta(max_length=MOST_CHARACTERS)]
Code = Annotated[str, Meta(max_length=60, pattern="^[ -~]*$")]
Figure = Annotated[float, Meta(ge=0, le=1e100)]


class FirstWrong(TypedDict):
    """The first wrong answer, in words."""

    request: Text
    got: Text
    expected: Text


class Slow(TypedDict):
    """Of a client's slowest requests [start, latency, service_id]; above_ns: all that took longer are among them."""

    above_ns: Count
    requests: Annotated[list[tuple[Count, Count, Count]], Meta(max_length=MOST_SLOW)]


class Sliced(TypedDict):
    """How many answers came in each of successive slices of time, the first of which began at start_ns."""

    width_ns: Annotated[int, Meta(ge=WIDTH_NS, le=MOST_WIDTH_NS)]
    start_ns: Count
    counts: Annotated[list[Count], Meta(min_length=1, max_length=MOST_SLICES)]


class Said(TypedDict, total=False):
    """What another load generator printed."""

    seconds: Figure
    percentiles_ms: dict[Text, Figure]


class Served(TypedDict):
    """A process that served clients, as it was counted from outside (lab.user_service.workers)."""

    connections: Count
    loops: list[Count]
    threads: Count
    cpu_ns: list[Count]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a key's value must be: for msgspec, and for whoever reads the error."""

    type: Any
    accepted: Message


WHOLE = message("a whole number from {low} to {high}", low=0, high=LARGEST)
COUNT = Kind(type=Count, accepted=WHOLE)
DURATION = Kind(
    type=Annotated[int, Meta(ge=1, le=LARGEST)],
    accepted=message("a whole number from {low} to {high}", low=1, high=LARGEST),
)
FLAG = Kind(type=bool, accepted=message("true or false"))
TRUE = Kind(type=Literal[True], accepted=message("true"))
TEXT = Kind(type=Text, accepted=message("text of at most {characters} characters", characters=MOST_CHARACTERS))
TEXTS = Kind(type=list[Text], accepted=message("a list of texts"))
COUNTS = Kind(type=list[Count], accepted=message("a list of whole numbers, none below 0"))
COUNT_BY_NAME = Kind(type=dict[Text, Count], accepted=message("an object of whole numbers, none below 0"))
TEXT_BY_NAME = Kind(type=dict[Text, Text], accepted=message("an object of texts"))
OBJECT = Kind(type=dict[str, Any], accepted=message("an object"))
Address = Annotated[str, Meta(min_length=1, max_length=MOST_CHARACTERS, pattern=r"^(/[^\0]+|[^\0/]+:[0-9]{1,5})$")]
ADDRESSES = Kind(
    type=Annotated[list[Address], Meta(min_length=1)],
    accepted=message("a list of addresses, each a Unix path or host:port"),
)

READY_KINDS = {"ready": TRUE, "pid": COUNT}
RUNTIME_KINDS = {"implementation": TEXT, "version": TEXT}
PROGRAM_KINDS = {**dict.fromkeys(("program", "version", "compiler", "java"), TEXT), "packages": TEXT_BY_NAME}
GIL_KINDS = dict.fromkeys(("gil_enabled_ready", "gil_enabled_end"), FLAG)
JIT_KINDS = dict.fromkeys(("jit_enabled_ready", "jit_enabled_end"), FLAG)  # a program that has none need not say so
USAGE_KINDS = dict.fromkeys(
    (
        *("cpu_user_ns", "cpu_system_ns", "voluntary_switches", "involuntary_switches", "run_queue_ns"),
        *("max_rss_bytes", "pss_bytes", "processes"),
    ),
    COUNT,
)
CLIENT_KINDS = {  # which it must send
    **dict.fromkeys(("finished_ns", "requests", "answered", "wrong"), COUNT),
    "completion_ns": DURATION,
    "errors": Kind(type=dict[Code, Count], accepted=message("an object of whole numbers by code, none below 0")),
    "latency": OBJECT,
    **GIL_KINDS,
}
MORE_CLIENT_KINDS = {  # which it may send
    **USAGE_KINDS,
    **JIT_KINDS,
    **dict.fromkeys(("calc_ns", "started_ns", "bench_ns", "overdue"), COUNT),
    **dict.fromkeys(("connect", "waiting"), OBJECT),
    "workers_ns": COUNTS,
    "worker": TEXT,
    "timeline": Kind(type=list[list[tuple[Count, Count]]], accepted=message("lists of [start, end]")),
    "first_wrong": Kind(type=FirstWrong, accepted=message("an object of request, got and expected, all texts")),
    "slow": Kind(
        type=Slow,
        accepted=message("an object of above_ns and at most {count} requests, three numbers each", count=MOST_SLOW),
    ),
    SLICES: Kind(
        type=Sliced,
        accepted=message("an object of width_ns, start_ns and at most {count} counts", count=MOST_SLICES),
    ),
    "said": Kind(type=Said, accepted=message("an object of seconds and percentiles_ms, numbers")),
}
SERVICE_KINDS = {"requests": COUNT, **GIL_KINDS}
MORE_SERVICE_KINDS = {
    **USAGE_KINDS,
    **JIT_KINDS,
    **dict.fromkeys(("counted", "gil_known"), FLAG),
    "pythons": TEXTS,
    "workers": Kind(type=list[Served], accepted=message("a list of connections, loops, threads and cpu_ns")),
    **dict.fromkeys(("requests_by_worker", "requests_by_socket"), COUNTS),
    "connections_by_requests": COUNT_BY_NAME,
    "strangers": COUNT,
}

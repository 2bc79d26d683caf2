"""What the seed's experiment record (seed 003) published: settings and seconds, as data.

Its figures are another machine's, one run per row. One of them (10.3) has no unit there; all are seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.cell import Value
from core.messages import NOTHING, Message, message, verbatim

CPU = "13th Gen Intel(R) Core(TM) i9-13900K"
MACHINE = "i9-13900K"
SYSTEM = "Ubuntu 22.04.2 LTS"
MEMORY = "32GB"
PROCESSES = "127740"
OPEN_FILES = "1048576"
REQUESTS = 400_000

GIL = "Python 3.11.5"
NOGIL = "Python 3.14.0a0 free-threading"
UNNAMED = "unnamed"
INTERPRETERS: Mapping[str, Message] = {
    GIL: verbatim(GIL),
    NOGIL: verbatim(NOGIL),
    UNNAMED: message("interpreter not named"),
}


@dataclass(frozen=True)
class SeedRow:
    """One row of a result table. params: what makes a cell this row

    seconds: what each interpreter took, as the seed prints it, without the unit
    """

    what: Message
    params: Mapping[str, Value]
    seconds: Mapping[str, str]


@dataclass(frozen=True)
class SeedTable:
    """A result table and the line above it. interpreters: those that it has figures of."""

    heading: Message
    interpreters: tuple[str, ...]
    rows: tuple[SeedRow, ...]


@dataclass(frozen=True)
class SeedSystem:
    """A system's chapter: description, settings by parameter as printed, tables, and a remark of ours or the seed's."""

    system: str
    description: Message
    settings: Mapping[str, str]
    tables: tuple[SeedTable, ...]
    remark: Message = NOTHING


_COMMON = {
    "NUM_API_SERVICES": "20",
    "NUM_CLIENTS": "NUM_API_SERVICES",
    "NUM_REQUESTS_PER_CLIENT": "1000",
    "NUM_THREADS_PER_CLIENT": "25",
    "CALC_TARGET": "1000",
}
_TIME = message("Time that each client takes to send all of its requests.")


def _sockets(select_mode: str, client_binding: str, seconds: Mapping[int, str]) -> tuple[SeedRow, ...]:
    """Return rows that differ in NUM_MULTI_SOCKET. seconds: by its values"""
    return tuple(
        SeedRow(
            verbatim(f"NUM_MULTI_SOCKET = {sockets}"),
            {"SELECT_MODE": select_mode, "CLIENT_BINDING": client_binding, "NUM_MULTI_SOCKET": sockets},
            {UNNAMED: figure},
        )
        for sockets, figure in seconds.items()
    )


SYSTEMS = (
    SeedSystem(
        "1",
        message("A service has a single socket and no connection cache."),
        {},
        (SeedTable(_TIME, (), (SeedRow(message("a connection for every request"), {}, {}),)),),
        message("The seed describes system 1 and publishes no settings and no figure for it."),
    ),
    SeedSystem(
        "2",
        message("A service has a single socket and a connection cache."),
        {**_COMMON, "NUM_WORKERS_PER_API_SERVICE": "25"},
        (
            SeedTable(
                _TIME,
                (GIL, NOGIL),
                (
                    SeedRow(message("client reuses connections"), {"REUSE_CLIENT": True}, {GIL: "5.5", NOGIL: "5.0"}),
                    SeedRow(
                        message("client does not reuse connections"),
                        {"REUSE_CLIENT": False},
                        {GIL: "14.9", NOGIL: "10.3"},
                    ),
                ),
            ),
        ),
    ),
    SeedSystem(
        "3",
        message("A Tornado service."),
        _COMMON,
        (SeedTable(_TIME, (GIL, NOGIL), (SeedRow(message("Tornado"), {}, {GIL: "16.1", NOGIL: "17.2"}),)),),
        message('The seed says of its second figure: "even slower".'),
    ),
    SeedSystem(
        "4",
        message("Each service listens on several sockets, which share one connection cache and one thread pool."),
        {**_COMMON, "NUM_MULTI_SOCKET": "10", "NUM_MAX_CONNS": "None"},
        (
            SeedTable(
                _TIME,
                (UNNAMED,),
                (
                    SeedRow(
                        message("select on all connections"),
                        {"SELECT_MODE": "all", "CLIENT_BINDING": "random", "NUM_MULTI_SOCKET": 10},
                        {UNNAMED: "3.03"},
                    ),
                    SeedRow(
                        message("select on single connections"),
                        {"SELECT_MODE": "single", "CLIENT_BINDING": "random", "NUM_MULTI_SOCKET": 10},
                        {UNNAMED: "5.57"},
                    ),
                ),
            ),
            SeedTable(
                message("Select on all connections, with another NUM_MULTI_SOCKET."),
                (UNNAMED,),
                _sockets("all", "random", {1: "2.35", 5: "2.60", 10: "3.03"}),
            ),
            SeedTable(
                message("Select on single connections, each client bound to one, with another NUM_MULTI_SOCKET."),
                (UNNAMED,),
                _sockets("single", "pinned", {1: "2.44", 5: "2.47", 10: "2.60"}),
            ),
        ),
    ),
)

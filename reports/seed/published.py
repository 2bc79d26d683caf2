"""What the seed's experiment record (seed 003) published: settings and seconds, as data.

Its figures are another machine's, one run per row. One of them (10.3) has no unit there; all are seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True, kw_only=True)
class SeedRow:
    """One row of a result table. seconds: what each interpreter took, as the seed prints it, without the unit.

    params: what makes a cell this row
    """

    what: Message
    params: Mapping[str, Value] = field(default_factory=dict)
    seconds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SeedTable:
    """A result table and the line above it. interpreters: those that it has figures of."""

    heading: Message
    rows: tuple[SeedRow, ...]
    interpreters: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
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
    return tuple(
        SeedRow(
            what=verbatim(f"NUM_MULTI_SOCKET = {sockets}"),
            params={"SELECT_MODE": select_mode, "CLIENT_BINDING": client_binding, "NUM_MULTI_SOCKET": sockets},
            seconds={UNNAMED: figure},
        )
        for sockets, figure in seconds.items()
    )


def _selecting(what: Message, select_mode: str, figure: str) -> SeedRow:
    params: dict[str, Value] = {"SELECT_MODE": select_mode, "CLIENT_BINDING": "random", "NUM_MULTI_SOCKET": 10}
    return SeedRow(what=what, params=params, seconds={UNNAMED: figure})


SYSTEMS = (
    SeedSystem(
        system="1",
        description=message("A service has a single socket and no connection cache."),
        settings={},
        tables=(SeedTable(heading=_TIME, rows=(SeedRow(what=message("a connection for every request")),)),),
        remark=message("The seed describes system 1 and publishes no settings and no figure for it."),
    ),
    SeedSystem(
        system="2",
        description=message("A service has a single socket and a connection cache."),
        settings={**_COMMON, "NUM_WORKERS_PER_API_SERVICE": "25"},
        tables=(
            SeedTable(
                heading=_TIME,
                interpreters=(GIL, NOGIL),
                rows=(
                    SeedRow(
                        what=message("client reuses connections"),
                        params={"REUSE_CLIENT": True},
                        seconds={GIL: "5.5", NOGIL: "5.0"},
                    ),
                    SeedRow(
                        what=message("client does not reuse connections"),
                        params={"REUSE_CLIENT": False},
                        seconds={GIL: "14.9", NOGIL: "10.3"},
                    ),
                ),
            ),
        ),
    ),
    SeedSystem(
        system="3",
        description=message("A Tornado service."),
        settings=_COMMON,
        tables=(
            SeedTable(
                heading=_TIME,
                interpreters=(GIL, NOGIL),
                rows=(SeedRow(what=message("Tornado"), seconds={GIL: "16.1", NOGIL: "17.2"}),),
            ),
        ),
        remark=message('The seed says of its second figure: "even slower".'),
    ),
    SeedSystem(
        system="4",
        description=message(
            "Each service listens on several sockets, which share one connection cache and one thread pool."
        ),
        settings={**_COMMON, "NUM_MULTI_SOCKET": "10", "NUM_MAX_CONNS": "None"},
        tables=(
            SeedTable(
                heading=_TIME,
                interpreters=(UNNAMED,),
                rows=(
                    _selecting(message("select on all connections"), "all", "3.03"),
                    _selecting(message("select on single connections"), "single", "5.57"),
                ),
            ),
            SeedTable(
                heading=message("Select on all connections, with another NUM_MULTI_SOCKET."),
                interpreters=(UNNAMED,),
                rows=_sockets("all", "random", {1: "2.35", 5: "2.60", 10: "3.03"}),
            ),
            SeedTable(
                heading=message(
                    "Select on single connections, each client bound to one, with another NUM_MULTI_SOCKET."
                ),
                interpreters=(UNNAMED,),
                rows=_sockets("single", "pinned", {1: "2.44", 5: "2.47", 10: "2.60"}),
            ),
        ),
    ),
)

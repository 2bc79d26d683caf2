"""What stands beside the service: --with and `beside` in a plan, and the databases that are known by name."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config.options import Given, Option, by_key, expect_keys, parsed
from core.beside import PLACE, Beside
from core.errors import BadInput
from core.messages import listed, message
from core.method import LONGEST_S
from core.redact import USERINFO

POSTGRES = Beside(
    name="PostgreSQL",
    first=("initdb -D {data} -U postgres --pwfile={config} -A scram-sha-256 -E UTF8 --no-locale --no-sync",),
    command="postgres -D {data} -h {host} -p {port} -k '' -c max_connections=400 -c dynamic_shared_memory_type=mmap",
    ready="pg_isready -h {host} -p {port}",
    environment={
        "DATABASE_URL": "postgresql://postgres:{password}@{host}:{port}/postgres",
        "PGHOST": "{host}",
        "PGPORT": "{port}",
        "PGUSER": "postgres",
        "PGPASSWORD": "{password}",
        "PGDATABASE": "postgres",
    },
    config="{password}\n",
    stop="SIGQUIT",  # its immediate shutdown, which also removes its shared memory
    users=("postgres", "nobody"),
    programs=("postgres", "initdb", "pg_isready"),
    folders=("/usr/lib/postgresql/*/bin",),
    package="postgresql",
)
REDIS = Beside(
    name="Redis",
    command="redis-server {config}",
    environment={"REDIS_URL": "redis://:{password}@{host}:{port}/0", "REDISCLI_AUTH": "{password}"},
    config='bind {host}\nport {port}\nrequirepass {password}\ndir "{data}"\nsave ""\nappendonly no\n',
    users=("redis", "nobody"),
    programs=("redis-server",),
    package="redis-server",
)
VALKEY = replace(
    REDIS,
    name="Valkey",
    command="valkey-server {config}",
    environment={**REDIS.environment, "VALKEY_URL": "valkey://:{password}@{host}:{port}/0"},
    users=("valkey", "nobody"),
    programs=("valkey-server",),
    package="valkey-server",
)
KNOWN = {"postgres": POSTGRES, "valkey": VALKEY, "redis": REDIS}
SCHEME = "postgresql"
_DRIVER = re.compile(r"[a-z0-9_]{1,40}")
_NO_SECRET = re.compile(r"[^:]*(:\{password\})?")
_PLACES = ("host", "port", "socket", "data", "config")


def _text(given: Given) -> str:
    """Return a text that result.json may keep. Raises BadInput for a secret in it."""
    text = given.text()
    if "{env:" in text or not all(map(_NO_SECRET.fullmatch, USERINFO.findall(text))):
        raise replace(given, value="...").wrong(
            message("without a secret, because it is kept; {place} is a password of each run", place="{password}")
        )
    return text


def _command(given: Given) -> str:
    return _words(given, _PLACES)


def _words(given: Given, places: tuple[str, ...]) -> str:
    text = _text(given)
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words or not {*PLACE.findall(text)} <= {*places}:
        accepted = listed(f"{{{place}}}" for place in places)
        raise given.wrong(message("a command with closed quotes and no places but {places}", places=accepted))
    return text


def _environment(given: Given) -> Mapping[str, str]:
    texts = given.value if isinstance(given.value, dict) else {}
    if not texts or not all(isinstance(text, str) and PLACE.search(text) for text in texts.values()):
        raise given.wrong(
            message(
                "variables with the address, such as {example}; other variables are given with --env",
                example="{SEARCH_URL: 'http://{host}:{port}'}",
            )
        )
    return {name: _text(replace(given, value=text)) for name, text in texts.items()}


def _name(given: Given) -> str:
    if not given.text().strip() or not given.value.isprintable():
        raise given.wrong(message("a name such as postgres or search"))
    return given.text().strip()


ENTRY = (
    Option("", message("postgres, valkey, redis, or a name of your own"), _name, key="name"),
    Option("", message("how it starts, with {port} or {socket}"), _command, key="command"),
    Option("", message("port (default), socket, or a command that exits with 0 then"), _command, key="ready"),
    Option("", message("variables that tell its address to the service"), _environment, key="environment"),
    Option("", message("text of a file, whose path is {config}"), _text, key="config"),
    Option("", message("CPUs that it is held to: 0-3"), Given.cpus, key="pin"),
    Option(
        "",
        message("time until it is ready (default: 30s)"),
        lambda given: given.seconds({"s": 1.0, "min": 60.0}, LONGEST_S, "30s or 2min"),
        key="start_deadline",
        field="start_deadline_s",
    ),
)  # fmt: skip


def parse_beside(given: Given) -> tuple[Beside, ...]:
    """Parse names with commas, or a list of names and of mappings. Raises BadInput."""
    entries = given.value.split(",") if isinstance(given.value, str) else given.value
    found = [_beside(entry, given) for entry in (entries if isinstance(entries, list) else [entries])]
    if len({one.name for one in found}) < len(found):
        raise given.wrong(message("programs with names that differ"))
    return tuple(found)


def _beside(entry: Any, given: Given) -> Beside:
    """Return what an entry describes: a known program, with what the entry changes, or another one."""
    entry = {"name": entry} if isinstance(entry, str) else entry
    expect_keys(message("{name}", name=given.name), entry, tuple(by_key(ENTRY)))
    values = parsed(ENTRY, entry, given.folder)
    name, plus, driver = values.get("name", "").partition("+")
    known = KNOWN.get(name)
    if known is None and not {"name", "command"} <= values.keys():
        raise replace(given, value=values.get("name", entry)).wrong(
            message("one of {names}, or in a plan a program with name and command", names=listed(KNOWN))
        )
    if known is None:
        return Beside(**values)
    if plus and (known is not POSTGRES or not _DRIVER.fullmatch(driver)):
        raise replace(given, value=entry["name"]).wrong(message("{name} without {rest}", name=name, rest=plus + driver))
    environment = {
        variable: text.replace(f"{SCHEME}:", f"{SCHEME}{plus}{driver}:") for variable, text in known.environment.items()
    }
    return replace(
        known, **{**values, "name": known.name, "environment": {**environment, **values.get("environment", {})}}
    )


def parse_prepare(given: Given) -> tuple[str, ...]:
    """Parse a command, or a list of commands. Raises BadInput."""
    texts = given.value if isinstance(given.value, list) else [given.value]
    return tuple(_words(replace(given, value=text), ("python",)) for text in texts)


WITH = Option(
    "--with NAMES",
    message("start these beside the service for the run: postgres, postgres+asyncpg, valkey or redis"),
    parse_beside,
    key="beside",
)
PREPARE = Option(
    "--prepare COMMAND",
    message("fill what stands beside the service with data: 'psql -f data.sql' or '{python} seed.py'"),
    parse_prepare,
    repeated=True,
)


def expect_possible(beside: tuple[Beside, ...], prepare: tuple[str, ...], *, is_started: bool, is_here: bool) -> None:
    """Raise BadInput for a run whose services gilscope does not start on this machine."""
    if prepare and not beside:
        raise BadInput("--prepare needs a program beside the service; name one, such as --with postgres.")
    if beside and not is_started:
        raise BadInput("--with does not apply to a service that already runs; start its database yourself.")
    if beside and not is_here:
        raise BadInput("--with does not work across hosts. Start the programs yourself, or leave the hosts out.")

"""Parse --with, --prepare and the plan key `beside`: programs, such as a database, that run beside
the service.

WITH and PREPARE are in plan_options.METHOD. --with gives Beside objects (core/user_service.py),
each of which lab/run/running_sidecars.py starts once for a run. Placeholders such as {port} are
filled in then. result.json keeps the texts as they were given, so that they must not contain
secrets.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from config.options import Given, Option, by_key, expect_keys, parse_length, parsed
from config.text_yaml import read_yaml
from core.messages import listed, verbatim
from core.secret import USERINFO
from core.user_service import PLACE, Beside
from record.decode import decoded

DRIVERS = ("asyncpg", "psycopg", "psycopg2", "pg8000")  # of SQLAlchemy, for postgresql+asyncpg://


def _known_programs() -> dict[str, Beside]:
    """Return the programs that sidecars.yaml declares, and PostgreSQL with each of DRIVERS."""
    programs = decoded(
        read_yaml(Path(__file__).with_name("user_service") / "sidecars.yaml", "--with"),
        dict[str, Beside],
    )
    postgres = programs["postgres"]
    for driver in DRIVERS:
        url = postgres.environment["DATABASE_URL"].replace(":", f"+{driver}:", 1)
        environment = {**postgres.environment, "DATABASE_URL": url}
        programs[f"postgres+{driver}"] = replace(postgres, environment=environment)
    return programs


# programs by the name in --with; shared by all plans, so it is never changed
KNOWN = _known_programs()
# the placeholders; "password" must be the last one, because _words() leaves it out
PLACES = ("host", "port", "socket", "data", "config", "password")
# the user information of a URL without a password, or with the generated password
_NO_SECRET = re.compile(r"[^:]*(:\{password\})?")


def _text(given: Given) -> str:
    """Return the given text. Raises BadInput if it contains a secret, because result.json keeps the
    text.
    """
    text = given.text()
    if "{env:" in text or not all(map(_NO_SECRET.fullmatch, USERINFO.findall(text))):
        raise replace(given, value="...").wrong(
            "a text without secrets such as passwords, because it is saved in result.json. For a "
            "password that each run generates, write {place}",
            place="{password}",
        )
    return text


def _words(given: Given, places: tuple[str, ...] = PLACES[:-1]) -> str:
    """Return the given command. Raises BadInput if it contains {password}: other local users can
    see a command line.

    places: the names of the placeholders that the command may contain
    """
    text = _text(given)
    try:
        is_command = bool(shlex.split(text)) and {*PLACE.findall(text)} <= {*places}
    except ValueError:
        is_command = False
    if not is_command:
        known = listed(f"{{{place}}}" for place in places)
        raise given.wrong(
            "a command with balanced quotes and no placeholders other than {places}", places=known
        )
    return text


def _environment(given: Given) -> Mapping[str, str]:
    # the text "" has no placeholder, so that a value that is no mapping is refused below
    texts = given.value if isinstance(given.value, dict) else {"": ""}
    if not all(isinstance(text, str) and PLACE.search(text) for text in texts.values()):
        example = "{SEARCH_URL: 'http://{host}:{port}'}"
        raise given.wrong(
            "environment variables whose values contain the started program's address, such as "
            "{example}. Set other variables with --env",
            example=example,
        )
    return {name: _text(replace(given, value=text)) for name, text in texts.items()}


# the keys of an entry of `beside`
ENTRY = (
    Option(
        "name",
        "The name of the program to start for the run: postgres, valkey, redis, or any other name.",
        _text,
    ),
    Option(
        "command", "The command that starts the program. It contains {port} or {socket}.", _words
    ),
    Option(
        "ready",
        "How to check that the program is ready: port (default) or socket (it must accept "
        "connections), or a command (it must exit with 0).",
        _words,
    ),
    Option(
        "environment",
        "Environment variables that give the started program's address to the service and the "
        "--prepare commands.",
        _environment,
    ),
    Option(
        "config",
        "The text of the program's configuration file. In commands, {config} is its path.",
        _text,
    ),
    Option("pin", "The CPUs on which the program runs, such as 0-3 (default: all).", Given.cpus),
    Option(
        "start_deadline",
        "The program must be ready within this time (default: 30s).",
        parse_length("30s or 2min"),
        field="start_deadline_s",
    ),
)


def _beside(given: Given) -> tuple[Beside, ...]:
    """Parse programs: names separated by commas, or a list of names and mappings.
    Raises BadInput.
    """
    entries = given.value.split(",") if isinstance(given.value, str) else given.values
    found = {}
    for entry in entries:
        content = {"name": entry.strip()} if isinstance(entry, str) else entry
        expect_keys(verbatim(given.name), content, by_key(ENTRY))
        values: dict[str, Any] = parsed(ENTRY, content, given.folder)
        # keys that the user gives override those of the known program
        if known := KNOWN.get(values.get("name", "")):
            variables = {**known.environment, **values.get("environment", {})}
            values = {**vars(known), **values, "name": known.name, "environment": variables}
        if not {"name", "command"} <= values.keys():
            raise replace(given, value=values.get("name")).wrong(
                "one of {names}. For any other program, give a name and a command in a plan",
                names=KNOWN,
            )
        if values["name"] in found:
            raise replace(given, value=values["name"]).wrong("programs with different names")
        found[values["name"]] = Beside(**values)
    return tuple(found.values())


WITH = Option(
    "--with NAMES",
    "Start these databases for the run: postgres, postgres+asyncpg, valkey or redis.",
    _beside,
    key="beside",
)
PREPARE = Option(
    "--prepare COMMAND",
    "Run this command once, before the services start. Example: 'psql -f data.sql' or '{python} "
    "seed.py'.",
    lambda given: tuple(_words(replace(given, value=text), ("python",)) for text in given.values),
    repeated=True,
)

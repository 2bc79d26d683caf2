"""Declare the options of a user's service: each is a flag, a key of `service` in a
plan, or both.

config/flags.py makes flags of OPTIONS, service_plan.py parses the keys of `service` by SERVICE, and
commands/output.py and lab/run/runs.py mask command lines. The command line is saved in result.json,
so an option that takes secrets must have a *mask*.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from config.options import (
    APP,
    COMMAND,
    STARTED,
    TARGETS,
    USER_SERVICE,
    Given,
    Option,
    applying,
    by_key,
    expect_keys,
    matching,
    parse_length,
    parsed,
    whole,
)
from config.user_service.hidden import (
    ENV,
    VARIABLE,
    hidden,
    mask,
    mask_pair,
    mask_url,
    mask_userinfo,
    mask_variant,
)
from config.user_service.request_options import FILE, REQUEST
from config.user_service.service import ASGI, LAST_PORT, SERVERS, THREADS, WORKERS, WSGI
from core.cell import PARAMETERS, Value
from core.messages import BadInput, message
from core.runtime import NATIVE
from core.secret import HIDDEN, USERINFO, Redactor, Text
from core.user_service import HTTP, HTTP2, HTTPS, SERVER, VARIANT
from systems import built_in

# the value of --topology for numbers that gilscope chooses
AUTO = "auto"
# names that no service may have
RESERVED_NAMES = ("all", NATIVE)
TOPOLOGY = "topology"
# names that --vary cannot set: placeholders that gilscope fills in, and the name of variants
NO_SETTINGS = ("python", "host", "port", "socket", VARIANT)
LONGEST_VALUE = 200  # characters of a value of --vary
_name = matching(
    r"[A-Za-z][A-Za-z0-9_.-]{0,39}", "a name of letters, digits and . _ - that begins with a letter"
)
_app = matching(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*(\(\))?", "MODULE:NAME, such as shop.web:app")


def _service_name(given: Given) -> str:
    """Parse the name of a service in reports, which must not be the name of a system. Raises
    BadInput.
    """
    name = _name(given)
    if name in RESERVED_NAMES or any(name in (system.key, system.name) for system in built_in()):
        raise BadInput(
            "{name} is a name that gilscope uses itself. Choose another name.", name=name
        )
    return name


def _directory(given: Given) -> str:
    path = (given.folder / given.text()).absolute()
    if not os.path.isdir(path):
        raise given.wrong("an existing folder, but {path} is not a folder", path=path)
    return str(path)


def _command(given: Given) -> Text:
    if VARIABLE.search(given.text()):
        raise given.wrong(
            "a command without {variable}, because every user of this machine can see command "
            "lines; pass secrets with --env",
            variable="{env:NAME}",
        )
    return hidden(given, mask_userinfo, "--service-command")


def _variables(given: Given, flag: str = "--env") -> Mapping[str, Text]:
    """Parse {name: value} of environment variables. Raises BadInput.

    flag: gives a variable again if a run is resumed
    """
    if not isinstance(given.value, dict):
        raise given.wrong("a mapping such as {example}", example="{LOG_LEVEL: warning}")
    variables = {}
    for name, value in given.value.items():
        if not (isinstance(value, str) and re.fullmatch(r"[^=\0]+", name)) or "\0" in value:
            raise replace(given, value={name: value}).wrong(
                "a variable whose name does not contain = and whose value is a text"
            )
        variable = Given(value=value, name=f"{given.name} {name}")
        variables[name] = hidden(variable, mask, f"{flag} {name}")
    return variables


def parse_topology(given: Given) -> list[tuple[int, int]] | str:
    """Parse a topology such as '8x1,4x2,1x8'. Return (processes, threads) pairs, or AUTO.
    Raises BadInput.
    """
    if given.text() == AUTO:
        return AUTO
    shapes = []
    for part in given.text().split(","):
        match = re.fullmatch(r"([0-9]{1,4}) *x *([0-9]{1,4})", part.strip())
        if match is None:
            raise given.wrong("processes x threads, such as 8x1,4x2,1x8")
        shapes.append((int(match[1]), int(match[2])))
        for parameter, number in zip((WORKERS, THREADS), shapes[-1], strict=True):
            # only for its BadInput if the number is out of bounds
            PARAMETERS[parameter].parse(number)
    return list(dict.fromkeys(shapes))


def _settings(given: Given) -> dict[str, tuple[Value, ...]]:
    """Parse {name: values} of settings to compare. Raises BadInput."""
    if not isinstance(given.value, dict) or not given.value:
        raise given.wrong("a mapping such as {example}", example="{POOL_SIZE: 1,4,8}")
    found = {}
    for name, texts in given.value.items():
        named = Given(value=texts, name=f"{given.name} {name}")
        if name in PARAMETERS:
            raise BadInput(
                "{name} is a parameter of gilscope. Give its values with {flag}.",
                name=name,
                flag=PARAMETERS[name].flag,
            )
        if name in NO_SETTINGS or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}", name):
            raise Given(value=name, name=given.name).wrong(
                "the name of an environment variable or of a placeholder in the command, or "
                "workers, threads, server or topology"
            )
        found[name] = named.items(_setting, "values separated by commas, such as 1,4,8")
        if len(found[name]) < 2:
            raise named.wrong("at least two different values, such as 1,4,8")
    return found


def _setting(given: Given) -> Value:
    """Parse a value of a setting: a whole number, or any other short text. Raises BadInput."""
    text = given.text()
    if not text or len(text) > LONGEST_VALUE or not text.isprintable() or VARIABLE.search(text):
        raise given.wrong(
            "a text of 1 to {most} printable characters without {variable}",
            most=LONGEST_VALUE,
            variable="{env:NAME}",
        )
    if USERINFO.search(text):
        raise BadInput(
            "{name} has a URL with a user name or a password, but reports show the values of "
            "--vary. Give such a variable with --variant NAME:env=VARIABLE=VALUE, which hides it.",
            name=given.name,
        )
    is_number = re.fullmatch(r"0|[1-9][0-9]{0,17}", text)
    return int(text) if is_number else text


def _variants(given: Given) -> dict[str, dict[str, Any]]:
    """Parse {name: {key: value}} of variants. Raises BadInput."""
    if not isinstance(given.value, dict) or not given.value:
        raise given.wrong("a mapping such as {example}", example="{before: {ref: main}}")
    found = {}
    for name, described in given.value.items():
        _name(Given(value=name, name=given.name))
        expect_keys(message("variant {name}", name=name), described, OF_VARIANT)
        found[name] = own = parsed([*OF_VARIANT.values()], described, given.folder)
        # parsed again, because the flag in the name of a secret must have the name of the variant
        if variables := described.get(ENVIRONMENT.key):
            flag = f"{VARIANTS.flag} {name}:{ENV}"
            own[ENVIRONMENT.key] = _variables(Given(value=variables, name=ENVIRONMENT.key), flag)
    return found


def _package_or_file(given: Given) -> str:
    """Parse the path of a requirements file, or the requirement of one package. Raises BadInput."""
    text = given.text()
    is_package = re.fullmatch(r"[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])? *([=<>!~]=?|@ ).+", text)
    if is_package and USERINFO.search(text):
        raise BadInput(
            "{name} has a URL with a user name or a password, which would be saved in result.json. "
            "Write the package into a requirements file, and give the file.",
            name=given.name,
        )
    return text if is_package else _requirements_file(given)


def _requirements_file(given: Given) -> str:
    """Parse the path of a requirements file. Raises BadInput."""
    if given.text().endswith(".toml"):
        raise given.wrong(
            "a requirements file. To make one: {command}",
            command=f"uv pip compile {given.shown} -o requirements.txt",
        )
    return given.file()


def _packages(given: Given) -> tuple[str, ...]:
    """Parse a requirements file, and packages that replace others in it. Raises BadInput."""
    found = tuple(_package_or_file(replace(given, value=value)) for value in given.values)
    if sum(Path(one).is_absolute() for one in found) > 1:
        raise given.wrong("one requirements file at most; the others must be packages")
    return found


def _targets(given: Given) -> dict[str, Text]:
    """Parse the services that already run, from {name: URL}, and fill in {env:NAME} in the URLs.
    Raises BadInput.
    """
    if not isinstance(given.value, dict) or not given.value:
        raise given.wrong("a mapping such as {example}", example="{old: 'http://127.0.0.1:8000/'}")
    urls = {}
    for name, url in given.value.items():
        service = _service_name(Given(value=name, name="name"))
        flag = f"--target or --arm {name}"  # both have the same key
        shown = flag if given.name.startswith("--") else f"{given.name} {name}"
        urls[service] = hidden(Given(value=str(url), name=shown), mask_url, flag)
    return urls


TARGET = Option(
    "--target URL",
    "Measure a service that already runs at URL.",
    _targets,
    TARGETS,
    "targets",
    mask=mask_url,
)
ARM = Option(
    "--arm NAME=URL",
    "Compare services that already run. NAME is shown in reports.",
    _targets,
    TARGETS,
    "targets",
    repeated=True,
    mask=mask_url,
)
ENVIRONMENT = Option(
    "--env NAME=VALUE",
    "An environment variable for the service.",
    _variables,
    STARTED,
    "environment",
    repeated=True,
    mask=mask_pair,
    example="{LOG_LEVEL: warning}",
)
VARY = Option(
    "--vary NAME=VALUES",
    "Compare values of a setting, such as POOL_SIZE=1,4,8: a placeholder {NAME} in the command, an "
    "environment variable, workers, threads, server or topology.",
    _settings,
    STARTED,
    "vary",
    repeated=True,
)
VARIANTS = Option(
    "--variant NAME:KEY=V",
    "Compare variants of the service, such as before:ref=main and after:ref=HEAD. The keys are "
    "ref (a commit), directory, requirements (a file or a package), env, command and server.",
    _variants,
    STARTED,
    "variants",
    repeated=True,
    mask=mask_variant,
)
SERVICE = (
    Option(
        "--name NAME",
        "The name of the service in reports (default: the application and its requests).",
        _service_name,
        USER_SERVICE,
    ),
    Option(
        "--service-command C",
        "The command that starts the service. gilscope replaces {python} and {port}.",
        _command,
        COMMAND,
        "command",
        mask=mask_userinfo,
    ),
    *applying(
        APP,
        Option("--app MODULE:NAME", "A WSGI or ASGI application, which gilscope starts.", _app),
        Option(
            "--server NAME",
            "The server for the application: gunicorn, granian, uvicorn, waitress or hypercorn.",
            choices=tuple(SERVERS),
        ),
        Option(
            "--interface KIND",
            "The interface of the application, wsgi or asgi, if the server supports both.",
            choices=(WSGI, ASGI),
        ),
    ),
    TARGET,
    ARM,
    Option(
        "--protocol P",
        "The protocol of the service: http (HTTP/1.1, default) or http2 (HTTP/2).",
        applies_to=USER_SERVICE,
        choices=(HTTP, HTTP2),
    ),
    Option(
        "--scheme S",
        "The URL scheme of a service that gilscope starts: http (default) or https.",
        applies_to=STARTED,
        choices=(HTTP, HTTPS),
    ),
    Option(
        "--ca FILE",
        "A PEM file of certificates to trust for TLS (default: the certificates of this machine).",
        Given.file,
        USER_SERVICE,
    ),
    Option("--insecure", "Accept any TLS certificate.", Given.truth, USER_SERVICE),
    *applying(
        STARTED,
        Option(
            "--requirements FILE",
            "A requirements file to install for each runtime.",
            _requirements_file,
            example="requirements.txt",
        ),
        Option(
            "--directory DIR",
            "The folder in which the service starts (default: the plan's folder, or the current "
            "folder without a plan).",
            _directory,
        ),
        ENVIRONMENT,
        Option(
            "--service-port N",
            "The port of the first service (default: a free port).",
            whole(0, LAST_PORT),
            key="port",
            field="first_port",
        ),
        Option(
            "--start-deadline T",
            "The time limit for the service's first answer (default: 30s).",
            parse_length("30s or 2min"),
            field="start_deadline_s",
        ),
        Option(
            "--topology T",
            "Numbers of processes x threads to compare, such as 8x1,4x2,1x8. With --slo, auto "
            "chooses numbers for this machine.",
            parse_topology,
            example='"2x1,1x2"',
        ),
    ),
    VARY,
    VARIANTS,
    *FILE,
)
REF = Option(
    "ref",
    "A commit, branch or tag of the repository, which is measured instead of the files as they "
    "are.",
    matching(r"[^\s\x00-\x1f\x7f-][^\x00-\x1f\x7f]{0,199}", "a commit, branch or tag"),
)
PACKAGES = Option(
    "requirements",
    "A requirements file, a package such as django==5.2, or a list of both.",
    _packages,
)
# flags without a YAML key, which commands/project.py reads
EXTRA, GROUP = applying(
    STARTED,
    Option(
        "--extra NAME",
        "Also install this extra from the project's pyproject.toml.",
        key="",
        repeated=True,
    ),
    Option(
        "--group NAME", "Also install this dependency group of the project.", key="", repeated=True
    ),
)
IGNORE_PYTHON = Option(
    "--ignore-requires-python",
    "Measure runtimes that the project's requires-python excludes, too.",
    Given.truth,
    STARTED,
    key="",
)
# OPTIONS are the flags of a service and its requests, KEYS the options of `service` by YAML key.
OPTIONS = (EXTRA, GROUP, IGNORE_PYTHON, *SERVICE, *(option for option in REQUEST if option.flag))
KEYS = by_key(SERVICE)
# the options of a variant by YAML key; OF_VARIANT of hidden.py is the pattern of the flag's value
OF_VARIANT = {
    **{key: KEYS[key] for key in ("command", SERVER, "directory", ENVIRONMENT.key)},
    **by_key((REF, PACKAGES)),
}


def masked_arguments(arguments: Iterable[str], redactor: Redactor) -> list[str]:
    """Return *arguments* with masked secrets, so that the command line can be saved.

    redactor: hides secrets that other flags of the service repeat
    """
    masks = {flag: option.mask or redactor.text for option in OPTIONS for flag in option.flags}
    kept = []
    for before, word in pairwise(chain([""], arguments)):
        flag, equals, value = word.partition("=")
        if before in masks:
            kept.append(masks[before](word))
        else:
            kept.append(f"{flag}={masks[flag](value)}" if equals and flag in masks else word)
    return kept


def secrets_in_arguments(arguments: Sequence[str]) -> Iterator[str]:
    """Yield every secret in a command line: words that are masked when it is saved, and the values
    of {env:NAME}.
    """
    for word, shown in zip(arguments, masked_arguments(arguments, Redactor(())), strict=True):
        yield from (os.environ.get(name[5:-1], "") for name in VARIABLE.findall(word))
        if word != shown:
            before, after = shown.partition(HIDDEN)[0], shown.rpartition(HIDDEN)[2]
            # the word, and the part of it that is hidden
            yield from (word, word[len(before) : len(word) - len(after)])

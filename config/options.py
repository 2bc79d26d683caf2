"""Declare each option once. Its flag, YAML key, help, checks and docs tables use the
declaration.

The files *_options.py declare Options with these types and parsers. A value has three forms: the
text or YAML value by flag name or key (Flags); Given, which adds the name for errors; and the
parsed value by *field*, which Plan, Method or UserService takes. All parsers raise BadInput.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from core.messages import BadInput, Json, Message, Value, as_message, message, verbatim
from core.method import LONGEST_S, parse_cpus
from core.secret import HIDDEN


class Subject(Enum):
    """A kind of service that a run can measure, such as an ASGI application. The name of this kind
    is its value.
    """

    SYSTEMS = message("gilscope's own systems")
    COMMAND = message("a service started by a command")
    APP = message("a WSGI or ASGI application")
    TARGETS = message("a service that already runs")


# Sets of subjects for Option.applies_to, to be combined with |. The order is that of Subject.
SYSTEMS, COMMAND, APP, TARGETS = (frozenset({subject}) for subject in Subject)
STARTED = COMMAND | APP
USER_SERVICE = STARTED | TARGETS
PYTHON = STARTED | SYSTEMS
EVERYTHING = frozenset(Subject)
# the value of Option.key if the key is the flag's name
AS_FLAG = "(as the flag)"
Kind = TypeVar("Kind")
Flags = Json  # values by the name of a flag, by YAML key or by field
# the length of each unit in s
TIMES_S = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, kw_only=True)
class Given:
    """The value that a user gave for a flag or a YAML key.

    name: of the flag or key, as the user wrote it
    folder: the folder that relative paths refer to
    mask: returns the text that messages show instead of a secret value
    """

    value: Any
    name: str
    folder: Path = Path()
    mask: Callable[[str], str] | None = None

    @property
    def shown(self) -> str:
        """Return the value as messages show it, without secrets."""
        value = self.value if self.mask is None else _masked(self.value, self.mask)
        return value if isinstance(value, str) and value.isprintable() else repr(value)

    def wrong(self, accepted: str | Message, /, **args: Value) -> BadInput:
        """Return an error that shows the value and says what is accepted: a message, or its text
        and arguments.
        """
        return BadInput(
            "{name} is {value}; it must be {accepted}.",
            name=self.name,
            value=self.shown,
            accepted=as_message(accepted, args),
        )

    def text(self) -> str:
        """Return the value, which must be a text without NUL bytes. Raises BadInput."""
        if not isinstance(self.value, str) or "\0" in self.value:
            raise self.wrong("a text; put it in quotes")
        return self.value

    def cpus(self) -> tuple[int, ...]:
        """Parse CPU numbers, such as 0-3. Raises BadInput."""
        cpus = parse_cpus(str(self.value))
        if not cpus:
            raise self.wrong("CPU numbers such as 0, 0-3 (CPUs 0 to 3) or 0+2 (CPUs 0 and 2)")
        return cpus

    @property
    def values(self) -> list[Any]:
        """Return the items of a list, or a list of the only value."""
        return self.value if isinstance(self.value, list) else [self.value]

    def items(
        self, parse: Callable[["Given"], Kind], accepted: str | Message, /, **args: Value
    ) -> tuple[Kind, ...]:
        """Parse each item of a list, or of a text that is separated by commas. Omit duplicates.
        Raises BadInput.
        """
        items = self.value.split(",") if isinstance(self.value, str) else self.value
        is_list = isinstance(items, list) and all(isinstance(item, str) for item in items)
        if not is_list or not items:
            raise self.wrong(accepted, **args)
        return tuple(dict.fromkeys(parse(replace(self, value=item.strip())) for item in items))

    def amount(self, units: Mapping[str, float]) -> float:
        """Parse a number with one of *units*, such as 5%. Return it multiplied by the unit, or -1
        for another text.
        """
        match = re.fullmatch(
            rf"([0-9]{{1,12}}(?:\.[0-9]{{1,9}})?) *({'|'.join(units)})", str(self.value).strip()
        )
        return float(match[1]) * units[match[2]] if match else -1.0

    def whole(self, low: int, high: int) -> int:
        """Parse a whole number from *low* to *high*. Raises BadInput."""
        number = int(self.value) if re.fullmatch("[0-9]{1,18}", str(self.value)) else -1
        if not low <= number <= high:
            raise self.wrong("a whole number from {low} to {high}", low=low, high=high)
        return number

    def choice(self, names: Iterable[str]) -> str:
        """Return the value, which must be one of *names*. Raises BadInput."""
        if self.value not in (names := tuple(names)):
            raise self.wrong(
                message("one of {names}", names=names) if names[1:] else verbatim(*names)
            )
        return str(self.value)

    def truth(self) -> bool:
        """Return whether a flag without a value is given, or the value is `true`.
        Raises BadInput.
        """
        return self.value is True or self.choice(("true", "false")) == "true"

    def seconds(self, units: Mapping[str, float], high: float, example: str) -> float:
        """Return a time in seconds, parsed from a number and one of *units*, or no unit. Raises
        BadInput.
        """
        time_s = self.amount({"": 1.0, **units})
        if not 0 <= time_s <= high:
            raise self.wrong(
                "a time such as {example}, at most {high:g} s", example=example, high=high
            )
        return time_s

    def file(self) -> str:
        """Return the path of a file that can be read. Raises BadInput."""
        path = (self.folder / self.text()).absolute()
        try:
            path.open("rb").close()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BadInput(
                "{name} names {path}, which cannot be read: {reason}. Name a readable file.",
                name=self.name,
                path=path,
                reason=reason,
            ) from None
        return str(path)


def _masked(value: Any, mask: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return dict.fromkeys(value, HIDDEN)
    return [_masked(part, mask) for part in value] if isinstance(value, list) else mask(str(value))


@dataclass(frozen=True)
class Option:
    """An option of a command: a flag, a YAML key, or both.

    usage: the flag and its value, "--blocks N"; the key if there is only a key, "weight"
    meaning: the text of the help and of the docs
    parse: returns the value; None if the option is read together with others
    applies_to: the subjects that a run with this option may measure
    key: the YAML key; AS_FLAG for the name, "" if there is only a flag
    field: the field that the option sets in the plan, its method, the service or the request; "" if
        it is the key
    repeated: the flag may be given several times
    several: the flag takes several words at once
    choices: the accepted values, if there is no *parse*
    beside_resume: the option can be used with --resume, because it does not change the saved plan
    mask: returns the text that is saved and shown instead of a value that may contain secrets
    example: a YAML value that `init` shows in the plan of a service without this key; "" for a key
        that few need
    """

    usage: str
    meaning: str | Message
    parse: Callable[[Given], Any] | None = None
    applies_to: frozenset[Subject] = EVERYTHING
    key: str = AS_FLAG
    field: str = ""
    repeated: bool = False
    several: bool = False
    choices: tuple[str, ...] = ()
    beside_resume: bool = False
    mask: Callable[[str], str] | None = None
    example: str = ""

    def __post_init__(self) -> None:
        # the class is frozen; the key must be set before the field, which may copy it
        if self.key == AS_FLAG:
            object.__setattr__(self, "key", self.name)
        if self.choices and not self.parse:
            object.__setattr__(self, "parse", lambda given: given.choice(self.choices))
        if not self.field:
            object.__setattr__(self, "field", self.key or self.name)

    @property
    def help(self) -> Message:
        """Return what the option means, for the help and the docs."""
        return as_message(self.meaning)

    @property
    def flag(self) -> str:
        """Return the long flag, such as --client-runtime; "" if there is only a key."""
        return self.flags[-1] if self.flags else ""

    @property
    def flags(self) -> list[str]:
        """Return the flags of the option: both -r and --requirement for "-r/--requirement FILE"."""
        return [name for name in self.usage.partition(" ")[0].split("/") if name.startswith("-")]

    @property
    def metavar(self) -> str:
        """Return the name that the help shows for the flag's value; "" for a flag
        without a value.
        """
        return self.usage.partition(" ")[2]

    @property
    def name(self) -> str:
        """Return argparse's name of the flag, client_runtime for --client-runtime; if there is only
        a key, the key.
        """
        return (self.flag or self.usage).strip("-").replace("-", "_")


def applying(subjects: frozenset[Subject], *options: Option) -> tuple[Option, ...]:
    """Return copies of *options* that are only accepted in runs that measure a service of one of
    the kinds *subjects*.

    subjects: the kinds of service, such as an ASGI application
    """
    return tuple(replace(option, applies_to=subjects) for option in options)


def whole(low: int, high: int) -> Callable[[Given], int]:
    """Return a parser for whole numbers from *low* to *high*."""
    return lambda given: given.whole(low, high)


def percentage(most: float) -> Callable[[Given], float]:
    """Return a parser for percentages such as 3%, above 0, at most the share *most*. It returns a
    share, such as 0.03.
    """

    def parse(given: Given) -> float:
        share = given.amount({"%": 1}) / 100
        if not 0 < share <= most:
            raise given.wrong(
                "a percentage above 0 % and at most {most:.0%}, such as 3%", most=most
            )
        return share

    return parse


def parse_length(example: str) -> Callable[[Given], float]:
    """Return a parser for times above 0, such as *example*, in seconds, minutes or hours."""

    def parse(given: Given) -> float:
        time_s = given.seconds(TIMES_S, LONGEST_S, example)
        if not time_s:
            raise given.wrong("a time above 0, such as {example}", example=example)
        return time_s

    return parse


def matching(pattern: str, accepted: str) -> Callable[[Given], str]:
    """Return a parser for texts that match *pattern*.

    accepted: describes these texts in errors
    """

    def parse(given: Given) -> str:
        if not re.fullmatch(pattern, given.text()):
            raise given.wrong(accepted)
        return given.text()

    return parse


def by_key(options: Iterable[Option]) -> dict[str, Option]:
    """Return the options that have a YAML key, as {key: option}."""
    return {option.key: option for option in options if option.key}


def given_flags(options: Iterable[Option], flags: Flags) -> list[Option]:
    """Return the options whose flag was given on the command line."""
    return [
        option
        for option in options
        # argparse's values of flags that are missing
        if option.flag and flags.get(option.name) not in (None, False, [])
    ]


def parsed(
    options: Iterable[Option],
    given: Flags,
    folder: Path,
    *,
    flagged: bool = False,
) -> dict[str, Any]:
    """Parse the values in *given*, a mapping by YAML key. Return them by field name. Raises
    BadInput.

    Keys without an option or a parser are skipped; expect_keys() refuses unknown keys.
    folder: the folder that relative paths refer to
    flagged: whether the values come from flags, so that errors name the flags
    """
    known, values = by_key(options), {}
    for key, value in given.items():
        if key in known and (parse := known[key].parse):
            option = known[key]
            name = option.flag if flagged and option.flag else key
            values[option.field] = parse(
                Given(value=value, name=name, folder=folder, mask=option.mask)
            )
    return values


def parsed_flags(options: Sequence[Option], flags: Flags) -> Flags:
    """Parse the flags that were given. Return their values by field name. Raises BadInput.

    Relative paths refer to the current folder.
    """
    given = {option.key: flags[option.name] for option in given_flags(options, flags)}
    return parsed(options, given, Path(), flagged=True)


def fields_of(kind: type, values: Flags) -> Flags:
    """Return the values whose names are fields of the dataclass *kind*."""
    return {one.name: values[one.name] for one in fields(kind) if one.name in values}


def refuse(subject: Subject, given: Iterable[tuple[str, Option]]) -> None:
    """Raise BadInput if an option does not apply to *subject*, which is what the run measures.

    given: pairs of the name as written and its option
    """
    for name, option in given:
        if subject in option.applies_to:
            continue
        if subject is Subject.SYSTEMS:
            raise BadInput(
                "{option} describes a service of your own, but no service is given. Add "
                "--service-command, --app, --target or --arm.",
                option=name,
            )
        raise BadInput(
            "{option} does not apply to {subject}. Leave it out.",
            option=name,
            subject=subject.value,
        )


def expect_keys(what: Message, given: Any, keys: Collection[str]) -> None:
    """Raise BadInput unless *given* is a mapping whose keys are all in *keys*."""
    if not isinstance(given, dict):
        accepted = message("a mapping whose keys are among {keys}", keys=keys)
        raise BadInput(
            "{name} is {value}; it must be {accepted}.",
            name=what,
            value=repr(given),
            accepted=accepted,
        )
    for key in given:
        if key not in keys:
            raise BadInput(
                "{what} has the unknown key {key!r}. Accepted keys are {keys}.",
                what=what,
                key=key,
                keys=keys,
            )

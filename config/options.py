"""An option of a run, declared once: its flag, YAML key, help, `init`'s comment, refusals and the docs come from it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.messages import Message, listed, message, verbatim
from core.method import parse_cpus
from core.secret import HIDDEN


class Subject(Enum):
    """What a run measures, as messages name it."""

    SYSTEMS = message("gilscope's own systems")
    COMMAND = message("a command")
    APP = message("an application")
    TARGETS = message("a service that already runs")


SYSTEMS, COMMAND, APP, TARGETS = (frozenset({subject}) for subject in Subject)
STARTED = COMMAND | APP
USER_SERVICE = STARTED | TARGETS
PYTHON = STARTED | SYSTEMS
EVERYTHING = frozenset(Subject)
AS_FLAG = "(as the flag)"
PUBLIC = "true"


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a flag or a key was given. name: of the flag or key, as the user wrote it. folder: where paths begin.

    public: names of what may be kept, in lower case, or PUBLIC for all. mask: what messages show of a value
    """

    value: Any
    name: str
    folder: Path = Path()
    public: frozenset[str] = frozenset()
    mask: Callable[[str], str] | None = None

    def is_public(self, name: str) -> bool:
        """Whether the plan says so of *name*, a header's or a key's."""
        return bool(self.public & {PUBLIC, name.lower()})

    @property
    def shown(self) -> str:
        """The value, as a message may show it."""
        value = self.value if self.mask is None else _masked(self.value, self.mask)
        return value if isinstance(value, str) and value.isprintable() else repr(value)

    def wrong(self, accepted: Message) -> BadInput:
        """The error that says what is accepted in its place."""
        return BadInput(
            "{name} is {value}; it must be {accepted}.", name=self.name, value=self.shown, accepted=accepted
        )

    def text(self) -> str:
        """Raises BadInput for a list or a mapping, and for a text that no program can be given."""
        if not isinstance(self.value, str) or "\0" in self.value:
            raise self.wrong(message("a text; put it in quotes"))
        return self.value

    def cpus(self) -> tuple[int, ...]:
        """CPU numbers. Raises BadInput."""
        cpus = parse_cpus(str(self.value))
        if not cpus:
            raise self.wrong(message("CPU numbers such as 0, 0-3 or 0+2"))
        return cpus

    def items(self, accepted: Message) -> list[str]:
        """The texts of a list, or of a text with commas. Raises BadInput."""
        items = self.value.split(",") if isinstance(self.value, str) else self.value
        if not isinstance(items, list) or not items:
            raise self.wrong(accepted)
        return [str(item).strip() for item in items]

    def percent(self, most: float, accepted: Message) -> float:
        """A share, from a text such as 5%: above 0 and at most *most* percent. Raises BadInput."""
        match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) *%", str(self.value).strip())
        percent = float(match[1]) if match else 0.0
        if not 0 < percent <= most:
            raise self.wrong(accepted)
        return percent / 100

    def whole(self, low: int, high: int) -> int:
        """A whole number. Raises BadInput."""
        if not re.fullmatch(r"[0-9]{1,9}", str(self.value)) or not low <= int(str(self.value)) <= high:
            raise self.wrong(message("a whole number from {low} to {high}", low=low, high=high))
        return int(str(self.value))

    def choice(self, names: Iterable[str]) -> str:
        """One of *names*. Raises BadInput."""
        if self.value not in (names := tuple(names)):
            raise self.wrong(message("one of {names}", names=listed(names)) if names[1:] else verbatim(*names))
        return str(self.value)

    def seconds(self, units: Mapping[str, float], high: float, example: str) -> float:
        """A time in seconds, from a number and one of *units*. Raises BadInput."""
        match = re.fullmatch(rf"([0-9]{{1,6}}(?:\.[0-9]{{1,9}})?)({'|'.join(units)})?", str(self.value).strip())
        time_s = float(match[1]) * units[match[2] or "s"] if match else -1.0
        if not 0 <= time_s <= high:
            raise self.wrong(message("a time such as {example}, at most {high:g} s", example=example, high=high))
        return time_s

    def file(self) -> Path:
        """A file that can be read. Raises BadInput."""
        path = (self.folder / self.text()).absolute()
        try:
            path.open("rb").close()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BadInput(
                "{name}: {path} cannot be read: {reason}.", name=self.name, path=str(path), reason=reason
            ) from None
        return path


def _masked(value: Any, mask: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return dict.fromkeys(value, HIDDEN)
    return [_masked(part, mask) for part in value] if isinstance(value, list) else mask(str(value))


@dataclass(frozen=True)
class Option:
    """usage: the flag and its value, "--blocks N"; "" where there is only a key.

    parse: the value; None where the option is read together with others
    applies_to: what a run may measure beside it
    key: in YAML; AS_FLAG for the flag's name, "" where there is only a flag
    field: of the plan, its method, the service or the request, that the value becomes; "" if it is called as the key
    several: takes several words at once
    choices: the values there are; a shell completes them, and they are the parser if there is no other
    beside_resume: whether it may be given beside --resume, because it does not change the saved plan
    mask: what may be kept and shown of a value that may hold secrets
    """

    usage: str
    help: Message
    parse: Callable[[Given], Any] | None = None
    applies_to: frozenset[Subject] = EVERYTHING
    key: str = AS_FLAG
    field: str = ""
    repeated: bool = False
    several: bool = False
    choices: tuple[str, ...] = ()
    beside_resume: bool = False
    mask: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        if self.key == AS_FLAG:
            object.__setattr__(self, "key", self.name)
        if self.choices and not self.parse:
            object.__setattr__(self, "parse", lambda given: given.choice(self.choices))
        if not self.field:
            object.__setattr__(self, "field", self.key or self.name)

    @property
    def flag(self) -> str:
        """--client-runtime"""
        return self.flags[-1]

    @property
    def flags(self) -> list[str]:
        """Of "-r/--requirement FILE", both."""
        return self.usage.partition(" ")[0].split("/")

    @property
    def metavar(self) -> str:
        """What the help calls the flag's value; "" for a switch."""
        return self.usage.partition(" ")[2]

    @property
    def name(self) -> str:
        """What argparse calls it: client_runtime for --client-runtime."""
        return self.flag.strip("-").replace("-", "_")


def applying(subjects: frozenset[Subject], *options: Option) -> tuple[Option, ...]:
    """*options* that apply to these subjects and no others."""
    return tuple(replace(option, applies_to=subjects) for option in options)


def whole(low: int, high: int) -> Callable[[Given], int]:
    """Parses a whole number."""
    return lambda given: given.whole(low, high)


def choice(*names: str) -> Callable[[Given], str]:
    """Parses one of *names*."""
    return lambda given: given.choice(names)


def by_key(options: Iterable[Option]) -> dict[str, Option]:
    """The options that have a YAML key, by key."""
    return {option.key: option for option in options if option.key}


def given_flags(options: Iterable[Option], flags: Mapping[str, Any]) -> list[Option]:
    """Those of *options* whose flag was given."""
    return [option for option in options if option.flag and flags.get(option.name) not in (None, False, [])]


def parsed(
    options: Iterable[Option], given: Mapping[str, Any], folder: Path, public: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return the values of the keys in *given* (texts), by field. Raises BadInput."""
    known = by_key(options)
    return {
        known[key].field: parse(Given(value=value, name=key, folder=folder, public=public, mask=known[key].mask))
        for key, value in given.items()
        if key in known and (parse := known[key].parse)
    }


def parsed_flags(options: Iterable[Option], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the flags that were given, by field. Raises BadInput."""
    return {
        option.field: option.parse(Given(value=flags[option.name], name=option.flag))
        for option in given_flags(options, flags)
        if option.parse
    }


def fields_of(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of *values* that are fields of the dataclass *kind*."""
    return {one.name: values[one.name] for one in fields(kind) if one.name in values}


def refuse(subject: Subject, given: Iterable[tuple[str, Option]]) -> None:
    """Raises BadInput for an option, by the name it was given under, that does not apply to *subject*."""
    for name, option in given:
        if subject not in option.applies_to and subject is Subject.SYSTEMS:
            raise BadInput(
                "{option} describes a service of your own; give --service-command, --app, --target or --arm.",
                option=name,
            )
        if subject not in option.applies_to:
            raise BadInput("{option} does not apply to {subject}; leave it out.", option=name, subject=subject.value)


def expect_keys(what: Message, given: Any, keys: Sequence[str]) -> None:
    """Raises BadInput unless *given* is a mapping with no other keys."""
    if not isinstance(given, dict):
        accepted = message("a mapping with keys of {keys}", keys=listed(keys))
        raise BadInput("{name} is {value}; it must be {accepted}.", name=what, value=repr(given), accepted=accepted)
    for key in given:
        if key not in keys:
            raise BadInput(
                "{what} has an unknown key {key!r}; accepted are {keys}.", what=what, key=key, keys=listed(keys)
            )


def flag_table(options: Iterable[Option]) -> list[list[str]]:
    """The rows of the docs' tables of flags: flag, help."""
    return [[f"`{option.usage}`", str(option.help)] for option in options if option.flag]


def key_table(options: Sequence[Option]) -> list[list[str]]:
    """The rows of the docs' tables of keys: key, flags, help."""
    flags = {key: [f"`{one.flag}`" for one in options if one.key == key and one.flag] for key in by_key(options)}
    return [[f"`{key}`", ", ".join(flags[key]), str(option.help)] for key, option in by_key(options).items()]

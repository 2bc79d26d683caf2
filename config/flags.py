"""The command line: a parser of declared options, in any language, and the plan that flags ask for."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from config import hosts, plan_options
from config.find_system import find_systems
from config.load import load_experiment, load_plan, plan_with
from config.options import Option, given_flags, parsed_flags
from config.plan import Plan, Row, parse_values
from config.plan_options import CHOICE, INTERPRETERS, LANG, MEASURING, OF_A_RUN, OUTPUT
from config.user_service.flags import plan_from_service_flags
from config.user_service.options import OPTIONS
from core.cell import NONE, PARAMETERS, Parameter, Value
from core.errors import BadInput, did_you_mean
from core.languages import ENGLISH, Language
from core.messages import AND, NOTHING, Message, listed, message, verbatim
from core.program import PROGRAM
from core.version import VERSION
from systems import built_in

HELP = message("show this help and exit")
VERSION_HELP = message("show the version and exit")
# What argparse itself complains about, so that translators see it
ARGPARSE = (message("expected one argument"), message("expected at least one argument"))


class Parser(argparse.ArgumentParser):
    """A parser of *options*, whose errors are BadInput. command: the word behind runner.py, or "".

    before_parsing: called with every parser before it parses
    """

    before_parsing: Callable[["Parser"], None] = staticmethod(lambda parser: None)

    def __init__(self, command: str, summary: Message, language: Language = ENGLISH, epilog: str = "") -> None:
        super().__init__(
            prog=f"{PROGRAM.split()[-1]} {command}".strip(),
            description=language.text(summary),
            epilog=epilog,
            allow_abbrev=False,
            add_help=False,
            exit_on_error=False,
            usage=argparse.SUPPRESS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.options: list[Option] = []
        self._language = language
        self._exclusive: Sequence[Option] = ()
        self._names = ""
        common = self.add_argument_group(self._text(message("help and language")))
        common.add_argument("-h", "--help", action="help", help=self._text(HELP))
        common.add_argument("--version", action="version", version=f"gilscope {VERSION}", help=self._text(VERSION_HELP))
        self._add(common, LANG)

    def add_first(self, heading: Message, *options: Option) -> None:
        """Add a group above all others. Options of it that are added again are not listed twice."""
        self.add(heading, *options)
        self._action_groups.insert(0, self._action_groups.pop())

    def add(self, heading: Message, *options: Option, note: Message = NOTHING, exclusive: bool = False) -> None:
        """Add a group of options under a heading. exclusive: only one of them may be given."""
        group = self.add_argument_group(self._text(heading), self._text(note) or None)
        for option in options:
            if option.flags[0] not in self._option_string_actions:
                self._add(group, option)
        self._exclusive = options if exclusive else self._exclusive

    def add_names(self, name: str, text: Message, count: Any = None, default: str = "") -> None:
        """Add what is given without a flag: a run, a folder, names. count: argparse's nargs."""
        self._names += {None: " {}", 2: " {} {}", "?": " [{}]", "*": " [{} ...]"}[count].format(*[name.upper()] * 2)
        group = self.add_argument_group(self._text(message("arguments")))
        group.add_argument(name, metavar=name.upper(), nargs=count, default=default or None, help=self._text(text))

    def format_help(self) -> str:
        """Return the help. Its usage line names no option, because the groups below list all of them."""
        usage = message("usage: {program} [OPTION ...]{names}", program=self.prog, names=self._names)
        return f"{self._text(usage)}\n\n{super().format_help()}"

    def add_parameters(self) -> None:
        """Add a flag for every parameter of a cell."""
        heading, note = message("parameters"), message("each takes a value, or several with commas: a sweep")
        self.add(heading, *map(_of_parameter, PARAMETERS.values()), note=note)

    def parse(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the values of all flags by name, None for those that were not given. Raises BadInput."""
        Parser.before_parsing(self)
        try:
            flags, unknown = self.parse_known_args(arguments)
        except argparse.ArgumentError as error:
            problem = Message(msgid=error.message)
            if error.argument_name:
                problem = message("{option}: {problem}", option=error.argument_name, problem=problem)
            raise self.wrong(problem) from None
        if unknown:
            flag = next((word.partition("=")[0] for word in unknown if word.startswith("-")), "")
            near = did_you_mean(flag, self._option_string_actions)
            raise self.wrong(message("not accepted: {words}", words=" ".join(unknown)), near)
        given = [option.flag for option in given_flags(self._exclusive, vars(flags))]
        if given[1:]:
            raise self.wrong(message("{flags} exclude each other", flags=listed(given, last=AND)))
        return vars(flags)

    def error(self, message: str) -> Any:
        raise self.wrong(verbatim(message))

    def wrong(self, problem: Message, near: Message = NOTHING) -> BadInput:
        """Return the error for a command line that cannot be understood. near: a suggestion."""
        return BadInput(
            "{problem}. {near}See {program} --help for what is accepted.", problem=problem, near=near, program=self.prog
        )

    def _add(self, group: Any, option: Option) -> None:
        text = self._text(message("{help} (may be repeated)", help=option.help) if option.repeated else option.help)
        details: dict[str, Any] = {"help": text.replace("%", "%%")}
        if not option.metavar:
            details["action"] = "store_true"
        elif option.repeated:
            details |= {"metavar": option.metavar, "action": "append", "default": []}
        else:
            details |= {"metavar": option.metavar, "nargs": "+" if option.several else None}
        group.add_argument(*option.flags, **details)
        self.options.append(option)

    def _text(self, text: Message) -> str:
        return self._language.text(text)


def _of_parameter(parameter: Parameter) -> Option:
    default: Message = verbatim(NONE if parameter.default is None else str(parameter.default).lower())
    if parameter.same_as:
        default = message("as {name}", name=parameter.same_as)
    text, accepted = Message(msgid=str(parameter.help)), parameter.accepted
    help_text = message("{help}: {accepted} (default: {default})", help=text, accepted=accepted, default=default)
    return Option(f"{parameter.flag} V", help_text)


def add_plan_flags(parser: Parser) -> None:
    """Add the flags that choose cells: a plan, and what differs from it."""
    parser.add(message("what to run"), *CHOICE)
    parser.add(message("how to measure"), *MEASURING)
    add_runtime_flags(parser)
    parser.add_parameters()


MOST_USED = ("app", "request", "runtime", "until", "profile")


def add_run_flags(parser: Parser) -> None:
    """Add the flags of a run, the most used first: which cells, in which order, and where the run is saved."""
    options = {option.name: option for option in (*OPTIONS, *INTERPRETERS, *MEASURING, *OF_A_RUN) if option.flag}
    parser.add_first(message("most used"), *(options[name] for name in MOST_USED))
    add_plan_flags(parser)
    add_service_flags(parser)
    parser.add(message("order and folder"), *OUTPUT)


def add_service_flags(parser: Parser) -> None:
    """Add the flags that describe a user's service and its requests."""
    flags = (option for option in OPTIONS if option.flag)
    parser.add(message("a service of your own"), *flags, note=verbatim("docs/own-service.md"))


def add_host_flags(parser: Parser) -> None:
    """Add the flags that choose hosts."""
    parser.add(message("several hosts"), *hosts.OPTIONS, note=verbatim("docs/hosts.md"))


def add_runtime_flags(parser: Parser) -> None:
    """Add the flags that choose runtimes."""
    parser.add(message("runtimes"), *INTERPRETERS)


def plan_from(flags: Mapping[str, Any], cores: int | None = None) -> Plan:
    """Return the plan that *flags* (vars() of the parsed arguments) ask for. Raises BadInput.

    cores: those of the services' host if it is not this machine
    """
    service = plan_from_service_flags(flags)
    if service is None:
        plan = _narrowed(_chosen(flags, cores), flags)
    elif flags.get("experiment") is None:
        plan = service
    else:
        experiment = load_experiment(flags["experiment"], cores)
        plan = replace(experiment, rows=service.rows, user_service=service.user_service, view="")
    values = parsed_flags((plan_options.RUNTIMES, *MEASURING, *hosts.OPTIONS), flags)
    return hosts.spread(plan_with(plan, values).with_values(parameter_values(flags)))


def parameter_values(flags: Mapping[str, Any]) -> dict[str, tuple[Value, ...]]:
    """Return the values of the parameters that were given as flags. Raises BadInput."""
    given = {name: flags.get(parameter.field) for name, parameter in PARAMETERS.items()}
    return {name: parse_values(name, value) for name, value in given.items() if value is not None}


def value_of(option: Option, flags: Mapping[str, Any], default: Any = None) -> Any:
    """Return the value of one option, or *default* if it was not given. Raises BadInput."""
    values = parsed_flags((option,), flags)
    return values.get(option.field, default)


def _chosen(flags: Mapping[str, Any], cores: int | None) -> Plan:
    file, experiment = flags["plan"], flags["experiment"]
    if file is not None and experiment is not None:
        raise BadInput(
            "--plan is {file} and --experiment is {name}; give only one of them.", file=file, name=experiment
        )
    if file is not None:
        return load_plan(Path(file), cores)
    return load_experiment("default" if experiment is None else experiment, cores)


def _narrowed(plan: Plan, flags: Mapping[str, Any]) -> Plan:
    """Return *plan* with the rows of the systems that --system names; without a plan, with a row for each."""
    names, anew = flags.get("system"), flags["plan"] is None and flags["experiment"] is None
    if names is None or (names == "all" and not anew):
        return plan
    systems = {system.key: system for system in find_systems(names)}
    if anew:
        return replace(plan, rows=tuple(Row(system=system, values={}) for system in systems.values()))
    rows = tuple(row for row in plan.rows if row.system.key in systems)
    if not rows:
        there = listed(sorted(plan.systems))
        raise BadInput(
            "--system is {names}; plan {plan} has rows for system {there}.", names=names, plan=plan.name, there=there
        )
    return replace(plan, rows=rows)


def systems_help(language: Language = ENGLISH) -> str:
    """Return one line per system, for --help."""
    systems = built_in()
    width = max(len(system.key) for system in systems)
    return "\n".join(f"  {system.key:<{width}}  {language.text(system.title)}" for system in systems)

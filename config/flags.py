"""Parse the command line, show its help in the user's language, and make the plan that the flags
describe.

A command gets a Parser from Output.parser() (commands/output.py) or, as commands/run.py does,
makes one. It adds groups of options (Option in config/options.py) and parses its arguments. The
result, *flags*, has unparsed values by Option.name, which plan_from() and value_of() parse.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from config import host_options as hosts
from config.load import load_experiment, load_plan, plan_with
from config.options import Flags, Given, Option, parsed_flags
from config.plan_options import CHOICE, INTERPRETERS, LANG, MEASURING, OF_A_RUN, OUTPUT
from config.run_plan import Plan, PlanRow, Values, find_systems, parse_values
from config.user_service.service_flags import plan_from_service_flags
from config.user_service.service_options import OPTIONS
from core.cell import NONE, PARAMETERS, Parameter
from core.languages import ENGLISH, Language
from core.messages import (
    NOTHING,
    OR,
    BadInput,
    Message,
    as_message,
    did_you_mean,
    listed,
    message,
    verbatim,
)
from core.method import Method
from core.program import SCRIPT, VERSION
from record.comparison import VALUE
from systems import built_in

# the word after --help that shows everything
ALL = "all"
# The options that --help shows for commands with parameters. --help all shows all options.
MOST_USED = (
    *("app", "service_command", "target", "request", "experiment", "plan", "system"),
    *("runtime", "until", "blocks", "duration", "slo", "aa", "fail_if_slower"),
    *("out", "resume", "profile", "json", "quiet", "seconds"),
)
# Errors of argparse, declared here so that they are collected for translation
ARGPARSE = (message("expected one argument"), message("expected at least one argument"))
# The flags that set what other tools call by these words
MEANT = dict.fromkeys(
    ("--threads", "--workers", "--processes", "--concurrency", "--users"),
    ("--topology", "--num-connections-per-client"),
)
# the beginning of argparse's error about missing arguments
REQUIRED = "the following arguments are required: "


class _Help(argparse.Action):
    """The argparse action of the options --help and --help all."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        if values is not None:
            Given(value=values, name="--help").choice((ALL,))
        print(parser.format_help(every=values == ALL), end="")
        parser.exit()


class Parser(argparse.ArgumentParser):
    """A command-line parser for declared options. It raises BadInput for errors.

    command: the word after runner.py; "" for a run
    """

    def __init__(
        self, command: str, summary: Message, language: Language = ENGLISH, epilog: str = ""
    ) -> None:
        super().__init__(
            prog=f"{SCRIPT} {command}".strip(),
            usage=argparse.SUPPRESS,
            description=language.text(summary),
            allow_abbrev=False,
            add_help=False,
            exit_on_error=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.options: list[Option] = []
        self._text = language.text
        self._end = [epilog]  # the last parts of the help
        self._names = ""  # the positional arguments in the usage line
        self._has_parameters = False  # if true, --help is short and --help all is long
        self._common = common = self.add_argument_group(self._text(message("help and language")))
        common.add_argument(
            "-h",
            "--help",
            action=_Help,
            nargs="?",
            metavar=ALL,
            help=self._text(message("Show this help and exit.")),
        )
        common.add_argument(
            "--version",
            action="version",
            version=f"gilscope {VERSION}",
            help=self._text(message("Show the version and exit.")),
        )
        self._add(common, LANG)

    def add_group(self, heading: str, *options: Option, note: str | Message = "") -> None:
        """Add a group of options under a heading, or add options to the group that has this
        heading.
        """
        group = self._group(as_message(heading), self._text(note))
        for option in options:
            self._add(group, option)

    def add_names(
        self, name: str, text: str | Message, count: Any = None, default: str = ""
    ) -> None:
        """Add positional arguments, such as a run, a folder or names.

        count: argparse's nargs
        """
        action = self._group(message("arguments")).add_argument(
            name,
            metavar=name.upper(),
            nargs=count,
            default=default or None,
            help=self._text(as_message(text)),
        )
        self._names += f" {self._get_formatter()._format_args(action, name)}"

    def format_help(self, *, every: bool = False) -> str:
        """Return the help. After add_parameters(), it has the most used options or, if *every* is
        true, all options and systems; without, all options.

        The usage line names no option, because the groups below list the options.
        """
        usage = message(
            "usage: {program} [OPTION ...]{names}", program=self.prog, names=self._names
        )
        self.description = f"{self._text(usage)}\n\n{self.description}"
        # the group of --help itself comes last
        self._action_groups.sort(key=lambda group: group is self._common)
        if self._has_parameters and every:
            width = max(len(system.key) for system in built_in())
            systems = (
                f"  {system.key:<{width}}  {self._text(system.title)}" for system in built_in()
            )
            self._end += ["\n".join([self._text(message("systems:")), *systems])]
        elif self._has_parameters:
            more = message(
                "To show all options and systems, run: {program} --help all", program=self.prog
            )
            self._end.insert(0, self._text(more))
            for group in self._action_groups:
                self._shorten(group)
        self.epilog = "\n\n".join(self._end)
        return super().format_help()

    def _shorten(self, group: Any) -> None:
        """Leave the most used options in the help of a group, each with its first sentence."""
        group.description = None
        for action in group._group_actions:
            if action.dest in MOST_USED or group is self._common:
                action.help = re.split(r"(?<=\.) |(?<=。)", action.help or "")[0]
            else:
                action.help = argparse.SUPPRESS

    def add_parameters(self) -> None:
        """Add a flag for every parameter of a measurement. From then on, --help shows only the most
        used flags.
        """
        note = message(
            "Give one value per parameter, or several values separated by commas. Each value is "
            "measured."
        )
        self.add_group("parameters", *map(_of_parameter, PARAMETERS.values()), note=note)
        self._has_parameters = True

    def parse(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the unparsed values of all flags by Option.name. Raises BadInput.

        A missing flag has None, or False if it takes no value, or [] if it may be repeated.
        """
        try:
            flags, unknown = self.parse_known_args(arguments)
        except argparse.ArgumentError as error:
            problem = Message(msgid=error.message)
            if error.argument_name:
                problem = message(
                    "{option}: {problem}", option=error.argument_name, problem=problem
                )
            raise self.wrong(problem) from None
        if unknown:
            flag = next((word.partition("=")[0] for word in unknown if word.startswith("-")), "")
            raise self.wrong(
                message("Unknown arguments: {words}", words=" ".join(unknown)), self._near(flag)
            )
        return vars(flags)

    def _near(self, flag: str) -> Message:
        """Return which flag is probably meant by the unknown *flag*, or NOTHING."""
        known = self._option_string_actions
        meant = [name for name in MEANT.get(flag, ()) if name in known]
        meant = meant or [name for name in known if flag and name.startswith(f"{flag}-")]
        if meant:
            return message("Did you mean {name}? ", name=listed(meant, last=OR))
        return did_you_mean(flag, known)

    # argparse calls this method for its own errors. Here, *message* is not core.messages.message().
    def error(self, message: str) -> Any:
        raise self.wrong(_problem(message))

    def wrong(self, problem: Message, near: Message = NOTHING) -> BadInput:
        """Return the error for a command line that cannot be understood.

        near: a suggestion
        """
        return BadInput(
            "{problem}. {near}Run {program} --help all to see every option.",
            problem=problem,
            near=near,
            program=self.prog,
        )

    def _group(self, heading: Message, note: str = "") -> Any:
        """Return the group of options under a heading, which is added if it is missing."""
        title = self._text(heading)
        group = next((one for one in self._action_groups if one.title == title), None)
        return group or self.add_argument_group(title, note or None)

    def _add(self, group: Any, option: Option) -> None:
        text = self._text(
            message("{help} May be repeated.", help=option.help) if option.repeated else option.help
        )
        # argparse formats the help with %
        details: dict[str, Any] = {"help": text.replace("%", "%%")}
        if not option.metavar:
            details["action"] = "store_true"
        elif option.repeated:
            details |= {"metavar": option.metavar, "action": "append", "default": []}
        else:
            details |= {"metavar": option.metavar, "nargs": "+" if option.several else None}
        group.add_argument(*option.flags, **details)
        self.options.append(option)


def _problem(text: str) -> Message:
    """Return an error text of argparse as a message that can be translated."""
    names = text.removeprefix(REQUIRED)
    return verbatim(text) if names == text else message("Missing arguments: {names}", names=names)


def _of_parameter(parameter: Parameter) -> Option:
    default: Message = verbatim(
        NONE if parameter.default is None else str(parameter.default).lower()
    )
    if parameter.same_as:
        default = message("the value of {name}", name=parameter.same_as)
    help_text = message(
        "{help}: {accepted} (default: {default})",
        help=parameter.help,
        accepted=parameter.accepted,
        default=default,
    )
    return Option(f"{parameter.flag} V", help_text)


def add_run_flags(parser: Parser) -> None:
    """Add the flags of a run: what is measured, how and where, and where the run is saved."""
    add_service_flags(parser)
    parser.add_group("experiments and plans", *CHOICE)
    parser.add_group("how to measure", *INTERPRETERS, *MEASURING)
    parser.add_parameters()
    parser.add_group("the run", *OUTPUT)
    parser.add_group("several hosts", *hosts.OPTIONS, note="docs/hosts.md")


def add_service_flags(parser: Parser) -> None:
    """Add the flags that describe a user's service and its requests."""
    flags = (option for option in OPTIONS if option.flag)
    parser.add_group("a service of your own", *flags, note="docs/own-service.md")


def plan_from(flags: Flags, cores: int | None = None) -> Plan:
    """Return the plan that *flags* describe. Raises BadInput.

    A flag overrides the named plan, and the plan overrides the defaults.
    flags: the result of Parser.parse(), completed by commands/project.py for a user's service
    cores: number of cores of the services' host, if it is not this machine
    """
    service = plan_from_service_flags(flags)
    if service is None:
        plan = _chosen(flags, cores)
    elif flags.get("experiment") is None:
        plan = service
    else:
        experiment = load_experiment(flags["experiment"], cores)
        method = replace(experiment.method, client_runtime=service.method.client_runtime)
        plan = replace(
            experiment, rows=service.rows, user_service=service.user_service, view="", method=method
        )
    values = parsed_flags((*INTERPRETERS, *MEASURING, *OUTPUT, *OF_A_RUN, *hosts.OPTIONS), flags)
    plan = hosts.adapt_to_hosts(plan_with(plan, values).with_values(parameter_values(flags)))
    own = plan.user_service
    if plan.fail_if_slower and own and own.variants and not plan.judged_steps:
        return replace(plan, judged_steps=(VALUE,))  # then fewer blocks give verdicts
    return plan


def parameter_values(flags: Flags) -> Values:
    """Return the values of the parameters that were given as flags. Raises BadInput."""
    given = {name: flags.get(parameter.field) for name, parameter in PARAMETERS.items()}
    return {name: parse_values(name, value) for name, value in given.items() if value is not None}


def value_of(option: Option, flags: Flags, default: Any = None) -> Any:
    """Return the parsed value of one flag, or *default* if the flag was not given.
    Raises BadInput.
    """
    return parsed_flags((option,), flags).get(option.field, default)


def _chosen(flags: Flags, cores: int | None) -> Plan:
    """Return the named plan with only the rows for --system. The default plan gets one row per
    system instead.
    """
    file, experiment, names = flags["plan"], flags["experiment"], flags.get("system")
    if file is not None and experiment is not None:
        raise BadInput(
            "--plan is {file} and --experiment is {name}. Give only one of them.",
            file=file,
            name=experiment,
        )
    is_default = file is None and experiment is None
    plan = load_plan(Path(file), cores) if file is not None else load_experiment(experiment, cores)
    if is_default and (flags.get("num_requests_per_client") or flags.get("scale")):
        plan = replace(
            plan, method=Method()
        )  # the number of requests ends a measurement, not a duration
    # with a plan, "all" means all of its own systems
    if names is None or (names == "all" and not is_default):
        return plan
    systems = {system.key: system for system in find_systems(names)}
    rows = tuple(row for row in plan.rows if row.system.key in systems)
    if is_default:
        rows = tuple(PlanRow(system=system, values={}) for system in systems.values())
    if not rows:
        raise BadInput(
            "--system is {names}, but plan {plan} has no rows for it. Name a system that the "
            "plan has rows for: {there}.",
            names=names,
            plan=plan.name,
            there=sorted(plan.systems),
        )
    return replace(plan, rows=rows)

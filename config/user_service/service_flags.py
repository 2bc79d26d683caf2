"""Read the description of a user's service from flags. For --resume, restore the secrets of a saved
plan.

config/flags.py and commands/init.py read services with this module. commands/running.py uses the
second half for --resume. *flags* are unparsed values by Option.name, as Parser.parse() returns
them; they become the keys of `service` in a plan, which service_plan.py parses.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from config.load import load_plan
from config.options import Flags, Given, Option, Subject, given_flags, parsed, refuse
from config.plan_options import CHOICE, RUNTIMES
from config.run_plan import Plan
from config.user_service.hidden import ENV, OF_VARIANT
from config.user_service.request_options import REQUEST, hidden_answer, request_plan
from config.user_service.service_options import (
    ARM,
    ENVIRONMENT,
    OPTIONS,
    PACKAGES,
    SERVICE,
    TARGET,
    VARIANTS,
    VARY,
)
from config.user_service.service_plan import STARTS, user_service_plan
from core.messages import BadInput, Json, verbatim
from core.request_plan import ANY, RequestPlan
from core.secret import Secret, from_file, secrets_in

# the name of the service of --target without --name
TARGET_NAME = "target"
# the flags that describe a request
_OF_REQUEST = tuple(option for option in REQUEST if option.flag)


def plan_from_service_flags(flags: Flags) -> Plan | None:
    """Return the plan for the service that *flags* describe; None if they describe no service.
    Raises BadInput.
    """
    given = service_from(flags)
    subject = next((subject for key, subject in STARTS.items() if key in given), Subject.SYSTEMS)
    refuse(
        subject,
        [(option.flag, option) for option in given_flags((*CHOICE, RUNTIMES, *OPTIONS), flags)],
    )
    return (
        None if subject is Subject.SYSTEMS else user_service_plan(given, Path.cwd(), flagged=True)
    )


def service_from(flags: Flags) -> Flags:
    """Return the values of the service that *flags* describe, by YAML key (service_options.KEYS).
    Raises BadInput.
    """
    options = given_flags(SERVICE, flags)
    # --target and --arm have the key `targets` in common
    given = {option.key: flags[option.name] for option in options if option not in (TARGET, ARM)}
    given |= {one.key: _pairs(one, flags) for one in (ENVIRONMENT, VARY) if one in options}
    if VARIANTS in options:
        given[VARIANTS.key] = _variants(flags)
    if TARGET in options or ARM in options:
        given[TARGET.key] = _targets(flags)
    return {**given, **_requests(flags)}


def _targets(flags: Flags) -> dict[str, str]:
    arms = _pairs(ARM, flags)
    if flags.get("target") is None:
        return arms
    name = str(flags.get("name") or TARGET_NAME)
    if name in arms:
        raise BadInput(
            "--target and --arm have the same name, {name}. Give each service a different name.",
            name=name,
        )
    return {name: flags["target"], **arms}


def _variants(flags: Flags) -> dict[str, dict[str, Any]]:
    """Return the keys of each variant, as a plan has them. Raises BadInput."""
    found: dict[str, dict[str, Any]] = {}
    for text in flags[VARIANTS.name]:
        match = OF_VARIANT.fullmatch(text)
        name, key, value = match.groups() if match else ("", "", "")
        variant = found.setdefault(name, {})
        if not match or (key in variant and key != PACKAGES.key):
            raise Given(value=text, name=VARIANTS.flag, mask=VARIANTS.mask).wrong(
                "NAME:KEY=VALUE, with each key once"
            )
        if key == ENV:
            variable, _, value = value.partition("=")
            variant.setdefault(ENVIRONMENT.key, {})[variable] = value
        elif key == PACKAGES.key:
            variant.setdefault(key, []).append(value)
        else:
            variant[key] = value
    return found


def _requests(flags: Flags) -> Flags:
    fields = {option.key: flags[option.name] for option in given_flags(_OF_REQUEST, flags)}
    if flags.get("requests") is not None:
        if fields:
            raise BadInput(
                "--requests names a file that describes the requests completely. "
                "Leave out --request and the other flags for requests."
            )
        # service_from() has taken the file as it takes any option of SERVICE
        return {}
    # "GET" has no path, which means the path of the service itself
    texts = fields.pop("request", ["GET"] if fields else [])
    return {"requests": [{"request": text, **fields} for text in texts]} if texts else {}


def _pairs(option: Option, flags: Flags) -> dict[str, str]:
    """Parse every NAME=VALUE of a flag. Return {name: value}. Raises BadInput."""
    texts = flags.get(option.name) or []
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name or (option is ARM and not value):
            raise Given(value=text, name=option.flag, mask=option.mask).wrong(
                verbatim(option.metavar)
            )
    pairs = dict(text.split("=", 1) for text in texts)
    if option in (ARM, VARY) and len(pairs) != len(texts):
        raise BadInput(
            "Two {flag} flags have the same name. Give each name once.", flag=option.flag
        )
    return pairs


# ---- a resumed run -------------------------------------------------------------------------------


def restore_secrets(
    own: Json, given: Sequence[Secret], remembered: Sequence[Secret]
) -> Json | None:
    """Return the user's service of a saved plan (SavedPlan.own) with its secrets filled in; None
    without a service.

    given: secrets and expected answers from flags; each must belong to the plan
    remembered: secrets of the plan file
    Raises BadInput, with the flag, if a given secret is not in the plan or a secret of the plan is
    missing.
    """
    saved = from_file(own)
    # an expected answer that is in the plan as it is was no secret, and needs no place
    plain = _answers(RequestPlan.from_json(saved["requests"])) if own else []
    given = [one for one in given if one not in plain]
    remembered = [one for one in remembered if one not in plain]
    again = {secret.key for secret in given}
    wanted = {secret.key for secret in secrets_in(saved)}
    if other := sorted({name for name, _ in again - wanted}):
        raise BadInput(
            "The saved run has no {names} with the value that you gave, and --resume cannot change "
            "the plan. Leave out {names}, or start a new run.",
            names=other,
        )
    known = [*given, *(secret for secret in remembered if secret.key not in again)]
    found = {secret.key for secret in known}
    if missing := sorted({name for name, _ in wanted - found}):
        raise BadInput(
            "The saved run does not contain the value of {names}, because it may be secret. "
            "Give it again together with --resume, or name the plan file that has it with --plan, "
            "or the file of the requests with --requests.",
            names=missing,
        )
    return from_file(own, known) if own else None


def secrets_in_flags(flags: Flags) -> list[Secret]:
    """Return the secrets in flags, which may describe only a part of a service. Raises BadInput."""
    values = parsed(SERVICE, service_from(flags), Path.cwd(), flagged=True)
    return _secrets(values, request_plan(values))


def secrets_in_file(plan: str | None) -> list[Secret]:
    """Return the secrets of the service in a plan file, including those in its expected answers."""
    service = load_plan(Path(plan)).user_service if plan else None
    return _secrets(service, service.requests) if service else []


def _secrets(described: Any, plan: RequestPlan) -> list[Secret]:
    """Return the secrets in *described*, and the expected answers of *plan*, because answers may
    repeat secrets.
    """
    return [*secrets_in(described), *_answers(plan)]


def _answers(plan: RequestPlan) -> list[Secret]:
    """Return the expected answers of *plan* that are known, each as a Secret."""
    return [
        hidden_answer(one)
        for one in plan.requests
        if one.expect_json is not ANY and not isinstance(one.expect_json, Secret)
    ]

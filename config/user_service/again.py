"""Secrets of a run that goes on: its file has their names; flags, variables and plans have their values again."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from config.options import Given, Option, given_flags, parsed
from config.user_service.flags import service_from
from config.user_service.options import OPTIONS, SERVICE
from config.user_service.plan import parse_targets
from config.user_service.requests import hidden_answer, load_requests, request_plan
from core.errors import BadInput
from core.messages import listed
from core.request_plan import ANY, RequestPlan
from core.secret import HIDDEN, Secret, from_file, secrets_in
from core.user_service import HTTP, UserService

GIVEN_AGAIN = tuple(option for option in OPTIONS if option.mask or option.key in ("expect_json", "requests"))


def plan_with_secrets(
    stored: Mapping[str, Any], given: Sequence[Secret], remembered: Sequence[Secret]
) -> Mapping[str, Any]:
    """The saved plan with its secrets. given: by flags, all of which must be the plan's. remembered: by its command.

    Raises BadInput for a value that the plan has no place for, and for one that is not known, with its flag.
    """
    own, again = stored.get("own", {}), {secret.key for secret in given}
    wanted = {secret.key: secret.name for secret in secrets_in(from_file(own))}
    if other := sorted({name for name, shown in again - wanted.keys()}):
        raise BadInput(
            "The saved run has no {names} with this text, and --resume cannot change its plan. Leave it out, or "
            "start a new run.",
            names=listed(other),
        )
    known = [*given, *(secret for secret in remembered if secret.key not in again)]
    missing = sorted({wanted[key] for key in wanted.keys() - {secret.key for secret in known}})
    if missing:
        raise BadInput(
            "The run did not keep the value of {names}; give it again beside --resume.", names=listed(missing)
        )
    return {**stored, "own": from_file(own, known)} if own else stored


def secrets_of(flags: Mapping[str, Any]) -> list[Secret]:
    """The secrets in flags that describe a service, if only in part. Raises BadInput."""
    given, here = service_from(flags), Path.cwd()
    read: list[Any] = [parsed(SERVICE, given, here)]
    if "targets" in given:
        read.append(parse_targets(given["targets"], HTTP))
    if isinstance(given.get("requests"), list):
        read.append(_with_answers(request_plan(given, here)))
    if isinstance(given.get("requests"), str):
        read.append(_with_answers(load_requests(Given(value=given["requests"], name="--requests").file())))
    return list(secrets_in(read))


def secrets_of_service(service: UserService) -> list[Secret]:
    """The secrets of a service whose plan was read again."""
    return list(secrets_in((service, _with_answers(service.requests))))


def flags_without_secrets(flags: Mapping[str, Any]) -> list[str]:
    """Of the flags that may be given again, those that give no secret: they would change the plan. Raises BadInput."""
    return [option.flag for option in given_flags(GIVEN_AGAIN, flags) if not secrets_of(_alone(option, flags))]


def kept(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Flags of a run's command without those whose values it did not keep."""
    whole = dict(flags)
    for option in given_flags(GIVEN_AGAIN, flags):
        value = flags[option.name]
        texts = [text for text in ([value] if isinstance(value, str) else value) if HIDDEN not in text]
        whole[option.name] = texts if option.repeated else next(iter(texts), None)
    return whole


def _alone(option: Option, flags: Mapping[str, Any]) -> dict[str, Any]:
    return {one.name: flags.get(one.name) for one in OPTIONS if one is option or one.key == "name"}


def _with_answers(plan: RequestPlan) -> tuple[RequestPlan, list[Secret]]:
    """A plan, and its expected answers as secrets: they are such where they repeat one."""
    answers = (one for one in plan.requests if one.expect_json is not ANY and not isinstance(one.expect_json, Secret))
    return plan, [hidden_answer(request) for request in answers]

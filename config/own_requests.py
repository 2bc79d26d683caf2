"""What a user's own service is asked: the requests of its plan, and whether its protocol can carry them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from config.requests import load_requests, request_plan
from core.errors import BadInput
from core.request_plan import Request, RequestPlan

FRAMED = "framed"


def requests_of(given: Mapping[str, Any], folder: Path, protocol: str) -> RequestPlan:
    """The requests that *given* (`requests`, `think_time`, `rate`) names, for *protocol*. Raises BadInput."""
    found = _requests(given, folder)
    if protocol == FRAMED:
        for request in found.requests:
            _expect_framed(request)
    return found


def _requests(given: Mapping[str, Any], folder: Path) -> RequestPlan:
    asked = given.get("requests")
    if isinstance(asked, str):
        refuse(given, "a file of requests", ("think_time", "rate"))
        return load_requests(file_in(folder, asked))
    return request_plan({key: given[key] for key in ("requests", "think_time", "rate") if key in given}, folder)


def _expect_framed(request: Request) -> None:
    """Raises BadInput for what a frame cannot carry: headers, and a body that is no JSON object."""
    if request.headers:
        raise BadInput(
            f"{request} has headers {', '.join(request.headers)}, and a frame has none; leave them out, or use http."
        )
    body = request.body_bytes()
    try:
        is_object = isinstance(json.loads(body or b"{}"), dict)
    except (ValueError, RecursionError):
        is_object = False
    if not is_object:
        raise BadInput(
            f"the body of {request} is {body[:80].decode(errors='replace')!r}; in a frame it is the params, so it must "
            "be a JSON object, such as '{\"target\": 10}'."
        )


def file_in(folder: Path, name: str) -> Path:
    """The file of that name, looked for in *folder*. Raises BadInput."""
    path = (folder / name).absolute()
    try:
        path.open("rb").close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{path} cannot be read: {why}; name a file.") from None
    return path


def refuse(given: Mapping[str, Any], beside: str, keys: Iterable[str]) -> None:
    """Raises BadInput for each of *keys* that has no meaning beside something else that was given."""
    for key in keys:
        if key in given:
            raise BadInput(f"{key} is {given[key]}, which has no meaning with {beside}; leave it out.")

"""Whether a user's service is ready: it answers the plan's first request.

command.py beside this file calls probe() until the service answers; service_child.py calls it once
for a service that already runs. A state is NOTHING, or what the service fails to do, as words after
"does not" in their messages. Its code is DEAF, SLOW or "".
own: the settings of the service from the child's first line, such as `protocol` and `requests`
    (core/user_service.py). Its key OF_SYSTEM exists if a system declares the requests: at first
    true, then the function from one_request(), which service_child.py puts there
"""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from clients.channel import CallFailed
from clients.drive import CallerClient
from clients.user_service import connector, prepare
from core.cell import Cell
from core.messages import AND, NOTHING, GilscopeError, Json, Message, listed, message
from core.method import Method
from core.request_plan import Request, RequestPlan
from core.system import NATIVE_CLIENT
from core.user_service import HTTP, HTTP2, OF_SYSTEM, only_native
from lab import native_builds
from systems import system_of

# codes of messages: the service accepts no connection, or does not answer in time
DEAF, SLOW = "deaf", "slow"


class CommandFailed(GilscopeError):
    """The error that a service did not start or ended too early. Its message has the status and the
    last output.
    """


def probe(own: Json, address: str, deadline_s: float) -> Message:
    """Send the plan's first request to the service. Return what the service fails to do, or NOTHING
    if it answers.

    deadline_s: for each step, such as to connect or to read an answer
    """
    ask = own.get(OF_SYSTEM) or partial(_probed, own)
    state: Message = ask(address, deadline_s)
    if own["protocol"] != HTTP2 or state.code == DEAF or not state:
        return state
    return message(
        "{state}; if the service speaks only HTTP/1.1, leave out --protocol http2",
        code=state.code,
        state=state,
    )


def one_request(first_line: Json) -> Callable[[str, float], Message]:
    """Return a function that sends one request to a system's service, as its clients do.

    The function returns what the service at an address fails to do in a number of seconds; NOTHING
    if it answers.
    first_line: the first line of the service's child
    """
    system = system_of(first_line)
    cell = replace(Cell.from_json(first_line), num_requests_per_client=1, rate=0)

    def ask(address: str, deadline_s: float) -> Message:
        try:
            client = CallerClient(system, cell, 0, [[address]], limit_s=deadline_s)
        except CallFailed:
            return message("accept a connection", code=DEAF)
        # a protocol that has limit_s ends the request earlier
        result = client.run(2 * deadline_s)
        client.close()
        if wrong := result.get("first_wrong"):
            return message("give {expected} in response to {request} (it gave {got})", **wrong)
        if faults := [*result["errors"], *(["wrong"] if result["wrong"] else [])]:
            code = SLOW if "timeout" in faults else ""
            return message("answer one request ({faults})", code=code, faults=faults)
        return NOTHING

    return ask


def _probed(own: Json, address: str, deadline_s: float) -> Message:
    plan = RequestPlan.from_json(own["requests"])
    request, *_ = plan.requests
    try:
        connection = connector(own)(address, deadline_s)
    except CallFailed as failed:
        if failed.reason:
            return message(
                "complete a TLS handshake with gilscope's client (error: {reason})",
                reason=failed.reason,
            )
        return message("accept a connection", code=DEAF)
    try:
        if only_native(own["protocol"], plan):
            # it has shown that the service accepts; only the native client can send the request
            connection.close()
            _ask_natively(own, request, address, deadline_s)
        else:
            first, *_ = prepare(own, plan, address)
            connection.ask(first.sent, request.method)
    except CallFailed as failed:
        if failed.code == "garbled" and failed.reason:
            return message(
                "answer {request} in {protocol} (it answered {answer}; gilscope's clients speak "
                "{protocols}, and docs/add-a-system.md says how to add another protocol)",
                request=str(request),
                protocol=own["protocol"],
                answer=failed.reason,
                protocols=listed((HTTP, HTTP2), last=AND),
            )
        return message(
            "answer {request} in {protocol}",
            code=SLOW if "timeout" in failed.code else "",
            request=str(request),
            protocol=f"{own['protocol']} ({failed.code})",
        )
    finally:
        connection.close()
    return NOTHING


def _ask_natively(own: Json, request: Request, address: str, deadline_s: float) -> None:
    """Send *request* once with the native client. Raises CallFailed if the service
    does not answer.
    """
    # a single request, which counts, and whose answer nobody keeps
    plan = RequestPlan(requests=(replace(request, first=False, save={}),))
    cell = {
        "params": {"NUM_REQUESTS_PER_CLIENT": 1},
        "method": Method().to_json(),
        "client_id": 0,
        "addresses": [[address]],
        "own": {**own, "requests": plan.to_json(), "answer_deadline_s": deadline_s},
    }
    with subprocess.Popen(
        native_builds.command(NATIVE_CLIENT),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as client:
        assert client.stdin, "a pipe"
        assert client.stdout, "a pipe"
        client.stdin.write(f"{json.dumps(cell)}\ngo\n")
        client.stdin.flush()
        ready, answer = client.stdout.readline(), client.stdout.readline()
    if not answer:
        raise CommandFailed("The native client failed: {output}", output=ready.strip())
    result = json.loads(answer)["result"]
    # the first of the errors is raised
    for code in () if result["answered"] else result["errors"]:
        raise CallFailed(code, result.get("first_wrong", {}).get("got", ""))

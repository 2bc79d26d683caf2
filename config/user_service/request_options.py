"""Read the requests that clients send to a user's service, and the correct answers, from YAML or
flags.

parsed() (config/options.py) calls the parsers, each with a Given. service_plan.py and
service_flags.py call request_plan(). Request and RequestPlan are in core/request_plan.py. The flags
that hidden() gets, such as "--header NAME", are saved, and --resume finds secrets by them, so they
must stay as they are.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from config.options import (
    USER_SERVICE,
    Flags,
    Given,
    Option,
    applying,
    by_key,
    expect_keys,
    matching,
    parsed,
    whole,
)
from config.text_yaml import read_yaml
from config.user_service.hidden import HARMLESS, hidden, mask, mask_header, mask_url
from core.messages import BadInput, message
from core.request_plan import (
    ANY,
    COUNTER,
    GENERATED,
    PLACE,
    USER,
    Request,
    RequestPlan,
    placeholders,
)
from core.secret import HIDDEN, Secret, Text, revealed
from core.user_service import HTTP2

MOST_WEIGHT = 10**6
LONGEST_NAME = 100  # characters
LONGEST_THINK_TIME_S = 10.0**6
# headers of a connection, which HTTP/2 forbids. Source: RFC 9113, section 8.2.2
HTTP1_HEADERS = ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade")
# a method and a path; within a placeholder, the path may have spaces
_LINE = re.compile(r"(?:(?P<method>[A-Z]{1,16}) +)?(?P<path>/(?:\{\{[^{}#]*\}\}|[^\s#])*)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")  # of a saved value
# what was meant as a placeholder, but is not a valid one
_PLACE_LIKE = re.compile(rb"\{\{ *[A-Za-z_][^{}]*\}\}")
# look-around, conditions and back-references, which regular expressions of the native client lack
_NOT_IN_RUST = re.compile(r"\(\?(?:<?[=!]|P=|\()|\\[1-9]")


def _header(given: Given) -> tuple[str, Text]:
    """Parse a header such as 'Name: value'. Return name and value. Raises BadInput."""
    name, colon, text = given.text().partition(":")
    mask_of = str if name.lower() in HARMLESS else mask
    of_header = Given(value=text.strip(), name=f"{given.name} {name}")
    value = hidden(of_header, mask_of, f"--header {name}")
    printable = revealed(value).replace("\t", " ").isprintable()
    if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name) or not printable:
        raise replace(given, name="header").wrong("NAME: VALUE, such as Accept: application/json")
    return name, value


def _headers(given: Given) -> dict[str, Text]:
    lines = given.value
    if isinstance(lines, dict):
        named = [replace(given, value=text, name=name, mask=mask) for name, text in lines.items()]
        lines = [f"{one.name}: {one.text()}" for one in named]
    if not isinstance(lines, list):
        raise given.wrong("a mapping such as {example}", example="{Accept: application/json}")
    return dict(_header(replace(given, value=line)) for line in lines)


def _body(given: Given) -> Text:
    body = hidden(given, mask, "--body")
    try:
        revealed(body).encode()
    except UnicodeEncodeError:
        raise given.wrong("a text that can be sent as UTF-8") from None
    return body


def _json(given: Given) -> Any:
    try:
        return json.loads(given.text())
    except (ValueError, RecursionError) as error:
        short = replace(given, value=given.text()[:200])
        raise short.wrong(
            "JSON such as {example} ({error})", example='{"id": 3}', error=error
        ) from None


def _digest(given: Given) -> str:
    return matching("[0-9a-fA-F]{64}", "the 64 hex digits that sha256sum prints")(given).lower()


def _method_and_path(given: Given) -> tuple[str, Text]:
    # no path: the request goes to the path of the service or target itself
    if given.text() == "GET":
        return "GET", ""
    shown = f"'{mask_url(given.text())}'"
    name = f"--request {shown}"
    line = hidden(replace(given, name=f"{given.name} {shown}"), mask_url, name)
    text = revealed(line)
    match = _LINE.fullmatch(text.strip())
    if match is None or not text.isprintable():
        raise given.wrong("a method and a path that begins with /, such as GET /items/3")
    path: Text = match["path"]
    if isinstance(line, Secret):
        path = Secret(
            line.shown.strip().removeprefix(match["method"] or "").strip(),
            name=name,
            value=match["path"],
        )
    return match["method"] or "GET", path


def _name(given: Given) -> str:
    """Parse the name of a request. Raises BadInput."""
    name = given.text().strip()
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise given.wrong(
            "a name of 1 to {most} printable characters, such as search", most=LONGEST_NAME
        )
    return name


def _save(given: Given) -> dict[str, dict[str, str]]:
    """Parse the key `save`. Return a mapping from the names of saved values to their sources.
    Raises BadInput.
    """
    # the name "" is refused below
    sources = given.value if isinstance(given.value, dict) else {"": given.value}
    for name, source in sources.items():
        kind, where = next(iter(source.items()), ("", "")) if isinstance(source, dict) else ("", "")
        is_one = isinstance(where, str) and where.isprintable() and len(source) == 1
        is_right = is_one and {
            "json": where[:1] == "/",
            "header": True,
            "regex": _is_pattern(where),
        }.get(kind, False)
        if not is_right or not _NAME.fullmatch(name) or name in (COUNTER, USER):
            raise replace(given, name=f"save: {name}", value=source).wrong(
                "a name that you choose, followed by the place in the answer from which the value "
                "is saved: {examples}. A regular expression must not use look-around or "
                "back-references",
                examples="{json: /access_token}, {header: X-Name}, {regex: 'id=([0-9]+)'}",
            )
    return sources


def _is_pattern(text: str) -> bool:
    """Return whether *text* is a regular expression with a group, in syntax that Python and Rust
    both support.
    """
    try:
        return re.compile(text).groups > 0 and not _NOT_IN_RUST.search(text)
    except (re.error, RecursionError, OverflowError):
        return False


# the options of one request
REQUEST = applying(
    USER_SERVICE,
    Option(
        "--request R",
        "Method and path of a request (default: GET /).",
        _method_and_path,
        repeated=True,
        mask=mask_url,
    ),
    Option(
        "weight",
        "How often the request is sent, relative to the other requests (default: 1).",
        whole(1, MOST_WEIGHT),
    ),
    Option(
        "--header H",
        "A request header, as NAME: VALUE. In YAML, a mapping of headers.",
        _headers,
        key="headers",
        repeated=True,
        mask=mask_header,
    ),
    Option("--body TEXT", "The body of the request.", _body, mask=mask),
    Option(
        "body_file",
        "A file with the body of the request. The path is relative to the YAML file.",
        Given.file,
    ),
    Option(
        "--expect-status N", "The HTTP status of a correct answer (default: 200).", whole(100, 999)
    ),
    Option(
        "--expect-json JSON",
        "JSON that a correct answer contains. Objects in the answer may have more keys.",
        _json,
    ),
    Option("expect_sha256", "The SHA-256 of the body of a correct answer, in hex.", _digest),
    Option(
        "name",
        "What reports call the request (default: its method and path). Requests of one name are "
        "one route, whose figures are reported together.",
        _name,
        field="title",
    ),
    Option(
        "first",
        "true: each virtual user sends the request once, before the measured requests, and keeps "
        "cookies that answers set.",
        Given.truth,
    ),
    Option(
        "save",
        "Values of the answer that later requests use as {{NAME}}. Give NAME: {json: /pointer}, "
        "{header: X-Name} or {regex: ...}.",
        _save,
    ),
)


def _requests(given: Given) -> tuple[Request, ...] | RequestPlan:
    """Parse a list of requests, or the name of a file that describes the requests completely.
    Raises BadInput.
    """
    if isinstance(given.value, str):
        return load_requests(Path(given.file()))
    if not isinstance(given.value, list) or not given.value:
        raise BadInput("requests is empty. It must be a list such as `- request: GET /items/3`.")
    return tuple(_request(request, given) for request in given.value)


# the options of all requests together: keys of a file of requests, and of `service` in a plan
FILE = applying(
    USER_SERVICE,
    Option(
        "--requests FILE",
        "A YAML file that lists the requests. A plan can contain the list itself instead.",
        _requests,
    ),
    Option(
        "--think-time T",
        "The pause between an answer and the next request, such as 10ms (default: 0). Not possible "
        "at a fixed rate.",
        lambda given: given.seconds({"ms": 0.001, "s": 1.0}, LONGEST_THINK_TIME_S, "10ms"),
        field="think_time_s",
        example="10ms",
    ),
)
REQUEST_KEYS, FILE_KEYS = by_key(REQUEST), by_key(FILE)


def load_requests(path: Path) -> RequestPlan:
    """Load a request plan from a YAML file. Raises BadInput naming file, key, value and what is
    accepted.
    """
    content = read_yaml(path, "--requests")
    try:
        given = {"requests": content} if isinstance(content, list) else content
        if (
            not isinstance(given, dict)
            or not given.keys() <= FILE_KEYS.keys()
            or type(given.get("requests")) is not list
        ):
            raise BadInput(
                "The file must contain a list of requests, or a mapping whose keys are among "
                "{keys}.",
                keys=FILE_KEYS,
            )
        return request_plan(parsed(FILE, given, path.parent))
    except BadInput as error:
        raise BadInput("{path}: {error}", path=path, error=error.message) from error


def request_plan(values: Flags) -> RequestPlan:
    """Return the request plan of *values*, which have the fields of FILE. Raises BadInput.

    Without `requests`, clients send GET to the path of the service or target.
    """
    plan = values.get("requests", (Request(path=""),))
    if not isinstance(plan, RequestPlan):  # else that of a file, which other values override
        plan = RequestPlan(requests=plan)
    _expect_values(plan)
    return replace(plan, think_time_s=values.get("think_time_s", plan.think_time_s))


def _expect_values(plan: RequestPlan) -> None:
    """Raise BadInput if nothing fills a placeholder of a request, or if no request counts in the
    result.
    """
    saved = {name for request in plan.requests if request.first for name in request.save}
    known = set[str]()
    for request in plan.requests:
        texts = [request.path, *request.headers.values(), request.body]
        for text in (revealed(text).encode(errors="replace") for text in texts):
            # *whole* is the text without its valid placeholders, rather than the parser whole()
            fields, whole = placeholders(text), PLACE.sub(b"", text)
            # a request that is sent once can only use what earlier requests saved
            available = known | GENERATED | (set() if request.first else saved)
            wrong = [
                field.name
                for field in fields
                if field.name not in available or field.low > field.high
            ]
            wrong += [match.decode(errors="replace") for match in _PLACE_LIKE.findall(whole)]
            if wrong:
                raise BadInput(
                    "{request} has the placeholder {name}, but nothing fills it. Use the name of a "
                    "value that an earlier request saves, random.int 1 1000, random.uuid, counter "
                    "or user.",
                    request=str(request),
                    name=wrong[0],
                )
        known |= set(request.save)
        expected = "" if request.expect_json is ANY else hidden_answer(request).reveal()
        if placeholders(expected.encode(errors="replace"), frozenset(known | saved)):
            raise BadInput(
                "The expect_json of {request} has a placeholder, but placeholders are filled "
                "in only in requests. Leave out the keys whose values differ from request to "
                "request.",
                request=str(request),
            )
    if all(request.first for request in plan.requests):
        raise BadInput(
            "every request has first: true, but such requests do not count in the result. Add a "
            "request without first."
        )


def _request(given: Any, listed_in: Given) -> Request:
    given = {"request": given} if isinstance(given, str) else given
    if not isinstance(given, dict) or "request" not in given:
        shown = {str(key): HIDDEN for key in given} if isinstance(given, dict) else given
        raise BadInput(
            "The request {value} has no key `request`. Add one, such as `request: GET /items/3`.",
            value=repr(shown),
        )
    expect_keys(message("a request"), given, REQUEST_KEYS)
    if "body" in given and "body_file" in given:
        raise BadInput("A request has both body and body_file. Give only one of them.")
    values = parsed(REQUEST, given, listed_in.folder, flagged=listed_in.name.startswith("--"))
    # the option --request is parsed to two fields of Request
    method, path = values.pop("request")
    return Request(method=method, path=path, **values)


def hidden_answer(request: Request) -> Secret:
    """Return the expected answer of *request* as a Secret, because the answer may repeat secrets of
    the request.
    """
    return Secret(HIDDEN, name=f"--expect-json of {request}", value=json.dumps(request.expect_json))


def _expect_framing(request: Request) -> None:
    """Raise BadInput if the headers Content-Length and Transfer-Encoding of *request* contradict
    its body.
    """
    headers = {name.lower(): revealed(value) for name, value in request.headers.items()}
    length, coding = headers.get("content-length"), headers.get("transfer-encoding")
    if length is None and coding is None:
        return
    try:
        body = request.body_bytes()
    except OSError as error:
        raise BadInput(
            "The body of {request} cannot be read: {reason}.", request=str(request), reason=error
        ) from None
    is_right = (length, (coding or "").lower()) in ((str(len(body)), ""), (None, "chunked"))
    if is_right and not placeholders(body):  # without placeholders
        return
    raise BadInput(
        "{request} has the header {header}, which does not fit its body of {bytes} bytes. Leave "
        "the header out: the client sends the right Content-Length. A body without placeholders "
        "may have `Transfer-Encoding: chunked` instead, and is then sent in chunks.",
        request=str(request),
        header=", ".join(sorted({"content-length", "transfer-encoding"} & headers.keys())),
        bytes=len(body),
    )


def expect_sendable(plan: RequestPlan, protocol: str) -> None:
    """Raise BadInput if a request of *plan* cannot be sent.

    Its Content-Length may differ from the length of its body, or HTTP/2 may forbid one of its
    headers.
    """
    for request in plan.requests:
        _expect_framing(request)
        refused = [name for name in request.headers if name.lower() in HTTP1_HEADERS]
        if refused and protocol == HTTP2:
            raise BadInput(
                "{request} has the headers {names}, which HTTP/2 forbids. Remove them, or use "
                "--protocol http.",
                request=str(request),
                names=refused,
            )

"""A user's own service as a plan: from flags, from YAML, through result.json and back; and what is refused."""

import json
from pathlib import Path
from shlex import split

import pytest

from config.load import load_plan
from config.plan import Plan
from config.user_service.plan import target, user_service_plan
from config.user_service.servers import SERVERS, app_on
from core.errors import BadInput
from core.request_plan import Request
from core.runtime import NATIVE
from core.secret import revealed
from core.user_service import App, Command, UserService
from tests.config.planning import planned

COMMAND_LINE = "--service-command '{python} -m myapp --port {port}'"
SHAPED_LINE = "--service-command '{python} -m myapp {port} {workers} {threads}'"
COMMAND, SHAPED = split(COMMAND_LINE), split(SHAPED_LINE)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def service_of(plan: Plan) -> UserService:
    assert plan.user_service is not None
    return plan.user_service


def command_of(plan: Plan) -> Command:
    command = service_of(plan).command
    assert command is not None
    return command


def test_a_command_alone_is_a_plan_of_four_runtimes() -> None:
    plan = planned(*COMMAND)
    assert plan.runtimes == ("3.11", "3.14", "3.14t+gil", "3.14t")
    assert (plan.blocks, plan.method.duration_s, plan.method.warmup.share) == (8, 2.0, 0.1)
    (first, *_) = plan.cells()
    assert first.params == {
        "NUM_API_SERVICES": 1,
        "NUM_CLIENTS": 2,
        "NUM_REQUESTS_PER_CLIENT": 1000,
        "NUM_CONNECTIONS_PER_CLIENT": 8,
        "RATE": 0,
    }
    assert len(plan.cells()) == 4
    assert service_of(plan).requests.requests == (Request(path=""),)


def test_flags_say_what_is_asked_and_override_the_plan(tmp_path: Path) -> None:
    asked = """--request "GET /items/3" --request /items/4 --expect-json '{"id": 3}' --expect-status 201"""
    more = "--header 'Accept: x' --name shop --env A=b=c --service-port 8000 --start-deadline 2min"
    plan = planned(*COMMAND, *split(f"{asked} {more} --runtime 3.14 --blocks 2 --num-clients 4 --rate 50"))
    service, command = service_of(plan), command_of(plan)
    assert [str(one) for one in service.requests.requests] == ["GET /items/3", "GET /items/4"]
    assert {(one.expect_status, *one.headers.items()) for one in service.requests.requests} == {(201, ("Accept", "x"))}
    assert (service.name, command.first_port, command.directory) == ("shop", 8000, str(tmp_path))
    assert command.start_deadline_s == 120
    assert {name: revealed(value) for name, value in command.environment.items()} == {"A": "b=c"}
    (cell,) = plan.cells()
    assert (cell.system, cell.num_clients, cell.rate, plan.blocks) == ("shop", 4, 50, 2)


def test_a_plan_survives_result_json_and_is_known_again_after_it() -> None:
    plan = planned(*COMMAND, "--name", "shop", "--request", "GET /x", "--expect-json", "[1]")
    again = Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again.user_service == plan.user_service
    assert [cell.cell_id for cell in again.cells()] == [cell.cell_id for cell in plan.cells()]
    assert again.systems["shop"].child_config["own"]["requests"]["requests"][0]["expect_json"] == [1]


@pytest.mark.parametrize(("place", "services"), [("{workers}", [1, 1, 1]), ("", [8, 4, 1])])
def test_a_topology_is_a_row_for_each_pair_and_without_workers_a_command_for_each_service(
    place: str, services: list[int]
) -> None:
    threaded = ["--service-command", f"{{python}} -m app {{port}} {{threads}} {place}"]
    plan = planned(*threaded, "--topology", "8x1,4x2, 1x8", "--runtime", "3.14")
    shapes = [(cell.num_api_services, cell.num_workers_per_api_service) for cell in plan.cells()]
    assert shapes == [(8, 1), (4, 2), (1, 8)]
    assert [plan.systems["own"].services(cell) for cell in plan.cells()] == services


@pytest.mark.parametrize(
    ("server", "topology", "shapes"),
    [
        ("uvicorn", "4x1,1x1", [(4, 1), (1, 1)]),
        ("uvicorn", "auto", [(1, 1), (2, 1), (4, 1), (8, 1)]),
        ("gunicorn", "auto", [(each, threads) for each in (1, 2, 4, 8) for threads in (2, 8)]),
    ],
)
def test_a_topology_of_an_application_has_one_event_loop_a_process_or_threads(
    monkeypatch: pytest.MonkeyPatch, server: str, topology: str, shapes: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr("config.user_service.plan.cores_usable", lambda: 4)
    plan = planned("--app", "a:b", "--server", server, "--topology", topology, "--runtime", "3.14")
    assert [(cell.num_api_services, cell.num_workers_per_api_service) for cell in plan.cells()] == shapes
    again = Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert [cell.cell_id for cell in again.cells()] == [cell.cell_id for cell in plan.cells()]


def test_arms_are_systems_under_no_runtime_in_their_order() -> None:
    plan = planned("--arm", "old=http://127.0.0.1:1/v1/", "--arm", "new=unix:/run/x.sock")
    assert [(cell.system, cell.runtime) for cell in plan.cells()] == [("old", NATIVE), ("new", NATIVE)]
    assert plan.systems["old"].child_config["own"]["prefix"] == "/v1"


@pytest.mark.parametrize(
    ("url", "address", "prefix"),
    [
        ("http://127.0.0.1:8000/", "127.0.0.1:8000", ""),
        ("http://example.test/a/b", "example.test:80", "/a/b"),
        ("http://[::1]:8000", "[::1]:8000", ""),
        ("http://localhost:65535", "localhost:65535", ""),
        ("unix:/run/x.sock", "/run/x.sock", ""),
        ("tcp:127.0.0.1:9000", "127.0.0.1:9000", ""),
    ],
)
def test_a_target_is_an_address_and_a_prefix(url: str, address: str, prefix: str) -> None:
    found = target("it", url, "http", {})
    assert (found.address, found.prefix) == (address, prefix)


@pytest.mark.parametrize(
    "url",
    [
        *["ftp://x/", "unix:x", "unix:/" + 107 * "x", "http://127.0.0.1:99999/", "http://127.0.0.1:0/"],
        *["http://127.0.0.1:80a/", "http://[::1/", "http://a..b/", "http://me:word@x/", "http://x/a?b=1"],
        *["http://x/a b", "tcp:127.0.0.1:65536", "tcp:9000"],
    ],
)
def test_another_target_is_refused_with_those_that_are_accepted(url: str) -> None:
    with pytest.raises(BadInput, match="http://HOST:PORT/PATH"):
        target("it", url, "http", {})


@pytest.mark.parametrize("name", SERVERS)
def test_each_server_has_a_command_that_can_be_started(name: str) -> None:
    line = str(app_on(name, "shop.web:app").command)
    assert line.startswith("{python} -m ")
    assert line.endswith(" shop.web:app")
    assert not {"APP", "THREADS", "INTERFACE"} & set(line.split())
    plan = planned("--app", "shop.web:app", "--server", name, "--runtime", "3.14")
    app = command_of(plan)
    assert isinstance(app, App)
    assert (app.packages, app.server) == ((SERVERS[name].package,), name)


def test_the_interface_is_told_to_a_server_that_has_two() -> None:
    assert "--interface asgi" in str(app_on("granian", "a:b").command)
    wsgi = str(app_on("granian", "a:b", "wsgi").command)
    assert "--interface wsgi" in wsgi
    assert "{threads}" in wsgi


REFUSED_WITH_A_COMMAND = {
    "--app a:b": "--app does not apply to a service started by a command",
    "--server gunicorn": "--server does not apply to a service started by a command",
    "--topology 2x1": "does not contain {threads}",
    "--topology 0x1": "NUM_API_SERVICES is 0",
    "--system 2": "--system does not apply to a service started by a command",
    "--plan mine.yaml": "--plan does not apply to a service started by a command",
    "--name pool": "is a name that gilscope uses itself",
    "--name native": "is a name that gilscope uses itself",
    "--name 'a b'": "name is a b;",
    "--requirements none.txt": "No such file",
    f"--requirements {'x' * 300}": "File name too long",
    "--directory none": "it must be an existing folder",
    f"--directory {'x' * 300}": "it must be an existing folder",
    "--env A": "--env is ...;",
    "--service-port 99999": "port is 99999",
    "--service-port ''": "port is ;",
    "--start-deadline 0": "--start-deadline is 0;",
    "--start-deadline=-1": "--start-deadline is -1;",
    "--start-deadline 25h": "--start-deadline is 25h;",
    "--start-deadline 99999": "--start-deadline is 99999;",
    "--service-port 65535 --num-api-services 2": "65536",
    "--requests a.yaml --request 'GET /'": "Leave out --request",
    "--request 'GET /\x00'": "request is",
    "--request 'GET x'": "request is GET x;",
    "--header 'A: \ud800'": "header is",
    "--body \ud800": "UTF-8",
    "--think-time 5ms --rate 50": "think_time is 0.005 s and RATE is 50",
    "--expect-json ''": "it must be JSON such as",
    "--expect-json '{'": "it must be JSON such as",
    "--body abc --header 'Content-Length: 4'": "header content-length, which does not fit its body of 3 bytes",
    "--header 'Content-Length: x'": "does not fit its body of 0 bytes",
    "--body abc --header 'Transfer-Encoding: gzip'": "has the header transfer-encoding, which does not fit",
    "--body a --header 'Transfer-Encoding: chunked' --header 'Content-Length: 1'": "content-length, transfer-encoding",
    "--body {{user}} --header 'Content-Length: 8'": "does not fit",
    "--body {{user}} --header 'Transfer-Encoding: chunked'": "A body without placeholders",
    "--protocol http2 --header 'Transfer-Encoding: chunked'": "has the headers Transfer-Encoding, which HTTP/2 forbids",
    "--protocol http2 --header 'Upgrade: b' --header 'A: b'": "has the headers Upgrade, which HTTP/2 forbids",
}
REFUSED = {
    "--service-command 'x {python}'": "does not say where to listen",
    "--service-command 'x {port}'": "every runtime would be the same",
    "--service-command '{python} {prot} {port}'": "contains the unknown placeholder {prot}",
    "--service-command '{python} {port} {env:HOME}'": "pass secrets with --env",
    f"{SHAPED_LINE} --topology 2": "topology is 2",
    f"{SHAPED_LINE} --topology ''": "topology is ;",
    f"{SHAPED_LINE} --topology 2x1,1x2 --num-api-services 4": "cannot be used with a topology",
    f"{SHAPED_LINE} --topology 2x1 --num-workers-per-api-service 4": "because the topology sets NUM_WORK",
    "--request 'GET /'": "--request describes a service of your own",
    "--app shop": "app is shop;",
    "--app a:b": "but server is missing",
    "--app a:b --server nginx": "server is nginx; it must be one of gunicorn",
    "--app a:b --server uvicorn --topology 2x1,1x2": "topology is 2x1,1x2, but uvicorn serves an ASGI application with",
    "--app a:b --server granian --topology 1x2": "one event loop per worker process",
    "--app a:b --server waitress --interface asgi": "gilscope starts waitress only for wsgi",
    "--target ftp://x": "service target is ftp://x",
    "--target ''": "service target is ",
    "--target http://x/ --name a --arm a=http://y/": "--target and --arm have the same name, a",
    "--target http://x/ --runtime 3.14": "--runtime does not apply to a service that already runs",
    "--target http://x/ --topology 2x1": "--topology does not apply",
    "--target http://x/ --requirements x": "--requirements does not apply",
    "--arm a=http://x/ --arm a=http://y/": "Two --arm flags have the same name",
    "--arm http://x/": "NAME=URL",
}


@pytest.mark.parametrize(
    ("line", "said"),
    [*((f"{COMMAND_LINE} {flags}", said) for flags, said in REFUSED_WITH_A_COMMAND.items()), *REFUSED.items()],
    ids=lambda value: ascii(value[-60:]),
)
def test_what_cannot_be_measured_is_refused_with_a_reason(line: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        planned(*split(line))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        f"{COMMAND_LINE} --service-port 65535",
        f"{SHAPED_LINE} --service-port 65535 --num-api-services 2",
        f"{COMMAND_LINE} --think-time 5ms",
        f"{COMMAND_LINE} --expect-json null",
        f"{SHAPED_LINE} --topology 2x1,1x2",
        f"{COMMAND_LINE} --header 'A: b\tc'",
        f"{COMMAND_LINE} --request GET",
        f"{COMMAND_LINE} --body abc --header 'content-length: 3'",
        f"{COMMAND_LINE} --body abc --header 'Transfer-Encoding: Chunked'",
    ],
)
def test_what_can_be_measured_is_not_refused(line: str) -> None:
    assert planned(*split(line)).cells() != []


def test_a_plan_of_upgrades_is_called_handshakes() -> None:
    upgrade = "--header 'Upgrade: websocket' --header 'Connection: Upgrade' --expect-status"
    plans = [planned(*split(f"{COMMAND_LINE} {upgrade} {status}")) for status in (101, 200)]
    switching, other = ([system.title for system in plan.systems.values()] for plan in plans)
    assert switching == [f"{other[0]} (handshakes only)"]
    called, usual = (plan.user_service.label for plan in plans if plan.user_service)
    assert called == f"{usual} (handshakes only)"


def test_services_that_nobody_would_call_are_refused() -> None:
    sizes = ["--num-clients", "2", "--num-connections-per-client", "7"]
    with pytest.raises(BadInput, match="2 services would get no requests"):
        planned(*COMMAND, "--num-api-services", "8,16", *sizes)
    assert planned(*COMMAND, "--num-api-services", "14", *sizes).cells()
    assert planned(*SHAPED, "--num-api-services", "16", *sizes).cells()


def test_a_plan_in_yaml_has_a_service_in_place_of_rows(tmp_path: Path) -> None:
    (tmp_path / "asked.yaml").write_text("requests: [GET /x]\n")
    file = tmp_path / "shop.yaml"
    file.write_text(
        "service: {command: '{python} x {port}', requests: asked.yaml, environment: {A: '1'}}\n"
        "runtimes: ['3.14']\n"
        "parameters: {NUM_CLIENTS: 3, RATE: 7}\n"
    )
    plan = load_plan(file)
    (cell,) = plan.cells()
    assert (cell.num_clients, cell.rate, plan.name, plan.method.duration_s) == (3, 7, "shop", 2.0)
    assert command_of(plan).directory == str(tmp_path)


COMMAND_IN_YAML = "command: '{python} {port}'"
REFUSED_IN_YAML = {
    f"service: {{{COMMAND_IN_YAML}, colour: red}}": "the unknown key 'colour'. Accepted keys are name, command",
    f"service: {{{COMMAND_IN_YAML}, requests: [{{request: GET /, headers: {{A: [b]}}}}]}}": "A is ['...']",
    f"service: {{{COMMAND_IN_YAML}, requests: none.yaml}}": "none.yaml, which cannot be read",
    f"service: {{{COMMAND_IN_YAML}, environment: ''}}": "environment is ; it must be a mapping",
    f"service: {{{COMMAND_IN_YAML}, environment: [A=b]}}": "environment is ['A=...']",
    f"service: {{{COMMAND_IN_YAML}, environment: {{A=b: c}}}}": "a variable whose name does not contain =",
    f"service: {{{COMMAND_IN_YAML}, environment: {{A: [b]}}}}": "environment is {'A': '...'}",
    f"service: {{{COMMAND_IN_YAML}, think_time: 1ms}}\nparameters: {{RATE: 5}}": "With RATE, requests are sent",
    f"service: {{{COMMAND_IN_YAML}}}\nrows: [{{system: 2}}]": "The plan has both rows and service",
    f"service: {{{COMMAND_IN_YAML}}}\nview: league": "The plan has both view and service",
    "service: {command: ['{python}', '{port}']}": "command is ['{python}', '{port}']; it must be a text",
    'service: {command: "{python} {port} \\0"}': "it must be a text",
    "service: {}": "exactly one of command, app and targets. Given: none",
    "service: {targets: ['http://x/']}": "targets is ['http://x/']",
    "service: {targets: {a: ['http://x/']}}": "service a is ['http://x/']",
    "service: {targets: {a: 'http://x/'}}\nruntimes: ['3.14']": "Leave out runtimes",
}


@pytest.mark.parametrize(("text", "said"), REFUSED_IN_YAML.items())
def test_a_service_in_yaml_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"shop\.yaml") as caught:
        load_plan(file)
    assert said in str(caught.value)


def test_defaults_of_a_plan_hold_where_the_service_reads_them(tmp_path: Path) -> None:
    given = {"command": "{python} {port} {threads}"}
    plan = user_service_plan(given, tmp_path, {"NUM_WORKERS_PER_API_SERVICE": (3,), "CALC_TARGET": (5,)})
    assert {cell.num_workers_per_api_service for cell in plan.cells()} == {3}
    assert "CALC_TARGET" not in plan.cells()[0].params

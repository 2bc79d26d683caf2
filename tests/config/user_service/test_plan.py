"""A user's own service as a plan: from flags, from YAML, through result.json and back."""

from pathlib import Path

import pytest

from config.load import load_plan
from config.user_service.service import SERVERS, app_on
from config.user_service.service_plan import target
from core.request_plan import Request
from core.runtime import NATIVE
from core.secret import revealed
from core.user_service import App
from tests.config.planning import COMMAND_LINE, SHAPED_LINE, command_of, planned, service_of, stored
from tests.tables import each_row


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_command_alone_is_a_plan_of_four_runtimes() -> None:
    plan = planned(COMMAND_LINE)
    assert plan.runtimes == ("3.11", "3.14", "3.14t+gil", "3.14t")
    assert (plan.blocks, plan.method.duration_s, plan.method.warmup.share) == (8, 2.0, 0.1)
    (first, *others) = plan.cells()
    assert (first.num_api_services, first.num_clients, first.rate, len(others)) == (1, 2, 0, 3)
    assert first.params["NUM_CONNECTIONS_PER_CLIENT"] == 8
    assert service_of(plan).requests.requests == (Request(path=""),)


def test_flags_say_what_is_asked_and_override_the_plan(tmp_path: Path) -> None:
    asked = """--request "GET /items/3" --request /items/4 --expect-json '{"id": 3}' --expect-status 201"""
    more = "--header 'Accept: x' --name shop --env A=b=c --service-port 8000 --start-deadline 2min"
    plan = planned(f"{COMMAND_LINE} {asked} {more} --runtime 3.14 --blocks 2 --num-clients 4 --rate 50")
    service, command = service_of(plan), command_of(plan)
    assert [str(one) for one in service.requests.requests] == ["GET /items/3", "GET /items/4"]
    assert {(one.expect_status, *one.headers.items()) for one in service.requests.requests} == {(201, ("Accept", "x"))}
    assert (service.name, command.first_port, command.directory) == ("shop", 8000, str(tmp_path))
    assert command.start_deadline_s == 120
    assert {name: revealed(value) for name, value in command.environment.items()} == {"A": "b=c"}
    (cell,) = plan.cells()
    assert (cell.system, cell.num_clients, cell.rate, plan.blocks) == ("shop", 4, 50, 2)


def test_a_plan_survives_result_json_and_is_known_again_after_it() -> None:
    plan = planned(f"{COMMAND_LINE} --name shop --request 'GET /x' --expect-json [1]")
    again = stored(plan)
    assert again.user_service == plan.user_service
    assert [cell.cell_id for cell in again.cells()] == [cell.cell_id for cell in plan.cells()]
    assert again.systems["shop"].child_config["own"]["requests"]["requests"][0]["expect_json"] == [1]


@each_row
def test_a_topology_is_a_row_for_each_pair_and_an_application_has_one_event_loop_a_process_or_threads(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags, shapes, services = line.split(" -> ")
    monkeypatch.setattr("config.user_service.service_plan.cores_usable", lambda: 4)
    plan = planned(f"{flags} --runtime 3.14")
    for one in (plan, stored(plan)):
        cells = one.cells()
        found = [f"{cell.num_api_services}x{cell.num_workers_per_api_service}" for cell in cells]
        assert " ".join(found) == shapes
        assert " ".join(str(one.systems["own"].services(cell)) for cell in cells) == services


def test_arms_are_systems_under_no_runtime_in_their_order() -> None:
    plan = planned("--arm old=http://127.0.0.1:1/v1/ --arm new=unix:/run/x.sock")
    assert [(cell.system, cell.runtime) for cell in plan.cells()] == [("old", NATIVE), ("new", NATIVE)]
    assert plan.systems["old"].child_config["own"]["prefix"] == "/v1"


@each_row
def test_a_target_is_an_address_and_a_prefix(line: str) -> None:
    url, _, expected = line.partition(" -> ")
    found = target("it", url, "http", {})
    assert f"{found.address} {found.prefix}".strip() == expected


@pytest.mark.parametrize("name", SERVERS)
def test_each_server_has_a_command_that_can_be_started(name: str) -> None:
    line = str(app_on(name, "shop.web:app").command)
    assert line.startswith("{python} -m ")
    assert line.endswith(" shop.web:app")
    assert not {"APP", "THREADS", "INTERFACE"} & set(line.split())
    plan = planned(f"--app shop.web:app --server {name} --runtime 3.14")
    app = command_of(plan)
    assert isinstance(app, App)
    assert (app.packages, app.server) == ((SERVERS[name].package,), name)


MEASURED = f"""\
{COMMAND_LINE} --service-port 65535
{SHAPED_LINE} --service-port 65535 --num-api-services 2
{COMMAND_LINE} --think-time 5ms
{COMMAND_LINE} --expect-json null
{SHAPED_LINE} --topology 2x1,1x2
{COMMAND_LINE} --header 'A: b\tc'
{COMMAND_LINE} --request GET
{COMMAND_LINE} --body abc --header 'content-length: 3'
{COMMAND_LINE} --body abc --header 'Transfer-Encoding: Chunked'
{COMMAND_LINE} --num-clients 2 --num-connections-per-client 7 --num-api-services 14
{SHAPED_LINE} --num-clients 2 --num-connections-per-client 7 --num-api-services 16"""


@pytest.mark.parametrize("line", MEASURED.splitlines())
def test_what_can_be_measured_is_not_refused(line: str) -> None:
    assert planned(line).cells() != []


def test_a_plan_of_upgrades_is_called_handshakes() -> None:
    upgrade = "--header 'Upgrade: websocket' --header 'Connection: Upgrade' --expect-status"
    plans = [planned(f"{COMMAND_LINE} {upgrade} {status}") for status in (101, 200)]
    switching, other = ([system.title for system in plan.systems.values()] for plan in plans)
    assert switching == [f"{other[0]} (handshakes only)"]
    called, usual = (service_of(plan).label for plan in plans)
    assert called == f"{usual} (handshakes only)"


def test_a_plan_in_yaml_has_a_service_in_place_of_rows(tmp_path: Path) -> None:
    (tmp_path / "asked.yaml").write_text("requests: [GET /x]\n")
    file = tmp_path / "shop.yaml"
    file.write_text(
        "service: {command: '{python} x {port}', requests: asked.yaml, environment: {A: '1'}}\n"
        "runtimes: ['3.14']\n"
        "parameters: {NUM_CLIENTS: 3, RATE: 7, CALC_TARGET: 5, KEEP_AWAKE: true}\n"
    )
    plan = load_plan(file)
    (cell,) = plan.cells()
    assert (cell.num_clients, cell.rate, plan.name, plan.method.duration_s) == (3, 7, "shop", 2.0)
    assert "CALC_TARGET" not in cell.params  # the service does not read it
    assert cell.keep_awake  # of the machine, whatever the service reads
    assert command_of(plan).directory == str(tmp_path)

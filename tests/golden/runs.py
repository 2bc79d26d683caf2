"""The runs and documents whose outputs are kept: saved ones, and small ones made by the builders of other tests."""

import json
import lzma
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from commands.audit import audit_document
from core.request_plan import RequestPlan
from record.child_lines import ServiceResult
from record.decode import decoded
from record.run_file import load, plain
from record.saved_plan import Machine
from record.saved_run import Run
from reports.document import Document
from reports.stress_report import stress_document
from tests.analysis.test_routes import opposed_run
from tests.analysis.timed_cells import steady
from tests.commands import audited as audit
from tests.reports import test_stress as stress
from tests.reports.compare.trio import compared_trio
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.reading import every_chapter, record_with_aa
from tests.reports.sample import MS, cell_of, faulty, idle, measured, run_of, seed_run, set_plan, with_clients
from tests.reports.sections import test_answer as answers
from tests.reports.sections import test_pauses as pauses
from tests.reports.sections import test_waits as waits
from tests.reports.sweeps import peaked_run

ROOT = Path(__file__).resolve().parents[2]
PARTS = json.loads(Path(__file__).with_name("parts.json").read_text())
LOCKS: dict[str, Any] = PARTS["locks"]


def _loaded(folder: Path) -> Run:
    """A saved run that is shown as if it were in the default folder, whatever the length of *folder* is."""
    run = load(folder)
    run.folder = ""
    return run


def _saved(path: Path) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "result.json").write_bytes(lzma.decompress(path.read_bytes()))
        return _loaded(Path(folder))


def _failed_and_invalid() -> Run:
    """System 1 is measured; of system 2 a block failed; of 3 every block failed; of 4 one block is invalid."""
    cells = []
    for system, arm, *blocks in PARTS["failed and invalid"]:
        for block, result in enumerate(blocks, 1):
            cell = cell_of(system, arm)
            is_ok = isinstance(result, int)
            cells.append(measured(cell, block, [result]) if is_ok else faulty(cell, block, *result))
    return run_of(cells, missing={"3.14": "Get it."})


def _own_service() -> Run:
    run = _saved(ROOT / "tests/reports/saved/own.json.xz")
    return replace(run, cells=[cell for cell in run.cells if cell.block == 1])


def _several_hosts() -> Run:
    hosts = PARTS["hosts"]
    cells = [replace(measured(cell_of("4", "3.14t"), block, [1000 * MS]), hosts=hosts["late"]) for block in (1, 2)]
    run = run_of([with_clients(cell, host="b") for cell in cells], blocks=2)
    run.machine = decoded({**plain(run.machine), "hosts": hosts["facts"]}, Machine)
    return set_plan(run, layout=hosts["layout"])


def _profiles() -> Run:
    """A profile of locks, one of Python's lines for each of two runtimes, and one that could not be made."""
    line = waits.line_of("Cache.get", "app.py", 31, [20, 24] * 10)
    run = run_of(steady("3.14", 2000) + steady("3.14t", 1000), runtimes=("3.14", "3.14t"), blocks=8)
    counted = {"samples": 300, "owner": "app.py:31"}
    lines = {kind: [{**one, **counted} for one in LOCKS[kind]] for kind in ("stopping", "contended")}
    run.profiles = [
        {**LOCKS, **lines, "cpu_samples": 5000, "stood_ns": 200 * MS, "watched_ns": 1000 * MS},
        waits.profile("3.14"),
        waits.profile("3.14t", line),
        PARTS["failed profile"],
    ]
    return run


def _contest(view: str, **more: Any) -> Run:
    return contest_run(*(blocks_of(**row) for row in PARTS[view]), view=view, **more)


def _targets() -> Run:
    """Three services that already run. The first one is measured twice; something is known of the others' processes."""
    states: dict[str, Any] = {
        "load-oha": {"gil_enabled_ready": False, "gil_enabled_end": False},
        "load-ab": {"gil_enabled_ready": False, "gil_enabled_end": True},
    }
    cells = blocks_of("load-wrk", 1000, blocks=range(1, 9))
    cells += [replace(cell, arm="load-wrk again") for cell in cells]
    for name, known in states.items():
        service = ServiceResult(service_id=0, requests=0, pss_bytes=3 * 2**20, **known)
        cells += [replace(cell, services=[service]) for cell in blocks_of(name, 500, blocks=range(1, 9))]
    targets = [{"name": name, "url": f"http://{name}/"} for name in ("load-wrk", *states)]
    rows = [{"system": one["name"], "params": cells[0].params} for one in targets]
    own = {"name": "shops", "targets": targets, "requests": RequestPlan().to_json()}
    return set_plan(contest_run(cells, view=""), rows=rows, own=own)


def _http_clients() -> Run:
    from tests.experiments.http_clients.sample import story_run  # inside, as an experiment may be removed

    return story_run()


def _league() -> Run:
    from tests.experiments.league.test_section import TIMES_MS, a_run

    return a_run(TIMES_MS)


RUNS: Mapping[str, Callable[[], Run]] = {
    **{
        f"saved-{path.name.partition('.')[0]}": partial(_saved, path)
        for path in sorted((ROOT / "tests/reports/saved").glob("*.json.xz"))
    },
    "docs-example-run": partial(_loaded, ROOT / "docs/example-run"),
    "docs-record": partial(_loaded, ROOT / "docs/record"),
    "one-block": partial(seed_run, blocks=1, runtimes=("3.11", "3.14t"), requests=100, scale=0.1),
    "one-runtime": partial(seed_run, blocks=3, runtimes=("3.14t",)),
    "one-cell": lambda: run_of([measured(cell_of("1", "3.11"), 1, [1234 * MS])], blocks=1, runtimes=["3.11"]),
    "nothing-measured": lambda: run_of([]),
    "failed-and-invalid": _failed_and_invalid,
    "again": lambda: replace(record_with_aa(3), cells=[one for one in record_with_aa(3).cells if one.system in "12"]),
    "every-chapter": every_chapter,
    "several-systems": answers.several,
    "few-runtimes": partial(answers.several, ("3.14", "3.14t")),
    "without-clients": lambda: run_of([*map(idle, steady("3.11", 2000) + steady("3.14t", 2000))]),
    "targets": _targets,
    "sweep": lambda: peaked_run(blocks=6),
    "own-service-one-block": _own_service,
    "several-hosts": _several_hosts,
    "profiles": _profiles,
    "routes": opposed_run,
    "pauses": lambda: pauses.both("collection"),
    "echo": partial(_contest, "echo", absent={("echo-netty", "native"): "not built: needs mvn"}),
    "http-clients": _http_clients,
    "loadgen": partial(_contest, "loadgen"),
    "league": _league,
}
DOCUMENTS: Mapping[str, Callable[[], Document]] = {
    "compare-three": compared_trio,
    "stress": lambda: stress_document(
        stress.stress(
            stress.one("3.14t", wrong=3, first_wrong=stress.FIRST),
            stress.one("3.14t", **stress.CRASHED),
            stress.one("3.14t+gil", failures={"closed": 2}),
        )
    ),
    "audit": lambda: audit_document(audit.MIXED, "3.14t", "3.14.7"),
}

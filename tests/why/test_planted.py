"""A service with a planted wait: its line is named first, with an interval; a service without is told to have none."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.result import Run
from lab.profile.locks import obstacle
from tests.conftest import runtime_or_skip
from tests.why.planted import PLANTED, NoCompiler, named, profiled

pytestmark = pytest.mark.alone  # what waits is read while it waits: others on the cores hide it
WHOSE = {
    ("lock_during_io", "3.11"): "not profiled",
    ("lock_during_io", "3.14t"): "_thread.lock in Upstream.ask",
    ("no_contention", "3.14t"): "no contended lock",
}
OF_A_BUSY_MACHINE = 0.1  # share of the time that threads wait where one that holds a lock of CPython's has no core


@pytest.mark.parametrize(("name", "runtimes"), [("lock_during_io", ["3.11", "3.14t"]), ("no_contention", ["3.14t"])])
def test_the_line_that_waits_is_named_and_no_other(name: str, runtimes: list[str], tmp_path: Path) -> None:
    planted = PLANTED[name]
    for runtime in runtimes:
        runtime_or_skip(runtime)
    run = profiled(name, tmp_path, runtimes, kinds="python,locks")
    waits = named(run)
    assert {runtime: wait.function if wait else "" for runtime, wait in waits.items()} == dict.fromkeys(
        runtimes, planted.function
    )
    (folder,) = (tmp_path / "run").glob("profiles")
    for profile in by_locks(run):
        is_little = name == "no_contention" and sum(one["share"] for one in profile["contended"]) < OF_A_BUSY_MACHINE
        assert is_little or whose_lock(profile) == WHOSE[name, profile["runtime"]]
    assert len(list(folder.glob("*.folded.txt"))) == len(list(folder.glob("*.speedscope.json"))) == len(runtimes)


def test_a_mutex_of_an_extension_is_named_by_the_line_that_calls_it(tmp_path: Path) -> None:
    runtime_or_skip("3.14t")
    try:
        run = profiled("own_mutex", tmp_path, ["3.14t"])
    except NoCompiler as error:
        pytest.skip(str(error))
    wait = named(run)["3.14t"]
    assert wait
    assert (wait.function, wait.place) == ("Codec.encode", "own_mutex.py:12")


def by_locks(run: Run) -> list[dict[str, Any]]:
    """The profiles of locks; none where locks may not be watched."""
    profiles = [profile for profile in run.profiles if profile["kind"] == "locks"]
    assert bool(profiles) == (not obstacle())
    return profiles


def whose_lock(profile: Mapping[str, Any]) -> str:
    """What it says of the first lock; how its sentence begins where it claims nothing."""
    sentence = str(profile["sentence"]["text"])
    if beginning := next(filter(sentence.startswith, ("not profiled", "no contended lock")), ""):
        return beginning
    first = profile["contended"][0]
    return f"{first['owner']} in {first['stack'][0]['function']}"

"""A service with a planted wait: its line is named first, with an interval; a service without is told to have none."""

from pathlib import Path

import pytest

from lab.profile.locks import obstacle
from tests.conftest import runtime_or_skip
from tests.why.planted import named, profiled

pytestmark = pytest.mark.alone  # what waits is read while it waits: others on the cores hide it


def test_the_line_that_holds_a_lock_while_it_waits_is_named_in_both_profiles(tmp_path: Path) -> None:
    runtimes = ["3.14", "3.14t"]
    for runtime in runtimes:
        runtime_or_skip(runtime)
    run = profiled("lock_during_io", tmp_path, runtimes, kinds="python,locks")
    assert {runtime: wait and wait.function for runtime, wait in named(run).items()} == dict.fromkeys(
        runtimes, "Upstream.ask"
    )
    folder = tmp_path / "run/profiles"
    assert len(list(folder.glob("*.folded.txt"))) == 2
    by_locks = {profile["runtime"]: profile for profile in run.profiles if profile["kind"] == "locks"}
    assert bool(by_locks) == (not obstacle())
    if by_locks:
        first = by_locks["3.14t"]["contended"][0]
        assert (first["owner"], first["stack"][0]["function"]) == ("_thread.lock", "Upstream.ask")


def test_of_a_service_without_contention_no_line_is_named(tmp_path: Path) -> None:
    runtime_or_skip("3.14t")
    assert named(profiled("no_contention", tmp_path, ["3.14t"])) == {"3.14t": None}


def test_a_service_on_an_older_python_is_not_profiled_and_the_reason_is_its_version(tmp_path: Path) -> None:
    version = runtime_or_skip("3.11").version
    run = profiled("no_contention", tmp_path, ["3.11"], kinds="python,locks")
    for profile in run.profiles:
        assert str(profile["sentence"]["text"]).startswith("not profiled: ")
        assert str(profile["sentence"]["text"]).endswith(f", but the service runs {version}")
    assert len(run.profiles) == 2


def test_a_mutex_of_an_extension_is_named_by_the_line_that_calls_it(tmp_path: Path) -> None:
    runtime_or_skip("3.14t")
    wait = named(profiled("own_mutex", tmp_path, ["3.14t"]))["3.14t"]
    assert wait
    assert (wait.function, wait.place) == ("Codec.encode", "own_mutex.py:12")

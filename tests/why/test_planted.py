"""A service with a planted wait: its line is named first, with an interval; a service without is told to have none."""

from pathlib import Path

import pytest

from lab.profile.lock_watcher import obstacle_to
from tests.conftest import runtime_or_skip
from tests.why.planted import named, profiled

pytestmark = pytest.mark.alone  # what waits is read while it waits: others on the cores hide it


def test_the_line_that_holds_a_lock_while_it_waits_is_named_in_both_profiles(tmp_path: Path) -> None:
    runtime_or_skip("3.14t")
    run = profiled("lock_during_io", tmp_path, ["3.14t"], kinds="python,locks")
    wait = named(run)["3.14t"]
    assert wait
    assert wait.function == "Upstream.ask"
    assert len(list(tmp_path.glob("run/profiles/*.folded.txt"))) == 1
    by_locks = [profile for profile in run.profiles if profile["kind"] == "locks"]
    assert bool(by_locks) == (not obstacle_to("locks"))
    if by_locks:
        first = by_locks[0]["contended"][0]
        assert (first["owner"], first["stack"][0]["function"]) == ("_thread.lock", "Upstream.ask")


def test_of_a_service_without_contention_no_line_is_named_and_on_an_older_python_the_reason_is_its_version(
    tmp_path: Path,
) -> None:
    version = runtime_or_skip("3.11").version
    runtime_or_skip("3.14t")
    run = profiled("no_contention", tmp_path, ["3.11", "3.14t"])
    assert named(run)["3.14t"] is None
    (sentence,) = [profile["sentence"]["text"] for profile in run.profiles if profile["runtime"] == "3.11"]
    assert sentence.startswith("not profiled: ")
    assert sentence.endswith(f", but the service runs {version}")


def test_a_mutex_of_an_extension_is_named_by_the_line_that_calls_it(tmp_path: Path) -> None:
    runtime_or_skip("3.14")
    wait = named(profiled("own_mutex", tmp_path, ["3.14"]))["3.14"]
    assert wait
    assert (wait.function, wait.place) == ("Codec.encode", "own_mutex.py:12")

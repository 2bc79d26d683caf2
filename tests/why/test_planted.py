"""A service with a planted wait: its line is named first, with an interval; a service without is told to have none."""

from pathlib import Path

import pytest

from tests.conftest import runtime_or_skip
from tests.why.planted import PLANTED, NoCompiler, named, profiled


@pytest.mark.parametrize(("name", "runtimes"), [("lock_during_io", ["3.11", "3.14t"]), ("no_contention", ["3.14t"])])
def test_the_line_that_waits_is_named_and_no_other(name: str, runtimes: list[str], tmp_path: Path) -> None:
    planted = PLANTED[name]
    for runtime in runtimes:
        runtime_or_skip(runtime)
    waits = named(profiled(name, tmp_path, runtimes))
    assert {runtime: wait.function if wait else "" for runtime, wait in waits.items()} == dict.fromkeys(
        runtimes, planted.function
    )
    (folder,) = (tmp_path / "run").glob("profiles")
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

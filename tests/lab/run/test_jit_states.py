"""Whether the JIT of a user's service was on, as its processes report it: on, off, or unknown."""

from types import SimpleNamespace
from typing import Any

from core.runtime import RuntimeName
from lab.run.cell_processes import note_jit_states
from lab.run.measured_runtimes import UserServiceRuntime
from tests.tables import each_row


@each_row
def test_a_jit_that_no_process_reported_is_unknown_unless_there_is_none(line: str) -> None:
    said, _, rest = line.partition(" -> ")
    reported = [one.encode() for one in said.split(", ") if one]
    name, has_jit, known = rest.split()[:3]
    build = SimpleNamespace(has_jit=has_jit == "True")
    interpreter: Any = SimpleNamespace(version="3.14.7", name=RuntimeName(name), interpreter=build)
    service: Any = SimpleNamespace(noted={})
    inside: Any = SimpleNamespace(files=lambda part, most_bytes: dict(enumerate(reported)))
    note_jit_states("jit_enabled_end", UserServiceRuntime(runtime=interpreter), [service], [inside])
    assert str(service.noted["jit_enabled_end"]) == known

"""Whether the JIT of a user's service was on, as its processes report it: on, off, or unknown."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from core.runtime import RuntimeName
from lab.run.results import note_jit_states
from lab.run.runtimes import UserServiceRuntime


@pytest.mark.parametrize(
    ("reported", "name", "has_jit", "known"),
    [
        ([], "3.14+jit", True, None),
        ([b"3.13.1 1"], "3.14+jit", True, None),  # a process of another Python
        ([b"3.14.7 1", b"3.14.7 1"], "3.14+jit", True, True),
        ([b"3.14.7 1", b"3.14.7 0"], "3.14+jit", True, False),
        ([b"3.14.7 0"], "3.14", True, False),
        ([b"3.14.7 1", b"3.14.7 0"], "3.14", True, True),
        ([], "3.14", True, None),
        ([], "3.14", False, False),
    ],
)
def test_a_jit_that_no_process_reported_is_unknown_unless_there_is_none(
    reported: Sequence[bytes], name: str, has_jit: bool, known: bool | None
) -> None:
    interpreter: Any = SimpleNamespace(
        version="3.14.7", name=RuntimeName(name), interpreter=SimpleNamespace(has_jit=has_jit)
    )
    service: Any = SimpleNamespace(noted={})
    inside: Any = SimpleNamespace(files=lambda part, most_bytes: dict(enumerate(reported)))
    note_jit_states("jit_enabled_end", UserServiceRuntime(runtime=interpreter), [service], [inside])
    assert service.noted == {"jit_enabled_end": known}

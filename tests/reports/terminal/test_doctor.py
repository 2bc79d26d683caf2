"""The findings of the doctor on the terminal."""

import io
from dataclasses import dataclass

import pytest

from core.messages import Message, verbatim
from reports.render.console import terminal
from reports.terminal.doctor import print_findings, verdict


@dataclass(frozen=True)
class Found:
    name: Message
    value: Message
    good: bool | None
    remedy: Message


def found(name: str, value: str, good: bool | None, remedy: str = "") -> Found:
    return Found(verbatim(name), verbatim(value), good, verbatim(remedy))


FOUND = [
    found("load", "0.10 on 8 cores", True),
    found("frequency governor", "powersave", False, "sudo cpupower frequency-set -g performance"),
    found("turbo", "", None),
    found("SMT", "on [2 a core]", False, "Keep services and clients on cores of their own with --pin, or turn it off."),
]
PRINTED = """\
ok         load                0.10 on 8 cores
look       frequency governor  powersave
not known  turbo
look       SMT                 on [2 a core]

What to do:
frequency governor  sudo cpupower frequency-set -g performance
SMT                 Keep services and clients on cores of their own with --pin,
                    or turn it off.

Not quiet: frequency governor, SMT. More blocks, and A/A, show how much it
matters. 1 of 4 cannot be known here.
"""


def printed(monkeypatch: pytest.MonkeyPatch, found: list[Found]) -> str:
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    file = io.StringIO()
    print_findings(found, terminal(file))
    return file.getvalue()


def test_findings_are_printed_within_80_columns_without_control_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(monkeypatch, FOUND)
    assert "".join(f"{line.rstrip()}\n" for line in text.splitlines()) == PRINTED
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text


def test_advice_is_left_out_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "What to do" not in printed(monkeypatch, FOUND[:1])


def test_the_verdict_of_a_quiet_machine_says_so() -> None:
    assert verdict(FOUND[:1]) == "Nothing that was found disturbs a measurement."

"""The findings of the doctor on the terminal."""

import io
from dataclasses import dataclass

import pytest

from core.languages import ENGLISH
from core.messages import NOTHING, Message, verbatim
from reports.render.console import terminal
from reports.render.terminal import print_section
from reports.terminal.doctor import findings_section


@dataclass(frozen=True)
class Inspected:
    name: Message
    value: Message
    good: bool | None
    remedy: Message = NOTHING


PIN = "Keep services and clients on cores of their own with --pin, or turn it off."
FINDINGS = [
    Inspected(verbatim("load"), verbatim("0.10 on 8 cores"), True),
    Inspected(verbatim("governor"), verbatim("powersave"), False, verbatim("sudo cpupower frequency-set")),
    Inspected(verbatim("turbo"), NOTHING, None),
    Inspected(verbatim("SMT"), verbatim("on [2 a core]"), False, verbatim(PIN)),
]
PRINTED = """\
ok      load     0.10 on 8 cores
warning governor powersave
unknown turbo
warning SMT      on [2 a core]
What to do:
governor: sudo cpupower frequency-set
SMT: Keep services and clients on cores of their own with --pin, or turn it off.
The machine is not quiet: governor, SMT. Measure more blocks, and an A/A arm
(--aa), to see how much this affects results. 1 of 4 checks are not possible on
this machine.
"""


def printed(monkeypatch: pytest.MonkeyPatch, findings: list[Inspected]) -> str:
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    file = io.StringIO()
    print_section(findings_section(findings), terminal(file), ENGLISH)
    return "".join(f"{' '.join(line.split())}\n" for line in file.getvalue().splitlines())


def test_findings_are_printed_within_80_columns_without_control_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(monkeypatch, FINDINGS)
    assert text == "".join(f"{' '.join(line.split())}\n" for line in PRINTED.splitlines())
    assert "\x1b" not in text

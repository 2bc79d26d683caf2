"""The findings of the doctor on the terminal."""

import io
import re

import pytest

from commands.doctor import findings_section
from core.languages import ENGLISH
from core.messages import verbatim
from core.result import DISTURBANCES
from lab.machine.doctor import SETTINGS, Finding
from reports.render.console import terminal
from reports.render.terminal import print_section


def finding(code: str, value: str, good: bool | None, remedy: str = "") -> Finding:
    name = {**DISTURBANCES, **SETTINGS}[code]
    return Finding(name, verbatim(value), good, verbatim(remedy), code)


PIN = "Keep services and clients on cores of their own with --pin, or turn it off."
FINDINGS = [
    finding("load", "0.10 on 8 cores", True),
    finding("governor", "powersave", False, "sudo cpupower frequency-set"),
    finding("turbo", "", None),
    finding("smt", "on [2 a core]", False, PIN),
]
PRINTED = """\
ok      load     0.10 on 8 cores
warning frequency governor powersave
unknown turbo
warning SMT      on [2 a core]
What to do:
frequency governor: sudo cpupower frequency-set
SMT: Keep services and clients on cores of their own with --pin, or turn it off.
Conditions on this machine can distort measurements: frequency governor, SMT. To
see by how much, measure more blocks, and measure one runtime twice (--aa). 1 of
4 checks are not possible on this machine.
"""


def test_findings_are_printed_within_80_columns_without_control_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    file = io.StringIO()
    print_section(findings_section(FINDINGS), terminal(file), ENGLISH)
    text = "".join(f"{' '.join(line.split())}\n" for line in file.getvalue().splitlines())
    assert text == re.sub(" +", " ", PRINTED)
    assert "\x1b" not in text

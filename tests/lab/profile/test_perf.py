"""Recording with perf: a real one where perf works, and stand-ins that fail in the ways that perf does."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import ChildFailed
from core.processtree import descendants
from lab.profile import perf as profile
from lab.profile.perf import obstacle, read_hot_spots, recording
from tests.lab.python.fake_pythons import script
from tests.started import started

MakePerf = Callable[[str], Path]
ACKNOWLEDGE = 'for word in "$@"; do case "$word" in fd:*) ends=${word#fd:}; esac; done\n'


@pytest.fixture
def make_perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakePerf:
    """Puts a shell script on PATH that is called perf."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")

    return lambda body: script(tmp_path / "bin/perf", body)


def test_perf_that_is_missing_is_told_with_what_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    install = "apt-get install linux-perf"
    assert install in str(obstacle())
    with pytest.raises(ChildFailed, match=install), recording(1, tmp_path / "x"):
        pass
    with pytest.raises(ChildFailed, match=install):
        read_hot_spots(tmp_path / "x")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "Linux" in str(obstacle())


@pytest.mark.parametrize(
    ("level", "said", "advice"),
    [
        ("4", "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting", "is 4. Permit it with: sudo sysctl"),
        ("2", "Error:\\nNo permission to enable cycles event. perf_event_paranoid", "--cap-add PERFMON"),
        ("2", "WARNING: perf not found for kernel 6.8\\n", "for kernel 6.8 Install a working perf with: apt-get"),
        ("2", "", "cannot record on this machine: - Install"),
    ],
)
def test_perf_that_cannot_record_is_told_in_one_line(
    make_perf: MakePerf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str, said: str, advice: str
) -> None:
    monkeypatch.setattr(profile, "PARANOID", tmp_path / "paranoid")
    (tmp_path / "paranoid").write_text(level)
    make_perf(f"printf {shlex.quote(said)} >&2; exit 255")
    assert advice in str(obstacle())
    assert "\n" not in str(obstacle())
    make_perf("exit 0")
    assert str(obstacle()) == ""


@pytest.mark.parametrize(
    ("perf", "end"), [("echo first >&2; echo No such process >&2; exit 1", r".*: No such process"), ("exec cat", "")]
)
def test_perf_that_ends_before_it_counts_or_never_counts_is_ended(
    make_perf: MakePerf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, perf: str, end: str
) -> None:
    monkeypatch.setattr(profile, "START_DEADLINE_S", 10.0 if end else 0.05)
    make_perf(perf)
    before = descendants(os.getpid())
    with (
        pytest.raises(ChildFailed, match=f"process 77: perf did not start counting{end}"),
        recording(77, tmp_path / "x"),
    ):
        pass
    assert descendants(os.getpid()) == before


def test_perf_that_does_not_stop_is_killed(
    make_perf: MakePerf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile, "STOP_DEADLINE_S", 0.05)
    make_perf(f'trap "" INT\n{ACKNOWLEDGE}exec bash -c "echo ack >&${{ends#*,}}; exec sleep 60"')
    before = descendants(os.getpid())
    with pytest.raises(ChildFailed, match="did not end within"), recording(77, tmp_path / "x"):
        pass
    assert descendants(os.getpid()) == before


def test_a_recording_without_samples_is_refused_and_samples_that_perf_lost_are_told(
    make_perf: MakePerf, tmp_path: Path
) -> None:
    make_perf("echo the file has no samples >&2")
    with pytest.raises(ChildFailed, match="the file has no samples"):
        read_hot_spots(tmp_path / "x")
    make_perf(r"printf '  1 cycles: \n\t 1 f (/x)\n\n'; echo 'Processed 1036 samples and lost 5.12%!' >&2")
    assert str(read_hot_spots(tmp_path / "x").sentence()).endswith("based on 1 sample (5 % of all samples were lost)")


BUSY = (
    "import sys; print('ready', flush=True); sys.stdin.readline(); sum(i * i for i in range(3_000_000)); print('done')"
)


def test_a_real_recording_names_a_function_and_leaves_no_process(tmp_path: Path) -> None:
    if missing := obstacle():
        pytest.skip(str(missing))
    with (
        started(sys.executable, "-u", "-c", BUSY) as busy,
        recording(busy.pid, tmp_path / "perf.data", os.getpgid(0)) as perf,
    ):
        busy.say("go")
        assert busy.hear() == "done\n"
    with pytest.raises(ProcessLookupError):
        os.kill(perf, 0)
    found = read_hot_spots(tmp_path / "perf.data")
    assert sum(one.share for one in found.hot) == pytest.approx(1, abs=0.01)
    assert "the hottest function is" in str(found.sentence())

"""Scripts that stand for interpreters, shims and uv."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from lab.python import uv


def script(path: Path, body: str) -> Path:
    """A shell script that stands for an interpreter, a shim or uv."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def pretend_uv(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> Path:
    """Put a script in the place of uv. Return the file LOG, in which it may note each call."""
    fake = script(folder / "uv", body)
    monkeypatch.setattr(uv, "find", lambda: fake)
    monkeypatch.setenv("LOG", str(folder / "log"))
    return folder / "log"


def fake_pythons(folder: Path, table: str) -> None:
    """Write a Python for each line of the table: its path in *folder*, its version and its flags."""
    for line in table.splitlines():
        path, version, *flags = line.split()
        fake_python(folder / path, version, **dict.fromkeys(flags, True))


def fake_python(path: Path, version: str, **flags: bool) -> Path:
    """A script that answers as a CPython of this version and these flags would."""
    facts: dict[str, Any] = {
        "implementation": "cpython",
        "version": version,
        "build": "(main)",
        "gil_disabled_build": flags.pop("free_threaded", False),
        "flags": {"shared": False, "debug": False} | flags,
    }
    return script(path, f"echo '{json.dumps({'executable': str(path), 'facts': facts})}'")

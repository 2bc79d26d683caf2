"""The runtimes that were found, as the terminal lists them."""

import io

from lab.run.runtimes import Native
from reports.terminal.console import terminal
from reports.terminal.inventory import flags_text, print_runtimes
from tests.reports.sample import facts


def test_a_runtime_is_told_with_version_build_flags_and_where_it_was_found() -> None:
    out = io.StringIO()
    print_runtimes({"3.14t": facts("3.14t", lto=True)}, {"3.13 at /usr/bin/python3": facts("3.13")}, terminal(out))
    assert out.getvalue().splitlines() == [
        "3.14t",
        "  version   3.14.2, free-threaded build, GIL off",
        "  build     (main, Jan  1 2026, 00:00:00) [GCC 13.2.0]",
        "  flags     PGO, LTO, static",
        "  where     /opt/3.14t/bin/python (found by PATH)",
        "",
        "Also found (choose one with --interpreter NAME=PATH):",
        "  3.13 at /usr/bin/python3: 3.14.2, PGO, no LTO, static",
    ]


def test_the_native_programs_have_no_version_and_no_build_flags() -> None:
    out = io.StringIO()
    print_runtimes({"native": Native().to_json()}, {}, terminal(out))
    name, version, build, flags, where = out.getvalue().splitlines()
    assert name == "native"
    assert [line.split(None, 1)[1] for line in (version, build, flags)] == [
        "programs of machine code, no interpreter",
        "release",
        "-",
    ]
    assert where.startswith("  where     ")
    assert "found by" not in where


def test_flags_that_are_not_known_are_a_dash() -> None:
    assert flags_text({}) == "-"
    assert flags_text({"pgo": False, "lto": True, "shared": True}) == "no PGO, LTO, shared library"

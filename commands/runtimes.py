"""The command runtimes: show the installed interpreters and how they were built.

chosen.find_runtimes() finds them as for a run, so a missing patch release may be installed.
"""

import json
from collections.abc import Iterator, Sequence

from analysis.confounds import build_flags
from commands.chosen import find_runtimes
from commands.output import output
from config.flags import value_of
from config.plan_options import DEFAULT_RUNTIMES, INTERPRETERS, JSON, RUNTIMES
from core.messages import Message, listed, message
from core.runtime import RuntimeFacts
from record.run_file import plain


def main(arguments: Sequence[str]) -> int:
    """Run the command runtimes. Return its exit status: 0, even if a runtime is missing."""
    parser = output.parser("runtimes")
    parser.add_group("runtimes", *INTERPRETERS)
    parser.add_group("what to print", JSON)
    flags = parser.parse(arguments)
    runtimes, _ = find_runtimes(value_of(RUNTIMES, flags, DEFAULT_RUNTIMES), flags)
    if flags["json"]:
        print(
            json.dumps(
                {name: plain(runtime.facts()) for name, runtime in runtimes.items()}, indent=2
            )
        )
        return 0
    for name, runtime in runtimes.items():
        for line in _lines(name, runtime.facts()):
            output.print_line(line)
    return 0


def _lines(name: str, facts: RuntimeFacts) -> Iterator[str | Message]:
    installed = facts.installed
    yield name
    yield message("  version   {version}", version=_version(facts))
    yield message("  build     {build}", build=facts.build)
    yield message("  flags     {flags}", flags=build_flags(facts.flags) or "-")
    if facts.source:
        yield message(
            "  path      {path} (found by {source})", path=facts.executable, source=facts.source
        )
    else:
        yield message("  path      {path}", path=facts.executable)
    if installed:
        yield message(
            "  packages  {names}", names=(f"{name} {installed[name]}" for name in sorted(installed))
        )


def _version(facts: RuntimeFacts) -> Message:
    if not facts.version:
        return message("runs native programs without a Python interpreter")
    build = message("free-threaded build") if facts.gil_disabled_build else message("default build")
    gil = message("GIL on") if facts.gil_enabled else message("GIL off")
    return listed([facts.version, build, gil, *([message("JIT on")] if facts.jit_enabled else [])])

"""The command list: the saved runs."""

import json
from collections.abc import Sequence
from pathlib import Path

from commands.output import output_for, short
from config.flags import Parser
from config.plan_options import JSON
from core.messages import message
from lab.run.runs import RUNS

SUMMARY = message("Show the saved runs, newest first, with the verdict of each.")


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0."""
    from reports.render.console import terminal
    from reports.terminal.listing import print_list, saved_runs

    output = output_for(arguments)
    parser = Parser("list", SUMMARY, output.language)
    parser.add_names("folder", message("where runs are saved (default: reports/out)"), "?")
    parser.add(message("what to print"), JSON)
    flags = parser.parse(arguments)
    if flags["folder"] is None:
        RUNS.mkdir(parents=True, exist_ok=True)
    folder = short(Path(flags["folder"]) if flags["folder"] is not None else RUNS)
    runs = saved_runs(folder)
    if flags["json"]:
        print(json.dumps([run.to_json(output.language) for run in runs], indent=2))
    elif runs:
        print_list(runs, terminal(), output.language)
    else:
        output.note(message("There is no run in {folder} yet; make one with: make run", folder=str(folder)))
    return 0

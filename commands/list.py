"""The command list: show the saved runs.

reports/render/listing.py reads the runs, and prints them as a table.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from commands.output import no_run_in, output, short
from config.plan_options import JSON
from core.messages import message
from core.program import RUNS, RUNS_FOLDER


def main(arguments: Sequence[str]) -> int:
    """Run the command `list`, which shows the saved runs of a folder. Return its exit status: 0."""
    from reports.render.console import terminal
    from reports.render.listing import print_list, saved_runs

    parser = output.parser("list")
    parser.add_names(
        "folder", message("The folder of saved runs (default: {folder}).", folder=RUNS_FOLDER), "?"
    )
    parser.add_group("what to print", JSON)
    flags = parser.parse(arguments)
    folder = short(Path(flags["folder"]) if flags["folder"] is not None else RUNS)
    # the default folder may be missing, but saved_runs() refuses a missing folder that was named
    runs = saved_runs(folder) if flags["folder"] is not None or folder.is_dir() else []
    if flags["json"]:
        print(json.dumps([run.to_json(output.language) for run in runs], indent=2))
    elif runs:
        print_list(runs, terminal(), output.language)
    else:
        output.note(no_run_in(str(folder)))
    return 0

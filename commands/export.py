"""The command export: write a saved run to files that `pyperf compare_to` reads.

reports/exports/pyperf_files.py makes the files. Damage of the run and cells that are left out are
noted on standard error, the paths go to standard output.
"""

from collections.abc import Sequence
from pathlib import Path

from commands.output import output
from lab.run.runs import titles
from record.run_file import load
from reports.view import View


def main(arguments: Sequence[str]) -> int:
    """Run the command export. Return its exit status: 0."""
    parser = output.parser("export")
    parser.add_names("run", "The folder of the saved run to export.")
    parser.add_names("to", "The folder for the files. There is one file for each runtime.")
    flags = parser.parse(arguments)
    from reports.exports.pyperf_files import export

    run = load(Path(flags["run"]))
    paths, left_out = export(View(run, titles(run)), Path(flags["to"]))
    for line in (*run.damaged, *left_out):
        output.note(line)
    print(*paths, sep="\n")
    return 0

"""The command export: write a saved run in formats for other tools."""

from collections.abc import Sequence
from pathlib import Path

from commands.output import output
from config.options import Given, Option
from core.result_file import load
from lab.run.runs import titles
from reports.view import View

DEFAULT_FORMAT = "pyperf"
FORMAT = Option(
    "--format NAME",
    "The file format. pyperf (default): one file per runtime for `pyperf compare_to`. parquet, csv: one table of "
    "all measurements. markdown: tables and findings.",
)


def main(arguments: Sequence[str]) -> int:
    """Run the command export. Return its exit status: 0."""
    parser = output.parser("export", arguments)
    parser.add_names("run", "The folder of the saved run to export.")
    parser.add_names("to", "Where to write the files: a folder, NAME.json for pyperf, or NAME.parquet.")
    parser.add_group("options", FORMAT)
    flags = parser.parse(arguments)
    from reports.exports import formats

    name = Given(value=flags["format"] or DEFAULT_FORMAT, name=FORMAT.flag).choice(formats())
    run = load(Path(flags["run"]))
    exported = formats()[name](View(run, titles(run)), Path(flags["to"]))
    for line in (*run.damaged, *exported.left_out):
        output.note(line)
    print(*exported.paths, sep="\n")
    return 0

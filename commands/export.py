"""The command export: a saved run for other tools."""

from collections.abc import Sequence
from pathlib import Path

from commands.output import output_for
from config.options import Given, Option
from core.messages import message
from core.result import load
from lab.run.runs import titles

DEFAULT_FORMAT = "pyperf"
FORMAT = Option(
    "--format NAME",
    message(
        "pyperf (default): a file per runtime for `pyperf compare_to`; parquet, csv: the cells; "
        "hgrm: latency percentiles, a file per row; markdown: the tables and findings"
    ),
)


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0."""
    output = output_for(arguments)
    parser = output.parser("export")
    parser.add_names("run", message("a run's folder"))
    parser.add_names("to", message("a folder; or NAME.json for pyperf, NAME.parquet"))
    parser.add(message("how"), FORMAT)
    flags = parser.parse(arguments)
    from reports.exports.formats import FORMATS
    from reports.view import View

    name = Given(value=flags["format"] or DEFAULT_FORMAT, name=FORMAT.flag).choice(FORMATS)
    run = load(Path(flags["run"]))
    exported = FORMATS[name](View(run, titles(run)), Path(flags["to"]))
    for line in (*run.damaged, *exported.left_out):
        output.note(line)
    print(*exported.paths, sep="\n")
    return 0

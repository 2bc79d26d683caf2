"""Write a saved run for other tools: pyperf JSON, Parquet, CSV, HdrHistogram percentiles, Markdown."""

from collections.abc import Sequence
from pathlib import Path

from commands.saying import note
from config import flags
from core.errors import BadInput
from core.result import load
from lab.run.runs import titles

DEFAULT_FORMAT = "pyperf"


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0."""
    parser = flags.Parser(prog="runner.py export", description=__doc__)
    parser.add_argument("run", metavar="RUN", type=Path, help="a run's folder")
    parser.add_argument("to", metavar="DIR", type=Path, help="a folder; or NAME.json for pyperf, NAME.parquet")
    parser.add_argument(
        "--format",
        metavar="NAME",
        default=DEFAULT_FORMAT,
        help="pyperf (default): a file per runtime for `pyperf compare_to`; parquet, csv: the cells; "
        "hgrm: latency percentiles, a file per row; markdown: the tables and findings",
    )
    given = parser.parse_args(arguments)
    from reports.exports.formats import FORMATS

    if given.format not in FORMATS:
        raise BadInput(f"--format is {given.format}; accepted are {', '.join(FORMATS)}.")
    saved = load(given.run)
    exported = FORMATS[given.format](saved, titles(saved), given.to)
    for line in exported.left_out:
        note(line)
    print(*exported.paths, sep="\n")
    return 0

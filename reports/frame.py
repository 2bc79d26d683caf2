"""Load a saved run as a pandas DataFrame for notebooks, with one row per measurement (cell).

Notebooks of users import this module (docs/report.md); nothing in gilscope does. Its columns are
those of cells.csv (reports/exports/texts.py).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from core.messages import BadInput
from record.run_file import load
from reports.exports.texts import cell_lines

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]


def frame(path: Path | str) -> "pd.DataFrame":
    """Return the measurements (cells) of a saved run as a DataFrame. Its columns are parameters,
    status and results.

    path: a run's folder, or its result.json
    Durations are in ns. Unknown values are missing. Integers have pandas' type Int64.
    Raises BadInput if the run cannot be read or pandas is not installed.
    """
    try:
        # late, because pandas is no requirement of gilscope
        import pandas as pd
    except ModuleNotFoundError as error:
        raise BadInput("pandas is not installed; install it with: pip install pandas") from error
    return pd.DataFrame(cell_lines(load(Path(path)))).convert_dtypes()

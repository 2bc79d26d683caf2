"""A saved run as a pandas frame, for notebooks: one line a cell and block."""

from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import BadInput
from core.result import load
from reports.exports.texts import cell_lines

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]


def frame(path: Path | str) -> "pd.DataFrame":
    """The cells of a saved run: parameters, status, rates, percentiles and CPU time, a column each.

    path: a run's folder, or its result.json
    Durations are ns. What is unknown is missing. Whole numbers stay whole, as pandas' Int64.
    Raises BadInput if there is no run, or no pandas.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise BadInput("pandas is not installed; install it with: pip install pandas") from error
    return pd.DataFrame(cell_lines(load(Path(path)))).convert_dtypes()

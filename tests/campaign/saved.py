"""The cells that a run has saved, read from its file alone."""

import json
from pathlib import Path
from typing import Any


def cells_in(out: Path) -> list[Any]:
    """Each is there once. The file may be replaced meanwhile, and need not be there."""
    path = out / "result.json"
    cells = list(json.loads(path.read_text())["cells"]) if path.exists() else []
    keys = [(cell["arm"], cell["cell_id"], cell["block"]) for cell in cells]
    assert len(set(keys)) == len(keys)
    return cells

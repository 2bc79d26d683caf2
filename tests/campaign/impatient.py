"""runner.py that waits for its children as long as it must, and no longer: what was stopped is found out in seconds."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import runner
from lab.run import cell_processes, cell_run

BLOCKED_AFTER_S = 20.0  # for a cell that is not stopped too, on a busy machine

if __name__ == "__main__":
    cell_processes.START_DEADLINE_S = cell_run.FLOOR_S = BLOCKED_AFTER_S
    vars(cell_processes)["END_DEADLINE_S"] = BLOCKED_AFTER_S
    cell_run.SLOWEST_REQUEST_S = 0.0
    sys.exit(runner.main(sys.argv[1:]))

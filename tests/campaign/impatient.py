"""runner.py that waits for its children as long as it must, and no longer: what was stopped is found out in seconds."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import runner
from lab.run import measure
from lab.run import measurement_context as bench

BLOCKED_AFTER_S = 20.0  # for a cell that is not stopped too, on a busy machine

if __name__ == "__main__":
    bench.START_DEADLINE_S = bench.FLOOR_S = BLOCKED_AFTER_S
    vars(measure)["END_DEADLINE_S"] = BLOCKED_AFTER_S
    bench.SLOWEST_REQUEST_S = 0.0
    sys.exit(runner.main(sys.argv[1:]))

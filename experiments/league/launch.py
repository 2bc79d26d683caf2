"""`python -m experiments.league.launch MODULE ARGUMENTS...`: runs another project's command, as `python -m` does.

The worker that it starts finds this process's id in SERVER_PID_VARIABLE, to end it when the service child has gone.
"""

import os
import runpy
import sys

SERVER_PID_VARIABLE = "GILSCOPE_SERVER_PID"

if __name__ == "__main__":
    os.environ[SERVER_PID_VARIABLE] = str(os.getpid())
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)

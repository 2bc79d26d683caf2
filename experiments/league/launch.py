"""Run another project's command: `python -m experiments.league.launch MODULE ARGUMENTS...`, like `python -m MODULE`.

SERVER_PID_VARIABLE gives this process's id to the worker, which ends this process after the end of the service child.
"""

import os
import runpy
import sys

SERVER_PID_VARIABLE = "GILSCOPE_SERVER_PID"

if __name__ == "__main__":
    os.environ[SERVER_PID_VARIABLE] = str(os.getpid())
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)

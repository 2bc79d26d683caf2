"""Instrumentation that runs inside the Python processes of a measured service. sitecustomize.py
starts it.

Each other module of this folder is a part, with a function `start(folder, options)`. A part writes
its observations to the file `PART-PID` in *folder*. A process that may write several files, after
exec or in subinterpreters, appends `.N` (0 to 99) to the names. Each part starts again in a forked
child. lab.run.instrumentation reads the files.
"""

FOLDER = "GILSCOPE_INSIDE"  # the environment variable with the folder's path
OPTIONS = "inside.json"  # file in the folder: {part: {option: value}}
STACKS_HZ = 100  # how often the part `stacks` samples all threads of a process
SLICE_NS = 100_000_000  # the part `stacks` writes its counts once per slice of this length

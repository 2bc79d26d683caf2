"""Instrumentation that runs inside the Python processes of a measured service. sitecustomize.py starts it.

Parts: a module here each, with `start(folder, options)`, which writes what it sees to files of its own in *folder*:
`PART-PID`, or `PART-PID.N` (N from 0 to 99) where one process may write several: after exec, or in a subinterpreter.
A part is started again in each forked child. lab.run.instrumentation reads the files.
"""

FOLDER = "GILSCOPE_INSIDE"  # the environment variable with the folder's path
OPTIONS = "inside.json"  # file in the folder: {part: {option: value}}

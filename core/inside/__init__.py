"""What runs inside a measured service's own Python processes: started by sitecustomize.py, found by no import.

Parts: a module here each, with `start(folder, options)`, which writes what it sees to files of its own in *folder*:
`PART-PID`, or `PART-PID.N` (N from 0 to 99) where one process may write several: after exec, or in a subinterpreter.
A part is started again in each forked child. lab.run.inside reads the files.
"""

FOLDER = "GILSCOPE_INSIDE"  # the environment variable that names the folder
OPTIONS = "inside.json"  # in it: {part: {option: value}}

"""What runs inside a measured service's own Python processes: started by sitecustomize.py, found by no import.

Parts: a module here each, with `start(folder, options)`, which writes what it sees to files of its own in *folder*.
"""

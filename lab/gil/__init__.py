"""Find out whether the GIL of a process is on, and which import switched it on.

process_memory.py reads version and GIL of a running process from outside. switching.py imports
modules on trial, and finds CPython's warnings in the output of services. package_audit.py is the
command audit. lab/profile reads more from the memory that process_memory.py opens.
"""

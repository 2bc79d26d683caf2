"""Documents and displays for the terminal: progress of a run, lists, and results of audit, doctor
and stress.
"""

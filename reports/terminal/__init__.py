"""Documents and displays for the terminal: progress of a run, the list of runs, and the result of a
stress test.

progress.py prints during a run, listing.py prints the list of runs, and stress_report.py makes the
document of the command stress. The command of each calls it.
"""

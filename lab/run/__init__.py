"""Runs: starts services and clients as child processes, measures cells block by block, and saves
the results.

A cell is one setting of a system under one runtime. An arm is a runtime or service that is compared
with others. A block measures every cell of the plan once. Each module calls those after it:
experiment.py (the blocks of a run), measure.py (the arms of a setting), cell_run.py (the steps of
one arm in one block), cell_processes.py (its services and clients) and children.py (a process).
contract.py checks the lines of the processes, cell_results.py adds them up, and cell_end.py judges
the cell. commands/running.py and commands/stress.py begin all this.
This package runs in the orchestrator. lab/hosts derives classes from CellPlaces (cell_places.py),
Place and Process (children.py) in order to measure on other hosts.
"""

"""Read plans from YAML files and flags, and check the plans before anything starts.

This package runs in the orchestrator, never under a measured runtime. It starts nothing: commands/
and lab/ carry out the Plan (run_plan.py) that it makes. Each flag or YAML key is an Option
(options.py), declared once in a file *_options.py.
"""

"""The orchestrator's code: interpreters, processes and experiments. No measured process imports
this package.
"""

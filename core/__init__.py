"""Modules that all packages share. Most need only the standard library, and run under every
measured runtime.

A module here imports only core/ itself and the standard library, in 3.11 syntax. The exception is
languages.py, which needs polib and which only the orchestrator imports. inside/ runs within the
Python processes of measured services. tests/test_import_table.py checks the imports.
"""

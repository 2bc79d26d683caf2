"""The types of what is saved and received: runs, cells, children's results, comparisons, profiles;
and their file.

The types decide nothing: lab/ and analysis/ make the values, and reports/ read them. Only the
orchestrator imports this package, because it needs msgspec. Besides, the package imports core/.
docs/result.md is made from the docstrings of the classes.
"""

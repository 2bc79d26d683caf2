"""What a run shows: metrics, comparisons, verdicts, stop rules, capacity and the best setting.
Nothing here draws.

The modules are functions of a run (record/saved_run.py: Run). They measure nothing, write nothing
and leave the run unchanged. reports/ and commands/ show their results, and lab/run/experiment.py
asks between two measurements whether to go on. They import only core/, record/, numpy and scipy.
"""

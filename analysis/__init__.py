"""What a run shows: metrics, comparisons, verdicts, stop rules, capacity and the best setting.
Nothing here draws.
"""

"""Statistics of a report: effects with intervals, p values, verdicts and fits."""

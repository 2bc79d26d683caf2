"""What is computed: effects with intervals, p values, verdicts and fits."""

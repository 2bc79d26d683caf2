"""Facts of a saved run, such as figures and comparisons, from which reports.topics makes tables, plots and text."""

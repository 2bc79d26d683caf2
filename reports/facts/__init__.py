"""Facts of a saved run: numbers, rows and comparisons, from which topics make tables, plots and sentences."""

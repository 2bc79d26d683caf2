"""What a run measured, as rows that tables, plots and sentences are made of."""

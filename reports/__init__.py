"""What a run leaves for people and other tools: tables, plots, the record."""

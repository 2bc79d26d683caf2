"""Words: sentences, notes below tables, and both languages."""

"""Compare two saved runs."""

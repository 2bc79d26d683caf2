"""The record that the first experiment follows: what it published, and our figures beside it."""

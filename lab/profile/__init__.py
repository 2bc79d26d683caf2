"""Profiles of a running service: CPU time, Python stacks and contended locks."""

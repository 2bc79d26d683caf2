"""Profiles of a running service: CPU time, Python stacks, contended locks, and memory."""

"""Starts, watches and ends a user's own service."""

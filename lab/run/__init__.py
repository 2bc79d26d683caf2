"""Runs: starts services and clients as child processes, measures cells block by block, and saves
the results.
"""

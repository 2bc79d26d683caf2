"""Runs: starts children that speak the child contract, measures cells block by block, and saves the results."""

"""Experiments that rank contestants side by side: echo, loadgen, http-clients, league, targets."""

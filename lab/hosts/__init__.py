"""Runs child processes on other hosts over SSH. An agent on each host starts, relays and ends the
children.
"""

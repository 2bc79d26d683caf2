"""Inspect a user's project: its dependencies, and its WSGI or ASGI application.

commands/project.py completes a plan with what it finds, before a run. commits.py checks out the
commits that variants name. package_audit.py is for the command audit. Nothing here runs during a
measurement or on other hosts.
"""

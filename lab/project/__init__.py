"""Inspect a user's project: its dependencies, and its WSGI or ASGI application."""

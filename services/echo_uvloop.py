"""uvloop's event loop, for the echo server of services/echo_loop.py."""

from uvloop import new_event_loop

__all__ = ["new_event_loop"]

"""uvloop's event loop, for the systems echo-uvloop and alt-uvloop."""

from uvloop import new_event_loop

__all__ = ["new_event_loop"]

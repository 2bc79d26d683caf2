"""Errors that a user can fix. Only runner.py prints them and exits.

All packages raise them, and measured processes import this module. The text is a message
(core/messages.py), so it must be a literal with named arguments. A fault of gilscope itself is an
ordinary exception.
"""

from collections.abc import Iterable

from core.messages import NOTHING, Message, Value, as_message, message


class GilscopeError(Exception):
    """Base class of errors that name the problem, the value seen and the fix.

    BadInput("{value} is not a port (1-65535).", value=70000) gives a msgid with its arguments; a
    message works, too.
    exit_status: the status with which runner.py exits after this error
    """

    exit_status = 1

    def __init__(self, cause: str | Message, /, **args: Value) -> None:
        self.message = as_message(cause, args)
        super().__init__(str(self.message))


class BadInput(GilscopeError):
    """An error in a flag, a plan or a file of the user."""

    exit_status = 2


class ChildFailed(GilscopeError):
    """An error of a service or client: it died, broke the protocol or missed a deadline. Only its
    measurement fails.
    """


def did_you_mean(word: str, names: Iterable[str]) -> Message:
    """Return "Did you mean NAME? " with the most similar of *names*, or NOTHING if
    none is similar.
    """
    from difflib import (
        get_close_matches,
    )  # imported here because measured children import this module, too

    nearest = get_close_matches(word, [*names], n=1)
    return message("Did you mean {name}? ", name=nearest[0]) if nearest else NOTHING

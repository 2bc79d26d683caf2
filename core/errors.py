"""The errors a user can mend. Only runner.py prints them and exits."""

from collections.abc import Iterable

from core.messages import NOTHING, Arg, Message, message


class GilscopeError(Exception):
    """Base of all errors that name their cause and their remedy; exit_status says how a run ends with it.

    BadInput("{value} is not a port (1-65535).", value=70000): a msgid with its arguments, or a message.
    """

    exit_status = 1

    def __init__(self, cause: str | Message, /, **args: Arg) -> None:
        self.message = cause if isinstance(cause, Message) else Message(msgid=cause, args=args)
        super().__init__(str(self.message))


class BadInput(GilscopeError):
    """A flag, a plan or a file that cannot be used as it is."""

    exit_status = 2


class ChildFailed(GilscopeError):
    """A service or client that died, spoke out of turn or missed its deadline: the cell fails, the sweep goes on."""


def did_you_mean(word: str, names: Iterable[str]) -> Message:
    """A sentence with the nearest of *names*, and a space behind it; nothing where none is near."""
    from difflib import get_close_matches  # measured children import this module, and never ask

    nearest = get_close_matches(word, [*names], n=1)
    return message("Did you mean {name}? ", name=nearest[0]) if nearest else NOTHING

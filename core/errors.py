"""The errors a user can mend. Only runner.py prints them and exits."""


class GilscopeError(Exception):
    """Base of all errors that name their cause and their remedy; exit_status says how a run ends with it."""

    exit_status = 1


class BadInput(GilscopeError):
    """A flag, a plan or a file that cannot be used as it is."""

    exit_status = 2


class ChildFailed(GilscopeError):
    """A service or client that died, spoke out of turn or missed its deadline: the cell fails, the sweep goes on."""

"""The errors a user can meet: one family, each with a message that says what is wrong and what helps.

Everything that is not a :class:`PrimaError` is a fault of the program and is logged with its traceback.
"""


class PrimaError(Exception):
    """Something the user can understand; ``str(error)`` is the line to show. Exit code 1."""


class UsageError(PrimaError):
    """The call's words are off (an unknown session, an ambiguous id). Exit code 2."""


class StoreBusy(PrimaError):
    """A database file is in use by another process for longer than we wait."""


class StoreUnusable(PrimaError):
    """A database file can't be read, written or made here (a read-only disk, a full one, a folder in its place)."""


class ModelUnavailable(PrimaError):
    """The embedding model can't be loaded or can't answer; search goes on by keyword."""

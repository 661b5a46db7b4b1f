"""Errors that are the user's to mend: one line, no traceback."""


class SettingsError(ValueError):
    """A request that cannot be met, in one line that says what to do."""


class RunError(RuntimeError):
    """The run broke off; finished units are kept and the same command goes on from there."""


class UnsupportedWarpError(RuntimeError):
    """The installed Warp is missing, or not one whose private modules are known here."""

"""Errors that are not a row's fault."""


class HostRunUnavailable(RuntimeError):  # noqa: N818
    """Warp's compiler is not there, is not one known here, or cannot read the headers given."""

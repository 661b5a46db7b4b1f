"""How a harvest's child tells its parent what it found: lines of JSON through a pipe.

The code of a user's module runs beside the writing end, so that lies at a number that programs do
not use by themselves, is closed in every process forked from there, and is looked at before each
message: a module may have closed all descriptors, and opened a file of its own in this one's place.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
from typing import Any

_FIRST_NUMBER = 200
_AT_ONCE = 1 << 16


class WireLost(Exception):  # noqa: N818 - the module's doing, not an error of ours
    """The descriptor is not what it was: the user's code has closed it."""


class Garbled(Exception):  # noqa: N818 - the module's doing, not an error of ours
    """What came is no message: the user's code wrote to the descriptor."""


class Writer:
    """The child's end. ``number`` is the descriptor that it was started with."""

    def __init__(self, number: int) -> None:
        self._number = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_NUMBER)
        os.close(number)
        self._what = _identity(self._number)

    def close_in_forks(self) -> None:
        """Let no process that is forked from this one have the descriptor."""
        os.register_at_fork(after_in_child=self._close)

    def send(self, **message: Any) -> None:
        """Raises :class:`WireLost`; and BrokenPipeError when nobody listens any more."""
        try:
            if _identity(self._number) != self._what:
                raise WireLost
            data = memoryview(json.dumps(message).encode() + b"\n")
            while data:
                data = data[os.write(self._number, data) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise WireLost from error

    def _close(self) -> None:
        try:
            if _identity(self._number) == self._what:
                os.close(self._number)
        except OSError:  # closed already
            return


def _identity(number: int) -> tuple[int, int]:
    status = os.fstat(number)
    return status.st_dev, status.st_ino


class Reader:
    """The parent's end; it waits no longer than it is told, whatever comes."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._rest = b""
        self._lines: list[bytes] = []

    def receive(self, timeout_s: float) -> dict[str, Any] | None:
        """The next message, or None when none is complete in time.

        Raises EOFError when there will be no more, and :class:`Garbled`.
        """
        if not self._lines:
            ready, _, _ = select.select([self._number], [], [], timeout_s)
            if not ready:
                return None
            data = os.read(self._number, _AT_ONCE)
            if not data:
                raise EOFError
            first, *others = data.split(b"\n")
            if not others:
                self._rest += first
                return None
            self._lines = [self._rest + first, *others[:-1]]
            self._rest = others[-1]
        return _message(self._lines.pop(0))


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise Garbled from error
    if not isinstance(message, dict) or "event" not in message:
        raise Garbled
    return message

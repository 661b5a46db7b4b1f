"""One run a folder: a lock that the system lets go of when a run dies."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from synth.errors import SettingsError

_PATIENCE_S = 60.0
"""How long parts wait for one that prepares the folder for all."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EBADF)


class Lock:
    """The lock on a folder; held by one run, or shared by parts of one."""

    def __init__(self, out: Path, handle: int) -> None:
        self._out, self._handle = out, handle

    def alone(self) -> None:
        """Hold it alone. :class:`SettingsError` when others hold it."""
        if not self._taken(fcntl.LOCK_EX):
            raise self._refusal()

    def share(self) -> None:
        """Let others in that share it, after it was held alone."""
        if not self._taken(fcntl.LOCK_SH):
            raise self._refusal()

    def share_unless(self, fresh: Callable[[], bool]) -> bool:
        """Hold it with others, or alone as long as ``fresh`` says that one must do something first.

        Gives whether it is held alone. :class:`SettingsError` when that one takes too long.
        """
        deadline_s = time.monotonic() + _PATIENCE_S
        while True:
            if self._taken(fcntl.LOCK_SH):
                if not fresh():
                    return False
                if self._taken(fcntl.LOCK_EX):
                    return True
            if time.monotonic() >= deadline_s:
                raise self._refusal()
            time.sleep(0.1)

    def _taken(self, how: int) -> bool:
        try:
            fcntl.flock(self._handle, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            # Some shared disks know no locks: there parts and runs are not kept apart.
            if error.errno not in _NO_LOCKS:
                raise
        return True

    def _refusal(self) -> SettingsError:
        return SettingsError(
            f"another run is at work in {self._out}; wait until it has ended, or choose another "
            "folder"
        )


@contextmanager
def lock_of(out: Path) -> Iterator[Lock]:
    """The lock of a folder, which is made; nobody holds it yet."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise SettingsError(f"cannot write to {out}: {error.strerror}") from None
    try:
        yield Lock(out, handle)
    finally:
        os.close(handle)


@contextmanager
def held_alone(out: Path) -> Iterator[None]:
    """Hold a folder against all other runs."""
    with lock_of(out) as lock:
        lock.alone()
        yield

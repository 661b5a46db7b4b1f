"""One run a folder: a lock that the system lets go of when a run dies."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from synth.errors import SettingsError

PATIENCE_S = 60.0
"""How long parts wait for one that prepares the folder for all."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EBADF)


class Lock:
    """The lock on a folder; held by one run, or shared by parts of one."""

    def __init__(self, out: Path, handle: int) -> None:
        self._out, self._handle = out, handle

    def alone(self, patience_s: float = 0.0) -> None:
        """Hold it alone. :class:`SettingsError` when others hold it, and go on holding it."""
        self._take(fcntl.LOCK_EX, patience_s)

    def share(self, patience_s: float = 0.0) -> None:
        """Hold it with others. :class:`SettingsError` when one holds it alone."""
        self._take(fcntl.LOCK_SH, patience_s)

    def _take(self, how: int, patience_s: float) -> None:
        deadline_s = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(self._handle, how | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= deadline_s:
                    raise SettingsError(
                        f"another run is at work in {self._out}; wait until it has ended, or "
                        "choose another folder"
                    ) from None
                time.sleep(0.2)
            except OSError as error:
                # Some shared disks know no locks: there parts and runs are not kept apart.
                if error.errno not in _NO_LOCKS:
                    raise
                return


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

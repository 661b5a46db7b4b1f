"""What the machine may do to us: errors that it made told from our own, limits, room for work."""

from __future__ import annotations

import errno
import os
import re
import resource
import shutil
import threading
from pathlib import Path

from validate.errors import MachineFault

REMEDIES = {
    errno.ENOSPC: "make room there",
    errno.EDQUOT: "make room there, or ask for a larger quota",
    errno.EFBIG: "allow larger files (ulimit -f)",
    errno.EIO: "look at the disk",
    errno.ESTALE: "look at the shared disk",
    errno.EROFS: "name a place that can be written",
    errno.EACCES: "name a place that is yours, or mend its rights",
    errno.EPERM: "name a place that is yours, or mend its rights",
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.ENFILE: "end other programs: the whole machine has too many open files",
    errno.ENOMEM: "give it more memory (ulimit -v), or ask for fewer --workers",
    errno.EAGAIN: "allow more processes (ulimit -u), or ask for fewer --workers",
    errno.ENAMETOOLONG: "name a shorter place",
    errno.ELOOP: "name a place that is no ring of links",
    errno.ENOTDIR: "name a folder",
    errno.EISDIR: "name a file",
    errno.ENXIO: "name an ordinary file or folder",
    errno.ETXTBSY: "end the program that uses it",
}
"""Errors of the system that no bug of ours makes, and what there is to do about each."""

# What libraries say, whose errors carry no number.
_SIGNS = {
    "MemoryError": errno.ENOMEM,
    "bad_alloc": errno.ENOMEM,
    "annot allocate memory": errno.ENOMEM,
    "failed to map segment": errno.ENOMEM,
    "can't start new thread": errno.EAGAIN,
    "Failed to launch worker thread": errno.EAGAIN,
    "Too many open files": errno.EMFILE,
    "Symlink loop": errno.ELOOP,
}
_NUMBERED = re.compile(r"\[Errno (\d+)\] ")

LEAST_MEMORY_BYTES = 6 << 30
"""Of addresses, for a child: NVRTC may take so much of them. What a row is judged by must not hang
on the limits of a shell."""
LEAST_COMMAND_BYTES = 1 << 30
"""Of addresses, for a command that starts no child: NumPy and Arrow end a process that has less."""
LEAST_FILE_BYTES = 1 << 30
LEAST_OPEN_FILES = 64
_MANY_PROCESSES = 4096
LEAST_ROOM_BYTES = 64 << 20
"""In the folder of a child before it starts: it takes 7 MB, precompiled headers for the most part,
and others start at the same time."""
LAST_ROOM_BYTES = 16 << 20
"""With less left there, what a child says of a text may be what the disk did to it: a compiler
removes the header or object that it could not write whole."""


def fault_line(error: BaseException) -> str | None:
    """What the machine did and what there is to do, in one line; None for a bug of ours."""
    if isinstance(error, MemoryError):
        return f"out of memory: {REMEDIES[errno.ENOMEM]}"
    if isinstance(error, OSError):
        return _system_line(error)
    of_arrow = type(error).__module__.partition(".")[0] == "pyarrow"
    if of_arrow or isinstance(error, RuntimeError | ImportError):
        return fault_in_text(str(error))
    return None


def fault_in_text(text: str) -> str | None:
    """The same from the end of a traceback, or from what a library said."""
    if (found := _NUMBERED.search(text)) and (remedy := REMEDIES.get(int(found[1]))):
        return f"{os.strerror(int(found[1]))}: {remedy}"
    number = next((number for sign, number in _SIGNS.items() if sign in text), None)
    return None if number is None else f"{os.strerror(number)}: {REMEDIES[number]}"


def _system_line(error: OSError) -> str | None:
    where = [
        os.fsdecode(p) for p in (error.filename, error.filename2) if isinstance(p, str | bytes)
    ]
    if error.errno == errno.ENOENT:
        return _missing_line(error, where)
    if error.errno is None:
        return fault_in_text(str(error))
    if error.errno not in REMEDIES:
        return None
    at = f"{where[0]}: " if where else ""
    return f"{at}{os.strerror(error.errno)}: {REMEDIES[error.errno]}"


def _missing_line(error: OSError, where: list[str]) -> str | None:
    """A folder that is gone was removed by someone; a file missing from one that is there is ours
    to explain."""
    if not where:
        if "temporary directory" in str(error):
            return "no folder for temporary files can be written: name one with TMPDIR"
        return None if _is_there(".") else "the working folder is gone: change into another"
    gone = [folder for folder in (Path(path).parent for path in where) if not _is_there(folder)]
    return f"{gone[0]} is gone: somebody removed it meanwhile" if gone else None


def _is_there(folder: str | Path) -> bool:
    try:
        # A folder that is removed while one stands in it has no more links.
        return Path(folder).stat().st_nlink > 0
    except OSError:
        return False


def require_limits() -> None:
    """:class:`MachineFault` where the limits of this shell are lower than what a child may need."""
    require_memory(LEAST_MEMORY_BYTES)
    _require("RLIMIT_FSIZE", LEAST_FILE_BYTES, 1 << 20, "MB a file", "ulimit -f")
    _require("RLIMIT_NOFILE", LEAST_OPEN_FILES, 1, "open files", "ulimit -n")


def require_memory(least_bytes: int) -> None:
    """:class:`MachineFault` where the limits of this shell leave a process less memory.

    Libraries in machine code end a process that gets none, without a word that we could say.
    """
    _require("RLIMIT_AS", least_bytes, 1 << 20, "MB of memory", "ulimit -v")


def require_threads() -> None:
    """:class:`MachineFault` where this user may start no threads, as every library of numbers
    does."""
    few = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if few == resource.RLIM_INFINITY or few > _MANY_PROCESSES:
        return
    end = threading.Event()
    threads = [threading.Thread(target=end.wait) for _ in range((os.cpu_count() or 1) + 4)]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:
        raise MachineFault(
            f"this shell allows {few} processes and threads, and none is left: raise that "
            "(ulimit -u)"
        ) from None
    finally:
        end.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _require(name: str, least: int, unit: int, what: str, how: str) -> None:
    limits = resource.getrlimit(getattr(resource, name))
    limit = min((value for value in limits if value != resource.RLIM_INFINITY), default=least)
    if limit < least:
        raise MachineFault(
            f"this shell allows {limit // unit} {what} and {least // unit} are needed: raise that "
            f"({how})"
        )


def require_room(folder: Path, least_bytes: int) -> None:
    """:class:`MachineFault` for a folder of temporary files on a disk with less room."""
    try:
        free = shutil.disk_usage(folder).free
    except FileNotFoundError:
        raise MachineFault(f"{folder} is gone: somebody removed it meanwhile") from None
    if free < least_bytes:
        place = next(path for path in folder.parents if not path.name.startswith("pairsmith-"))
        raise MachineFault(
            f"temporary files in {place} have {free / 1e6:.0f} MB left and need "
            f"{least_bytes / 1e6:.0f}: make room there, or name another folder with TMPDIR"
        )

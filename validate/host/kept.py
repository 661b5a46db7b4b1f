"""What each process would compile anew before its first row: kept in the user's cache.

A folder is named by all that its content follows from: the compiler, the headers as they lie on the
disk (Clang refuses a precompiled header once one of them has another time of change), and our own
text. Files appear whole, under their last name; processes that begin together make the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from validate.text.headers import headers_below, warp_include_dir

_UNUSED_S = 30 * 24 * 3600
_LEAST_ROOM_BYTES = 32 << 20
"""Folders hold some 5 MB, and as much again while they are made, by several processes at once."""


def cache_dir(name: str) -> Path:
    """A folder in the user's cache: `pairsmith/NAME` of XDG_CACHE_HOME, or of `~/.cache`.

    Raises RuntimeError for a user without a home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    whole = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return whole / "pairsmith" / name


def kept_folder(*parts: str) -> Path | None:
    """A folder for what follows from the installed Warp and from `parts`, or none where the cache
    cannot be written, has no room, or has a name that Clang cannot be given, which is asked for
    files in UTF-8: then a process keeps its own."""
    native = warp_include_dir()
    said = [metadata.version("warp-lang"), *_stamps([native.parent / "bin" / "warp-clang.so"])]
    try:
        folder = cache_dir("host") / _digest([*said, *parts])
        if not folder.exists():
            _forget_unused(folder.parent)
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        str(folder).encode()
        room = shutil.disk_usage(folder).free >= _LEAST_ROOM_BYTES
    except (OSError, RuntimeError, UnicodeEncodeError):
        return None
    return folder if room and os.access(folder, os.W_OK) else None


@lru_cache(maxsize=16)
def folder_of_headers(include_dir: Path) -> Path | None:
    """A folder for what is made of Warp's own headers; none for headers of another place, which
    may be gone with the process that unpacked them."""
    if include_dir != warp_include_dir():
        return None
    return kept_folder(
        "headers",
        str(include_dir),
        *_stamps([include_dir / name for name in headers_below(include_dir)]),
    )


def made_once(target: Path, make: Callable[[Path], Path]) -> Path:
    """A file that is there, or what `make` makes in a folder that it is given, moved there: a
    process that is killed meanwhile leaves no half of it under the final name."""
    if not target.exists():
        # Who runs long may have lost the cache.
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            make(Path(scratch)).replace(target)
    return target


def write_once(path: Path, text: str) -> None:
    """Write a file unless it is there, so that it never changes under who compiled with it."""
    if path.exists():
        return
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_text(text, encoding="utf-8")
    try:
        os.link(aside, path)
    except FileExistsError:
        return
    except OSError:
        # Not every file system has links; there a second process may come between.
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _stamps(paths: Sequence[Path]) -> list[str]:
    found = [(path, path.stat()) for path in paths]
    return [f"{path.name} {stat.st_size} {stat.st_mtime_ns}" for path, stat in found]


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _forget_unused(parent: Path) -> None:
    """Take away folders that no process has asked for in a month."""
    if not parent.is_dir():
        return
    for folder in parent.iterdir():
        if time.time() - folder.stat().st_mtime > _UNUSED_S:
            shutil.rmtree(folder, ignore_errors=True)

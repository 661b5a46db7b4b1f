"""One digest of the sources that decide a row or a verdict, C headers and schemas included."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

PACKAGES = ("extract", "generators", "synth", "validate")
DECIDING = (".h", ".json", ".py")
"""Kinds of files that decide rows or verdicts; a test asks for a decision on any other kind."""

_ROOT = Path(__file__).resolve().parents[2]


@lru_cache(maxsize=8)
def source_digest(*folders: str, root: Path = _ROOT) -> str:
    """First 16 hex digits of the sha256 of all deciding files below ``folders``, by path.

    ``folders`` are relative to ``root``, the folder that holds the packages; without any, all four
    packages count. Subfolders are walked.
    """
    digest = hashlib.sha256()
    found = {path for folder in folders or PACKAGES for path in (root / folder).rglob("*")}
    for path in sorted(path for path in found if path.suffix in DECIDING):
        data = path.read_bytes()
        name = path.relative_to(root).as_posix()
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:16]

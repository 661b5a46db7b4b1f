"""Warp's CUDA headers with their licences, so that rows compile without Warp."""

from __future__ import annotations

import shutil
from importlib.metadata import distribution
from pathlib import Path

from validate.text.headers import warp_include_dir

_SUFFIXES = frozenset({".h", ".cuh", ".hpp"})


def copy_headers(target: Path) -> None:
    """Copy all headers and licences into ``target``, replacing what is there."""
    temporary = target.with_name(f".{target.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    source = warp_include_dir()
    for path in sorted(source.rglob("*")):
        if path.suffix in _SUFFIXES:
            copy = temporary / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    for name, path in licence_files().items():
        copy = temporary / "licenses" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    shutil.rmtree(target, ignore_errors=True)
    temporary.replace(target)


def licence_files() -> dict[str, Path]:
    """Licence files of the installed Warp by file name."""
    files = distribution("warp-lang").files or []
    found = {
        path.name: Path(str(path.locate()))
        for path in files
        if "licenses" in path.parts and path.name != "licenses"
    }
    if not found:
        raise RuntimeError("the installed warp-lang brings no licence files")
    return found

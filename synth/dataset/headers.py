"""Warp's CUDA headers with their licences, so that rows compile without Warp."""

from __future__ import annotations

import filecmp
import shutil
from importlib.metadata import distribution
from pathlib import Path

from validate.text.headers import headers_below, warp_include_dir


def copy_headers(target: Path) -> None:
    """Copy all headers and licences into ``target``, replacing what is there."""
    temporary = target.with_name(f".{target.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    source = warp_include_dir()
    for path in headers_below(source):
        copy = temporary / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path, copy)
    for name, path in licence_files().items():
        copy = temporary / "licenses" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    shutil.rmtree(target, ignore_errors=True)
    temporary.replace(target)


def headers_of(out: Path) -> Path:
    """The folder of the headers that rows of a dataset are compiled with: its own, if it has any.

    Where those are the installed Warp's to the byte it is that one's folder, of which a host run
    keeps what it makes of them (:mod:`validate.host.kept`).
    """
    stored, installed = out / "include", warp_include_dir()
    if not (stored / "builtin.h").is_file():
        return installed
    names = headers_below(installed)
    if names != headers_below(stored):
        return stored
    _, *unlike = filecmp.cmpfiles(installed, stored, names, shallow=False)
    return stored if any(unlike) else installed


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

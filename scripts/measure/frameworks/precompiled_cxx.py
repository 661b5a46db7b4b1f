#!/usr/bin/env python3
"""A C++ compiler that reads the headers of PyTorch's extensions precompiled: ``CXX`` is set to it.

    CXX=scripts/measure/frameworks/precompiled_cxx.py PRECOMPILED=FOLDER python …

What a file includes on its first lines is compiled once into FOLDER for each set of options, by the
first process that asks, and given to g++ again before each file that includes the same. The text is
compiled as it stands: headers with guards are skipped the second time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

COMPILER = "g++"
TAKES_A_VALUE = {"-o", "-MF", "-MT", "-MQ"}
OF_ONE_FILE = ("-DTORCH_EXTENSION_NAME", "-M", "-c")
"""Options that no header depends on, or that speak of one file."""


def split(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """The options that headers depend on, and the C++ file that is compiled, if one is."""
    options, source, given = [], None, iter(arguments)
    for one in given:
        if one in TAKES_A_VALUE:
            next(given)
        elif one.endswith((".cpp", ".cc", ".cxx")):
            source = one
        elif not one.startswith(OF_ONE_FILE):
            options.append(one)
    return options, source if "-c" in arguments else None


def headers_of(source: str) -> str:
    """The lines of includes that a file begins with, blank lines left out."""
    lines = []
    for line in Path(source).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#include"):
            break
        lines += [line] if line.strip() else []
    return "".join(f"{line}\n" for line in lines)


def precompiled(folder: Path, options: Sequence[str], headers: str) -> Path:
    """The header to include: ``NAME.h`` with ``NAME.h.gch`` beside it, made where it is missing."""
    key = hashlib.sha256("\0".join([*options, headers]).encode()).hexdigest()[:16]
    header = folder / f"{key}.h"
    with (folder / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = header.with_name(f"{key}.h.gch")
        if not made.exists():
            header.write_text(headers, encoding="utf-8")
            part = made.with_suffix(".part")
            subprocess.run(
                [COMPILER, *options, "-x", "c++-header", str(header), "-o", str(part)], check=True
            )
            part.rename(made)
    return header


def main() -> None:
    """Compile as g++ would."""
    arguments = sys.argv[1:]
    options, source = split(arguments)
    if source is not None and (headers := headers_of(source)):
        folder = Path(os.environ["PRECOMPILED"])
        folder.mkdir(parents=True, exist_ok=True)
        header = precompiled(folder, options, headers)
        arguments = ["-include", str(header), *arguments]
    os.execvp(COMPILER, [COMPILER, *arguments])


if __name__ == "__main__":
    main()

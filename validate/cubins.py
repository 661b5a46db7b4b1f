"""Machine code kept in a folder, one file for each text, named by what it was made from."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validate.gpu_nvrtc import compile_plain, compile_warp, key_of, plain_text, warp_unit

Row = Mapping[str, Any]


@dataclass(frozen=True)
class CubinStore:
    """Compiles texts for one architecture, or takes what the folder has of them.

    `folder` is None when nothing is to be kept. Machine code of a text is used for that text
    alone, compiled with the same options and headers of the same version of Warp.
    """

    arch: str
    include_dir: Path
    folder: Path | None
    pch_dir: Path | None

    def warp(self, row: Row) -> tuple[bytes, bool]:
        """Warp's text of a row, and whether it had to be compiled. Raises Refused."""
        text = warp_unit(row)
        key = key_of(text, self.arch, row["provenance"]["warp"])
        return self._kept(
            key, lambda: compile_warp(text, self.arch, self.include_dir, self.pch_dir)
        )

    def plain(self, row: Row) -> tuple[bytes, bool]:
        """The plain text of a row, and whether it had to be compiled. Raises Refused."""
        text = plain_text(row)
        return self._kept(key_of(text, self.arch), lambda: compile_plain(text, self.arch))

    def _kept(self, key: str, compiled: Callable[[], bytes]) -> tuple[bytes, bool]:
        if self.folder is None:
            return compiled(), True
        path = self.folder / f"{key}.cubin"
        if path.is_file():
            return path.read_bytes(), False
        binary = compiled()
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_bytes(binary)
        temporary.replace(path)
        return binary, True

"""Machine code kept in a folder, one file for each text, named by what it was made from."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from validate.gpu.nvrtc import Refused, compile_plain, compile_warp, key_of, plain_text, warp_unit
from validate.row.gradient import backward_row

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

    def warp_uncontracted(self, row: Row) -> bytes:
        """Warp's text without fused multiply-adds: the same sums, rounded otherwise."""
        return compile_warp(
            warp_unit(row), self.arch, self.include_dir, self.pch_dir, ("--fmad=false",)
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


def compile_rows(
    rows: Iterable[Row], arch: str, include_dir: Path, folder: Path, workers: int
) -> Iterator[tuple[str, str]]:
    """Fill a folder with the machine code of rows, in so many processes.

    Gives each row's id and, where a text is refused, the compiler's log. Raises CompileUnavailable.
    """
    with (
        tempfile.TemporaryDirectory(prefix="pairsmith-cubins-") as work,
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
    ):
        settings = (arch, include_dir, folder, Path(work))
        waiting: deque[Future[tuple[str, str]]] = deque()
        for row in rows:
            waiting.append(pool.submit(_compile_row, dict(row), settings))
            if len(waiting) > 8 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _compile_row(row: Row, settings: tuple[str, Path, Path, Path]) -> tuple[str, str]:
    arch, include_dir, folder, work = settings
    # Processes that share a folder of precompiled headers have crashed each other.
    pch_dir = work / str(os.getpid())
    pch_dir.mkdir(exist_ok=True)
    store = CubinStore(arch, include_dir, folder, pch_dir)
    try:
        store.warp(row)
        if row["cuda_plain"] is not None:
            store.plain(row)
        if row["cuda_plain_backward"] is not None:
            store.plain(backward_row(row))
    except Refused as refused:
        return row["id"], str(refused)
    return row["id"], ""

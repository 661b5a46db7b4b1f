"""Files that are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROWS_PER_ROW_GROUP = 500
"""About 10 MB of text: the Hub's viewer and streaming readers want small row groups."""


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    write_whole(path, lambda p: _write_and_sync(p, text.encode()))


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


def write_parquet(path: Path, table: pa.Table) -> None:
    """Zstandard-compressed Parquet whose bytes depend on the table and PyArrow's version alone."""
    write_whole(
        path,
        lambda p: pq.write_table(
            table, p, compression="zstd", compression_level=3, row_group_size=ROWS_PER_ROW_GROUP
        ),
    )


def sha256_of(path: Path) -> str:
    """Hex digest of a file's bytes; shards are small enough to be read at once."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_and_sync(path: Path, data: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())

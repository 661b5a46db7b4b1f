"""Files that are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.failpoints import failpoint

ROWS_PER_ROW_GROUP = 500
"""About 10 MB of text: the Hub's viewer and streaming readers want small row groups."""

_ABANDONED_S = 24 * 3600
"""After so long a temporary file of another machine belongs to nobody."""


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{_HOST}.{os.getpid()}.tmp")
    failpoint(f"before writing {path.name}")
    try:
        write(temporary)
        failpoint(f"before renaming {path.name}")
        temporary.replace(path)
        failpoint(f"after renaming {path.name}")
    except OSError as error:
        if error.errno is None:
            raise
        # A write that fails names no file, and the temporary file's name would help nobody.
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    write_whole(path, lambda p: _write_and_sync(p, data))


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


def write_parquet(path: Path, table: pa.Table) -> None:
    """Zstandard-compressed Parquet whose bytes depend on the table and PyArrow's version alone."""
    write_bytes(path, parquet_bytes(table))


def read_parquet(source: Path | bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """The table of a file, or of its bytes; ``columns`` may name fields of structs, as
    ``checks.adjoint``."""
    is_file = isinstance(source, Path)
    with pq.ParquetFile(source if is_file else pa.BufferReader(source)) as file:
        # A thread of Arrow's may let go of the bytes when the interpreter is gone already, and
        # then ends the process with SIGABRT.
        names = None if columns is None else list(columns)
        return file.read(columns=names, use_threads=is_file)


def parquet_bytes(table: pa.Table) -> bytes:
    """What :func:`write_parquet` writes."""
    sink = pa.BufferOutputStream()
    # In one piece: where a table was joined must not show in the bytes.
    pq.write_table(
        table.combine_chunks(),
        sink,
        compression="zstd",
        compression_level=3,
        row_group_size=ROWS_PER_ROW_GROUP,
        # Pages end where the content says so, not at a count: what two versions of a dataset share
        # are equal bytes, which the Hub's store of chunks keeps (and clients send) once.
        use_content_defined_chunking=True,
    )
    data: bytes = sink.getvalue().to_pybytes()
    return data


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of writers that were killed, not those of live ones."""
    for path in folder.glob(".*.*.*.tmp"):
        *_, host, pid, _ = path.name.split(".")
        if path.is_file() and _is_abandoned(path, host, pid):
            path.unlink(missing_ok=True)


def _is_abandoned(path: Path, host: str, pid: str) -> bool:
    if host == _HOST and pid.isdigit():
        return int(pid) != os.getpid() and not _is_alive(int(pid))
    try:
        return time.time() - path.stat().st_mtime > _ABANDONED_S
    except FileNotFoundError:
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def remove_folder(path: Path) -> None:
    """Remove a folder with all that is in it, if it is there: at once under its own name."""
    if not path.is_dir():
        return
    trash = path.with_name(f".{path.name}.trash")
    shutil.rmtree(trash, ignore_errors=True)
    failpoint(f"before removing {path.name}")
    path.rename(trash)
    failpoint(f"after removing {path.name}")
    shutil.rmtree(trash)


def remove_trash(folder: Path) -> None:
    """Remove folders whose removal was cut short."""
    for path in folder.glob(".*.trash"):
        shutil.rmtree(path)


def sha256_of(path: Path) -> str:
    """Hex digest of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while data := stream.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()


# Dots would be taken for the joints of a temporary file's name.
_HOST = socket.gethostname().replace(".", "-") or "localhost"


def _write_and_sync(path: Path, data: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())

"""What is wanted of a row on given inputs: by its reference, or by the Warp kernel that it is of.

A Warp kernel of somebody's own has no reference. Its CUDA, as Warp wrote it, is then compiled as
C++ and launched in a child process, and what it writes is what is wanted.
"""

from __future__ import annotations

import atexit
import io
import os
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from validate.oracle.reference import ReferenceFailed, run_reference
from validate.process.kept import KeptWorker
from validate.process.parent import WorkerGone
from validate.row.inputs import Array

Row = Mapping[str, Any]
Outputs = dict[str, Array]

WARP_COLUMNS = ("cuda_prologue", "cuda_helpers", "cuda_forward")
"""What a row without a reference must have in its place."""
_SENT = ("id", "kernel_name", "args", "launch", *WARP_COLUMNS)
_TIMEOUT_S = 60.0


def is_of_warp(row: Row) -> bool:
    """Whether Warp's text decides what is wanted."""
    return row.get("reference") is None and all(row.get(name) is not None for name in WARP_COLUMNS)


def wanted_outputs(row: Row, dim: Sequence[int], inputs: Mapping[str, Array]) -> Outputs:
    """The outputs of a row on inputs, by name. Raises ReferenceFailed."""
    if not is_of_warp(row):
        return run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
    return _warp_of(os.getpid()).outputs(row, dim, inputs)


def to_bytes(arrays: Mapping[str, Array]) -> bytes:
    """Arrays by name as bytes."""
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def from_bytes(data: bytes) -> dict[str, Array]:
    """What `to_bytes` made bytes of."""
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


class _WarpTexts:
    """A child that runs Warp's texts; it is started when it is needed, and again after a crash."""

    def __init__(self) -> None:
        self._working = threading.Lock()
        self._worker = KeptWorker("validate.score.warp_worker", "pairsmith-warp-")

    def outputs(self, row: Row, dim: Sequence[int], inputs: Mapping[str, Array]) -> Outputs:
        message = {"row": {name: row[name] for name in _SENT}, "dim": list(dim)}
        with self._working:
            try:
                worker = self._worker.started()
                worker.send(message)
                worker.connection.send_bytes(to_bytes(inputs))
                found = worker.result(_TIMEOUT_S, "the run of Warp's text")
                if found["reason"]:
                    raise ReferenceFailed(f"Warp's text: {found['reason']}")
                return from_bytes(worker.receive_bytes(_TIMEOUT_S))
            except (WorkerGone, BrokenPipeError) as gone:
                self._worker.stop()
                raise ReferenceFailed(f"Warp's text: {gone}") from None
            except ReferenceFailed:
                raise
            except BaseException:
                self._worker.stop()
                raise

    def close(self) -> None:
        """End the child."""
        with self._working:
            self._worker.stop()


@lru_cache(maxsize=4)
def _warp_of(_process: int) -> _WarpTexts:
    """One for each process: forks must not speak with each other's children."""
    texts = _WarpTexts()
    atexit.register(texts.close)
    return texts

"""Functions that several kernels call, compiled when a kernel first needs them and then kept."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from validate.host import clang
from validate.row.inputs import Array
from validate.text.warp_calls import Call
from validate.text.warp_host import functions_unit

_MOST_KEPT = 1 << 14
# `launched_t` of shim.h.
_LAUNCHED = np.dtype([("watch", np.uint64), ("thread", np.uint64)])
_CONNECT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_FUNCTIONS = ctypes.CFUNCTYPE(ctypes.c_void_p)


class SharedFunctions:
    """What `validate.text.warp_calls` takes out of texts, as machine code of this process.

    Kinds of call are few beside calls: the first batches bring most, later ones some dozens.
    """

    def __init__(self, folder: Path) -> None:
        """Objects and precompiled headers lie in `folder`, which belongs to this process."""
        self._folder = folder
        self._launched = np.zeros((), _LAUNCHED)
        self._addresses: dict[tuple[str, Path, Call], int] = {}
        self._handles: list[str] = []
        self._made = 0

    def table(self, prologue: str, include_dir: Path, calls: Sequence[Call]) -> Array:
        """Addresses of functions that make calls, in their order; those that are new are compiled.

        Raises CompileError as `clang.build` does. Only one batch's table may be in use: what is
        kept is bounded, and thrown away as a whole.
        """
        if len(self._addresses) > _MOST_KEPT:
            self._forget()
        keys = [(prologue, include_dir, call) for call in calls]
        missing = [key for key in keys if key not in self._addresses]
        if missing:
            self._compile(prologue, include_dir, [call for _, _, call in missing])
        return np.array([self._addresses[key] for key in keys], np.uint64)

    def connect(self, handle: str, table: Array) -> None:
        """Hand a loaded object its functions, which must outlive its launches."""
        connect = _CONNECT(clang.lookup(handle, "pairsmith_connect"))
        connect(table.ctypes.data, self._launched.ctypes.data)

    def _compile(self, prologue: str, include_dir: Path, calls: Sequence[Call]) -> None:
        self._made += 1
        handle = f"pairsmith_functions_{self._made}"
        path = self._folder / f"{handle}.o"
        try:
            clang.build(functions_unit(prologue, calls), path, include_dir, self._folder)
            clang.load(path, handle)
        finally:
            path.unlink(missing_ok=True)
        self._handles.append(handle)
        self.connect(handle, np.zeros(0, np.uint64))
        at = _FUNCTIONS(clang.lookup(handle, "pairsmith_functions"))()
        found = (ctypes.c_uint64 * len(calls)).from_address(at)
        for call, address in zip(calls, found, strict=True):
            self._addresses[(prologue, include_dir, call)] = address

    def _forget(self) -> None:
        for handle in self._handles:
            clang.unload(handle)
        self._handles.clear()
        self._addresses.clear()

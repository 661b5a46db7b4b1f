"""Launch a loaded kernel on the host."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from validate.host import clang
from validate.host.memory import Arena, Watch
from validate.row.inputs import Array

MEMORY_BYTES = 2 << 30
"""What the child that compiles and runs a batch may take, on top of what Warp has mapped."""

_MAX_PARAMETERS = 128
_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)


class BadRow(ValueError):  # noqa: N818 - a result of a check, not an error of ours
    """The row contradicts itself: no inputs can be drawn, or its kernel takes other parameters."""


class Endless(Exception):  # noqa: N818 - a result of a check, not an error of ours
    """A thread jumped more often than a kernel that ends does (`most_jumps` in `shim.h`)."""


@dataclass(frozen=True)
class Entry:
    """Addresses of the functions that `validate.text.warp_host` makes for one kernel.

    `call` is `pairsmith_<direction>_<i>`, `signature` is `pairsmith_<direction>_signature_<i>`.
    """

    call: int
    signature: int


def load_entry(handle: str, direction: str, position: int) -> Entry:
    """The kernel of a loaded object. Raises clang.LoadError when it is not there."""
    name = f"pairsmith_{direction}"
    return Entry(
        clang.lookup(handle, f"{name}_{position}"),
        clang.lookup(handle, f"{name}_signature_{position}"),
    )


@dataclass(frozen=True)
class HostLauncher:
    """Launches one kernel in this process, with arrays in this process's memory."""

    entry: Entry

    def arena(self, values: Mapping[str, Array]) -> Arena:
        """Memory for arrays that the kernel is to be given."""
        return Arena(values)

    def launch(self, dim: Sequence[int], values: Sequence[Array], arenas: Sequence[Arena]) -> None:
        """Launch over `dim`; the arrays of `values` lie in `arenas`. Raises as `launch`."""
        launch(self.entry, dim, values)


def launch(
    entry: Entry, dim: Sequence[int], values: Sequence[Array], watch: Watch | None = None
) -> None:
    """Call a kernel for every launch index in order, in this process: it may crash it.

    `values` are the parameters after the bounds. Raises BadRow when the kernel takes others, and
    Endless when it does not come to its end.
    """
    _check_signature(entry.signature, len(dim), values)
    passed = [launch_bounds(dim), *values]
    addresses = (ctypes.c_void_p * len(passed))(*[value.ctypes.data for value in passed])
    threads = int(np.prod(dim, dtype=np.int64))
    watched = watch.record.ctypes.data if watch else None
    if _CALL(entry.call)(ctypes.addressof(addresses), threads, watched):
        raise Endless("a thread runs without end")


def launch_bounds(dim: Sequence[int], inner: int = 0) -> Array:
    """`wp::launch_bounds_t<N>` for a launch dim, whose last `inner` extents the kernel does not ask
    for: all threads along them have the same place, as in a block of a kernel of tiles."""
    kept = len(dim) - inner
    described = [("shape", np.uint32, (kept,)), ("size", np.uint64), ("mult", np.uint64)]
    bounds = np.zeros((), np.dtype(described, align=True))
    bounds["shape"] = dim[:kept]
    bounds["size"] = int(np.prod(dim, dtype=np.int64))
    bounds["mult"] = int(np.prod(dim[kept:], dtype=np.int64))
    return bounds


def _check_signature(address: int, dimensions: int, values: Sequence[Array]) -> None:
    """Compare what the kernel takes with what it is about to be given. Raises BadRow."""
    signature = (ctypes.c_uint32 * (2 + _MAX_PARAMETERS))()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(signature))
    if signature[0] != dimensions:
        raise BadRow(
            f"the kernel has {signature[0]} launch dimensions, launch.dim has {dimensions}"
        )
    if signature[1] != len(values):
        raise BadRow(f"the kernel takes {signature[1]} parameters, args has {len(values)}")
    for position, value in enumerate(values):
        size = signature[2 + position]
        if size != value.nbytes:
            raise BadRow(
                f"parameter {position}: {size} bytes in the kernel, {value.nbytes} in args"
            )

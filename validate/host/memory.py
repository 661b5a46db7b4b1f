"""The memory of a launch on the host: arrays with guards between them, and who touched what."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from validate.row.inputs import FLOAT_POISON, Array
from validate.statuses import RunStatus

# Bytes before, between and after the arrays. Read as floats they are NaN, so that what is read
# there shows; wide, so that a write a few rows off is still caught here.
GUARD_BYTES = 4096
# As `cudaMalloc` aligns: a text may ask.
_ALIGNMENT_BYTES = 256
# On both sides of a launch's memory, where nobody may write: a text that goes astray ends its
# process there, and never changes what the process lives on.
_NO_ONES_BYTES = 16 << 20
# Here, while files may still be opened.
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

_ARRAY = np.dtype(
    [
        ("data", np.uint64),
        ("grad", np.uint64),
        ("shape", np.int32, (4,)),
        ("strides", np.int32, (4,)),
        ("ndim", np.uint16),
        ("flags", np.uint16),
    ],
    align=True,
)
_BYTE = np.dtype([(name, np.uint32) for name in ("reader", "writer", "updater", "inside")])
_TROUBLE = [(name, np.uint32) for name in ("access", "thread", "earlier", "other")]
_WATCH = np.dtype(
    [
        ("base", np.uint64),
        ("size", np.uint64),
        ("bytes", np.uint64),
        ("trouble", np.dtype([*_TROUBLE, ("offset", np.uint64)])),
    ]
)
_VERBS = ("", "reads", "writes", "updates")
# In place of a thread's number: more than one.
_SEVERAL = 0xFFFFFFFE


# A NaN that signals has other bits once anything, even 0, was added to it. One pattern cannot be
# such a NaN in both widths: what lies behind floats of 32 bits has its own.
_SIGNALS_IN_32 = b"\xb5\xff"
_PATTERNS = {
    width: np.frombuffer(pair * (GUARD_BYTES + _ALIGNMENT_BYTES), np.uint8)
    for width, pair in {4: _SIGNALS_IN_32, 8: FLOAT_POISON}.items()
}


def _float_bytes(dtype: np.dtype[Any]) -> int:
    """4 where an array's elements have floats of 32 bits, 8 elsewhere."""
    leaf = dtype.base
    if leaf.names is not None:
        return min(_float_bytes(leaf[name]) for name in leaf.names)
    return 4 if leaf.kind == "f" and leaf.itemsize == 4 else 8


def arrays_of(args: Sequence[Mapping[str, Any]], values: Mapping[str, Array]) -> dict[str, Array]:
    """Those of the values that are array arguments."""
    return {arg["name"]: values[arg["name"]] for arg in args if arg["kind"] == "array"}


def written_arrays(args: Sequence[Mapping[str, Any]], arena: Arena) -> dict[str, Array]:
    """Copies of the arrays that a kernel may write, as they lie in an arena."""
    names = [arg["name"] for arg in args if arg["kind"] == "array" and arg["role"] != "in"]
    return {name: arena.array(name) for name in names}


class Arena:
    """Arrays in a single block of memory, with guards around each."""

    def __init__(self, values: Mapping[str, Array]) -> None:
        """`values` are the arrays by name, which nobody changes; their contents are copied in."""
        self.values = dict(values)
        self.start: dict[str, int] = {}
        end = GUARD_BYTES
        for name, value in self.values.items():
            self.start[name] = end
            end += -(-value.nbytes // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES + GUARD_BYTES
        block = self.host_block(end + _ALIGNMENT_BYTES)
        self.memory = block[-block.ctypes.data % _ALIGNMENT_BYTES :][:end]
        for name, value in self.values.items():
            self.bytes_of(name)[:] = _bytes(value)
        for guard, untouched in self._guards():
            guard[:] = untouched

    def host_block(self, size: int) -> Array:
        """So many bytes of the host's memory, far from all else. Raises OSError without room."""
        return _apart(size)

    def _guards(self) -> Iterator[tuple[Array, Array]]:
        """What lies around the arrays, as views, and what it was at the start."""
        ends = [start + self.values[name].nbytes for name, start in self.start.items()]
        # Before the first array lies what is behind none: as behind that array itself.
        widths = [_float_bytes(value.dtype) for value in self.values.values()]
        widths = [*widths[:1], *widths] or [8]
        afters = [*self.start.values(), self.memory.size]
        for first, after, width in zip([0, *ends], afters, widths, strict=True):
            yield self.memory[first:after], _PATTERNS[width][first % 2 :][: after - first]

    def bytes_of(self, name: str) -> Array:
        """The bytes of one array in the block, as a view."""
        start = self.start[name]
        return self.memory[start : start + self.values[name].nbytes]

    def array(self, name: str) -> Array:
        """One array as it is now, as a copy."""
        value = self.values[name]
        return self.bytes_of(name).copy().view(value.dtype).reshape(value.shape)

    @property
    def base(self) -> int:
        """Where a kernel finds the block."""
        return int(self.memory.ctypes.data)

    def address(self, name: str) -> int:
        """Where a kernel finds an array."""
        return self.base + self.start[name]

    def parameters(
        self, args: Sequence[Mapping[str, Any]], values: Mapping[str, Array]
    ) -> list[Array]:
        """What a kernel is given for `args`: headers of the arrays here, the others by value."""
        return [
            self.header(arg["name"], len(arg["shape"]))
            if arg["kind"] == "array"
            else values[arg["name"]]
            for arg in args
        ]

    def header(self, name: str, ndim: int, grad: int = 0) -> Array:
        """`wp::array_t` of an array of `ndim` dimensions; `grad` is where its gradient lies."""
        value = self.values[name]
        header = np.zeros((), _ARRAY)
        header["data"] = self.address(name)
        header["grad"] = grad
        header["shape"][:ndim] = value.shape[:ndim]
        header["strides"][:ndim] = value.strides[:ndim]
        header["ndim"] = ndim
        return header

    def written_outside(self) -> str:
        """Where a guard has changed; empty when none has."""
        for guard, untouched in self._guards():
            changed = guard != untouched
            if changed.any():
                first = guard.ctypes.data - self.memory.ctypes.data
                return f"wrote {self.place(first + int(np.argmax(changed)))}"
        return ""

    def changed(self, names: Sequence[str]) -> list[str]:
        """Those of the arrays that are not what they were at the start."""
        return [
            name
            for name in names
            if not np.array_equal(self.bytes_of(name), _bytes(self.values[name]))
        ]

    def place(self, offset: int) -> str:
        """Which array, and which of its elements, a byte of the block belongs to or is next to."""
        distances = []
        for name, start in self.start.items():
            after = offset - (start + self.values[name].nbytes)
            if offset < start:
                distances.append((start - offset, f"before the start of {name}"))
            elif after >= 0:
                distances.append((after, f"after the end of {name}"))
            else:
                return f"{name}[{_index(offset - start, self.values[name])}]"
        distance, place = min(distances)
        return f"{distance} bytes {place}"


class Watch:
    """`pairsmith::watch_t` for an arena: notices reads outside arrays, and races.

    `byte_type` and `record_type` are the structs of the header that a text is compiled with.
    """

    byte_type: np.dtype[Any] = _BYTE
    record_type: np.dtype[Any] = _WATCH
    bytes_field = "bytes"

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.bytes = np.zeros(arena.memory.size, self.byte_type)
        for name, start in arena.start.items():
            self.bytes["inside"][start : start + arena.values[name].nbytes] = 1
        self.record = np.zeros((), self.record_type)
        self.record["base"] = arena.memory.ctypes.data
        self.record["size"] = arena.memory.size
        self.record[self.bytes_field] = self.bytes.ctypes.data

    def trouble(self) -> tuple[RunStatus, str] | None:
        """The status and the reason of the first trouble, if there was any."""
        found = self.record["trouble"]
        access, earlier = int(found["access"]), int(found["earlier"])
        if not access:
            return None
        here = f"thread {found['thread']} {_VERBS[access]} {self._place(found)}"
        if not earlier:
            return (
                RunStatus.READ_OUT_OF_BOUNDS if access == 1 else RunStatus.WROTE_OUT_OF_BOUNDS,
                here,
            )
        before = f"thread {found['other']}" if found["other"] < _SEVERAL else "other threads"
        verb = _VERBS[earlier] if found["other"] < _SEVERAL else _VERBS[earlier][:-1]
        return RunStatus.DATA_RACE, f"{here}, which {before} {verb}"

    def _place(self, found: Any) -> str:
        return self.arena.place(int(found["offset"]))


def damage(
    args: Sequence[Mapping[str, Any]], arena: Arena, watch: Watch | None = None
) -> tuple[RunStatus, str] | None:
    """Status and reason when a launch touched what it may not, or raced; None when it did not.

    `args` is the row's column; the arena holds its arrays.
    """
    outside = arena.written_outside()
    if outside:
        return RunStatus.WROTE_OUT_OF_BOUNDS, outside
    trouble = watch.trouble() if watch is not None else None
    if trouble is not None:
        return trouble
    inputs = [arg["name"] for arg in args if arg["kind"] == "array" and arg["role"] == "in"]
    changed = arena.changed(inputs)
    return (RunStatus.INPUT_CHANGED, f"wrote to {', '.join(changed)}") if changed else None


def _apart(size: int) -> Array:
    """So many bytes that end where a page ends, in a mapping whose other pages are no one's."""
    room = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    mapped = np.frombuffer(mmap.mmap(-1, room + 2 * _NO_ONES_BYTES, flags), np.uint8)
    for start in (0, _NO_ONES_BYTES + room):
        if _LIBC.mprotect(mapped.ctypes.data + start, _NO_ONES_BYTES, 0):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
    end = _NO_ONES_BYTES + room
    return mapped[end - size : end]


def _bytes(value: Array) -> Array:
    return np.ascontiguousarray(value).reshape(-1).view(np.uint8)


def _index(offset: int, value: Array) -> str:
    """The index of the element that a byte belongs to; component axes count as axes."""
    element = offset // value.dtype.itemsize
    return ", ".join(str(int(i)) for i in np.unravel_index(element, value.shape))

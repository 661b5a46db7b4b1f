"""Memory as plain CUDA has it: vectors aligned to all their bytes, and who touched what in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from validate.host.memory import Arena, Watch
from validate.row.dtypes import DType, parse
from validate.row.inputs import Array
from validate.row.sizes import evaluate

_CUDA_VECTORS = (2, 4)
_MOST_ALIGNMENT = 16


def alignment(dtype: DType) -> int:
    """Bytes to which C++ aligns a value that is no struct."""
    size = np.dtype(dtype.scalar).itemsize
    builtin = dtype.kind == "vec" and dtype.scalar not in ("bool", "float16")
    if builtin and dtype.shape[0] in _CUDA_VECTORS and not (dtype.shape[0] == 4 and size == 8):
        return min(_MOST_ALIGNMENT, size * dtype.shape[0])
    return size


@lru_cache(maxsize=1024)
def _struct(fields: tuple[tuple[str, str], ...]) -> np.dtype[Any]:
    offset, widest, offsets, formats = 0, 1, [], []
    for _, text in fields:
        dtype = parse(text)
        step = alignment(dtype)
        widest = max(widest, step)
        offset += -offset % step
        offsets.append(offset)
        formats.append((np.dtype(dtype.scalar), dtype.shape))
        offset += np.dtype(dtype.scalar).itemsize * int(np.prod(dtype.shape, dtype=int))
    names = [name for name, _ in fields]
    size = offset + -offset % widest
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def struct_layout(fields: Sequence[Mapping[str, Any]]) -> np.dtype[Any]:
    """The layout of a struct in plain CUDA, of fields with `name` and `dtype`."""
    return _struct(tuple((field["name"], field["dtype"]) for field in fields))


def as_plain(value: Any, arg: Mapping[str, Any]) -> Array:
    """A value of an argument as the plain text has it in memory, as a contiguous copy."""
    if parse(arg["dtype"]).kind != "struct":
        return np.array(value, order="C")
    laid: Array = np.zeros(np.shape(value), struct_layout(arg["fields"]))
    for field in arg["fields"]:
        laid[field["name"]] = value[field["name"]]
    return laid


def from_plain(laid: Array, like: Array, arg: Mapping[str, Any]) -> Array:
    """The inverse of `as_plain`; `like` has the layout to go back to."""
    if parse(arg["dtype"]).kind != "struct":
        return laid
    value: Array = np.zeros(like.shape, like.dtype)
    for field in arg["fields"]:
        value[field["name"]] = laid[field["name"]]
    return value


def plain_arrays(
    args: Sequence[Mapping[str, Any]], inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """The arrays of a row as its plain text has them in memory."""
    return {a["name"]: as_plain(inputs[a["name"]], a) for a in args if a["kind"] == "array"}


def plain_parameters(
    row: Mapping[str, Any],
    sizes: Mapping[str, int],
    inputs: Mapping[str, Array],
    address: Callable[[str], int],
) -> list[Array]:
    """What the plain kernel of a row is given: addresses of arrays, values, then sizes.

    Raises ValueError for a size that the row does not have.
    """
    given = [
        np.array(address(arg["name"]), np.uint64)
        if arg["kind"] == "array"
        else by_value(inputs[arg["name"]], arg)
        for arg in row["args"]
    ]
    extra = row["plain_args"][len(given) :]
    return [*given, *(np.array(evaluate(entry["size"], sizes), np.int32) for entry in extra)]


def plain_outputs(
    args: Sequence[Mapping[str, Any]], inputs: Mapping[str, Array], laid: Mapping[str, Array]
) -> dict[str, Array]:
    """The arrays that a plain kernel wrote, as the reference lays them out."""
    return {
        arg["name"]: from_plain(laid[arg["name"]], inputs[arg["name"]], arg)
        for arg in args
        if arg["name"] in laid
    }


def by_value(value: Any, arg: Mapping[str, Any]) -> Array:
    """A parameter that is no array: float16 is computed in float, and so is passed as float."""
    dtype = parse(arg["dtype"])
    if dtype.kind != "struct" and dtype.scalar == "float16":
        return np.array(value, np.float32, order="C")
    return as_plain(value, arg)


_PLAIN_READ = 1
_SHARED = 1
# By `region_t` of watch.h.
_REGIONS = {
    2: "memory of the text's own variables, or past one of them",
    3: "the stack of another thread",
    4: "memory that is in no array",
}

# The runtime keeps the marks itself.
_BYTE = np.dtype([("inside", np.uint8)])
_TROUBLE = [(n, np.uint32) for n in ("access", "thread", "earlier", "other", "region", "unused")]
_WATCH = np.dtype(
    [
        ("base", np.uint64),
        ("size", np.uint64),
        ("inside", np.uint64),
        ("unwritten", np.uint64),
        ("trouble", np.dtype([*_TROUBLE, ("offset", np.uint64)])),
    ]
)


class PlainWatch(Watch):
    """Notices accesses outside arrays, and races, of global memory and of shared memory."""

    byte_type = _BYTE
    record_type = _WATCH
    bytes_field = "inside"

    def __init__(self, arena: Arena, unwritten: Sequence[str] = ()) -> None:
        """`unwritten` are those arrays of the arena that hold nothing yet that may be read."""
        super().__init__(arena)
        self.unwritten = np.zeros(arena.memory.size if unwritten else 0, np.uint8)
        for name in unwritten:
            start = arena.start[name]
            self.unwritten[start : start + arena.values[name].nbytes] = 1
        self.record["unwritten"] = self.unwritten.ctypes.data if unwritten else 0

    def _place(self, found: Any) -> str:
        region = int(found["region"])
        unwritten = found["access"] == _PLAIN_READ and not found["earlier"]
        if region == 0:
            place = super()._place(found)
            unwritten = unwritten and bool(self.bytes["inside"][int(found["offset"])])
        elif region == _SHARED:
            place = f"byte {found['offset']} of shared memory"
        else:
            return _REGIONS[region]
        return f"{place}, which nobody has written" if unwritten else place

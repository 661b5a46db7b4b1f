"""Memory as OpenCL C has it: vectors of 3 take the room of 4, and all are aligned to their size.

Section 6.1.5, "Alignment of types", of the OpenCL C specification. Longer vectors, matrices and
quaternions are structs of scalars, as in plain CUDA; float16 lies in memory as 16 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from validate.row.dtypes import DType, parse
from validate.row.inputs import Array

_VECTORS = (2, 3, 4)


def room_of(dtype: DType) -> tuple[int, int]:
    """Scalars that a value takes in memory, and those to whose size it is aligned."""
    if dtype.kind == "transform":
        vector, align = room_of(DType("vec", dtype.scalar, (3,)))
        count = vector + 4
        return count + -count % align, align
    if dtype.kind == "vec" and _is_own(dtype):
        count = 4 if dtype.shape[0] == 3 else dtype.shape[0]
        return count, count
    return prod(dtype.shape), 1


def places_of(dtype: DType) -> list[int]:
    """Where each scalar of a value is, counted in scalars from its start."""
    if dtype.kind == "transform":
        start = room_of(DType("vec", dtype.scalar, (3,)))[0]
        return [0, 1, 2, *(start + k for k in range(4))]
    return list(range(prod(dtype.shape)))


def _is_own(dtype: DType) -> bool:
    """Whether the text has the language's own vector: see `synth.render.cuda.types`."""
    size = np.dtype(dtype.scalar).itemsize
    known = dtype.scalar not in ("bool", "float16") and dtype.shape[0] in _VECTORS
    return known and not (dtype.shape[0] == 4 and size == 8)


@lru_cache(maxsize=1024)
def _struct(fields: tuple[tuple[str, str], ...]) -> np.dtype[Any]:
    offset, widest, offsets, formats = 0, 1, [], []
    for _, text in fields:
        dtype = parse(text)
        scalar = np.dtype(dtype.scalar)
        count, align = room_of(dtype)
        step = align * scalar.itemsize
        widest = max(widest, step)
        offset += -offset % step
        offsets.append(offset)
        formats.append((scalar, (count,)))
        offset += count * scalar.itemsize
    size = offset + -offset % widest
    names = [name for name, _ in fields]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def as_opencl(value: Any, arg: Mapping[str, Any]) -> Array:
    """A value of an argument as the text has it in memory: contiguous, a scalar or struct last."""
    dtype = parse(arg["dtype"])
    if dtype.kind != "struct":
        return _leaf(np.asarray(value), dtype)
    laid: Array = np.zeros(np.shape(value), _struct(_fields(arg["fields"])))
    for field in arg["fields"]:
        laid[field["name"]] = _leaf(np.asarray(value[field["name"]]), parse(field["dtype"]))
    return laid


def from_opencl(laid: Array, like: Array, arg: Mapping[str, Any]) -> Array:
    """The inverse of `as_opencl`; `like` has the layout to go back to."""
    dtype = parse(arg["dtype"])
    if dtype.kind != "struct":
        return _unlaid(laid, like, dtype)
    value: Array = np.zeros(like.shape, like.dtype)
    for field in arg["fields"]:
        name = field["name"]
        value[name] = _unlaid(laid[name], value[name], parse(field["dtype"]))
    return value


def by_value(value: Any, arg: Mapping[str, Any]) -> Array:
    """A parameter that is no array: float16 is computed in float, and so is passed as float."""
    dtype = parse(arg["dtype"])
    if dtype.kind != "struct" and dtype.scalar == "float16":
        wide = arg["dtype"].replace("float16", "float32")
        return as_opencl(np.asarray(value).astype(np.float32), {**arg, "dtype": wide})
    return as_opencl(value, arg)


def _leaf(value: Array, dtype: DType) -> Array:
    axes = len(dtype.shape)
    outer = value.shape[: value.ndim - axes]
    laid: Array = np.zeros((*outer, room_of(dtype)[0]), value.dtype)
    laid[..., places_of(dtype)] = value.reshape(*outer, -1) if axes else value[..., None]
    return laid


def _unlaid(laid: Array, like: Array, dtype: DType) -> Array:
    found: Array = laid.reshape(*laid.shape[:-1], -1)[..., places_of(dtype)].reshape(like.shape)
    return np.ascontiguousarray(found)


def _fields(fields: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple((field["name"], field["dtype"]) for field in fields)

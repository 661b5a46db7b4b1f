"""dtype strings of a row (`float32`, `vec3[float32]`, `Particle`, …) and their NumPy storage."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
SCALARS = ("bool", *INTEGERS, *FLOATS)

_COMPOSITE = re.compile(
    r"(?:vec(?P<length>[1-9][0-9]*)|mat(?P<rows>[1-9][0-9]*)x(?P<columns>[1-9][0-9]*)"
    r"|(?P<quat>quat)|(?P<transform>transform))\[(?P<scalar>[a-z0-9]+)\]"
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class DType:
    """One parsed dtype.

    `kind` is `scalar`, `vec`, `mat`, `quat`, `transform` or `struct`; `scalar` names the component
    type (the struct's name for `struct`); `shape` is the component shape, `()` for scalars.
    """

    kind: str
    scalar: str
    shape: tuple[int, ...]

    @property
    def is_float(self) -> bool:
        """Whether the components are floats."""
        return self.scalar in FLOATS


@lru_cache(maxsize=1024)
def parse(text: str) -> DType:
    """Parse a dtype string. Any other identifier is a struct. Raises ValueError when malformed."""
    if text in SCALARS:
        return DType("scalar", text, ())
    match = _COMPOSITE.fullmatch(text)
    if match is None:
        if _IDENTIFIER.fullmatch(text):
            return DType("struct", text, ())
        raise ValueError(f"dtype {text!r} is not a scalar, vector, matrix, quaternion or struct")
    scalar = match["scalar"]
    if scalar not in SCALARS:
        raise ValueError(f"dtype {text!r}: {scalar!r} is not a scalar type")
    if match["length"]:
        return DType("vec", scalar, (int(match["length"]),))
    if match["rows"]:
        return DType("mat", scalar, (int(match["rows"]), int(match["columns"])))
    if scalar not in FLOATS:
        raise ValueError(f"dtype {text!r}: quaternions and transforms hold floats")
    return DType("quat", scalar, (4,)) if match["quat"] else DType("transform", scalar, (7,))


@lru_cache(maxsize=1024)
def _struct_storage(fields: tuple[tuple[str, str], ...]) -> np.dtype[Any]:
    described = []
    for name, text in fields:
        parsed = parse(text)
        if parsed.kind == "struct":
            raise ValueError(f"field {name!r}: a struct inside a struct has no storage here")
        described.append((name, np.dtype(parsed.scalar), parsed.shape))
    return np.dtype(described, align=True)


def storage(text: str, fields: Sequence[Mapping[str, Any]] = ()) -> np.dtype[Any]:
    """The NumPy dtype that stores one component of `text`, or one whole struct.

    Composite types add `parse(text).shape` as trailing axes to an array; structs are structured
    dtypes, aligned as C++ does, from `fields` (entries with `name` and `dtype`). Raises ValueError
    for a malformed dtype or a struct without fields.
    """
    parsed = parse(text)
    if parsed.kind != "struct":
        return np.dtype(parsed.scalar)
    if not fields:
        raise ValueError(f"struct {text!r} has no fields")
    return _struct_storage(tuple((field["name"], field["dtype"]) for field in fields))


def has_floats(argument: Mapping[str, Any]) -> bool:
    """Whether any component or field of an argument is a float."""
    if parse(argument["dtype"]).kind == "struct":
        return any(parse(field["dtype"]).is_float for field in argument["fields"])
    return parse(argument["dtype"]).is_float

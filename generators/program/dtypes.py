"""Types of the program tree: scalars, composites (vectors to transforms), tiles, structs, arrays.

``str(type)`` is the dtype string of the row (``float32``, ``vec3[float32]``, ``mat2x3[float64]``,
``quat[float32]``, ``transform[float32]``, ``tile16x16[float32]``, a struct's name,
``array2[float32]``) and :func:`parse_type` reads it back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
SCALARS = ("bool", *SIGNED, *UNSIGNED, *FLOATS)
_BITS = {name: 8 if name == "bool" else int(re.sub(r"\D", "", name)) for name in SCALARS}


@dataclass(frozen=True)
class Scalar:
    name: str

    def __post_init__(self) -> None:
        if self.name not in SCALARS:
            raise ValueError(f"unknown scalar type {self.name!r}")

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.name in FLOATS

    @property
    def is_int(self) -> bool:
        return self.name in SIGNED or self.name in UNSIGNED

    @property
    def is_unsigned(self) -> bool:
        return self.name in UNSIGNED

    @property
    def bits(self) -> int:
        return _BITS[self.name]

    @property
    def int_range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        if not self.is_int:
            raise ValueError(f"{self.name} is not an integer type")
        if self.is_unsigned:
            return 0, 2**self.bits - 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1

    @property
    def unit_roundoff(self) -> float:
        """Largest relative rounding error of a float type: 2**-11, 2**-24 or 2**-53."""
        return {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}[self.name]


@dataclass(frozen=True)
class Vec:
    size: int
    scalar: Scalar

    def __str__(self) -> str:
        return f"vec{self.size}[{self.scalar}]"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size,)


@dataclass(frozen=True)
class Mat:
    rows: int
    cols: int
    scalar: Scalar

    def __str__(self) -> str:
        return f"mat{self.rows}x{self.cols}[{self.scalar}]"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.rows, self.cols)


@dataclass(frozen=True)
class Quat:
    """Components x, y, z, w."""

    scalar: Scalar

    def __str__(self) -> str:
        return f"quat[{self.scalar}]"

    @property
    def shape(self) -> tuple[int, ...]:
        return (4,)


@dataclass(frozen=True)
class Transform:
    """Position x, y, z, then quaternion x, y, z, w."""

    scalar: Scalar

    def __str__(self) -> str:
        return f"transform[{self.scalar}]"

    @property
    def shape(self) -> tuple[int, ...]:
        return (7,)


@dataclass(frozen=True)
class Tile:
    """What a block of threads holds together, elements of the last axis side by side."""

    shape: tuple[int, ...]
    scalar: Scalar

    def __str__(self) -> str:
        return f"tile{'x'.join(map(str, self.shape))}[{self.scalar}]"

    @property
    def size(self) -> int:
        """Elements."""
        return prod(self.shape)


@dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return self.name

    def field(self, name: str) -> Type:
        for field_name, field_type in self.fields:
            if field_name == name:
                return field_type
        raise TypeError(f"struct {self.name} has no field {name!r}")


@dataclass(frozen=True)
class Array:
    element: Type
    ndim: int

    def __post_init__(self) -> None:
        if not 1 <= self.ndim <= 4:
            raise ValueError(f"an array has 1 to 4 dimensions, not {self.ndim}")

    def __str__(self) -> str:
        return f"array{self.ndim}[{self.element}]"


Type = Scalar | Vec | Mat | Quat | Transform | Tile | Struct | Array

BOOL = Scalar("bool")
INT32 = Scalar("int32")
FLOAT16 = Scalar("float16")
FLOAT32 = Scalar("float32")

_PATTERN = re.compile(
    r"(?:vec(?P<n>\d+)|mat(?P<r>\d+)x(?P<c>\d+)|(?P<quat>quat)|(?P<tf>transform)"
    r"|tile(?P<t>\d+(?:x\d+)*)|array(?P<d>[1-4]))"
    r"\[(?P<inner>.+)\]"
)


def scalar_of(type_: Type) -> Scalar:
    """The scalar type of a scalar or composite type; ``TypeError`` for structs and arrays."""
    if isinstance(type_, Scalar):
        return type_
    if isinstance(type_, Vec | Mat | Quat | Transform | Tile):
        return type_.scalar
    raise TypeError(f"{type_} has no single scalar type")


def parse_type(text: str, structs: Mapping[str, Struct] | None = None) -> Type:
    """The type that ``str`` printed as ``text``; ``ValueError`` for a text that names none."""
    if structs and text in structs:
        return structs[text]
    match = _PATTERN.fullmatch(text)
    if match and match["d"]:
        return Array(parse_type(match["inner"], structs), int(match["d"]))
    return _parse_plain(text)


@lru_cache(maxsize=512)
def _parse_plain(text: str) -> Type:
    match = _PATTERN.fullmatch(text)
    if match is None:
        return Scalar(text)
    scalar = Scalar(match["inner"])
    if match["n"]:
        return Vec(int(match["n"]), scalar)
    if match["r"]:
        return Mat(int(match["r"]), int(match["c"]), scalar)
    if match["t"]:
        return Tile(tuple(map(int, match["t"].split("x"))), scalar)
    return Quat(scalar) if match["quat"] else Transform(scalar)

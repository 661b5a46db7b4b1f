"""How plain CUDA names the types of a program, and where the parts of a composite are.

Vectors of 2 to 4 are CUDA's own (``float3``), matrices and longer vectors small structs; float16 is
a storage type: values are computed in float.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.program.dtypes import (
    FLOAT32,
    Mat,
    Quat,
    Scalar,
    Struct,
    Tile,
    Transform,
    Type,
    Vec,
    scalar_of,
)
from synth.render.cuda.dialect.current import spoken
from synth.render.cuda.dialect.words import CUDA
from synth.render.cuda.text import Prec, Text, at_least
from synth.render.text import float_text, int_text

SCALARS = CUDA.scalars
_SHORT = {**CUDA.vectors, "bool": "bool", "float16": "half"}
LETTERS = "xyzw"


def bytes_of(type_: Type) -> int:
    """What a value takes in memory, up to padding in structs."""
    if isinstance(type_, Struct):
        return sum(bytes_of(t) for _, t in type_.fields)
    return scalar_of(type_).bits // 8 * (1 if isinstance(type_, Scalar) else len(parts(type_)))


MOST_ALIGNMENT = 16
"""Bytes to which CUDA aligns its vectors at most: the widest load."""


def alignment_of(type_: Type) -> int:
    """Bytes to which C++ aligns a type, as a member of a struct too."""
    if isinstance(type_, Struct):
        return max(alignment_of(t) for _, t in type_.fields)
    if isinstance(type_, Vec) and is_builtin_vector(type_) and type_.size != 3:
        return min(MOST_ALIGNMENT, bytes_of(type_))
    return scalar_of(type_).bits // 8


def size_of(type_: Type) -> int:
    """What a value takes in an array, padding too."""
    if not isinstance(type_, Struct):
        return bytes_of(type_)
    end = 0
    for _, t in type_.fields:
        end += -end % alignment_of(t) + size_of(t)
    return end + -end % alignment_of(type_)


def computed(type_: Type) -> Type:
    """The type in which values are held: float32 where memory has float16."""
    if isinstance(type_, Struct):
        return type_
    if isinstance(type_, Scalar):
        return FLOAT32 if type_.name == "float16" else type_
    if isinstance(type_, Vec):
        return Vec(type_.size, _wide(type_.scalar))
    if isinstance(type_, Mat):
        return Mat(type_.rows, type_.cols, _wide(type_.scalar))
    if isinstance(type_, Quat | Transform):
        return type(type_)(_wide(type_.scalar))
    if isinstance(type_, Tile):
        return Tile(type_.shape, _wide(type_.scalar))
    raise TypeError(f"{type_} is no value")


def _wide(scalar: Scalar) -> Scalar:
    return FLOAT32 if scalar.name == "float16" else scalar


def is_builtin_vector(type_: Type) -> bool:
    """Whether CUDA itself has the vector type."""
    if not isinstance(type_, Vec) or type_.scalar.name not in CUDA.vectors:
        return False
    # CUDA 13 deprecates double4 and its like: their alignment differs between versions.
    return type_.size in (2, 3) or (type_.size == 4 and type_.scalar.bits < 64)


def name_of(type_: Type) -> str:
    """The C++ name of a type."""
    if isinstance(type_, Scalar):
        return spoken().scalars[type_.name]
    if isinstance(type_, Struct):
        return type_.name
    if isinstance(type_, Vec):
        if is_builtin_vector(type_):
            return f"{spoken().vectors[type_.scalar.name]}{type_.size}"
        return f"{_SHORT[type_.scalar.name].capitalize()}Vec{type_.size}"
    if isinstance(type_, Mat):
        return f"{_SHORT[type_.scalar.name].capitalize()}{type_.rows}x{type_.cols}"
    if isinstance(type_, Quat):
        return {"float16": "Quath", "float32": "Quatf", "float64": "Quatd"}[type_.scalar.name]
    if isinstance(type_, Transform):
        return {"float16": "Transformh", "float32": "Transformf", "float64": "Transformd"}[
            type_.scalar.name
        ]
    raise TypeError(f"{type_} has no name in C++")


def wide_alignment(type_: Type) -> int:
    """Bytes to which a struct of its own can be aligned, so that one load brings more of it; 0
    where its size leaves no more than C++ gives it anyway."""
    if isinstance(type_, Scalar) or is_builtin_vector(type_):
        return 0
    size = size_of(type_)
    wide = next(a for a in (MOST_ALIGNMENT, 8, 4, 2, 1) if size % a == 0)
    return wide if wide > alignment_of(type_) else 0


def inner_types(type_: Type) -> list[Type]:
    """The types of the members of a struct or transform."""
    if isinstance(type_, Transform):
        return list(parts_of_transform(type_))
    return [t for _, t in type_.fields] if isinstance(type_, Struct) else []


def definition(type_: Type, fields_as: Mapping[str, str], align: int = 0) -> str:
    """The struct that a type needs, ``""`` where C++ or CUDA has it.

    ``fields_as`` renames the fields of a program's struct whose names C++ has for itself; ``align``
    is the alignment in bytes that is asked for, 0 for C++'s own.
    """
    if isinstance(type_, Scalar) or is_builtin_vector(type_):
        return ""
    return struct(name_of(type_), _members(type_, fields_as), align)


def struct(name: str, members: Sequence[str], align: int = 0) -> str:
    """The definition of a struct with such members, each a type and a name."""
    before, behind = spoken().struct
    head = before.format(name=name, align=f"__align__({align}) " if align else "")
    lines = "".join(f"    {member};\n" for member in members)
    return f"{head}\n{lines}{behind.format(name=name)}\n"


def stored_name(type_: Type) -> str:
    """The name of a type in memory that the host shares."""
    return spoken().stored.get(getattr(type_, "name", ""), name_of(type_))


def _members(type_: Type, fields_as: Mapping[str, str]) -> list[str]:
    if isinstance(type_, Struct):
        return [f"{stored_name(t)} {fields_as.get(f, f)}" for f, t in type_.fields]
    if isinstance(type_, Transform):
        position, rotation = parts_of_transform(type_)
        return [f"{name_of(position)} p", f"{name_of(rotation)} q"]
    kind = stored_name(scalar_of(type_))
    if isinstance(type_, Vec):
        return [f"{kind} v[{type_.size}]"]
    if isinstance(type_, Mat):
        return [f"{kind} m[{type_.rows}][{type_.cols}]"]
    assert isinstance(type_, Quat)
    return [f"{kind} x, y, z, w"]


def parts_of_transform(type_: Transform) -> tuple[Vec, Quat]:
    return Vec(3, type_.scalar), Quat(type_.scalar)


def parts(type_: Type) -> list[str]:
    """How each scalar of a composite is reached, in the order of Warp's memory."""
    if isinstance(type_, Quat):
        return [f".{c}" for c in LETTERS]
    if isinstance(type_, Transform):
        return [*(f".p.{c}" for c in LETTERS[:3]), *(f".q.{c}" for c in LETTERS)]
    if isinstance(type_, Mat):
        return [f".m[{i}][{j}]" for i in range(type_.rows) for j in range(type_.cols)]
    assert isinstance(type_, Vec)
    if is_builtin_vector(type_):
        return [f".{c}" for c in LETTERS[: type_.size]]
    return [f".v[{i}]" for i in range(type_.size)]


def cast_to(type_: Type, value: Text) -> Text:
    """``float(x)``; ``(unsigned int)x`` where the name of the type is several words, or in C."""
    name = name_of(type_)
    if spoken().overloads and name.isidentifier():
        return Text(f"{name}({value.text})")
    return Text(f"({name}){at_least(value, Prec.UNARY)}", Prec.UNARY)


_FLOAT_DIGITS = 9
"""Significant digits that name every float32."""


def literal(value: bool | int | str, scalar: Scalar, bits: bool = False) -> str:
    """A literal as a person writes it: ``0.5f``, ``3u``, ``true``, ``0x9E3779B9u``; ``bits``: it is
    an operand of a bitwise op."""
    if scalar.name == "bool":
        return "true" if value else "false"
    if isinstance(value, str):
        if scalar.name != "float64" and len(value) > _FLOAT_DIGITS + 2:
            value = f"{float(value):.{_FLOAT_DIGITS}g}"
        text = float_text(value)
        return text if scalar.name == "float64" else f"{text}f"
    suffix = spoken().suffixes.get(scalar.name, "")
    if scalar.name == "int64" and value == -(2**63):
        return f"(-9223372036854775807{suffix} - 1)"
    if scalar.name == "int32" and value == -(2**31):
        return "(-2147483647 - 1)"
    return int_text(value, scalar.is_unsigned, bits) + suffix

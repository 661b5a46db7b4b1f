"""The arrays of cotangents and gradients that a backward kernel is passed."""

from __future__ import annotations

from dataclasses import dataclass

from generators.program import ir
from generators.program.dtypes import FLOAT16, FLOAT32, Array, Struct, Type
from synth.gradient.terms import differentiable
from synth.render.text import names_of

IN_PLACE = "_in_place"
"""Ends the name of a gradient that starts as the cotangent of what the kernel leaves there."""


@dataclass(frozen=True)
class Held:
    """A parameter of the backward kernel: the cotangent or the gradient of an array's elements, or
    of one of their fields."""

    name: str
    of: ir.Param
    field: str
    type: Array


def held(program: ir.Program) -> dict[str, Held]:
    """The arrays of adjoints of each array of floats, ``grad_x`` for ``x``, by array and field.

    That of an array which the kernel reads and writes starts as the cotangent of what the kernel
    leaves and ends as the gradient by what it found: its name says ``_in_place``.
    """
    taken = names_of(program) | set(program.kernel.threads)
    found: dict[str, Held] = {}
    for p in program.kernel.params:
        for field, kind in floats_of(p.type).items():
            ending = f"_{field}" * bool(field) + IN_PLACE * (p.role == "inout")
            name = f"grad_{p.name}{ending}"
            while name in taken:
                name = name.replace("grad_", "grad_of_", 1)
            taken.add(name)
            found[key_of(p.name, field)] = Held(name, p, field, _of_gradient(p, kind))
    return found


def _of_gradient(p: ir.Param, kind: Type) -> Array:
    """The type of an array of gradients: those by halves that are read are summed in float32."""
    assert isinstance(p.type, Array)
    wider = p.role == "in" and kind == FLOAT16
    return Array(FLOAT32 if wider else kind, p.type.ndim)


def key_of(array: str, field: str = "") -> str:
    """What the gradients of an array, or of a field of its structs, are found by."""
    return f"{array}.{field}" if field else array


def floats_of(type_: Type) -> dict[str, Type]:
    """Of an array the elements that carry a gradient: by field, or under "" where it has none."""
    if not isinstance(type_, Array):
        return {}
    element = type_.element
    fields = element.fields if isinstance(element, Struct) else (("", element),)
    return {name: kind for name, kind in fields if differentiable(kind)}

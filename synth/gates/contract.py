"""The input contract of a program as the row carries it: ``args``, ``sizes``, ``launch``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generators.program.dtypes import Array, Struct, Type
from generators.program.ir import FieldInit, Param, Program, TiledKernel

BLOCK_DIM = 256


@dataclass(frozen=True)
class Tolerance:
    """``rtol`` and ``atol`` of a float output; None for integers and bools, which are exact."""

    rtol: float | None
    atol: float | None


def element_type(param: Param) -> Type:
    """Type of one element of an array parameter, or of the parameter itself."""
    return param.type.element if isinstance(param.type, Array) else param.type


def arg_of(param: Param) -> dict[str, Any]:
    """The row's entry for one parameter; tolerances are filled in by the gates."""
    element = element_type(param)
    is_array = isinstance(param.type, Array)
    kind = "array" if is_array else "struct" if isinstance(element, Struct) else "scalar"
    return {
        "name": param.name,
        "kind": kind,
        "dtype": str(element),
        "role": param.role,
        "shape": list(param.shape),
        "init": param.init,
        "low": param.low,
        "high": param.high,
        "fields": _fields(param, element),
        "rtol": None,
        "atol": None,
    }


def _fields(param: Param, element: Type) -> list[dict[str, Any]]:
    """Struct fields in order; an output's fields have no values to be drawn."""
    if not isinstance(element, Struct):
        return []
    drawn = {f.name: f for f in param.fields} or {
        name: FieldInit(name, type_, "uniform") for name, type_ in element.fields
    }
    return [
        {
            "name": name,
            "dtype": str(type_),
            "init": drawn[name].init,
            "low": drawn[name].low,
            "high": drawn[name].high,
        }
        for name, type_ in element.fields
    ]


def args_of(program: Program) -> list[dict[str, Any]]:
    return [arg_of(p) for p in program.kernel.params]


def args_with_tolerances(
    program: Program, tolerances: Mapping[str, Tolerance]
) -> list[dict[str, Any]]:
    """The row's ``args`` with each output's tolerance."""
    args = args_of(program)
    for arg in args:
        tolerance = tolerances.get(arg["name"])
        if tolerance is not None:
            arg["rtol"], arg["atol"] = tolerance.rtol, tolerance.atol
    return args


def sizes_of(program: Program) -> list[dict[str, Any]]:
    return [
        {"symbol": s.symbol, "value": s.value, "min": s.min, "multiple_of": s.multiple_of}
        for s in program.sizes
    ]


def launch_of(program: Program) -> dict[str, Any]:
    """Over how many threads, in blocks of how many.

    Kernels of tiles have the threads of a block as the last extent, as ``wp.launch_tiled`` does.
    """
    kernel = program.kernel
    if isinstance(kernel, TiledKernel):
        threads = kernel.block_dim
        return {"dim": [*kernel.launch_dim, str(threads)], "block_dim": threads}
    return {"dim": list(kernel.launch_dim), "block_dim": BLOCK_DIM}

"""The input contract of a program as the row carries it: ``args``, ``sizes``, ``launch``."""

from __future__ import annotations

from typing import Any

from generators.dtypes import Array, Struct, Type
from generators.ir import Param, Program

BLOCK_DIM = 256


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
        "fields": [
            {
                "name": f.name,
                "dtype": str(f.type),
                "init": f.init,
                "low": f.low,
                "high": f.high,
            }
            for f in param.fields
        ],
        "rtol": None,
        "atol": None,
    }


def args_of(program: Program) -> list[dict[str, Any]]:
    return [arg_of(p) for p in program.kernel.params]


def sizes_of(program: Program) -> list[dict[str, Any]]:
    return [
        {"symbol": s.symbol, "value": s.value, "min": s.min, "multiple_of": s.multiple_of}
        for s in program.sizes
    ]


def launch_of(program: Program) -> dict[str, Any]:
    return {"dim": list(program.kernel.launch_dim), "block_dim": BLOCK_DIM}

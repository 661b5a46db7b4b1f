"""How many instructions an op is, roughly: what a schedule shares out or repeats."""

from __future__ import annotations

from generators.program import ir
from generators.program.dtypes import Array, Mat, Scalar, Struct, Type, scalar_of
from generators.program.expr import Call, Expr, Op
from generators.program.ops import OPS
from generators.program.walk import expressions
from synth.render.cuda.types import parts

# Instructions of ops that a device has in several.
_LONG = {"div": 8.0, "sqrt": 8.0, "floordiv": 16.0, "mod": 18.0, "lower_bound": 60.0}
_A_UNIT = 10.0
_DOUBLE = 2.0
_TRANSCENDENTAL_ULP = 1.0


def width(type_: Type) -> int:
    """Numbers that a value has."""
    if isinstance(type_, Scalar):
        return 1
    if isinstance(type_, Struct):
        return sum(width(t) for _, t in type_.fields)
    return 1 if isinstance(type_, Array) else len(parts(type_))


def instructions(e: Expr, calls: dict[str, float]) -> float:
    """Instructions of one expression without those of its parts; ``calls`` has the functions'."""
    if isinstance(e, Call):
        return calls.get(e.function, 0.0) + 1.0
    if not isinstance(e, Op):
        return 0.0
    numbers = [width(a.type) for a in e.args if not isinstance(a.type, Array)] + [width(e.type)]
    count = float(max(numbers))
    if isinstance(e.type, Mat) and sum(isinstance(a.type, Mat) for a in e.args) > 1:
        count *= e.type.cols
    return count * _weight(e)


def is_transcendental(e: Op) -> bool:
    """Whether an op is worked out by a series or a table, element by element."""
    spec = OPS[e.op]
    return spec.ulp >= _TRANSCENDENTAL_ULP and not spec.mixes


def _weight(e: Op) -> float:
    weight = _LONG.get(e.op, 1.0)
    if is_transcendental(e) and e.op not in _LONG:
        weight = _A_UNIT * OPS[e.op].ulp
    wide = not isinstance(e.type, Struct | Array) and scalar_of(e.type).name == "float64"
    return weight * (_DOUBLE if wide else 1.0)


def of_body(body: ir.Body) -> float:
    """Instructions of a helper function's body, its loops taken once."""
    return sum((instructions(e, {}) for e in expressions(body)), 0.0)

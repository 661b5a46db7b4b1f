"""The table of operators and builtins: one entry an op, the same for every renderer.

An entry says which argument types an op takes and what it returns, whether its operands commute,
where it is defined, and how many units in the last place a device may be off. The error figures
for float32 are the maxima of the CUDA C++ Programming Guide's tables of mathematical functions;
``+ - * /`` and ``sqrt`` are correctly rounded there (half a unit).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators import signatures as sig
from generators.dtypes import Quat, Transform, Type, Vec
from generators.signatures import OpTypeError, Signature


@dataclass(frozen=True)
class OpSpec:
    """One operator or builtin.

    ``domain`` names what each argument must satisfy (``""`` for anything): ``nonzero``,
    ``positive``, ``nonnegative``, ``unit`` (in [-1, 1]), ``shift`` (below the number of bits),
    ``length`` (a vector that is not zero), ``unit_length`` (a direction or rotation),
    ``rigid`` (a transform whose rotation has length 1).
    ``ulp`` is the largest error of a float result in units in the last place, 0 where it is
    exact. ``mixes`` is true where a result sums products of components, so that its error is
    relative to them and not to the result. ``jumps`` is true for a result that is discontinuous
    in its arguments, ``selects`` where one operand wins.
    """

    name: str
    arity: int
    signature: Signature
    commutes: bool = False
    domain: tuple[str, ...] = ()
    ulp: float = 0.5
    jumps: bool = False
    selects: bool = False
    mixes: bool = False

    def result(self, types: Sequence[Type]) -> Type:
        """Type of the result; :class:`OpTypeError` when the op does not take these types."""
        if len(types) != self.arity:
            raise OpTypeError(f"{self.name} takes {self.arity} arguments, not {len(types)}")
        try:
            return self.signature(types)
        except OpTypeError as error:
            shown = ", ".join(str(t) for t in types)
            raise OpTypeError(f"{self.name}({shown}): {error}") from None


def _table(*entries: OpSpec) -> dict[str, OpSpec]:
    table: dict[str, OpSpec] = {}
    for entry in entries:
        if entry.name in table:
            raise ValueError(f"op {entry.name!r} is declared twice")
        table[entry.name] = entry
    return table


OPS: dict[str, OpSpec] = _table(
    OpSpec("add", 2, sig.linear, commutes=True),
    OpSpec("sub", 2, sig.linear),
    OpSpec("mul", 2, sig.mul),
    OpSpec("div", 2, sig.div, domain=("", "nonzero")),
    OpSpec("floordiv", 2, sig.int_args, domain=("nonnegative", "positive")),
    OpSpec("mod", 2, sig.int_args, domain=("nonnegative", "positive")),
    OpSpec("neg", 1, sig.linear, ulp=0),
    OpSpec("bit_and", 2, sig.int_args, commutes=True),
    OpSpec("bit_or", 2, sig.int_args, commutes=True),
    OpSpec("bit_xor", 2, sig.int_args, commutes=True),
    OpSpec("invert", 1, sig.int_args),
    OpSpec("lshift", 2, sig.shift, domain=("nonnegative", "shift")),
    OpSpec("rshift", 2, sig.shift, domain=("nonnegative", "shift")),
    OpSpec("lt", 2, sig.compare, jumps=True),
    OpSpec("le", 2, sig.compare, jumps=True),
    OpSpec("gt", 2, sig.compare, jumps=True),
    OpSpec("ge", 2, sig.compare, jumps=True),
    OpSpec("eq", 2, sig.equal, commutes=True),
    OpSpec("ne", 2, sig.equal, commutes=True),
    OpSpec("and", 2, sig.logic, commutes=True),
    OpSpec("or", 2, sig.logic, commutes=True),
    OpSpec("not", 1, sig.logic),
    OpSpec("where", 3, sig.where, selects=True, ulp=0),
    OpSpec("min", 2, sig.number, commutes=True, selects=True, ulp=0),
    OpSpec("max", 2, sig.number, commutes=True, selects=True, ulp=0),
    OpSpec("clamp", 3, sig.number, selects=True, ulp=0),
    OpSpec("abs", 1, sig.number, ulp=0),
    OpSpec("sign", 1, sig.float_args, jumps=True, ulp=0),
    OpSpec("floor", 1, sig.float_args, jumps=True, ulp=0),
    OpSpec("ceil", 1, sig.float_args, jumps=True, ulp=0),
    OpSpec("rint", 1, sig.float_args, jumps=True, ulp=0),
    OpSpec("trunc", 1, sig.float_args, jumps=True, ulp=0),
    OpSpec("sqrt", 1, sig.float_args, domain=("nonnegative",)),
    OpSpec("cbrt", 1, sig.float_args, ulp=2),
    OpSpec("exp", 1, sig.float_args, ulp=2),
    OpSpec("log", 1, sig.float_args, domain=("positive",), ulp=1),
    OpSpec("log2", 1, sig.float_args, domain=("positive",), ulp=1),
    OpSpec("log10", 1, sig.float_args, domain=("positive",), ulp=2),
    OpSpec("pow", 2, sig.float_args, domain=("positive", ""), ulp=4),
    OpSpec("sin", 1, sig.float_args, ulp=2),
    OpSpec("cos", 1, sig.float_args, ulp=2),
    OpSpec("tan", 1, sig.float_args, ulp=4),
    OpSpec("asin", 1, sig.float_args, domain=("unit",), ulp=2),
    OpSpec("acos", 1, sig.float_args, domain=("unit",), ulp=2),
    OpSpec("atan", 1, sig.float_args, ulp=2),
    OpSpec("atan2", 2, sig.float_args, ulp=3),
    OpSpec("sinh", 1, sig.float_args, ulp=3),
    OpSpec("cosh", 1, sig.float_args, ulp=2),
    OpSpec("tanh", 1, sig.float_args, ulp=2),
    OpSpec("erf", 1, sig.float_args, ulp=2),
    OpSpec("erfc", 1, sig.float_args, ulp=4),
    OpSpec("degrees", 1, sig.float_args, ulp=2),
    OpSpec("radians", 1, sig.float_args, ulp=2),
    OpSpec("lerp", 3, sig.lerp, ulp=2),
    OpSpec("smoothstep", 3, sig.float_args, ulp=4),
    OpSpec("dot", 2, sig.scalar_result(sig.is_vec), commutes=True, ulp=2, mixes=True),
    OpSpec("cross", 2, sig.cross, ulp=2, mixes=True),
    OpSpec(
        "length",
        1,
        sig.scalar_result(sig.is_float_vec_or_quat),
        domain=("length",),
        ulp=3,
        mixes=True,
    ),
    OpSpec(
        "length_sq", 1, sig.scalar_result(lambda t: isinstance(t, Vec | Quat)), ulp=2, mixes=True
    ),
    OpSpec("normalize", 1, sig.unit, domain=("length",), ulp=4, mixes=True),
    OpSpec("cw_mul", 2, sig.same(sig.is_vec, sig.is_mat), commutes=True),
    OpSpec("cw_div", 2, sig.float_vec, domain=("", "nonzero")),
    OpSpec("outer", 2, sig.outer),
    OpSpec("skew", 1, sig.skew, ulp=0),
    OpSpec("diag", 1, sig.diag, ulp=0),
    OpSpec("transpose", 1, sig.transpose, ulp=0),
    OpSpec("trace", 1, sig.scalar_result(sig.is_square), ulp=2, mixes=True),
    OpSpec("ddot", 2, sig.scalar_result(sig.is_mat), commutes=True, ulp=4, mixes=True),
    OpSpec("determinant", 1, sig.determinant, ulp=8, mixes=True),
    OpSpec("inverse", 1, sig.float_square, ulp=16, mixes=True),
    OpSpec(
        "quat_from_axis_angle", 2, sig.axis_angle, domain=("unit_length", ""), ulp=4, mixes=True
    ),
    OpSpec(
        "quat_inverse", 1, sig.same(lambda t: isinstance(t, Quat)), domain=("unit_length",), ulp=0
    ),
    OpSpec("quat_rotate", 2, sig.rotate, domain=("unit_length", ""), ulp=6, mixes=True),
    OpSpec("quat_rotate_inv", 2, sig.rotate, domain=("unit_length", ""), ulp=6, mixes=True),
    OpSpec("quat_to_matrix", 1, sig.quat_to_matrix, domain=("unit_length",), ulp=6, mixes=True),
    OpSpec("transform_point", 2, sig.transform_apply, domain=("rigid", ""), ulp=6, mixes=True),
    OpSpec("transform_vector", 2, sig.transform_apply, domain=("rigid", ""), ulp=6, mixes=True),
    OpSpec(
        "transform_inverse",
        1,
        sig.same(lambda t: isinstance(t, Transform)),
        domain=("rigid",),
        ulp=6,
        mixes=True,
    ),
    OpSpec("transform_get_translation", 1, sig.transform_part(True), ulp=0),
    OpSpec("transform_get_rotation", 1, sig.transform_part(False), ulp=0),
)

ATOMICS: dict[str, str] = {
    "add": "a sum",
    "sub": "a difference",
    "min": "a minimum",
    "max": "a maximum",
    "and": "a bitwise and",
    "or": "a bitwise or",
    "xor": "a bitwise exclusive or",
}
"""Atomic read-modify-write ops whose final value does not depend on the order of threads."""

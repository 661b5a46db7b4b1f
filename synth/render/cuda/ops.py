"""How plain CUDA writes each op of the table: one entry an op."""

from __future__ import annotations

from collections.abc import Sequence

from generators.program.dtypes import Mat, Scalar, Transform, Type, Vec, scalar_of
from generators.program.expr import Op
from synth.render.cuda.device.functions import (
    Library,
    built,
    combined,
    narrowed,
    negated,
    number,
    real,
)
from synth.render.cuda.device.vectors import index_of_extreme, stacked
from synth.render.cuda.scalar_ops import (
    CudaPrinter,
    Renders,
    _abs,
    _bit_count,
    _clamp,
    _extreme,
    _frac,
    _lerp,
    _not,
    _of_parts,
    _promoted,
    _scaled,
    _shift_count,
    _where,
    _where_sign,
    masked,
    types,
)
from synth.render.cuda.text import Prec, Text, binary, call, member, prefix
from synth.render.cuda.types import computed, parts


def _infix(symbol: str, prec: int) -> CudaPrinter:
    def show(r: Renders, args: Sequence[Text], node: Op) -> Text:
        left, right = types(node)
        result = computed(node.type)
        if not isinstance(result, Scalar):
            return combined(r.library, symbol, (left, right, result), *args)
        args = _promoted(r, args, node)
        if prec == Prec.SHIFT:
            args = [args[0], _shift_count(r, node.args[1], args[1])]
        if symbol in ("&", "|", "^"):
            args = [masked(e, shown) for e, shown in zip(node.args, args, strict=True)]
        if symbol not in _WIDENING:
            return binary(symbol, prec, *args)
        if symbol in "+-" or result.bits == 8:
            args = [Text(a.wide) if a.wide else a for a in args]
        return narrow(binary(symbol, prec, *args), result)

    return show


_WIDENING = ("+", "-", "*", "<<")
"""Signs whose result C++ computes as int and that may not fit a narrow unsigned type."""


def narrow(e: Text, type_: Scalar) -> Text:
    """A value of an unsigned type that C++ has widened to int."""
    text = narrowed(e.text, type_)
    return e if text == e.text else Text(text, Prec.UNARY, f"({e.text})")


def _compare(symbol: str, prec: int) -> CudaPrinter:
    return lambda r, args, node: binary(symbol, prec, *_promoted(r, args, node))


def _negate(r: Renders, args: Sequence[Text], node: Op) -> Text:
    result = computed(node.type)
    if isinstance(result, Scalar):
        return narrow(prefix("-", args[0]), result)
    return negated(r.library, result, args[0])


def _invert(_: Renders, args: Sequence[Text], node: Op) -> Text:
    type_ = node.type
    assert isinstance(type_, Scalar)
    return narrow(prefix("~", args[0]), type_)


def _math(name: str) -> CudaPrinter:
    """A function of C's mathematics: ``sinf`` or ``sin``."""
    return lambda r, args, node: call(real(scalar_of(computed(node.type)), name), args)


def _arc(name: str) -> CudaPrinter:
    """``asin`` and ``acos``, of what rounding may have brought beyond 1 clamped."""

    def show(r: Renders, args: Sequence[Text], node: Op) -> Text:
        scalar, (argument,) = scalar_of(computed(node.type)), args
        low, high = r.library.edges.beyond_one(node)
        one = number(1, scalar)
        argument = call(real(scalar, "fmax"), [argument, Text(f"-{one}")]) if low else argument
        argument = call(real(scalar, "fmin"), [argument, Text(one)]) if high else argument
        return call(real(scalar, name), [argument])

    return show


def _device(name: str) -> CudaPrinter:
    return lambda r, args, node: call(r.library.function(name, *types(node)), args)


def _argument(name: str) -> CudaPrinter:
    def show(r: Renders, args: Sequence[Text], node: Op) -> Text:
        vec = types(node)[0]
        assert isinstance(vec, Vec)
        return call(index_of_extreme(r.library, name, vec), args)

    return show


def _stacked(name: str) -> CudaPrinter:
    def show(r: Renders, args: Sequence[Text], node: Op) -> Text:
        vec = types(node)[0]
        assert isinstance(vec, Vec)
        return call(stacked(r.library, name, len(args), vec), args)

    return show


def _identity(r: Renders, _: Sequence[Text], node: Op) -> Text:
    type_ = computed(node.type)
    if isinstance(type_, Mat):
        ones = [float(i == j) for i in range(type_.rows) for j in range(type_.cols)]
    else:
        ones = [0.0] * (len(parts(type_)) - 1) + [1.0]
    return Text(built(r.library, type_, [number(one, type_) for one in ones]))


def _cw(symbol: str) -> CudaPrinter:
    """Component by component: for matrices ``*`` means something else."""

    def show(r: Renders, args: Sequence[Text], node: Op) -> Text:
        result = computed(node.type)
        if isinstance(result, Mat):
            name = {"*": "cw_mul", "/": "cw_div"}[symbol]
            return call(_componentwise(r.library, name, symbol, result), args)
        return combined(r.library, symbol, (result, result, result), *args)

    return show


def _componentwise(library: Library, name: str, symbol: str, type_: Type) -> str:
    key = (name, (type_, type_))
    if key not in library.functions:
        from synth.render.cuda.device.functions import written

        values = [f"a{p} {symbol} b{p}" for p in parts(type_)]
        params = (("a", type_), ("b", type_))
        made = f"return {built(library, type_, values)};"
        library.functions[key] = written(library, name, type_, params, made)
    return library.spelled(name, type_)


def _part(name: str) -> CudaPrinter:
    return lambda _, args, node: member(args[0], name)


def _transform_vector(r: Renders, args: Sequence[Text], node: Op) -> Text:
    transform, vec = types(node)
    assert isinstance(transform, Transform)
    rotate = r.library.function("quat_rotate", _quat(transform), vec)
    return call(rotate, [member(args[0], "q"), args[1]])


def _quat(transform: Transform) -> Type:
    from generators.program.dtypes import Quat

    return Quat(transform.scalar)


def _dot(name: str) -> CudaPrinter:
    return lambda r, args, node: call(r.library.function(name, *types(node)), args)


def _transform_product(r: Renders, args: Sequence[Text], node: Op) -> Text:
    type_ = computed(node.type)
    return combined(r.library, "*", (type_, type_, type_), *args)


def _lower_bound(r: Renders, args: Sequence[Text], node: Op) -> Text:
    raise AssertionError("the renderer prints lower_bound: it needs the array's extent")


_MATH = """floor ceil rint trunc round sqrt cbrt exp log log2 log10 pow sin cos tan atan atan2 sinh
cosh tanh erf erfc erfinv erfcinv copysign"""


_DEVICE = """smoothstep dot cross length length_sq normalize norm_l1 norm_huber norm_pseudo_huber
smooth_normalize get_diag outer skew diag transpose trace ddot determinant inverse
quat_from_axis_angle quat_inverse quat_rotate quat_rotate_inv quat_to_matrix quat_from_matrix
quat_rpy quat_to_rpy quat_slerp quat_twist quat_twist_angle quat_twist_angle_signed
transform_point transform_inverse transform_to_matrix transform_compose spatial_vector
spatial_cross spatial_cross_dual spatial_top spatial_bottom spatial_adjoint transform_twist
transform_wrench velocity_at_point rand_init"""


CUDA_OPS: dict[str, CudaPrinter] = {
    "add": _infix("+", Prec.ADD),
    "sub": _infix("-", Prec.ADD),
    "mul": _infix("*", Prec.MUL),
    "div": _infix("/", Prec.MUL),
    "floordiv": _infix("/", Prec.MUL),
    "mod": _infix("%", Prec.MUL),
    "neg": _negate,
    "bit_and": _infix("&", Prec.BIT_AND),
    "bit_or": _infix("|", Prec.BIT_OR),
    "bit_xor": _infix("^", Prec.BIT_XOR),
    "invert": _invert,
    "lshift": _infix("<<", Prec.SHIFT),
    "rshift": _infix(">>", Prec.SHIFT),
    "lt": _compare("<", Prec.COMPARE),
    "le": _compare("<=", Prec.COMPARE),
    "gt": _compare(">", Prec.COMPARE),
    "ge": _compare(">=", Prec.COMPARE),
    "eq": _compare("==", Prec.EQUAL),
    "ne": _compare("!=", Prec.EQUAL),
    "and": _compare("&&", Prec.AND),
    "or": _compare("||", Prec.OR),
    "not": _not,
    "where": _where,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "min_element": _of_parts("min"),
    "max_element": _of_parts("max"),
    "clamp": _clamp,
    "abs": _abs,
    "sign": _where_sign("<", -1.0, 1.0),
    "step": _where_sign("<", 1.0, 0.0),
    "nonzero": _where_sign("!=", 1.0, 0.0),
    "frac": _frac,
    "bit_count": _bit_count,
    "degrees": _scaled(57.29577951308232),
    "radians": _scaled(0.017453292519943295),
    "lerp": _lerp,
    "argmin": _argument("argmin"),
    "argmax": _argument("argmax"),
    "asin": _arc("asin"),
    "acos": _arc("acos"),
    "norm_l2": _device("length"),
    "cw_mul": _cw("*"),
    "cw_div": _cw("/"),
    "identity": _identity,
    "quat_identity": _identity,
    "transform_identity": _identity,
    "matrix_from_rows": _stacked("matrix_from_rows"),
    "matrix_from_cols": _stacked("matrix_from_cols"),
    "transform_vector": _transform_vector,
    "transform_multiply": _transform_product,
    "transform_get_translation": _part("p"),
    "transform_get_rotation": _part("q"),
    "spatial_dot": _device("dot"),
    "lower_bound": _lower_bound,
    **{name: _math(name) for name in _MATH.split()},
    **{name: _device(name) for name in _DEVICE.split()},
}
"""One entry an op of the table."""

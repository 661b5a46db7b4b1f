"""How NumPy writes each op of the table on whole arrays; components are the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from generators.program import expr
from generators.program.dtypes import Mat, Quat, Scalar, Transform, Vec
from synth.render.array.dialects.common_ops import COMMON_OPS, helper, infix
from synth.render.array.dialects.dialect import ArrayPrinter, Uses
from synth.render.array.values import NoForm
from synth.render.doc import Doc, Prec, attribute, binary, call, listing, prefix, subscript
from validate.statuses import ArrayStatus


def numpy(name: str) -> ArrayPrinter:
    return lambda _, args, node: call(f"np.{name}", args)


def absolute(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    """Of a number Python's own: NumPy makes its widest integer of one."""
    return call("abs" if uses.operands[0].number else "np.abs", args)


def over_parts(name: str) -> ArrayPrinter:
    """A reduction over the components of a vector."""
    return lambda _, args, node: call(f"np.{name}", [args[0], Doc("axis=-1")])


def shift(symbol: str) -> ArrayPrinter:
    """The amount in the type of what is shifted: of two types NumPy takes a wider one."""

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        by = args[1]
        if node.args[1].type != node.type and not isinstance(node.args[1], expr.Const):
            by = call(uses.dialect.scalar(node.type), [by])
        return binary(symbol, Prec.SHIFT, args[0], by)

    return show


def mul(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    left, right = (a.type for a in node.args)
    if isinstance(left, Quat | Transform) and left == right:
        kind = "quat" if isinstance(left, Quat) else "transform"
        return call(uses.helper(f"{kind}_multiply"), args)
    if isinstance(left, Mat) and isinstance(right, Mat):
        return binary("@", Prec.MUL, args[0], args[1])
    if isinstance(left, Mat) and isinstance(right, Vec):
        return call("np.einsum", [Doc('"...ij,...j->...i"'), *args])
    return binary("*", Prec.MUL, args[0], args[1])


def summed(uses: Uses, doc: Doc, node: expr.Op, axis: str = "-1") -> Doc:
    """A sum over components; of whole numbers in their own type, which NumPy would widen."""
    whole = isinstance(node.type, Scalar) and node.type.is_int
    dtype = [Doc(f"dtype={uses.dialect.scalar(node.type)}")] if whole else []
    return call("np.sum", [doc, Doc(f"axis={axis}"), *dtype])


def part_product(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return summed(uses, binary("*", Prec.MUL, args[0], args[1]), node)


def length_sq(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return summed(uses, call("np.square", args), node)


def norm_l1(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return summed(uses, call("np.abs", args), node)


def norm(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return call("np.linalg.norm", [args[0], Doc("axis=-1")])


def ddot(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return summed(uses, binary("*", Prec.MUL, args[0], args[1]), node, "(-2, -1)")


def transpose(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return call("np.swapaxes", [args[0], Doc("-2"), Doc("-1", Prec.UNARY)])


def trace(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return call("np.trace", [args[0], Doc("axis1=-2"), Doc("axis2=-1")])


def get_diag(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return call("np.diagonal", [args[0], Doc("axis1=-2"), Doc("axis2=-1")])


def arc(name: str) -> ArrayPrinter:
    """Of what rounding may have brought beyond 1 clamped."""

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        low, high = uses.edges.beyond_one(node)
        argument = args[0]
        if low:
            argument = call("np.maximum", [argument, Doc("-1.0", Prec.UNARY)])
        if high:
            argument = call("np.minimum", [argument, Doc("1.0")])
        return call(f"np.{name}", [argument])

    return show


def normalize(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    if isinstance(node.type, Quat):
        if uses.edges.guards(node):
            raise NoForm(ArrayStatus.COMPOSITE, "rotations of length zero")
        size = call("np.linalg.norm", [args[0], Doc("axis=-1"), Doc("keepdims=True")])
        return binary("/", Prec.MUL, args[0], size)
    return call(uses.helper("normalize"), args)


def inverse(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    if uses.edges.guards(node):
        raise NoForm(ArrayStatus.COMPOSITE, "singular matrices")
    return call("np.linalg.inv", args)


def identity(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    if not isinstance(node.type, Mat):
        zeros = 3 if isinstance(node.type, Quat) else 6
        parts = Doc(f"[{', '.join(['0.0'] * zeros)}, 1.0]")
        return call("np.array", [parts, Doc(f"dtype={uses.dialect.scalar(node.type)}")])
    return uses.dialect.made("eye", [str(node.type.rows)], node.type)


def diagonal(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    assert isinstance(node.type, Mat)
    eye = call("np.eye", [Doc(str(node.type.rows)), Doc(f"dtype={uses.dialect.scalar(node.type)}")])
    return binary("*", Prec.MUL, subscript(args[0], [Doc("..."), Doc("None")]), eye)


def sign(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    """One of zero, as Warp has it."""
    negative = binary("<", Prec.COMPARE, args[0], Doc("0.0"))
    return call("np.where", [negative, Doc("-1.0", Prec.UNARY), Doc("1.0")])


def frac(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return binary("-", Prec.ADD, args[0], call("np.trunc", args))


def lower_bound(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    last = binary("-", Prec.ADD, call("len", args[:1]), Doc("1"))
    return call("np.minimum", [call("np.searchsorted", args), last])


def bit_count(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    scalar = node.args[0].type
    assert isinstance(scalar, Scalar)
    word = args[0]
    if not scalar.is_unsigned:
        word = call(attribute(word, "astype").text, [Doc(f"np.u{scalar.name}")])
    return call(attribute(call("np.bitwise_count", [word]), "astype").text, [Doc("np.int32")])


def rows(axis: int) -> ArrayPrinter:
    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        alike = all(v.axes == uses.operands[0].axes for v in uses.operands)
        parts = listing(args) if alike else uses.dialect.broadcast_all(args, uses.operands)
        return call("np.stack", [parts, Doc(f"axis={axis}")])

    return show


_SAME = ("exp", "log", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "cbrt")

NUMPY_OPS: dict[str, ArrayPrinter] = {
    **COMMON_OPS,
    "mul": mul,
    "div": infix("/", Prec.MUL),
    "invert": lambda _, args, node: prefix("~", Prec.UNARY, args[0]),
    "lshift": shift("<<"),
    "rshift": shift(">>"),
    "not": lambda _, args, node: prefix("~", Prec.UNARY, args[0]),
    "where": numpy("where"),
    "min": numpy("minimum"),
    "max": numpy("maximum"),
    "clamp": numpy("clip"),
    "abs": absolute,
    "sign": sign,
    "floor": numpy("floor"),
    "ceil": numpy("ceil"),
    "rint": numpy("rint"),
    "frac": frac,
    "copysign": numpy("copysign"),
    "bit_count": bit_count,
    "lower_bound": lower_bound,
    "trunc": numpy("trunc"),
    **{name: numpy(name) for name in _SAME},
    "asin": arc("arcsin"),
    "acos": arc("arccos"),
    "atan": numpy("arctan"),
    "atan2": numpy("arctan2"),
    "degrees": numpy("degrees"),
    "radians": numpy("radians"),
    "erf": helper("erf"),
    "erfc": helper("erfc"),
    "dot": part_product,
    "cross": numpy("cross"),
    "length": norm,
    "length_sq": length_sq,
    "normalize": normalize,
    "argmin": over_parts("argmin"),
    "argmax": over_parts("argmax"),
    "min_element": over_parts("min"),
    "max_element": over_parts("max"),
    "norm_l1": norm_l1,
    "norm_l2": norm,
    "get_diag": get_diag,
    "identity": identity,
    "matrix_from_rows": rows(-2),
    "matrix_from_cols": rows(-1),
    "transpose": transpose,
    "trace": trace,
    "ddot": ddot,
    "determinant": numpy("linalg.det"),
    "inverse": inverse,
    "diag": diagonal,
    "quat_identity": identity,
    "transform_identity": identity,
    "spatial_dot": part_product,
}
"""One entry an op that whole arrays have; the others have no such form."""

"""How PyTorch writes each op of the table on whole tensors; components are the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from generators.program import expr
from generators.program.dtypes import Mat, Quat, Transform, Vec, scalar_of
from synth.render.array.dialects.common_ops import COMMON_OPS, helper
from synth.render.array.dialects.dialect import ArrayPrinter, Uses
from synth.render.array.dialects.torch_idioms import activation
from synth.render.array.values import NoForm, Value, negated, tight
from synth.render.doc import Doc, Prec, binary, call, choice, listing
from validate.statuses import ArrayStatus

_LAST = Doc("dim=-1")


def like(tensor: Doc, number: Doc) -> Doc:
    """A number as a tensor of another one's type and device."""
    return call(f"{tight(tensor)}.new_tensor", [number])


def torch(name: str) -> ArrayPrinter:
    """A function of tensors, which takes no number."""

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        known = next((a for a, v in _both(uses, args) if not v.number), None)
        if known is None:
            raise NoForm(ArrayStatus.FUNCTION, f"{name} of numbers")
        given = [like(known, a) if v.number else a for a, v in _both(uses, args)]
        return call(f"torch.{name}", given)

    return show


def _both(uses: Uses, args: Sequence[Doc]) -> list[tuple[Doc, Value]]:
    return list(zip(args, uses.operands, strict=True))


def unary(name: str, of_number: str = "") -> ArrayPrinter:
    """A function of one tensor, or ``math``'s of a number."""

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        if uses.operands[0].number:
            return call(of_number or f"math.{name}", args)
        return call(f"torch.{name}", args)

    return show


def extreme(op: str, docs: Sequence[Doc], values: Sequence[Value]) -> Doc:
    """The lesser or greater of two; ``clamp`` with a number."""
    for at in (0, 1):
        if values[at].number and not values[1 - at].number:
            tensor, bound = docs[1 - at], docs[at]
            floats = not scalar_of(values[1 - at].type).is_int
            if op == "max" and floats and bound.text in ("0.0", "0"):
                return call("torch.relu", [tensor])
            side = "min" if op == "max" else "max"
            return call("torch.clamp", [tensor, Doc(f"{side}={bound.text}")])
    return call(f"torch.{op}imum", docs)


def extreme_of(op: str) -> ArrayPrinter:
    return lambda uses, args, node: extreme(op, args, uses.operands)


def clamp(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    of, low, high = uses.operands
    if of.number:
        return call("max", [args[1], call("min", [args[0], args[2]])])
    if low.number == high.number:
        return call("torch.clamp", args)
    floor = extreme("max", args[:2], (of, low))
    return extreme("min", [floor, args[2]], (of, high))


def where(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return choice(*args) if uses.operands[0].number else call("torch.where", args)


def mul(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    left, right = (a.type for a in node.args)
    if isinstance(left, Quat | Transform) and left == right:
        kind = "quat" if isinstance(left, Quat) else "transform"
        return call(uses.helper(f"{kind}_multiply"), args)
    if isinstance(left, Mat) and isinstance(right, Mat):
        return binary("@", Prec.MUL, args[0], args[1])
    if isinstance(left, Mat) and isinstance(right, Vec):
        return call("torch.einsum", [Doc('"...ij,...j->...i"'), *args])
    return activation(uses, node) or binary("*", Prec.MUL, args[0], args[1])


def div(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return activation(uses, node) or binary("/", Prec.MUL, args[0], args[1])


def log(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return activation(uses, node) or unary("log")(uses, args, node)


def summed(doc: Doc, dim: str) -> Doc:
    return call(f"{tight(doc)}.sum", [Doc(f"dim={dim}")])


def over_all(uses: Uses, doc: Doc, node: expr.Op, dim: str = "-1") -> Doc:
    """A sum over components; of whole numbers in their own type, which PyTorch would widen."""
    if not scalar_of(node.type).is_int:
        return summed(doc, dim)
    dtype = Doc(f"dtype={uses.dialect.scalar(node.type)}")
    return call(f"{tight(doc)}.sum", [Doc(f"dim={dim}"), dtype])


def part_product(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return over_all(uses, _product(args), node)


def ddot(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return over_all(uses, _product(args), node, "(-2, -1)")


def _product(args: Sequence[Doc]) -> Doc:
    product = binary("*", Prec.MUL, args[0], args[1])
    return Doc(f"({product.text})", Prec.TIGHT, product.kind, product.parts, product.marks)


def length_sq(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return over_all(uses, call("torch.square", args), node)


def over_parts(method: str) -> ArrayPrinter:
    return lambda _, args, node: call(f"{tight(args[0])}.{method}", [_LAST])


def place_of(method: str) -> ArrayPrinter:
    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        return call(f"torch.{method}", [args[0], _LAST])

    return show


def norm(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return call("torch.linalg.norm", [args[0], _LAST])


def norm_l1(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return over_all(uses, call("torch.abs", args), node)


def cross(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    left, right = uses.operands
    if left.axes == right.axes and not uses.in_function:
        return call("torch.linalg.cross", args)
    return call(uses.helper("cross"), args)


def transpose(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return Doc(f"{tight(args[0])}.mT")


def diagonal_of(doc: Doc) -> Doc:
    return call("torch.diagonal", [doc, Doc("dim1=-2"), Doc("dim2=-1")])


def arc(name: str) -> ArrayPrinter:
    """Of what rounding may have brought beyond 1 clamped."""

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        low, high = uses.edges.beyond_one(node)
        if uses.operands[0].number:
            raise NoForm(ArrayStatus.FUNCTION, f"{name} of a number")
        bounds = [Doc("min=-1.0")] * low + [Doc("max=1.0")] * high
        argument = call("torch.clamp", [args[0], *bounds]) if bounds else args[0]
        return call(f"torch.{name}", [argument])

    return show


def normalize(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    if isinstance(node.type, Quat) and uses.edges.guards(node):
        raise NoForm(ArrayStatus.COMPOSITE, "rotations of length zero")
    return call("torch.nn.functional.normalize", [args[0], _LAST])


def inverse(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    if uses.edges.guards(node):
        raise NoForm(ArrayStatus.COMPOSITE, "singular matrices")
    return call("torch.linalg.inv", args)


def identity(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    if not isinstance(node.type, Mat):
        zeros = 3 if isinstance(node.type, Quat) else 6
        return uses.dialect.listed(Doc(f"[{', '.join(['0.0'] * zeros)}, 1.0]"), node.type)
    return uses.dialect.made("eye", [str(node.type.rows)], node.type)


def diag(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return call("torch.diag_embed", args)


def sign(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    """One of zero, as Warp has it."""
    negative = binary("<", Prec.COMPARE, args[0], Doc("0.0"))
    return call("torch.where", [negative, Doc("-1.0", Prec.UNARY), Doc("1.0")])


def frac(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return call("torch.frac", args)


def lower_bound(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    last = binary("-", Prec.ADD, call("len", args[:1]), Doc("1"))
    found = call("torch.searchsorted", args)
    return call("torch.clamp", [found, Doc(f"max={last.text}")])


def rows(dim: int) -> ArrayPrinter:
    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        alike = all(v.axes == uses.operands[0].axes for v in uses.operands)
        parts = listing(args) if alike else uses.dialect.broadcast_all(args, uses.operands)
        return call("torch.stack", [parts, Doc(f"dim={dim}")])

    return show


def shift(symbol: str) -> ArrayPrinter:
    """The amount in the type of what is shifted: of two types PyTorch takes the wider one."""

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        by = args[1]
        if node.args[1].type != node.type and not uses.operands[1].number:
            by = uses.dialect.converted(by, node.type, is_array=True)
        return binary(symbol, Prec.SHIFT, args[0], by)

    return show


def copysign(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    size, of = uses.operands
    if size.number and not of.number:
        return call("torch.copysign", [like(args[1], args[0]), args[1]])
    return call("torch.copysign", args)


def negation(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return negated(args[0])


_SAME = [
    "exp",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "erf",
    "erfc",
]

TORCH_OPS: dict[str, ArrayPrinter] = {
    **COMMON_OPS,
    "mul": mul,
    "div": div,
    "invert": negation,
    "lshift": shift("<<"),
    "rshift": shift(">>"),
    "not": negation,
    "where": where,
    "min": extreme_of("min"),
    "max": extreme_of("max"),
    "clamp": clamp,
    "abs": unary("abs", "abs"),
    "sign": sign,
    "rint": unary("round", "round"),
    "frac": frac,
    "copysign": copysign,
    "lower_bound": lower_bound,
    **{name: unary(name) for name in _SAME},
    "log": log,
    "cbrt": helper("cbrt"),
    "asin": arc("asin"),
    "acos": arc("acos"),
    "atan": unary("atan"),
    "atan2": torch("atan2"),
    "degrees": unary("rad2deg", "math.degrees"),
    "radians": unary("deg2rad", "math.radians"),
    "dot": part_product,
    "cross": cross,
    "length": norm,
    "length_sq": length_sq,
    "normalize": normalize,
    "argmin": place_of("argmin"),
    "argmax": place_of("argmax"),
    "min_element": over_parts("amin"),
    "max_element": over_parts("amax"),
    "norm_l1": norm_l1,
    "norm_l2": norm,
    "get_diag": lambda _, args, node: diagonal_of(args[0]),
    "identity": identity,
    "matrix_from_rows": rows(-2),
    "matrix_from_cols": rows(-1),
    "transpose": transpose,
    "trace": lambda _, args, node: summed(diagonal_of(args[0]), "-1"),
    "ddot": ddot,
    "determinant": torch("linalg.det"),
    "inverse": inverse,
    "diag": diag,
    "quat_identity": identity,
    "transform_identity": identity,
    "spatial_dot": part_product,
}
"""One entry an op that PyTorch has for whole tensors; the others have no such form."""

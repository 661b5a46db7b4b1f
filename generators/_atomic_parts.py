"""Small pieces that the atomic idioms share: their arrays, amounts and masks."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var, op
from generators.stages import refine

INTS = {INT32: 6, Scalar("int64"): 2, Scalar("uint32"): 2, Scalar("uint64"): 1}
GROUPS = ("groups", "labels", "owner", "segment", "cluster")
_LOCALS = ("value", "contribution", "term", "amount")


def number_type(k: KernelBuilder) -> Scalar:
    shape = k.draw.shape
    return k.draw.wide_float_type() if shape.chance(0.6) else shape.weighted(INTS)


def amounts(k: KernelBuilder, names: tuple[str, ...], type_: Scalar, *dims: str) -> Var:
    """An array of signed floats, or of integers of moderate size."""
    if type_.is_float:
        return k.array(names, type_, dims, low=-2.0, high=2.0)
    return k.array(names, type_, dims, low=0 if type_.is_unsigned else -20, high=50)


def contribution(
    k: KernelBuilder, value: Expr, level: int, uses: int, what: str = "Each amount"
) -> tuple[Expr, str]:
    """A value as it goes to accumulators, a local when they read it often; how it is made."""
    type_ = value.type
    assert isinstance(type_, Scalar)
    phrase = ""
    if type_.is_float:
        signal = refine(k, value, level, _LOCALS, scale=1.2)
        value, phrase = signal.value, signal.phrase
    elif level >= 2 and k.draw.shape.chance(0.6):
        value, phrase = _whole(k, value)
    if uses > 1 and not isinstance(value, Var):
        value = k.let(_LOCALS, value)
    return value, f" {what} is first {phrase}." if phrase else ""


def _whole(k: KernelBuilder, value: Expr) -> tuple[Expr, str]:
    factor, offset = k.draw.value.integer(2, 5), k.draw.value.integer(1, 9)
    form = k.draw.shape.choice(("scaled", "squared", "offset"))
    if form == "scaled":
        return factor * value, f"multiplied by {factor}"
    if form == "offset":
        return value + offset, f"increased by {offset}"
    base = value if isinstance(value, Var) else k.let(("base", "raw"), value)
    return base * base, "squared"


def skip_some(k: KernelBuilder, i: Var, n: str, what: str = "Entries") -> str:
    """End threads early by a mask array; says which."""
    mask = k.array(("mask", "status", "state", "kind"), INT32, n, low=0, high=4)
    code, test = k.draw.value.integer(1, 3), k.draw.shape.choice(("eq", "ne", "lt", "or"))
    m = mask[i]
    tests: dict[str, tuple[Expr, str]] = {
        "eq": (fn("eq", m, code), f"{code}"),
        "ne": (fn("ne", m, code), f"not {code}"),
        "lt": (m < code, f"below {code}"),
        "or": (op("or", fn("eq", m, 0), fn("eq", m, code)), f"0 or {code}"),
    }
    condition, text = tests[test]
    with k.if_(condition):
        k.return_()
    return f" {what} whose {mask.name} is {text} are left out."

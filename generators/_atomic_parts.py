"""Small pieces that the atomic idioms share: their arrays, amounts and masks."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Load, Var, op
from generators.stages import refine
from generators.touches import Touched, touch
from generators.walk import replaced, uses

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
    k: KernelBuilder, value: Expr, level: int, readers: int, what: str = "Each amount"
) -> tuple[Expr, str]:
    """A value as it goes to accumulators, a local when they read it often; how it is made.

    Floats go through stages from level 2 on; what no stage changes is mostly rescaled by constants.
    """
    type_ = value.type
    assert isinstance(type_, Scalar)
    phrase = ""
    if type_.is_float:
        signal = refine(k, value, level, _LOCALS, scale=1.2)
        value, phrase = signal.value, signal.phrase
    if not phrase and k.draw.shape.chance(0.94):
        value, mapped = rescaled(k, value)
        phrase = f"mapped to {mapped}"
    if readers > 1 and not isinstance(value, Var):
        value = k.let(_LOCALS, value)
    return value, f" {what} is first {phrase}." if phrase else ""


def rescaled(k: KernelBuilder, value: Expr) -> Touched:
    """A touch of a number; a value that the touch reads more than once becomes a local."""
    stand_in = Var("v", value.type)
    assert isinstance(value.type, Scalar)
    if value.type.is_float:
        touched = touch(k, stand_in)
    else:
        touched = _whole(k, stand_in, plain=isinstance(value, Load | Var))
    if uses(touched.value, stand_in) > 1 and not isinstance(value, Var):
        value = k.let(("base", "raw"), value)
    return Touched(replaced(touched.value, stand_in, value), touched.phrase)


def _whole(k: KernelBuilder, v: Expr, plain: bool) -> Touched:
    """A touch of an integer that may be negative when its type is signed."""
    c, d = k.draw.value.integer(2, 12), k.draw.value.integer(1, 60)
    forms = {"affine": Touched(c * v + d, f"{c} v + {d}")}
    forms["grouped"] = Touched(c * (v + d), f"{c} (v + {d})")
    if plain:
        forms["square"] = Touched(v * v + c * d, f"v^2 + {c * d}")
    if isinstance(v.type, Scalar) and v.type.is_unsigned:
        forms["mixed"] = Touched(v ^ (c * d), f"v ^ {c * d}")
    else:
        forms["down"] = Touched(c * v - d, f"{c} v - {d}")
        forms["from_above"] = Touched(d - c * v, f"{d} - {c} v")
        forms["distance"] = Touched(c * fn("abs", v - d), f"{c} |v - {d}|")
    return forms[k.draw.shape.choice(sorted(forms))]


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

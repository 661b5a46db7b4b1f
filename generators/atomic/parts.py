"""Small pieces that the atomic idioms share: their arrays, amounts and masks."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

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
    k: KernelBuilder,
    value: Expr,
    level: int,
    readers: int,
    what: str = "Each amount",
    extremes: bool = False,
) -> tuple[Expr, str]:
    """A value as it goes to accumulators, a local when they read it often; how it is made.

    What changes it is what such kernels have: a step size, a limit, a magnitude, a threshold.
    """
    type_ = value.type
    assert isinstance(type_, Scalar)
    phrases = []
    left_out = (_FOR_SIGNED if type_.is_unsigned else set()) | (_CUTTING if extremes else set())
    fitting = sorted(set(_CHANGES) - left_out)
    count = min(k.draw.shape.integer(*_COUNTS[level]), len(fitting))
    chosen = k.draw.shape.sample(fitting, count)
    if set(chosen) >= _FOR_SIGNED:
        chosen.remove("positive")  # the one makes the other idle
    for name in chosen:
        value, phrase = _CHANGES[name](k, value, type_)
        phrases.append(phrase)
    if readers > 1 and not isinstance(value, Var):
        value = k.let(_LOCALS, value)
    return value, f" {what} is first {', then '.join(phrases)}." if phrases else ""


_COUNTS = {1: (1, 2), 2: (1, 2), 3: (1, 2), 4: (1, 2), 5: (1, 3)}


def _scaled(k: KernelBuilder, v: Expr, type_: Scalar) -> tuple[Expr, str]:
    low, high = (0.2, 1.5) if type_.is_float else (2, 9)
    scale = k.scalar(("scale", "gain", "unit_weight"), type_, low, high)
    return (v * scale if k.draw.shape.chance(0.5) else scale * v), f"multiplied by {scale.name}"


def _shifted(k: KernelBuilder, v: Expr, type_: Scalar) -> tuple[Expr, str]:
    low, high = (-0.5, 0.5) if type_.is_float else (1, 15)
    base = k.scalar(("baseline", "bias", "zero_level"), type_, low, high)
    if type_.is_unsigned:
        return v + base, f"raised by {base.name}"
    return v - base, f"lowered by {base.name}"


def _limited(k: KernelBuilder, v: Expr, type_: Scalar) -> tuple[Expr, str]:
    """Clipped on both sides, or from above."""
    low, high = (0.3, 1.2) if type_.is_float else (8, 25)
    cap = k.scalar(("cap", "max_amount", "limit"), type_, low, high)
    if type_.is_unsigned or k.draw.shape.chance(0.4):
        return fn("min", v, cap), f"cut off above {cap.name}"
    return fn("clamp", v, -cap, cap), f"clamped to [-{cap.name}, {cap.name}]"


def _magnitude(k: KernelBuilder, v: Expr, type_: Scalar) -> tuple[Expr, str]:
    return fn("abs", v), "replaced by its absolute value"


def _positive(k: KernelBuilder, v: Expr, type_: Scalar) -> tuple[Expr, str]:
    """Negative amounts count as zero: by ``max``, or by a branch."""
    if k.draw.shape.chance(0.6):
        return fn("max", v, k.lift(0, type_)), "raised to 0 where it is negative"
    kept = k.let(_LOCALS, v)
    with k.if_(kept < k.lift(0, type_)):
        k.assign(kept, k.lift(0, type_))
    return kept, "raised to 0 where it is negative"


_CHANGES: dict[str, Callable[[KernelBuilder, Expr, Scalar], tuple[Expr, str]]] = {
    "limited": _limited,
    "magnitude": _magnitude,
    "positive": _positive,
    "scaled": _scaled,
    "shifted": _shifted,
}
_FOR_SIGNED = frozenset({"magnitude", "positive"})
_CUTTING = frozenset({"limited", "positive"})
"""Changes that make the extremes of many values equal."""


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


def singular(name: str) -> str:
    """The name of one of what a name of many says."""
    if name.endswith("ss") or len(name) < 3:
        return name
    return name[:-2] if name.endswith("sses") else name.removesuffix("s")

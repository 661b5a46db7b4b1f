"""Transfer curves of colours, one component at a time."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.kit.pieces import helper
from generators.matrix.small.grid import Grid, Names
from generators.program.dtypes import Scalar, Vec
from generators.program.expr import Expr, Var


def curve(k: KernelBuilder, g: Grid, scalar: Scalar, before: bool) -> tuple[str, str]:
    """A transfer curve as a helper; its name and text."""
    after = ("gamma", "reinhard", "log", "srgb")
    way = k.draw.shape.choice(("srgb_in", "square", "gamma_in") if before else after)
    if way == "srgb":

        def encode(_: BodyBuilder, v: Expr) -> Expr:
            return 1.055 * fn("pow", fn("abs", v) + 0.001, 0.4167) - 0.055

        name = helper(k, ("encode", "to_srgb"), (("v", scalar),), encode)
        return name, "1.055 * (|v| + 0.001)^0.4167 - 0.055"
    if way == "srgb_in":

        def decode(_: BodyBuilder, v: Expr) -> Expr:
            curved = fn("pow", (v + 0.055) / 1.055, 2.4)
            return fn("where", v < 0.0405, v / 12.92, curved)

        name = helper(k, ("decode", "to_linear"), (("v", scalar),), decode)
        return name, "v / 12.92 if v < 0.0405 else ((v + 0.055) / 1.055)^2.4"
    if way == "reinhard":
        name = helper(
            k, ("tone", "compress"), (("v", scalar),), lambda _, v: v / (1.0 + fn("abs", v))
        )
        return name, "v / (1 + |v|)"
    if way == "log":
        name = helper(
            k, ("encode", "to_log"), (("v", scalar),), lambda _, v: fn("log2", fn("abs", v) + 0.05)
        )
        return name, "log2(|v| + 0.05)"
    if way == "square":
        name = helper(k, ("decode", "expand"), (("v", scalar),), lambda _, v: v * v)
        return name, "v * v"
    power = 2.2 if way == "gamma_in" else 0.4545
    name = helper(
        k,
        ("gamma", "gamma_curve"),
        (("v", scalar),),
        lambda _, v: fn("pow", fn("abs", v) + 0.001, k.lift(power, scalar)),
    )
    return name, f"(|v| + 0.001)^{power}"


def each(k: KernelBuilder, name: str, v: Expr, vec: Vec, names: Names) -> Var:
    return k.let(names, make(vec, *(k.call(name, v[c]) for c in range(3))))

"""What follows a sum in kernels on arrays: scale, bias, residual, activation, mask; the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build import field as field_of
from generators.kit.pieces import helper
from generators.matrix.large.core import Cells, Names
from generators.program import ir
from generators.program.dtypes import BOOL, Scalar, Type
from generators.program.expr import Expr, Var, literal, op

Build = Callable[[BodyBuilder, Expr], Expr]


def _gelu(b: BodyBuilder, x: Expr) -> Expr:
    inner = b.let("inner arg", 0.7979 * (x + 0.044715 * x * x * x))
    return 0.5 * x * (1.0 + fn("tanh", inner))


def _leaky(_b: BodyBuilder, x: Expr) -> Expr:
    return op("where", x > 0.0, x, 0.1 * x)


def _elu(_b: BodyBuilder, x: Expr) -> Expr:
    return op("where", x > 0.0, x, fn("exp", fn("min", x, 0.0)) - 1.0)


ACTIVATIONS: dict[str, tuple[Names, Build, str]] = {
    "relu": (("relu", "rectify"), lambda _, x: fn("max", x, 0.0), "max(z, 0)"),
    "leaky": (("leaky_relu", "lrelu"), _leaky, "z where z > 0, else 0.1 * z"),
    "elu": (("elu", "elu_act"), _elu, "z where z > 0, else exp(z) - 1"),
    "tanh": (("squash", "tanh_act"), lambda _, x: fn("tanh", x), "tanh(z)"),
    "sigmoid": (("sigmoid", "logistic"), lambda _, x: 1.0 / (1.0 + fn("exp", -x)), "sigmoid(z)"),
    "silu": (("silu", "swish"), lambda _, x: x / (1.0 + fn("exp", -x)), "z * sigmoid(z)"),
    "gelu": (("gelu", "gelu_tanh"), _gelu, "0.5 z (1 + tanh(0.7979 (z + 0.044715 z^3)))"),
    "erf": (
        ("gelu_erf", "exact_gelu"),
        lambda _, x: 0.5 * x * (1.0 + fn("erf", 0.7071 * x)),
        "0.5 z (1 + erf(0.7071 z))",
    ),
    "softplus": (
        ("softplus", "soft_plus"),
        lambda _, x: fn("log", 1.0 + fn("exp", x)),
        "log(1 + exp(z))",
    ),
}

_ORDERS = (
    ("scale", "bias", "activate", "residual", "mask"),
    ("scale", "bias", "residual", "activate", "mask"),
    ("bias", "scale", "activate", "mask"),
    ("scale", "residual", "bias", "activate"),
)
"""What layers of networks do after a product, in the orders in which they do it."""

_PLAIN = (("scale", "mask"), ("residual", "mask"), ("scale", "residual"), ("limit", "mask"))
"""The same for a sum that no activation follows."""

_COUNTS = {1: (0, 1, 1), 2: (1, 2), 3: (2, 3), 4: (2, 3), 5: (3, 4)}


@dataclass
class Ending:
    """A value on its way to the store: nested, or changed in its local; and what is said of it."""

    c: Cells
    level: int
    value: Expr
    nested: bool
    signed: bool = True
    params: Var | None = None
    said: list[str] = field(default_factory=list)
    activation: str = ""

    @property
    def k(self) -> KernelBuilder:
        return self.c.k

    def step(self, name: str, by: Expr, text: str) -> None:
        """One arithmetic step with ``by``."""
        if self.nested or not isinstance(self.value, Var):
            self.value = self.value * by if name == "mul" else self.value + by
        else:
            self.k.augment(self.value, name, by)
        self.said.append(text)

    def held(self, names: Names) -> Var:
        """The value as a local."""
        if not isinstance(self.value, Var):
            self.value = self.k.let(names, self.value)
        return self.value


def finish(
    c: Cells,
    level: int,
    value: Var,
    names: Names,
    *,
    active: bool = True,
    skip: Names = (),
    signed: bool = True,
) -> None:
    """What a library lets follow a sum, in an order that it has; then the store.

    A value that is not ``signed`` is limited from above alone.
    """
    shape = c.k.draw.shape
    order = [s for s in shape.choice(_ORDERS if active else _PLAIN) if s not in skip]
    count = min(shape.choice(_COUNTS[level]), len(order))
    steps = [s for s in order if s in shape.sample(order, count)]
    e = Ending(c, level, value, shape.chance(0.45), signed=signed)
    if level >= 2 and {"scale", "residual"} <= {*steps} and shape.chance(0.5):
        e.params = _params(c)
    for step in steps:
        _STEPS[step](e)
    more = shape.sample(_OFFERS, _EXTRAS[level] if "activate" not in skip else 0)
    if more:
        e.held("value result final")
    target = c.k.out(names, c.scalar, c.dims)
    c.k.store(target, c.at, e.value)
    c.say(f"{target.name} gets it{''.join(f', {text}' for text in e.said)}.")
    for extra in more:
        _also(e, extra)


def _params(c: Cells) -> Var:
    """The two factors of a scaled sum in a struct by value."""
    inits = [ir.FieldInit(n, c.scalar, "uniform", "0.4", "1.4") for n in ("alpha", "beta")]
    name = c.k.name("Epilogue Scales OutputParams Blend")
    struct = c.k.struct(name, *((f.name, f.type) for f in inits))
    return c.k.scalar("params scales cfg", struct, fields=inits)


def _scale(e: Ending) -> None:
    if e.params is not None:
        e.step("mul", field_of(e.params, "alpha"), f"times {e.params.name}.alpha")
    else:
        by, text = e.c.factor("alpha scale", "scales gains", 0.4, 1.6)
        e.step("mul", by, f"times {text}")


def _bias(e: Ending) -> None:
    by, text = e.c.along("bias offsets shift", -0.5, 0.5, e.c.channel)
    e.step("add", by, f"plus {text}")


def _residual(e: Ending) -> None:
    skip, text = e.c.each("skip residual c_in", -1.0, 1.0)
    if e.params is not None:
        skip, text = field_of(e.params, "beta") * skip, f"{e.params.name}.beta * {text}"
    elif e.k.draw.shape.chance(0.5):
        beta = e.k.scalar("beta mix", e.c.scalar, 0.3, 1.2)
        skip, text = beta * skip, f"{beta.name} * {text}"
    e.step("add", skip, f"plus {text}")


def _limit(e: Ending) -> None:
    limit = e.k.scalar("limit bound max_abs", e.c.scalar, 0.5, 0.9)
    if e.signed:
        _set(e, fn("clamp", e.value, -limit, limit))
        e.said.append(f"clamped to [-{limit.name}, {limit.name}]")
    else:
        _set(e, fn("min", e.value, limit))
        e.said.append(f"at most {limit.name}")


def _set(e: Ending, value: Expr) -> None:
    """Replace the value."""
    if e.nested or not isinstance(e.value, Var):
        e.value = value
    else:
        e.k.assign(e.value, value)


def _activate(e: Ending) -> None:
    """Put the value through an activation, inline, as a branch or in a helper."""
    k, shape, level = e.k, e.k.draw.shape, e.level
    if level >= 4 and shape.chance(0.4):
        kept = e.c.write("pre_activation saved linear_out", e.held("pre linear"))
        e.said[-1:] = [f"{e.said[-1]} ({kept.name} gets this)"] if e.said else []
        if not e.said:
            e.c.say(f"{kept.name} gets this sum.")
    kinds = ("relu", "relu", "leaky", "tanh", "sigmoid") if level == 1 else tuple(ACTIVATIONS)
    e.activation = shape.choice(kinds)
    names, build, text = ACTIVATIONS[e.activation]
    if level >= 3 and shape.chance(0.6):
        of: list[tuple[str, Type]] = [("x", e.c.scalar)]
        _set(e, k.call(helper(k, names, of, build), e.value))
    else:
        value = e.held("pre linear x")
        if e.activation == "relu" and shape.chance(0.3):
            with k.if_(value < 0.0):
                k.assign(value, 0.0)
        else:
            e.value = k.let("activated act response", build(k, value))
    e.said.append(f"put through {text}")


def _mask(e: Ending) -> None:
    k, c = e.k, e.c
    way = k.draw.shape.choice(("where", "if", "weight"))
    if way == "weight":
        weight, text = c.along("gates keep_share coverage", 0.2, 1.0)
        e.step("mul", weight, f"times {text}")
        return
    mask = k.array("mask keep valid", BOOL, c.dims)
    if way == "where":
        _set(e, op("where", mask[c.at], e.value, literal(0, c.scalar)))
    else:
        value = e.held("value result")
        with k.if_(op("not", mask[c.at])):
            k.assign(value, 0.0)
    e.said.append(f"but 0 where {mask.name} is false")


_STEPS: dict[str, Callable[[Ending], None]] = {
    "scale": _scale,
    "bias": _bias,
    "residual": _residual,
    "limit": _limit,
    "activate": _activate,
    "mask": _mask,
}
_EXTRAS = {1: 0, 2: 0, 3: 0, 4: 1, 5: 2}


_OFFERS = ("loss", "codes", "sums")


def _also(e: Ending, extra: str) -> None:
    """A second output: how far the result is from a target, its code, or a running sum."""
    k, value = e.k, e.held("value result")
    if extra == "codes":
        step = k.scalar("code_step q_step lsb", e.c.scalar, 0.05, 0.2)
        code = cast(fn("rint", value / step), Scalar(k.draw.shape.choice(("int16", "int32"))))
        out = e.c.write("codes quantised out_q", code)
        e.c.say(f"{out.name} gets the result over {step.name}, rounded.")
        return
    if extra == "sums":
        names = ("running", "total_out", "history")
        sums = k.array(names, e.c.scalar, e.c.dims, role="inout", low=-1.0, high=1.0)
        k.store(sums, e.c.at, value, op="add")
        e.c.say(f"The result is added to {sums.name}, too.")
        return
    goal, text = e.c.each("target wanted labels", -1.0, 1.0)
    error = k.let("error miss off", value - goal)
    out = e.c.write("losses errors_sq loss_out", error * error)
    e.c.say(f"{out.name} gets the square of the result less {text}.")

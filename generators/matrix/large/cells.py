"""Kernels on arrays of two to four dimensions: launches, and what follows a sum in each cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from generators.build import KernelBuilder
from generators.build.docs import listed
from generators.kit.formulas import formulas
from generators.kit.functions import erf, exp, least, log, most, tanh, where
from generators.kit.naming import helper, local
from generators.kit.records import Part, Record, record
from generators.kit.sites import Names
from generators.kit.sources import given
from generators.kit.words import plurals, words
from generators.matrix.parts import Place
from generators.program.dtypes import FLOAT32, Scalar
from generators.program.expr import Expr, Var

NAMES = {
    2: (("i", "j"), ("row", "col")),
    3: (("b", "i", "j"), ("batch", "row", "col")),
}
"""Names of the indices of matrices, and of batches of them."""


@dataclass(frozen=True)
class Cells(Place):
    """One thread for each element of an array, and the sentences said about it so far."""

    scalar: Scalar = FLOAT32
    channel: int | None = None
    """The axis along which a bias runs."""
    said: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.said.append(text)

    @property
    def text(self) -> str:
        return " ".join(self.said)

    def write(self, names: Names, value: Expr, text: str = "") -> None:
        """Store a value in a new output, and say so."""
        self.say(self.gets(names, value, text)[1:])

    def along(self, names: Names, low: float, high: float, axis: int | None = None) -> Expr:
        """An entry of an array along this axis, or one or two of the launch's axes."""
        count = 2 if self.rank > 2 and self.chance(0.4) else 1
        axes = sorted(self.shape.sample(range(self.rank), count)) if axis is None else [axis]
        return self.read(names, self.scalar, low, high, axes=axes)

    def factor(self, names: Names, low: float, high: float) -> Expr:
        """A number that is a parameter, one of each channel where there are any, or a literal."""
        channels = 3 * (self.channel is not None)
        way = self.shape.weighted({"shared": 4, "along": channels, "literal": 1})
        if way == "along":
            return self.along(plurals(words(names)), low, high, self.channel)
        return given(self, names, self.scalar, low, high, forms={way: 1})


def cells(
    k: KernelBuilder,
    scalar: Scalar,
    dims: Sequence[str],
    names: Sequence[tuple[str, ...]],
    channel: int | None = None,
) -> Cells:
    """Launch a thread for each point of ``dims``; ``names`` are sets of names of the indices."""
    at = k.thread(*dims, names=k.draw.word.choice(names))
    return Cells(k, f"{len(dims)}d", tuple(dims), at, scalar=scalar, channel=channel)


_ACTIVATIONS = formulas(
    relu=("relu rectify", lambda z: most(z, 0.0)),
    leaky=("leaky_relu lrelu", lambda z: where(z > 0.0, z, 0.1 * z)),
    tanh=("squash tanh_act", lambda z: tanh(z)),
    sigmoid=("sigmoid logistic", lambda z: 1.0 / (1.0 + exp(-z))),
    elu=("elu elu_act", lambda z: where(z > 0.0, z, exp(least(z, 0.0)) - 1.0)),
    silu=("silu swish", lambda z: z / (1.0 + exp(-z))),
    gelu=(
        "gelu gelu_tanh",
        lambda body, z: (
            0.5 * z * (1.0 + tanh(body.let("inner arg", 0.7978846 * (z + 0.044715 * z * z * z))))
        ),
    ),
    erf=("gelu_erf exact_gelu", lambda z: 0.5 * z * (1.0 + erf(0.70710678 * z))),
    quick=("quick_gelu gelu_sigmoid", lambda z: z / (1.0 + exp(-1.702 * z))),
    softplus=("softplus soft_plus", lambda z: most(z, 0.0) + log(1.0 + exp(-abs(z)))),
)
"""The first four are those of simple kernels."""

_CALLED = {
    "relu": "ReLU",
    "leaky": "leaky ReLU with slope 0.1",
    "tanh": "tanh",
    "sigmoid": "the logistic function",
    "elu": "ELU",
    "silu": "SiLU, z / (1 + exp(-z))",
    "gelu": "GELU in its tanh form, 0.5 z (1 + tanh(0.7978846 (z + 0.044715 z^3)))",
    "erf": "GELU, 0.5 z (1 + erf(z / sqrt(2)))",
    "quick": "the quick GELU, z / (1 + exp(-1.702 z))",
    "softplus": "softplus",
}
"""What the description calls activations."""

_LAYERS = (
    ("bias", "activate"),
    ("scale", "bias", "activate"),
    ("bias", "activate", "residual"),
    ("bias", "residual", "activate"),
    ("scale", "bias", "residual", "activate"),
)
_ORDERS = {
    "layer": _LAYERS[0::2] + _LAYERS[3:4],
    "product": (*_LAYERS, ("scale", "residual"), ("scale", "residual")),
    "dequantised": (("activate",), (), ()),
    "linear": (("scale", "residual"),),
    "plain": ((),),
}
"""What follows a sum, by what the kernel is for, in the orders that are in use.

``product`` is a layer or BLAS' alpha * A * B + beta * C.
"""

_COUNTS = {1: (0, 0, 1), 2: (0, 1, 2), 3: (1, 2), 4: (1, 2, 2), 5: (1, 2, 3)}


@dataclass
class Ending:
    """A value on its way to the store: nested, or changed in its local; and what is said of it."""

    c: Cells
    level: int
    value: Expr
    nested: bool
    params: Record | None = None
    layer: bool = True
    said: list[str] = field(default_factory=list)

    def step(self, name: str, by: Expr) -> None:
        """One arithmetic step with ``by``."""
        if self.nested or not isinstance(self.value, Var):
            self.value = self.value * by if name == "mul" else self.value + by
        else:
            self.c.k.augment(self.value, name, by)
        self.said.append(f"{'multiply by' if name == 'mul' else 'add'} {self.c.tell(by)}")

    def set(self, value: Expr, text: str) -> None:
        """Replace the value."""
        if self.nested or not isinstance(self.value, Var):
            self.value = value
        else:
            self.c.k.assign(self.value, value)
        self.said.append(text)

    def held(self, names: Names) -> Var:
        """The value as a local."""
        self.value = local(self.c.k, names, self.value)
        return self.value


def finish(
    c: Cells,
    level: int,
    value: Var,
    names: Names,
    kind: str = "layer",
) -> None:
    """What a library lets follow a sum of this ``kind``, in an order it has; then the store."""
    order = c.shape.choice(_ORDERS[kind])
    count = min(c.shape.choice(_COUNTS[level]), len(order))
    steps = [s for s in order if s in c.shape.sample(order, count)]
    e = Ending(c, level, value, c.chance(0.45), layer="activate" in order)
    if level >= 2 and {"scale", "residual"} <= {*steps} and c.chance(0.5):
        parts = {n: Part(n, c.scalar, 0.4, 1.4) for n in ("alpha", "beta")}
        e.params = record(c, "Epilogue Scales OutputParams Blend", parts, 1.0, shared=True)
    for step in steps:
        _STEPS[step](e)
    if e.said:
        c.say(f"Then {listed(e.said)}.")
    c.say(f"{c.put(names, e.value).name} gets the result.")


def _channel(e: Ending, names: Names, low: float, high: float) -> Expr:
    """A number of each channel, or one where there are no channels."""
    c = e.c
    if c.channel is None:
        return c.k.scalar(words(names), c.scalar, low, high)
    return c.along(names, low, high, c.channel)


def _scale(e: Ending) -> None:
    if e.params is not None:
        e.step("mul", e.params["alpha"])
    elif e.c.channel is not None and e.c.chance(0.4):
        e.step("mul", _channel(e, "scales channel_scales", 0.4, 1.6))
    else:
        e.step("mul", e.c.k.scalar("alpha scale", e.c.scalar, 0.4, 1.6))


def _residual(e: Ending) -> None:
    weighed = e.params is not None or not e.layer
    names = "c_in c_old" if weighed else "skip residual shortcut"
    skip: Expr = e.c.read(names, e.c.scalar, -1.0, 1.0)
    if e.params is not None:
        skip = e.params["beta"] * skip
    elif weighed:
        skip = e.c.k.scalar("beta", e.c.scalar, 0.3, 1.2) * skip
    e.step("add", skip)


def _activate(e: Ending) -> None:
    """Put the value through an activation, inline, as a branch or in a helper."""
    c, k, level = e.c, e.c.k, e.level
    if level >= 4 and c.chance(0.4):
        kept = c.put("pre_activation pre_act", e.held("pre linear"))
        e.said.append(f"keep that in {kept.name} for the backward pass")
    kinds = (_ACTIVATIONS[0], *_ACTIVATIONS[:4]) if level == 1 else _ACTIVATIONS
    kind = c.shape.choice(kinds)
    text = f"apply {_CALLED[kind.name]}"
    if level >= 3 and c.chance(0.6):
        called = helper(k, kind.outs, [("x", c.scalar)], kind.build)
        e.set(k.call(called, e.value), text)
        return
    value = e.held("pre linear x")
    if kind.name == "relu" and c.chance(0.3):
        with k.if_(value < 0.0):
            k.assign(value, 0.0)
    else:
        e.value = k.let("activated act response", kind.build(k, value))
    e.said.append(text)


_STEPS: dict[str, Callable[[Ending], None]] = {
    "scale": _scale,
    "bias": lambda e: e.step("add", _channel(e, "bias", -0.5, 0.5)),
    "residual": _residual,
    "activate": _activate,
}

"""Gradients that many elements add to one place: embeddings, biases, channel statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT8 = Scalar("uint8")
_RANGES = {
    "batch": (3, 4),
    "tokens": (8, 12),
    "height": (3, 5),
    "width": (4, 5),
    "length": (4, 6),
    "channels": (4, 6),
}


@dataclass(frozen=True)
class Tensor:
    """A tensor with a feature axis, and which of its axes threads stand on; the rest is a loop."""

    k: KernelBuilder
    dims: tuple[str, ...]
    feature: int
    looped: int
    """The axis along which a thread runs; -1 where it has one element."""
    at: Mapping[int, Var]

    def index(self, inner: Var | None = None) -> tuple[Expr, ...]:
        assert inner is not None or self.looped < 0
        return tuple(
            inner if a == self.looped and inner is not None else self.at[a]
            for a in range(len(self.dims))
        )

    def lead(self, inner: Var | None = None) -> tuple[Expr, ...]:
        """The index without that of the feature."""
        return tuple(i for a, i in enumerate(self.index(inner)) if a != self.feature)

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(d for a, d in enumerate(self.dims) if a != self.feature)


def tensor(
    k: KernelBuilder, level: int, feature: str = "channels", inner_feature: bool = False
) -> Tensor:
    """A list of rows, a batch of them, or an image with its channels last or second; a thread may
    run along one of its axes, of a list's along its features alone."""
    shape = k.draw.shape
    ways = {("tokens", feature): 4, ("batch", "tokens", feature): 4}
    if not inner_feature:
        ways[("batch", feature, "length")] = 2
        ways[("batch", feature, "height", "width")] = level // 2
        ways[("batch", "height", "width", feature)] = level // 3
    dims = shape.weighted(ways)
    for d in dims:
        low, high = _RANGES.get(d, (4, 6))
        k.size(d, *((low, high) if d != "tokens" or len(dims) > 2 else (18, 28)))
    at_feature = dims.index(feature)
    others = [a for a in range(len(dims)) if a != at_feature and dims[a] != "batch"]
    if inner_feature:
        others = [at_feature]
    elif len(dims) < 3:
        others = []
    looped = -1
    # Features lie side by side, so that they seldom share a thread.
    if others and level > 1 and shape.chance(0.08 if inner_feature else 0.35):
        looped = shape.choice(others)
    words = {
        "batch": "b n",
        "tokens": "t tok",
        "height": "y h",
        "width": "x w",
        "length": "l x",
        feature: "c ch f",
    }
    standing = [a for a in range(len(dims)) if a != looped]
    threads = k.thread(
        *(dims[a] for a in standing), names=[k.name(words[dims[a]]) for a in standing]
    )
    return Tensor(k, dims, at_feature, looped, dict(zip(standing, threads, strict=True)))


def _token_factor(t: Tensor) -> tuple[Callable[[Expr, Var | None, Var], Expr], str]:
    """What the gradient of a token is multiplied with or divided by; in words."""
    k = t.k
    way = k.draw.shape.weighted({"plain": 4, "scale": 3, "weights": 2, "counts": 2})
    if way == "plain":
        return lambda g, _inner, _token: g, ""
    if way == "scale":
        scale = k.scalar("grad_scale inv_count", FLOAT32, 0.2, 0.8)
        return lambda g, _inner, _token: scale * g, f" times {scale.name}"
    if way == "weights":
        weights = k.array("token_weights loss_mask", FLOAT32, t.rows, low=0.2, high=1.0)
        said = f" times the token's {weights.name}"
        return lambda g, inner, _token: weights[t.lead(inner)] * g, said
    counts = k.array("token_counts", INT32, "vocab", low=1, high=6)
    said = f", divided by {counts.name} of its id,"
    return lambda g, _inner, token: g / cast(counts[token], FLOAT32), said


@idiom(depth=2)
def embedding_gradient(k: KernelBuilder, level: int) -> Title:
    """Gradients of rows of a table added up over the tokens that took them."""
    shape = k.draw.shape
    t = tensor(k, level, "features", inner_feature=True)
    padded = shape.chance(0.3)
    k.size("vocab", 6, 8, minimum=5 if padded else 1)
    if padded:
        ids = k.array("token_ids ids", INT32, t.rows, low=-2, high=4)
    else:
        ids = k.array("token_ids ids", INT32, t.rows, init="index_of:vocab")
    dy = k.array("grad_out dy", FLOAT32, t.dims, low=-1.0, high=1.0)
    weighted, factor = _token_factor(t)
    whole = ("vocab", "features")
    table = k.accumulator("grad_table dweight grad_embed", FLOAT32, whole)

    own = tuple(t.at[a] for a in range(len(t.dims)) if a != t.feature)
    token = k.let("token row_id", ids[own])
    if padded:
        with k.if_(token < 0):
            k.return_()

    def add(inner: Var | None) -> None:
        value = weighted(dy[t.index(inner)], inner, token)
        if shape.chance(0.4):
            value = k.let("g grad", value)
        feature = t.index(inner)[t.feature]
        k.atomic("add", table, (token, feature), value)

    _along(t, dy, add)
    text = (
        f"Backward pass of an embedding: add each token's row of {dy.name}{factor} to the row of "
    )
    text += f"{table.name} that {ids.name} names for the token."
    text += f" Tokens whose {ids.name} are negative are padding and left out." if padded else ""
    return Title(k.name("embedding_backward embedding_grad scatter_embedding_grad"), text)


def _along(t: Tensor, x: Var, add: Callable[[Var | None], None]) -> None:
    """Do it for a thread's element, or for each along the axis that it runs along."""
    if t.looped < 0:
        add(None)
        return
    with t.k.for_("s e inner", extent(x, t.looped)) as inner:
        add(inner)


@idiom(depth=4)
def channel_statistics(k: KernelBuilder, level: int) -> Title:
    """Batch norm: sums over all but the channels, of values and squares or of gradients."""
    shape = k.draw.shape
    t = tensor(k, level)
    backward = shape.chance(0.45)
    x = k.array("x inputs activations", FLOAT32, t.dims, low=-1.0, high=2.0)
    dims = "channels"
    dy = k.array("dy grad_out", FLOAT32, t.dims, low=-1.0, high=1.0) if backward else None
    means = rstd = mask = None
    if backward or shape.chance(0.4):
        means = k.array("means batch_mean", FLOAT32, dims, low=0.2, high=0.8)
    if backward:
        rstd = k.array("inv_stds rstd", FLOAT32, dims, low=0.5, high=1.5)
    # Statistics are kept in single precision where activations lie in half.
    k.exact |= {a.name for a in (means, rstd) if a is not None}
    if shape.chance(0.3):
        mask = k.array("mask valid", UINT8 if shape.chance(0.5) else INT32, t.rows, low=0, high=1)
    names = (
        ["grad_bias dbeta", "grad_gain dgamma"]
        if backward
        else ["sums sum_x", "sq_sums sum_sq" if means is None else "sq_dev_sums sum_sq_dev"]
    )
    if means is not None and (not backward or shape.chance(0.3)):
        names = names[1:]
    outs = [k.accumulator(n, FLOAT32, dims) for n in names]
    parts = _Parts(t, x, dy, means, rstd, alone=len(outs) == 1)
    _summed(t, x, mask, outs, parts)
    return _told(k, backward, outs, x, (means, dy, rstd, mask))


def _summed(t: Tensor, x: Var, mask: Var | None, outs: list[Var], parts: _Parts) -> None:
    """Add a thread's element to the sums, or what it sums first along the axis of its loop."""
    k = t.k
    if t.looped < 0:
        if mask is not None:
            with k.if_(fn("eq", mask[t.lead()], 0)):
                k.return_()
        for out, part in zip(outs, parts.of(None), strict=True):
            k.atomic("add", out, t.at[t.feature], part)
        return
    totals = [k.let(n, k.lift(0.0, FLOAT32)) for n in ("total", "total_sq")[: len(outs)]]
    with k.for_("s e inner", extent(x, t.looped)) as inner:
        if mask is not None:
            with k.if_(fn("eq", mask[t.lead(inner)], 0)):
                k.continue_()
        for total, part in zip(totals, parts.of(inner), strict=True):
            k.augment(total, "add", part)
    for out, total in zip(outs, totals, strict=True):
        k.atomic("add", out, t.at[t.feature], total)


@dataclass(frozen=True)
class _Parts:
    """What an element adds to the sums of its channel."""

    t: Tensor
    x: Var
    dy: Var | None
    means: Var | None
    rstd: Var | None
    alone: bool

    def of(self, inner: Var | None) -> list[Expr]:
        k, at, c = self.t.k, self.t.index(inner), self.t.at[self.t.feature]
        value: Expr = self.x[at]
        if self.dy is None or self.means is None or self.rstd is None:
            value = value if self.means is None else value - self.means[c]
            v = k.let("value" if self.means is None else "centred", value)
            return [v * v] if self.alone else [v, v * v]
        unit: Expr = (value - self.means[c]) * self.rstd[c]
        unit = k.let("x_hat normed", unit) if k.draw.shape.chance(0.5) else unit
        if self.alone:
            return [self.dy[at] * unit]
        g = k.let("g grad", self.dy[at])
        return [g, g * unit]


def _told(
    k: KernelBuilder, backward: bool, outs: list[Var], x: Var, used: tuple[Var | None, ...]
) -> Title:
    means, dy, rstd, mask = used
    unless = "" if mask is None else f" Positions whose {mask.name} is 0 are left out."
    if backward and means is not None and dy is not None and rstd is not None:
        unit = f"{dy.name} * ({x.name} - {means.name}) * {rstd.name}"
        if len(outs) == 1:
            text = (
                f"Batch norm, gradient of the gain: sum {unit} of each channel into {outs[0].name}."
            )
        else:
            text = (
                f"Batch norm, gradients of bias and gain: sum {dy.name} and {unit} of each channel "
            )
            text += f"into {outs[0].name} and {outs[1].name}."
        return Title(
            k.name("batch_norm_grad_sums norm_backward_sums bn_reduce_grad"), text + unless
        )
    if means is not None:
        text = (
            f"Batch norm, second pass of the variance: sum ({x.name} - {means.name})^2 over each "
        )
        text += f"channel into {outs[0].name}."
        return Title(k.name("batch_norm_variance channel_deviations"), text + unless)
    text = (
        f"Batch norm statistics: sum {x.name} and its square over each channel into {outs[0].name} "
    )
    text += f"and {outs[1].name}."
    return Title(k.name("batch_norm_sums channel_moments bn_reduce"), text + unless)

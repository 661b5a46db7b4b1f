"""Norms of a token's features with what is fused into them: residuals, gains, activations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent
from generators.build.registry import Title, idiom
from generators.kit.functions import most, sqrt
from generators.kit.text import written
from generators.matrix.learning.gates import SAID, activated
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class _Token:
    """A thread's token, or its group of channels: where its features lie and how many there are."""

    k: KernelBuilder
    at: tuple[Expr, ...]
    dims: tuple[str, ...]
    x: Var
    count: Expr
    first: Expr | None
    loop: str

    def place(self, c: Operand) -> tuple[Operand, ...]:
        return index(*self.at, c)

    @contextmanager
    def channels(self) -> Iterator[Var]:
        """A pass over the features."""
        self.k.used.discard(self.loop)
        with self.k.for_(self.loop, self.count) as c:
            yield c

    def channel(self, c: Var) -> Expr:
        """Where a channel of this group lies among all."""
        return c if self.first is None else self.k.let("at col ch", self.first + c)


def _token(k: KernelBuilder, level: int) -> _Token:
    """Rows of tokens, of batches of tokens, or groups of channels of tokens."""
    shape = k.draw.shape
    batched = level > 1 and shape.chance(0.5)
    grouped = level > 2 and shape.chance(0.35)
    dims = ("batch", "tokens") if batched else ("tokens",)
    for name, low, high in (("batch", 3, 4), ("tokens", 12, 24))[not batched :]:
        k.size(name, low, high)
    names = (k.name("b batch_id"), k.name("t token")) if batched else (k.name("t token row"),)
    if not grouped:
        k.size("features", 6, 12)
        at = k.thread(*dims, names=names)
        x = k.array("x hidden inputs", FLOAT32, (*dims, "features"), low=-2.0, high=2.0)
        return _Token(k, at, dims, x, extent(x, len(dims)), None, k.name("c j f"))
    k.size("groups", 2, 3)
    k.size("width", 4, 6)
    threads = k.thread(*dims, "groups", names=(*names, k.name("g group")))
    at, g = threads[:-1], threads[-1]
    x = k.array("x hidden inputs", FLOAT32, (*dims, "groups*width"), low=-2.0, high=2.0)
    width = k.size_param("width group_size", "width")
    return _Token(k, at, dims, x, width, k.let("first start", g * width), k.name("c j f"))


@dataclass(frozen=True)
class _Pre:
    """The value that is normalised: the input, or its sum with a residual stream that is stored."""

    t: _Token
    residual: Var | None
    stream: Var | None

    def first_time(self, at: tuple[Operand, ...]) -> Expr:
        """The value as the first pass makes it."""
        value: Expr = self.t.x[at]
        if self.residual is None or self.stream is None:
            return value
        made = self.t.k.let("h summed", value + self.residual[at])
        self.t.k.store(self.stream, at, made)
        return made

    def again(self, at: tuple[Operand, ...]) -> Expr:
        return self.t.x[at] if self.stream is None else self.stream[at]


def _statistics(t: _Token, pre: _Pre, kind: str, eps: Expr) -> tuple[Expr | None, Var]:
    """The mean, where one is taken away, and the factor that brings the rest to unit size."""
    k, shape = t.k, t.k.draw.shape
    size = cast(t.count, FLOAT32)
    mean: Var | None = None
    single = kind == "rms" or shape.chance(0.15)
    if kind == "layer":
        mean = k.let("mean mu", k.lift(0.0, FLOAT32))
    squares = k.let("squares sum_sq ss", k.lift(0.0, FLOAT32)) if single else None
    with t.channels() as c:
        value = pre.first_time(t.place(t.channel(c)))
        if squares is not None and not isinstance(value, Var):
            value = k.let("x_c entry", value)
        if mean is not None:
            k.augment(mean, "add", value)
        if squares is not None:
            k.augment(squares, "add", value * value)
    if mean is not None:
        k.augment(mean, "div", size)
    if squares is None:
        assert mean is not None
        squares = k.let("sq_dev var_sum", k.lift(0.0, FLOAT32))
        k.used.discard(t.loop)
        with t.channels() as c:
            centred = k.let("centred d", pre.again(t.place(t.channel(c))) - mean)
            k.augment(squares, "add", centred * centred)
        variance: Expr = squares / size
    else:
        variance = squares / size
        # The difference of two large numbers may round to less than zero.
        variance = variance if mean is None else most(variance - mean * mean, 0.0)
    if shape.chance(0.3):
        variance = k.let("variance var", variance)
    names = "rstd inv_rms" if kind == "rms" else "rstd inv_std"
    return mean, k.let(names, 1.0 / sqrt(variance + eps))


def _gain(k: KernelBuilder, size: str, kind: str) -> tuple[Callable[[Expr, Expr], Expr], str]:
    """What scales a normalised feature: its gain, one plus its weight, or nothing; in words."""
    way = k.draw.shape.weighted({"gain": 5, "offset": 2 * (kind == "rms"), "none": 1})
    if way == "none":
        return lambda value, _at: value, ""
    if way == "gain":
        gain = k.array("gain weight gamma", FLOAT32, size, low=0.5, high=1.5)
        return lambda value, at: value * gain[at], f", multiply by {gain.name}"
    weight = k.array("weight offsets", FLOAT32, size, low=-0.5, high=0.5)
    return lambda value, at: value * (1.0 + weight[at]), f", multiply by 1 + {weight.name}"


def _residual(k: KernelBuilder, t: _Token, level: int, whole: tuple[str, ...]) -> _Pre:
    """Often from level 2 on: a residual stream to add, and where the sum goes."""
    if level < 2 or not k.draw.shape.chance(0.3 + 0.1 * level):
        return _Pre(t, None, None)
    residual = k.array("residual skip", FLOAT32, whole, low=-1.0, high=1.0)
    return _Pre(t, residual, k.out("stream summed_out new_residual", FLOAT32, whole))


def _kept(k: KernelBuilder, level: int, factor: Var) -> str:
    """Often from level 4 on: what the backward pass reads again, and the sentence on it."""
    if level < 4 or not k.draw.shape.chance(0.5):
        return ""
    kept = k.out(f"{factor.name}_out {factor.name}s", FLOAT32, k.launch_dim)
    k.store(kept, tuple(Var(name, INT32) for name in k.threads), factor)
    return f" {kept.name} keeps the reciprocal of that root for the backward pass."


def _told(t: _Token, pre: _Pre, kind: str, eps: Expr) -> str:
    """Of what, over what and by what features are normalised."""
    unit = "each group of channels of a token" if t.first is not None else "each token"
    name = {"rms": "RMS norm", "layer": "Layer norm"}[kind]
    name = "Group norm" if kind == "layer" and t.first is not None else name
    if pre.residual is not None and pre.stream is not None:
        text = f"Add {pre.residual.name} to {t.x.name}, keep the sum in {pre.stream.name}, and take"
        text += f" its {name[0].lower() if kind == 'layer' else name[0]}{name[1:]} over {unit}"
    else:
        text = f"{name} of {t.x.name} over the features of {unit}"
    if kind == "rms":
        return f"{text}: divide by sqrt(mean of squares + {written(eps)})"
    return f"{text}: subtract the mean and divide by sqrt(variance + {written(eps)})"


@idiom
def fused_norm(k: KernelBuilder, level: int) -> Title:
    """RMS, layer or group norm of tokens, fused with a residual sum, gains and an activation."""
    shape = k.draw.shape
    t = _token(k, level)
    kind = shape.choice(("rms", "layer"))
    eps: Expr = k.lift(k.draw.value.choice((1.0e-5, 1.0e-6)), FLOAT32)
    if shape.chance(0.5):
        eps = k.scalar("eps", FLOAT32, 0.001, 0.01)
    whole = (*t.dims, "groups*width" if t.first is not None else "features")
    pre = _residual(k, t, level, whole)
    mean, factor = _statistics(t, pre, kind, eps)
    gain, gained = _gain(k, whole[-1], kind)
    text = _told(t, pre, kind, eps) + gained
    bias = None
    if kind == "layer" and gained and shape.chance(0.8):
        bias = k.array("bias beta", FLOAT32, whole[-1], low=-0.5, high=0.5)
        text += f", add {bias.name}"
    acts = level > 2 and kind == "layer" and gained and shape.chance(0.4)
    way = shape.choice(("silu", "gelu", "relu")) if acts else ""
    out = k.out("out normed y", FLOAT32, whole)
    with t.channels() as c:
        column = t.channel(c)
        value = pre.again(t.place(column))
        value = gain((value if mean is None else value - mean) * factor, column)
        value = value if bias is None else value + bias[column]
        k.store(out, t.place(column), activated(k, way, value) if way else value)
    text += f", and apply {SAID[way]}. " if way else ". "
    text += f"{out.name} gets the result.{_kept(k, level, factor)}"
    name = "group_norm" if kind == "layer" and t.first is not None else f"{kind}_norm"
    fused = f"fused_add_{name}" if pre.stream is not None else f"{name}_forward"
    return Title(k.name(fused, fused if pre.stream is not None else name), text)

"""Positional encodings of attention: sinusoids, rotations, distance biases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var


@dataclass
class Grid:
    """A launch over positions and channels or pairs, batched or not; its scalar type."""

    k: KernelBuilder
    level: int
    type: Scalar
    lead: tuple[Var, ...]
    pos: Var
    col: Var
    dims: tuple[str, ...]
    pad: str = ""

    @property
    def at(self) -> tuple[Var, ...]:
        return (*self.lead, self.pos, self.col)


def grid_of(k: KernelBuilder, level: int, columns: tuple[str, ...]) -> Grid:
    shape = k.draw.shape
    batched = shape.chance(0.3 if level < 3 else 0.5)
    dims = (k.size("seq", 7, 10), k.size("dim", 6, 9))
    rows = k.draw.word.choice(("pos", "t", "token", "p"))
    names = [k.name(rows), k.name(*columns)]
    if batched:
        dims = (k.size("batch", 2, 3), *dims)  # type: ignore[assignment]
        names.insert(0, k.name("b", "batch_idx", "head"))
    threads = k.thread(*dims, names=names)
    type_ = k.draw.wide_float_type()
    return Grid(k, level, type_, threads[:-2], threads[-2], threads[-1], dims)


def position(g: Grid) -> tuple[Expr, str]:
    """The position: its index, with an offset, or read from an array; and what it is."""
    k, shape = g.k, g.k.draw.shape
    how = shape.choice(("index", "offset", "array", "float array"))
    names = ("position", "at_pos", "where_pos")
    if how == "index":
        return k.let(names, cast(g.pos, g.type)), g.pos.name
    if how == "offset":
        start = k.scalar(("start_pos", "offset", "cache_len"), INT32, 1, 6)
        return k.let(names, cast(g.pos + start, g.type)), f"({g.pos.name} + {start.name})"
    per_batch = bool(g.lead) and shape.chance(0.5)
    dims = g.dims[:-1] if per_batch else g.dims[-2:-1]
    index = g.at[:-1] if per_batch else (g.pos,)
    if how == "array":
        ids = k.array(("position_ids", "pos_ids"), INT32, dims, low=0, high=12)
        return k.let(names, cast(ids[index], g.type)), ids.name
    floats = k.array(("coords", "timestamps", "positions"), g.type, dims, low=0.0, high=8.0)
    return k.let(names, floats[index]), floats.name


def base_of(g: Grid) -> tuple[Operand, str]:
    if g.k.draw.shape.chance(0.5):
        base = g.k.scalar(("base", "theta", "max_period"), g.type, 50.0, 500.0)
        return base, base.name
    value = g.k.draw.value.choice((100.0, 1000.0, 10000.0))
    return value, str(value)


def rate_of(g: Grid, index: Expr, count: Expr, base: Operand) -> Expr:
    """``base`` to the power of minus the index over the count, by pow or by exp."""
    k = g.k
    if k.draw.shape.chance(0.3):
        names = ("inv_freq", "angular_rate")
        share = ("index", g.type), ("count", g.type), ("base", g.type)

        def build(b: BodyBuilder, i: Expr, n: Expr, base_in: Expr) -> Expr:
            return fn("exp", -fn("log", base_in) * i / n)

        call = helper(k, names, share, build)
        return k.call(call, index, count, k.lift(base, g.type))
    lifted = k.lift(base, g.type)
    if k.draw.shape.chance(0.5):
        return fn("pow", lifted, -index / count)
    return fn("exp", -fn("log", lifted) * (index / count))


def padded(g: Grid, outs: list[Var]) -> None:
    """At high levels: zeros for positions that are padding, and nothing more for these."""
    k = g.k
    if g.level < 4:
        return
    keep = k.array(("keep", "not_pad", "token_mask"), INT32, g.dims[-2], low=0, high=1)
    g.pad = keep.name
    with k.if_(fn("eq", keep[g.pos], 0)):
        for out in outs:
            k.store(out, g.at, 0.0)
        k.return_()


def pad_text(g: Grid) -> str:
    return f"; positions where {g.pad} is 0 get zeros" if g.pad else ""


def angle_of(g: Grid, index: Expr) -> tuple[Var, str]:
    """The angle of a position in the channel pair ``index``."""
    k = g.k
    where, text = position(g)
    base, base_text = base_of(g)
    width = k.size_param(("dim", "width", "num_channels"), "dim")
    rate = k.let(("rate", "freq", "inv_freq"), rate_of(g, index, cast(width, g.type), base))
    angle = k.let(("angle", "phase", "arg"), where * rate)
    return angle, f"{text} * {base_text}^(-index / {width.name})"


def _sinusoid(g: Grid) -> tuple[str, str]:
    """Sines in even channels and cosines in odd ones, or in the halves."""
    k, shape = g.k, g.k.draw.shape
    out = k.out(("out", "encoding", "encoded"), g.type, g.dims)
    padded(g, [out])
    odd = k.let(("odd", "parity"), g.col % 2)
    index = k.let(("index", "pair_pos"), cast(g.col - odd, g.type))
    angle, text = angle_of(g, index)
    added = g.level >= 2 and shape.chance(0.6)
    x = (
        k.array(("x", "embeddings", "tokens"), g.type, g.dims, low=-1.0, high=1.0)
        if added
        else None
    )
    scale: Operand | None = None
    if g.level >= 3:
        scale = k.scalar(("scale", "amplitude"), g.type, 0.5, 1.5)
    done = f"With index {g.col.name} less its parity and angle = {text}: sin(angle) in even "
    done += f"channels {g.col.name}, cos(angle) in odd ones"

    def stored(value: Expr) -> Expr:
        if scale is not None:
            value = scale * value
        return value if x is None else x[g.at] + value

    if shape.chance(0.4):
        value = fn("where", fn("eq", odd, 0), fn("sin", angle), fn("cos", angle))
        k.store(out, g.at, stored(value))
    elif shape.chance(0.5):
        with k.if_(fn("eq", odd, 0)):
            k.store(out, g.at, stored(fn("sin", angle)))
        with k.else_():
            k.store(out, g.at, stored(fn("cos", angle)))
    else:
        shift = k.let(("shift", "quarter"), 1.5707963 * cast(odd, g.type))
        k.store(out, g.at, stored(fn("sin", angle + shift)))
    done += f", times {scale.name}" if isinstance(scale, Var) else ""
    done += f", added to {x.name}" if x is not None else ""
    return f"{done}; stored in {out.name}{pad_text(g)}.", "sinusoidal_encoding"


_PAIRS = (("x_even", "x_odd"), ("re", "im"), ("first", "second"))
_QUERY_KEY = (("q_even", "q_odd"), ("k_even", "k_odd"))


def _rotary(g: Grid) -> tuple[str, str]:
    """Pairs of channels turned by the angle of their position, queries and keys alike."""
    k, shape = g.k, g.k.draw.shape
    both = g.level >= 4 and shape.chance(0.8)
    pairs = _QUERY_KEY if both else (k.draw.word.choice(_PAIRS),)
    arrays = [[k.array(n, g.type, g.dims, low=-1.0, high=1.0) for n in pair] for pair in pairs]
    outs = [[k.out(f"{n}_out", g.type, g.dims) for n in pair] for pair in pairs]
    padded(g, [out for pair in outs for out in pair])
    doubled = shape.chance(0.6)
    index = k.let(("index", "pair_pos"), cast(2 * g.col if doubled else g.col, g.type))
    angle, text = angle_of(g, index)
    back = shape.chance(0.3)
    s, c = k.let(("s", "sine"), fn("sin", angle)), k.let(("c", "cosine"), fn("cos", angle))
    gate = None
    if g.level >= 3 and shape.chance(0.6):
        gate = k.scalar(("rotary_pairs", "num_rotated"), INT32, 3, 5)
    for pair, stores in zip(arrays, outs, strict=True):
        stem = pair[0].name[0]
        a, b = k.let(f"{stem}0", pair[0][g.at]), k.let(f"{stem}1", pair[1][g.at])
        turned = (a * c + b * s, b * c - a * s) if back else (a * c - b * s, a * s + b * c)
        _store_pair(g, stores, (turned, (a, b)), gate)
    shown = " and ".join(f"({pair[0].name}, {pair[1].name})" for pair in arrays)
    done = f"Turn each pair {shown} by {'minus ' if back else ''}the angle {text}, index = "
    done += f"{'2 * ' if doubled else ''}{g.col.name}" + pad_text(g)
    done += f"; pairs from {gate.name} on are copied." if gate is not None else "."
    return done, "rotary_embedding"


def _store_pair(
    g: Grid, outs: list[Var], values: tuple[tuple[Expr, Expr], tuple[Var, Var]], gate: Var | None
) -> None:
    """Store the turned pair, or the pair itself beyond the rotated channels."""
    k = g.k
    turned, copied = values
    if gate is None:
        for out, value in zip(outs, turned, strict=True):
            k.store(out, g.at, value)
        return
    with k.if_(g.col < gate):
        for out, value in zip(outs, turned, strict=True):
            k.store(out, g.at, value)
    with k.else_():
        for out, same in zip(outs, copied, strict=True):
            k.store(out, g.at, same)


def _slope(g: Grid) -> tuple[Expr, str]:
    """How fast scores fall: a parameter, or one for each head."""
    k = g.k
    if g.lead and k.draw.shape.chance(0.6):
        slopes = k.array(("slopes", "head_slopes"), g.type, g.dims[0], low=0.1, high=0.8)
        return slopes[g.lead[0]], f"{slopes.name}[{g.lead[0].name}]"
    slope = k.scalar(("slope", "decay"), g.type, 0.1, 0.8)
    return slope, slope.name


def _bias(g: Grid) -> tuple[str, str]:
    """Scores with a bias that falls with the distance of query and key."""
    k, shape = g.k, g.k.draw.shape
    scores = k.array(("scores", "logits", "qk"), g.type, g.dims, low=-2.0, high=2.0)
    out = k.out(("out", "biased", "scores_out"), g.type, g.dims)
    padded(g, [out])
    causal = g.level >= 3 or shape.chance(0.5)
    gap = k.let(("gap", "dist", "offset"), g.pos - g.col)
    form = shape.choice(("linear", "log", "window", "gauss"))
    far = k.let(("far", "distance"), cast(fn("abs", gap), g.type))
    slope, slope_text = _slope(g)
    forms: dict[str, tuple[Callable[[], Expr], str]] = {
        "linear": (lambda: -slope * far, f"-{slope_text} * d"),
        "log": (lambda: -slope * fn("log", 1.0 + far), f"-{slope_text} * log(1 + d)"),
        "window": (
            lambda: slope * fn("cos", 0.4 * fn("min", far, 4.0)),
            f"{slope_text} * cos(0.4 * min(d, 4))",
        ),
        "gauss": (lambda: -slope * far * far / 8.0, f"-{slope_text} * d * d / 8"),
    }
    bias = k.let(("bias", "penalty"), forms[form][0]())
    value: Expr = scores[g.at] + bias
    squash = ""
    if g.level >= 2 and shape.chance(0.5):
        cap = k.scalar(("soft_cap", "cap"), g.type, 2.0, 6.0)
        value = k.let(("capped", "squashed"), cap * fn("tanh", value / cap))
        squash = f", then squash by {cap.name} * tanh(v / {cap.name})"
    done = f"Add {forms[form][1]} to {scores.name}, d = |{g.pos.name} - {g.col.name}|"
    done += squash
    if causal:
        fill = k.draw.value.choice((-10.0, -20.0, -8.0))
        if shape.chance(0.5):
            value = fn("where", gap < 0, k.lift(fill, g.type), value)
            k.store(out, g.at, value)
        else:
            with k.if_(gap < 0):
                k.store(out, g.at, fill)
            with k.else_():
                k.store(out, g.at, value)
        done += f"; keys after the query ({g.col.name} > {g.pos.name}) get {fill}"
    else:
        k.store(out, g.at, value)
    return f"{done}{pad_text(g)}.", "distance_bias"


@idiom
def positional_encoding(k: KernelBuilder, level: int) -> Title:
    """Sinusoids, rotations and distance biases by position, in two or three dimensions."""
    form = k.draw.shape.choice((_sinusoid, _rotary, _bias))
    columns = {_bias: ("key", "kpos"), _rotary: ("pair", "half_ch")}.get(form, ("chan", "ch"))
    done, name = form(grid_of(k, level, columns))
    return Title(k.name(name, f"{name}_kernel", f"apply_{name}"), done)

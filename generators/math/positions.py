"""Positional encodings of attention: sinusoids, rotations, distance biases."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.math.position_grid import Grid, angle_of, grid_of, pad_text, padded
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Operand, Var


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
    g: Grid,
    outs: list[Var],
    values: tuple[tuple[Expr, Expr], tuple[Var, Var]],
    gate: Var | None,
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

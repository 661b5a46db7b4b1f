"""Positional encodings of attention: sinusoids, rotations, distance biases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import HALF_PI, cos, exp, log, sin, sqrt, tanh, where
from generators.kit.naming import applied
from generators.kit.sites import Site, over
from generators.kit.sources import given
from generators.kit.words import listed, say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass
class Grid:
    """A launch over positions and channels or pairs, batched or not; its scalar type."""

    s: Site
    level: int
    type: Scalar
    pos: Var
    col: Var

    @property
    def batched(self) -> bool:
        return self.s.rank == 3

    def store(self, outs: Sequence[Var], values: Sequence[Expr | float]) -> None:
        for out, value in zip(outs, values, strict=True):
            self.s.k.store(out, self.s.at, value)


def _grid(k: KernelBuilder, level: int, columns: str) -> Grid:
    batched = k.draw.shape.chance(0.3 if level < 3 else 0.5)
    pairs = "key" in columns
    k.size("seq", 7, 10)
    size = "keys" if pairs else "half_dim" if "pair" in columns else "dim"
    k.size(size, 6, 9)
    first = ("query", "q", "qpos") if pairs else ("pos", "t", "token")
    names = [k.draw.word.choice(first), k.draw.word.choice(columns.split())]
    dims = f"seq {size}"
    if batched:
        outer = k.size("heads" if pairs else "batch", 2, 3)
        lead = ("head", "h") if pairs else ("b", "batch_idx")
        dims, names = f"{outer} {dims}", [k.draw.word.choice(lead), *names]
    s = over(k, dims, names)
    *_, pos, col = s.at
    assert isinstance(pos, Var)
    assert isinstance(col, Var)
    return Grid(s, level, k.draw.wide_float_type(), pos, col)


def _position(g: Grid) -> tuple[Expr, str]:
    """The position: its index, with an offset, or read from an array; and what it is."""
    k, shape = g.s.k, g.s.k.draw.shape
    how = shape.choice(("index", "offset", "array", "float array"))
    found: Expr = g.pos
    if how == "offset":
        found = g.pos + k.scalar("start_pos offset cache_len", INT32, 1, 6)
    elif how != "index":
        axes = (0, 1) if g.batched and shape.chance(0.5) else (g.s.rank - 2,)
        if how == "array":
            found = g.s.read("position_ids pos_ids", INT32, 0, 12, axes=axes)
        else:
            found = g.s.read("positions token_positions", g.type, 0.0, 8.0, axes=axes)
    text = say(k, found)
    text = f"({text})" if how == "offset" else text
    value = found if found.type == g.type else cast(found, g.type)
    return k.let("position pos_f", value), text


def _rate(g: Grid, index: Expr, count: Expr, base: Expr) -> Expr:
    """``base`` to the power of minus the index over the count, by pow or by exp."""

    def by_exp(_: BodyBuilder, i: Expr, n: Expr, base_in: Expr) -> Expr:
        return exp(-log(base_in) * i / n)

    if g.s.k.draw.shape.chance(0.3):
        args = {"index": index, "count": count, "base": base}
        return applied(g.s.k, 1.0, "inv_freq angular_rate", args, by_exp)
    if g.s.k.draw.shape.chance(0.5):
        return base ** (-index / count)
    return exp(-log(base) * (index / count))


def _angle(g: Grid, index: Expr, width: Expr) -> tuple[Var, str]:
    """The angle of a position in the channel pair ``index`` of so many."""
    k = g.s.k
    place, text = _position(g)
    if k.draw.shape.chance(0.5):
        base: Expr = k.scalar("base max_period", g.type, 50.0, 500.0)
    else:
        base = k.lift(k.draw.value.choice((10000.0, 10000.0, 500000.0)), g.type)
    rate = k.let("rate freq inv_freq", _rate(g, index, cast(width, g.type), base))
    angle = k.let("angle phase arg", place * rate)
    shown = "index" if g.s.dims[-1] == "dim" else g.col.name
    return angle, f"{text} * {say(k, base)}^(-{shown} / {say(k, width)})"


def _sinusoid(g: Grid) -> tuple[str, str]:
    """Sines in even channels and cosines in odd ones, or in the halves."""
    s, k, shape = g.s, g.s.k, g.s.k.draw.shape
    out = s.out("out encoding encoded", g.type)
    odd = k.let("odd parity", g.col % 2)
    width = k.size_param("dim width num_channels", "dim")
    angle, text = _angle(g, k.let("index even_channel", cast(g.col - odd, g.type)), width)
    added = g.level >= 2 and shape.chance(0.6)
    x = s.read("x embeddings tokens", g.type, -1.0, 1.0) if added else None
    scale = k.scalar("scale", g.type, 0.5, 1.5) if added and shape.chance(0.4) else None
    done = f"Sinusoidal position encoding. With index = {g.col.name} less its parity and angle = "
    done += f"{text}, the encoding is sin(angle) in even channels and cos(angle) in odd ones"

    def store(value: Expr) -> None:
        value = value if scale is None else scale * value
        g.store([out], [value if x is None else x + value])

    if shape.chance(0.4):
        store(where(fn("eq", odd, 0), sin(angle), cos(angle)))
    elif shape.chance(0.5):
        with k.if_(fn("eq", odd, 0)):
            store(sin(angle))
        with k.else_():
            store(cos(angle))
    else:
        shift = k.let("shift quarter", HALF_PI * cast(odd, g.type))
        store(sin(angle + shift))
    done += f"; it is multiplied by {scale.name}" if scale is not None else ""
    done += (
        f"{' and' if scale is not None else '; it is'} added to {say(k, x)}"
        if x is not None
        else ""
    )
    return f"{done}; stored in {out.name}.", "sinusoidal_encoding"


def _rotary(g: Grid) -> tuple[str, str]:
    """Pairs of channels turned by the angle of their position, queries and keys alike."""
    s, k, shape = g.s, g.s.k, g.s.k.draw.shape
    both, in_place = g.level >= 3 and shape.chance(0.6), shape.chance(0.4)
    names = k.draw.word.choice(("q k", "queries keys")).split() if both else ["x queries"]
    lie = (*s.dims[:-1], "2*half_dim")
    role = "inout" if in_place else "in"
    arrays = [k.array(name, g.type, lie, role=role, low=-1.0, high=1.0) for name in names]
    half = k.size_param("half_dim half", "half_dim")
    angle, text = _angle(g, k.let("freq_index pair_index", cast(g.col, g.type)), half)
    outs = arrays if in_place else [k.out(f"{x.name}_out", g.type, lie) for x in arrays]
    back = g.level >= 2 and shape.chance(0.25)
    sine, cosine = k.let("s sine", sin(angle)), k.let("c cosine", cos(angle))
    beside = shape.chance(0.5)
    if beside:
        low: Expr = k.let("even first_ch", 2 * g.col)
        high = k.let("odd second_ch", low + 1)
    else:
        low, high = g.col, k.let("other second_ch", g.col + half)
    places: list[tuple[Expr, ...]] = [(*s.at[:-1], channel) for channel in (low, high)]
    for x, out in zip(arrays, outs, strict=True):
        a, b = (k.let(f"{x.name[0]}{n}", x[place]) for n, place in enumerate(places))
        turned = (a * cosine - b * sine, a * sine + b * cosine)
        if back:
            turned = (a * cosine + b * sine, b * cosine - a * sine)
        for place, value in zip(places, turned, strict=True):
            k.store(out, place, value)
    pair = (
        f"2 * {g.col.name} and 2 * {g.col.name} + 1"
        if beside
        else (f"{g.col.name} and {g.col.name} + {half.name}")
    )
    done = f"{'Inverse rotary' if back else 'Rotary'} position embedding of "
    done += f"{listed([x.name for x in arrays])}: the channels {pair} of a position are turned as "
    done += f"a pair by {'minus ' if back else ''}the angle {text}"
    where_to = "in place" if in_place else f"into {listed([out.name for out in outs])}"
    return f"{done}, {where_to}.", "rotary_embedding"


_FALLS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "linear": lambda slope, far: -slope * far,
    "log": lambda slope, far: -slope * log(1.0 + far),
    "root": lambda slope, far: -slope * sqrt(far),
}
"""How scores fall with the distance of query and key."""


def _bias(g: Grid) -> tuple[str, str]:
    """Scores with a bias that falls with the distance of query and key."""
    s, k, shape = g.s, g.s.k, g.s.k.draw.shape
    scores = s.read("scores logits qk", g.type, -2.0, 2.0)
    out = s.out("out biased scores_out", g.type)
    causal = g.level >= 3 or shape.chance(0.5)
    gap = k.let("gap dist offset", g.pos - g.col)
    far = k.let("far distance", cast(abs(gap), g.type))
    ways = {"first": 1} if g.batched else {"shared": 1}
    slope = given(s, "slope decay", g.type, 0.1, 0.8, many="slopes head_slopes", forms=ways)
    form = shape.choice(sorted(_FALLS))
    done = "Relative position bias of attention scores, linear in the distance as in ALiBi"
    done = done if form == "linear" else done.split(",")[0]
    done += f": add {say(k, _FALLS[form](slope, Var('d', g.type)))} to {say(k, scores)}, where "
    done += f"d = |{g.pos.name} - {g.col.name}|"
    value: Expr = scores + k.let("bias penalty", _FALLS[form](slope, far))
    if g.level >= 2 and shape.chance(0.5):
        cap = k.scalar("soft_cap cap", g.type, 2.0, 6.0)
        value = k.let("capped squashed", cap * tanh(value / cap))
        done += f", then cap the sum v softly to {cap.name} * tanh(v / {cap.name})"
    if not causal:
        g.store([out], [value])
        return f"{done}; stored in {out.name}.", "distance_bias"
    fill = k.draw.value.choice((-1.0e4, -1.0e9))
    if shape.chance(0.5):
        g.store([out], [where(gap < 0, k.lift(fill, g.type), value)])
    else:
        with k.if_(gap < 0):
            g.store([out], [fill])
        with k.else_():
            g.store([out], [value])
    done += f"; keys after the query ({g.col.name} > {g.pos.name}) are masked with {fill:g}"
    return f"{done}; stored in {out.name}.", "distance_bias"


@idiom
def positional_encoding(k: KernelBuilder, level: int) -> Title:
    """Sinusoids, rotations and distance biases by position, in two or three dimensions."""
    forms = {_sinusoid: "chan ch", _rotary: "pair half_ch", _bias: "key kpos"}
    form = k.draw.shape.choice(list(forms))
    done, name = form(_grid(k, level, forms[form]))
    return Title(k.name(name, f"{name}_kernel", f"add_{name}" if "bias" in name else name), done)

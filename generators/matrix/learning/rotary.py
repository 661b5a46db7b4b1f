"""Rotary positions: pairs of features turned by an angle that grows with the place in the text."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, sin
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class _Pair:
    """The pair of features of a thread: whose head and token, which pair, and how pairs lie."""

    k: KernelBuilder
    dims: tuple[str, ...]
    lead: tuple[Var, ...]
    token: Var
    pair: Var
    halves: bool

    def places(self) -> tuple[Expr, Expr]:
        """Both features: side by side, or half a head apart."""
        if self.halves:
            return self.pair, self.pair + self.half()
        even = self.k.let("even first", 2 * self.pair)
        return even, even + 1

    def half(self) -> Var:
        """Half the features of a head, the same parameter wherever it is asked for."""
        known = [q.name for q in self.k.params if q.init == "size:pairs"]
        return Var(known[0], INT32) if known else self.k.size_param("half half_dim", "pairs")

    def at(self, c: Operand) -> tuple[Operand, ...]:
        return index(*self.lead, self.token, c)


def _pair(k: KernelBuilder, level: int) -> _Pair:
    shape = k.draw.shape
    way = shape.weighted({"none": 3 if level < 3 else 1, "heads": 3, "both": int(level > 1)})
    dims = {"none": (), "heads": ("heads",), "both": ("batch", "heads")}[way]
    for size in dims:
        k.size(size, 2, 3)
    k.size("tokens", 8, 14)
    k.size("pairs", 3, 5)
    names = [k.name({"batch": "b", "heads": "h head"}[d]) for d in dims]
    names += [k.name("t token"), k.name("p pair d")]
    at = k.thread(*dims, "tokens", "pairs", names=names)
    return _Pair(k, (*dims, "tokens", "2*pairs"), at[:-2], at[-2], at[-1], shape.chance(0.5))


def _position(p: _Pair, level: int, tables: bool) -> tuple[Expr, str]:
    """Where in the text a token stands, and what the description says of it."""
    k = p.k
    ways = {"index": 4, "array": 2 + level, "offset": 2 * (level > 1 and not tables)}
    way = k.draw.shape.weighted(ways)
    if way == "index":
        return p.token, f"its index {p.token.name}"
    if way == "array":
        k.size("places", 24, 32)
        init = "index_of:places"
        ids = k.array("position_ids token_places", INT32, "tokens", init=init)
        return k.let("position pos", ids[p.token]), f"its entry of {ids.name}"
    past = k.scalar("past_length cache_length", INT32, 1, 6)
    return k.let("position pos", past + p.token), f"{past.name} + {p.token.name}"


def _from_tables(p: _Pair, position: Expr) -> tuple[Expr, Expr, str]:
    k = p.k
    shape = ("places" if "places" in k.sizes else "tokens", "pairs")
    called = k.draw.word.choice((("cos_table", "sin_table"), ("cosines", "sines")))
    cosines, sines = (k.array(n, FLOAT32, shape, low=-1.0, high=1.0) for n in called)
    called = k.draw.word.choice((("c", "s"), ("cos_t", "sin_t")))
    c, s = (
        k.let(n, table[position, p.pair]) for n, table in zip(called, (cosines, sines), strict=True)
    )
    return (
        c,
        s,
        f"whose cosine and sine are {cosines.name} and {sines.name} of the position and pair",
    )


def _angle(p: _Pair, position: Expr) -> tuple[Expr, Expr, str]:
    """Cosine and sine of the angle, from frequencies or from a formula."""
    k, shape = p.k, p.k.draw.shape
    if shape.chance(0.5):
        rates = k.array("inv_freq frequencies", FLOAT32, "pairs", low=0.05, high=1.0)
        rate: Expr = rates[p.pair]
        said = f"{rates.name} of the pair"
    else:
        base = k.scalar("base rope_base theta_base", FLOAT32, 50.0, 500.0)
        half = p.half()
        share = cast(p.pair, FLOAT32) / cast(half, FLOAT32)
        rate, said = base ** (-share), f"{base.name}^(-pair / {half.name})"
        rate = k.let("freq inv_freq", rate) if shape.chance(0.5) else rate
    if shape.chance(0.3):
        scale = k.scalar("rope_scale scaling", FLOAT32, 0.25, 1.0)
        rate, said = scale * rate, f"{scale.name} * {said}"
    angle = k.let("angle theta", cast(position, FLOAT32) * rate)
    said = f"the position times {said}"
    called = k.draw.word.choice((("c", "s"), ("cos_t", "sin_t")))
    return k.let(called[0], cos(angle)), k.let(called[1], sin(angle)), said


@idiom
def rotary_embedding(k: KernelBuilder, level: int) -> Title:
    """Queries, or queries and keys, turned by their places; or a gradient turned back."""
    shape = k.draw.shape
    p = _pair(k, level)
    tables = shape.chance(0.35)
    place, where = _position(p, level, tables)
    c, s, said = (_from_tables if tables else _angle)(p, place)
    back = level > 2 and shape.chance(0.25)
    first, second = p.places()
    names = ["grad_q dq"] if back else ["q queries"]
    if level > 1 and not back and shape.chance(0.3 + 0.1 * level):
        names = k.draw.word.choice((["q", "k"], ["queries", "keys"]))
    in_place, suffix = shape.chance(0.35), k.draw.word.choice(("out", "rot"))
    told = []
    for name in names:
        role = "inout" if in_place else "in"
        x = k.array(name, FLOAT32, p.dims, role=role, low=-1.0, high=1.0)
        out = x if in_place else k.out(f"{x.name}_{suffix}", FLOAT32, p.dims)
        stem = x.name[0] if len(names) > 1 else "x"
        a, b = (k.let(f"{stem}{n}", x[p.at(c)]) for n, c in enumerate((first, second)))
        k.store(out, p.at(first), a * c + b * s if back else a * c - b * s)
        k.store(out, p.at(second), b * c - a * s if back else a * s + b * c)
        told.append(f"{x.name} (in place)" if in_place else f"{x.name} (into {out.name})")
    apart = "half a head apart" if p.halves else "that lie side by side"
    turn = "turn back" if back else "turn"
    joint = " " if said.startswith("whose") else ": "
    kind = "Backward pass of rotary position embedding" if back else "Rotary position embedding"
    text = (
        f"{kind}: {turn} each pair of features {apart} in {' and '.join(told)} by an angle{joint}"
        f"{said}. The position of a token is {where}."
    )
    titles = "rope_backward rotary_backward" if back else "rotary_embedding apply_rope"
    return Title(k.name(titles), text)

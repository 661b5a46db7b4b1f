"""Values scattered by an index array: to one place, to both ends of an edge, by rows and tiles."""

from __future__ import annotations

from dataclasses import dataclass, field

from generators.atomic.parts import amounts, contribution, number_type, skip_some
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var, op

_FEATURES = {1: (0, 1), 2: (1, 1), 3: (1, 2), 4: (3, 3), 5: (4, 5)}
"""How many of these a kernel of a level has."""


@dataclass
class Scatter:
    """One kernel in the making: what it has, and what of its description is known."""

    k: KernelBuilder
    level: int
    type: Scalar
    features: list[str]
    n: str = "n"
    width: int = 0
    signed: bool = True
    said: list[str] = field(default_factory=list)

    def has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def dims(self) -> tuple[str, ...]:
        """Shape of the accumulators of amounts."""
        dims = ("tiles", "m") if self.has("tiles") else ("m",)
        return (*dims, "width") if self.has("rows") else dims


def _drawn(k: KernelBuilder, level: int) -> Scatter:
    shape, type_ = k.draw.shape, number_type(k)
    fitting = ["joined", "factors", "bounds", "rows", "degree", "mask", "limit", "tiles", "peak"]
    if level == 1:
        fitting = ["factors", "bounds", "rows", "tiles"]
    features = shape.sample(fitting, shape.integer(*_FEATURES[level]))
    s = Scatter(k, level, type_, features, signed=not type_.is_unsigned)
    k.size("m", 6, 12)
    if s.has("tiles"):
        s.width = k.draw.value.choice((8, 16))
        k.size("tiles", 5, 7)
        s.n = f"{s.width}*tiles"
    else:
        k.size("n", 64, 96)
    if s.has("rows"):
        k.size("width", 3, 5)
    return s


@idiom
def scatter(k: KernelBuilder, level: int) -> Title:
    """Add values where an index array says, at higher levels along edges, by rows and tiles."""
    s = _drawn(k, level)
    shape, type_ = k.draw.shape, s.type
    names = ("heads", "targets", "dst") if s.has("joined") else ("targets", "dst", "indices")
    ends = _index_array(s, names)
    starts = _index_array(s, ("sources", "src", "tails")) if s.has("joined") else None
    dims = (s.n, "width") if s.has("rows") else (s.n,)
    values = amounts(k, ("values", "flow", "amounts", "load"), type_, *dims)
    factors = (
        amounts(k, ("factors", "coefficients", "gains"), type_, s.n) if s.has("factors") else None
    )
    sums = k.accumulator(("sums", "nodes", "totals", "balance"), type_, s.dims)
    degree = k.accumulator(("degree", "touched"), INT32, "m") if s.has("degree") else None
    peak = k.accumulator(("peak", "largest"), type_, "m", _lowest(type_)) if s.has("peak") else None
    trips = k.trip_count(("num_components", "row_width"), "width") if s.has("rows") else None
    (i,) = k.thread(s.n, names=(k.name("i", "tid", "e"),))
    masked = skip_some(k, i, s.n) if s.has("mask") else ""
    target, source, note = _places(s, ends, starts, i)
    if degree is not None:
        k.atomic("add", degree, target, 1)
        s.said.append(f" Count in {degree.name} how often each index in {ends.name} occurs.")
    subtract = starts is None and s.signed and shape.chance(0.3)
    factor = k.let(("factor", "g"), factors[i]) if factors is not None and trips else None
    text = values.name if factors is None else f"{values.name} * {factors.name}"

    def add(value: Expr, rest: tuple[Expr, ...]) -> str:
        f = factor if factor is not None else factors[i] if factors is not None else None
        return _update(
            s, value if f is None else value * f, (sums, peak), (target, source), i, rest
        )

    if subtract:
        s.features.append("subtract")
    if trips is None:
        phrase = add(values[i], ())
    else:
        with k.for_(("c", "j"), trips) as c:
            phrase = add(values[i, c], (c,))
    done = f"{'Subtract' if subtract else 'Add'} each of {text} {'from' if subtract else 'to'} "
    done += f"{sums.name} at its index in {ends.name}{_where(s)}"
    if starts is not None:
        verb = "subtract it" if s.signed else "add it"
        done += f", and {verb} at its index in {starts.name}"
    if peak is not None:
        s.said.append(f" {peak.name} keeps the largest of each index in {ends.name}.")
    name = ("accumulate_edges", "edge_flux") if starts else ("scatter_values", "scatter_sum")
    return Title(k.name(*name), f"{done}{note}.{phrase}{''.join(s.said)}{masked}")


def _lowest(type_: Scalar) -> object:
    if type_.is_float:
        return -1000.0
    return 0 if type_.is_unsigned else -100000


def _index_array(s: Scatter, names: tuple[str, ...]) -> Var:
    """Indices that are all good, or some of them out of range."""
    if not s.has("bounds"):
        return s.k.array(names, INT32, s.n, init="index_of:m")
    return s.k.array(names, INT32, s.n, low=-2, high=11)


def _where(s: Scatter) -> str:
    text = f" in its tile of {s.width} entries (first index)" if s.has("tiles") else ""
    return f"{text}, column by column" if s.has("rows") else text


def _places(s: Scatter, ends: Var, starts: Var | None, i: Var) -> tuple[Expr, Expr | None, str]:
    """Where an entry goes and comes from; entries out of range or with equal ends do nothing."""
    k, shape = s.k, s.k.draw.shape
    loops = starts is not None and shape.chance(0.5)
    target: Expr = ends[i]
    if loops or s.has("bounds") or s.has("degree") or s.has("peak") or s.has("rows"):
        target = k.let(("t", "node", "end"), target)
    source: Expr | None = starts[i] if starts is not None else None
    if source is not None and (loops or s.has("bounds") or s.has("rows")):
        source = k.let(("s", "origin", "start"), source)
    tests: list[Expr] = []
    notes: list[str] = []
    if s.has("bounds"):
        count = k.size_param(("num_targets", "num_nodes"), "m")
        for place in (target, *((source,) if source is not None else ())):
            tests += [place < 0, place >= count]
        notes.append(f"indices below 0 or from {count.name} on")
    if loops and source is not None:
        tests.append(fn("eq", source, target))
        notes.append("equal indices")
    if not tests:
        return target, source, ""
    test = tests[0]
    for other in tests[1:]:
        test = op("or", test, other)
    with k.if_(test):
        k.return_()
    return target, source, f"; entries with {' or '.join(notes)} do nothing"


def _update(
    s: Scatter,
    value: Expr,
    arrays: tuple[Var, Var | None],
    ends: tuple[Expr, Expr | None],
    i: Var,
    rest: tuple[Expr, ...],
) -> str:
    """The atomics of one amount; how it was changed first."""
    k, (sums, peak), (target, source) = s.k, arrays, ends
    uses = 1 + (source is not None) + (peak is not None)
    if s.has("limit") and not s.has("peak"):
        amount, phrase = _limited(s, value)
    else:
        amount, phrase = contribution(k, value, min(s.level, 3), uses, extremes=s.has("peak"))
    if uses > 1 and not isinstance(amount, Var):
        amount = k.let(("amount", "share", "term"), amount)
    first: tuple[Operand, ...] = (i // s.width,) if s.has("tiles") else ()
    k.atomic("sub" if s.has("subtract") else "add", sums, (*first, target, *rest), amount)
    if source is not None:
        back = -amount if s.signed else amount
        k.atomic("add", sums, (*first, source, *rest), back)
    if peak is not None:
        k.atomic("max", peak, target, amount)
    return phrase


def _limited(s: Scatter, value: Expr) -> tuple[Expr, str]:
    """An amount limited and scaled, in a function."""
    k, type_ = s.k, s.type
    low, high = (0.3, 1.2) if type_.is_float else (8, 25)
    cap = k.scalar(("cap", "max_amount", "limit"), type_, low, high)
    gain = k.scalar(("scale", "gain", "step"), type_, *((0.2, 1.5) if type_.is_float else (2, 9)))

    def body(b: BodyBuilder, v: Expr, c: Expr, g: Expr) -> Expr:
        kept = fn("min", v, c) if not s.signed else fn("clamp", v, -c, c)
        return g * kept

    params = [("v", type_), ("cap", type_), ("gain", type_)]
    name = helper(k, ("clipped", "limited_share", "clip_and_scale"), params, body)
    span = f"[-{cap.name}, {cap.name}]" if s.signed else f"at most {cap.name}"
    return k.call(
        name, value, cap, gain
    ), f" It is first clamped to {span}, then multiplied by {gain.name}."

"""Curves: easing of animations, and blends and splines of two to four values."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.kit.functions import PI, TWO_PI, clamp, cos, exp, most, sqrt, where
from generators.kit.naming import applied, held
from generators.kit.sites import launch
from generators.kit.words import say
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_EASING = Family(
    inputs={"t": quantity("t progress u", "progress times phases", 0.02, 0.98)},
    params={
        "s": quantity("overshoot", "overshoots", 0.8, 2.2, 1.70158),
        "f": quantity("cycles num_cycles", "cycle_counts", 1.2, 3.4, 1.5, 2.0, 3.0),
        "a": quantity("edge start lead", "edges starts", 0.1, 0.4, 0.1, 0.2, 0.25),
    },
    titles="ease_by_kind apply_easing animate",
    kinds="easing curve_type kinds",
    selectable=True,
    whole="Eased progress, by a curve of each element's own.",
    struct="Easing CurveParams",
    grids=("i|tid|key", "track frame|row col|actor i", "rig track frame|b i j"),
    weights="weights amplitudes strengths",
    masks="active enabled mask",
    about={
        "smootherstep": "quintic ease-in-out of a progress from 0 to 1",
        "smooth_edges": "ease-in-out with a rest at both ends",
        "ease_sine": "sinusoidal ease-in-out of a progress from 0 to 1",
        "ease_elastic": "elastic ease-out: a decaying oscillation about the end",
        "delayed_start": "linear progress after a delay",
        "ease_cubic": "cubic ease-in-out of a progress from 0 to 1",
        "ease_expo": "exponential ease-in-out of a progress from 0 to 1",
        "ease_back": "ease-out that overshoots its end",
        "ease_bounce": "bouncing ease-out of a progress from 0 to 1",
        "ease_circ": "circular ease-in-out of a progress from 0 to 1",
        "ping_pong": "triangle wave of a progress, there and back",
    },
)
_EASING.add("smootherstep", "eased curve", lambda t: t * t * t * (t * (t * 6.0 - 15.0) + 10.0))
_EASING.add(
    "smooth_edges",
    "eased ramp",
    lambda t, a: fn("smoothstep", a, 1.0 - a, t),
    "smoothstep({a}, 1 - {a}, {t})",
    a="edge edges",
)
_EASING.add("ease_sine", "eased curve", lambda t: 0.5 * (1.0 - cos(PI * t)))
_EASING.add(
    "ease_elastic",
    "eased spring_out",
    lambda body, t, f: 1.0 - body.let("decay envelope", exp(-6.0 * t)) * cos(TWO_PI * f * t),
)
_EASING.add(
    "delayed_start",
    "eased ramp",
    lambda t, a: most(t - a, 0.0) / (1.0 - a),
    a="delay delays",
)


@_EASING.formula("eased curve", "4 * {t}^3 where {t} < 0.5, else 1 - (2 - 2 * {t})^3 / 2")
def ease_cubic(body: BodyBuilder, t: Expr) -> Expr:
    q = body.let("s rest q", 2.0 - 2.0 * t)
    early, late = 4.0 * t * t * t, 1.0 - 0.5 * q * q * q
    if body.draw.shape.chance(0.5):
        return where(t < 0.5, early, late)
    eased = body.let("eased value", early)
    with body.if_(t >= 0.5):
        body.assign(eased, late)
    return eased


@_EASING.formula("eased curve")
def ease_expo(body: BodyBuilder, t: Expr) -> Expr:
    side = body.let("side edge", 2.0 ** (-20.0 * abs(t - 0.5)))
    return where(t < 0.5, 0.5 * side, 1.0 - 0.5 * side)


@_EASING.formula("eased curve")
def ease_back(body: BodyBuilder, t: Expr, s: Expr) -> Expr:
    u = body.let("u back", t - 1.0)
    return 1.0 + u * u * ((s + 1.0) * u + s)


@_EASING.formula(
    "eased heights",
    "7.5625 * {t}^2 for {t} <= 1/2.75, then 7.5625 * ({t} - 1.5/2.75)^2 + 0.75 up to 2/2.75, "
    "7.5625 * ({t} - 2.25/2.75)^2 + 0.9375 up to 2.5/2.75 and "
    "7.5625 * ({t} - 2.625/2.75)^2 + 0.984375 beyond",
)
def ease_bounce(body: BodyBuilder, t: Expr) -> Expr:
    eased = body.let("eased height", 7.5625 * t * t)
    arcs = (
        ("late u", 0.90909091, 0.95454545, 0.984375),
        ("mid v", 0.72727273, 0.81818182, 0.9375),
        ("early w", 0.36363636, 0.54545455, 0.75),
    )
    for number, (names, start, top, height) in enumerate(arcs):
        with (body.elif_ if number else body.if_)(t > start):
            side = body.let(names, t - top)
            body.assign(eased, 7.5625 * side * side + height)
    return eased


@_EASING.formula("eased arcs")
def ease_circ(body: BodyBuilder, t: Expr) -> Expr:
    c = body.let("c side", 1.0 - abs(2.0 * t - 1.0))
    arc = body.let("arc curve", 0.5 - 0.5 * sqrt(1.0 - c * c))
    return where(t < 0.5, arc, 1.0 - arc)


_EASING.add(
    "ping_pong",
    "eased triangle",
    lambda body, t, f: 1.0 - abs(2.0 * body.let("cycle phase", fn("frac", f * t)) - 1.0),
)


@idiom(depth=DEPTH)
def easing_curve(k: KernelBuilder, level: int) -> Title:
    """Easing functions of animation: a phase in [0, 1] becomes a progress, or a value in time."""
    if level > 1 and k.draw.shape.chance(0.5):
        return _tween(k, level)
    return compose(k, level, _EASING)


def _tween(k: KernelBuilder, level: int) -> Title:
    """Values that run from a start to an end, each in its own span of time."""
    shape = k.draw.shape
    card = shape.choice([card for card in _EASING.cards if card.name != "ping_pong"])
    type_ = k.draw.wide_float_type()
    s = launch(k, {"list": 1}, indices="i track tid")
    begin = s.read("start_times begins", type_, 0.0, 0.6)
    span = s.read("durations spans", type_, 0.6, 1.6)
    low = s.read("from_values starts", type_, -1.0, 0.0)
    high = s.read("to_values ends", type_, 0.5, 2.0)
    now = k.scalar("now time", type_, 0.7, 1.0)
    family = _EASING.of([card])
    values: dict[str, Expr] = {
        key: k.scalar(q.names, type_, q.low, q.high)
        for key, q in family.params.items()
        if key in card.keys
    }
    told = {key: say(k, value) for key, value in values.items()}
    values["t"] = k.let("u progress", clamp((now - begin) / span, 0.0, 1.0))
    eased = k.let("eased share", _applied(k, 0.2 * level, card, values, _EASING))
    by_lerp = shape.chance(0.5)
    out = s.put(
        "animated tweened",
        fn("lerp", low, high, eased) if by_lerp else low + eased * (high - low),
    )
    text = f"Animated values at a time: {card.name.replace('_', ' ')} from {say(k, low)} to "
    text += f"{say(k, high)}. With u = ({now.name} - {say(k, begin)}) / {say(k, span)} clamped to "
    text += f"[0, 1] and e = {card.said({**told, 't': 'u'})}, {out.name} gets {say(k, low)} + e * "
    text += f"({say(k, high)} - {say(k, low)})."
    return Title(k.name(f"animate_{card.name} tween_{card.name} tween_values"), text)


_INTERPOLATION = Family(
    inputs={
        "p": quantity("p0 prev_val", "p0s prev_vals", -2.0, 2.0),
        "q": quantity("p1 left", "p1s lefts", -2.0, 2.0),
        "r": quantity("p2 right", "p2s rights", -2.0, 2.0),
        "s": quantity("p3 next_val", "p3s next_vals", -2.0, 2.0),
        "t": quantity("t fraction", "ts fractions", 0.02, 0.98),
    },
    params={"k": quantity("rate sharpness", "rates sharpnesses", 1.5, 4.0, 2.0, 3.0, 1.5)},
    titles="interpolate_by_kind spline_kernel resample",
    kinds="method interp kinds",
    struct="Spline",
    records="Segment Knots Keyframe",
    grids=("i|seg|tid", "curve seg|row col|joint key", "rig joint key|b i j"),
    masks="visible active mask",
    about={
        "catmull_rom": "Catmull-Rom spline through four values",
        "cubic_hermite": "cubic Hermite spline with central tangents",
        "cubic_bezier": "cubic Bezier curve of four control values",
        "cubic_bspline": "uniform cubic B-spline of four control values",
        "monotone_cubic": "monotone cubic Hermite spline (Fritsch and Butland)",
        "cosine_blend": "cosine blend of two values",
        "smooth_blend": "smoothstep blend of two values",
        "linear_blend": "linear blend of two values",
        "cyclic_blend": "blend of two phases in turns the shorter way around, wrapped to [0, 1)",
        "nearest_value": "nearer of two values",
        "exponential_blend": "exponential blend of two values",
        "biased_blend": "blend of two values with Schlick's bias",
    },
)


def _lerp(a: Expr, b: Expr, t: Expr) -> Expr:
    return fn("lerp", a, b, t)


@_INTERPOLATION.formula("spline curve")
def catmull_rom(body: BodyBuilder, p: Expr, q: Expr, r: Expr, s: Expr, t: Expr) -> Expr:
    a = body.let("a c3", 1.5 * (q - r) + 0.5 * (s - p))
    c = body.let("c c2", p - 2.5 * q + 2.0 * r - 0.5 * s)
    return q + t * (0.5 * (r - p) + t * (c + t * a))


@_INTERPOLATION.formula(
    "spline curve",
    "the cubic Hermite blend at {t} of {q} and {r} with tangents ({r} - {p}) / 2 and "
    "({s} - {q}) / 2",
)
def cubic_hermite(body: BodyBuilder, p: Expr, q: Expr, r: Expr, s: Expr, t: Expr) -> Expr:
    t2 = body.let("t2 tt", t * t)
    t3 = body.let("t3 ttt", t2 * t)
    h = body.let("h01 blend", 3.0 * t2 - 2.0 * t3)
    body.note("tangents are half the distances of the outer values")
    m0 = body.let("m0 slope_a", 0.5 * (r - p))
    m1 = body.let("m1 slope_b", 0.5 * (s - q))
    return (1.0 - h) * q + h * r + (t3 - 2.0 * t2 + t) * m0 + (t3 - t2) * m1


@_INTERPOLATION.formula("bezier curve", "the cubic Bezier curve of {p}, {q}, {r}, {s} at {t}")
def cubic_bezier(body: BodyBuilder, p: Expr, q: Expr, r: Expr, s: Expr, t: Expr) -> Expr:
    if body.draw.shape.chance(0.5):
        u = body.let("u rest", 1.0 - t)
        return u * u * u * p + 3.0 * u * u * t * q + 3.0 * u * t * t * r + t * t * t * s
    q, r = held(body, "left p1", q), held(body, "right p2", r)
    names = body.draw.word.choice((("ab", "bc", "cd"), ("p01", "p12", "p23")))
    pairs = zip(names, ((p, q), (q, r), (r, s)), strict=True)
    ab, bc, cd = (body.let(name, _lerp(*pair, t)) for name, pair in pairs)
    return _lerp(_lerp(ab, bc, t), _lerp(bc, cd, t), t)


@_INTERPOLATION.formula(
    "spline smooth_out", "the uniform cubic B-spline of {p}, {q}, {r}, {s} at {t}"
)
def cubic_bspline(body: BodyBuilder, p: Expr, q: Expr, r: Expr, s: Expr, t: Expr) -> Expr:
    u = body.let("u rest", 1.0 - t)
    outer = u * u * u * p + t * t * t * s
    names = body.draw.word.choice(("wl wr", "w1 w2", "near_w far_w")).split()
    left = body.let(names[0], 4.0 + t * t * (3.0 * t - 6.0))
    right = body.let(names[1], 4.0 + u * u * (3.0 * u - 6.0))
    return (outer + left * q + right * r) / 6.0


@_INTERPOLATION.formula(
    "monotone limited",
    "the cubic Hermite blend at {t} of {q} and {r}, the tangent at each of them the harmonic mean "
    "of the differences to its neighbours (0 if their signs differ)",
)
def monotone_cubic(body: BodyBuilder, p: Expr, q: Expr, r: Expr, s: Expr, t: Expr) -> Expr:
    """F. N. Fritsch and J. Butland, SIAM J. Sci. Stat. Comput. 5 (1984)."""
    steps = zip(("d0 before", "d1 between", "d2 after"), ((p, q), (q, r), (r, s)), strict=True)
    first, mid, last = (body.let(name, b - a) for name, (a, b) in steps)
    slopes = []
    for name, (a, b) in zip(("m0", "m1"), ((first, mid), (mid, last)), strict=True):
        slope = body.let(name, body.lift(0.0, t.type))
        with body.if_(a * b > 0.0):
            body.assign(slope, 2.0 * a * b / (a + b))
        slopes.append(slope)
    u = body.let("u rest", 1.0 - t)
    h = body.let("h01 blend", t * t * (3.0 - 2.0 * t))
    return q + h * mid + t * u * (u * slopes[0] - t * slopes[1])


@_INTERPOLATION.formula("blend mixed")
def cosine_blend(body: BodyBuilder, q: Expr, r: Expr, t: Expr) -> Expr:
    w = body.let("w mu", 0.5 - 0.5 * cos(PI * t))
    return either(body, _lerp(q, r, w), q + w * (r - q))


@_INTERPOLATION.formula("blend mixed", "lerp({q}, {r}, smoothstep(0, 1, {t}))")
def smooth_blend(body: BodyBuilder, q: Expr, r: Expr, t: Expr) -> Expr:
    w = body.let("w mu", fn("smoothstep", body.lift(0.0, t.type), body.lift(1.0, t.type), t))
    return either(body, _lerp(q, r, w), (1.0 - w) * q + w * r)


@_INTERPOLATION.formula("blend mixed")
def linear_blend(body: BodyBuilder, q: Expr, r: Expr, t: Expr) -> Expr:
    written_out = either(body, q + t * (r - q), (1.0 - t) * q + t * r)
    return either(body, _lerp(q, r, t), written_out)


@_INTERPOLATION.formula(
    "blend turned",
    "v - floor(v) with v = {q} + {t} * (d - rint(d)), d = {r} - {q}",
)
def cyclic_blend(body: BodyBuilder, q: Expr, r: Expr, t: Expr) -> Expr:
    body.note("the shorter way around")
    gap = body.let("gap turn", r - q)
    short = body.let("short delta", gap - fn("rint", gap))
    turned = body.let("turned moved", q + t * short)
    return turned - fn("floor", turned)


_INTERPOLATION.add(
    "nearest_value",
    "picked nearest",
    lambda body, q, r, t: either(body, where(t < 0.5, q, r), where(t >= 0.5, r, q)),
)


@_INTERPOLATION.formula("blend mixed")
def exponential_blend(body: BodyBuilder, q: Expr, r: Expr, t: Expr, k: Expr) -> Expr:
    w = body.let("w decay", 1.0 - exp(-k * t))
    return q + (r - q) * w / (1.0 - exp(-k))


@_INTERPOLATION.formula("blend mixed")
def biased_blend(body: BodyBuilder, q: Expr, r: Expr, t: Expr, k: Expr) -> Expr:
    w = body.let("w bias", t / ((k - 1.0) * (1.0 - t) + 1.0))
    return _lerp(q, r, w)


@idiom(depth=DEPTH)
def interpolation(k: KernelBuilder, level: int) -> Title:
    """Blends of two values and splines through four; signals that are resampled by them."""
    if level > 1 and k.draw.shape.chance(0.3 + 0.1 * level):
        return _resample(k, level)
    return compose(k, level, _INTERPOLATION)


def _applied(
    k: KernelBuilder,
    chance: float,
    card: Formula,
    values: dict[str, Expr],
    family: Family = _INTERPOLATION,
) -> Expr:
    """The value of a formula, by a helper whose parameters have the family's names."""
    args = {family.quantity(key).names[0]: values[key] for key in card.keys}
    return applied(k, chance, card.name, args, card.build)


_RESAMPLED = {
    "linear_blend": "linearly",
    "catmull_rom": "by Catmull-Rom splines",
    "cubic_hermite": "by cubic Hermite splines with central tangents",
    "cubic_bspline": "by uniform cubic B-splines of the samples",
    "monotone_cubic": "by monotone cubic Hermite splines (Fritsch and Butland)",
    "cosine_blend": "by cosine blends",
    "smooth_blend": "by smoothstep blends",
}


def _resample(k: KernelBuilder, level: int) -> Title:
    """A signal, or each channel of one, at fractional positions."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    card = _INTERPOLATION.card(shape.choice(tuple(_RESAMPLED)))
    rows = ("channels",) if level > 2 and shape.chance(0.5) else ()
    for symbol, low, high in (("points", 40, 80), ("samples", 9, 14)):
        k.size(symbol, low, high)
    if rows:
        k.size("channels", 3, 5)
    names = ("c", k.draw.word.choice(("i", "q", "p")))
    at = k.thread(*rows, "points", names=names[1 - len(rows) :])
    signal = k.array("signal samples data", type_, (*rows, "samples"), low=-2.0, high=2.0)
    places = k.array("positions query_pos", type_, "points", low=-1.5, high=15.0)
    count: Expr = extent(signal, len(rows))
    if shape.chance(0.6):
        count = k.size_param("num_samples length", "samples")
    out = k.out("resampled out", type_, (*rows, "points"))
    x = k.let("x pos", places[at[-1]])
    values = _around(k, card, signal, at[:-1], x, count)
    k.store(out, at, _applied(k, 0.2 * level, card, values))
    text = f"Resample {'each channel of ' if rows else ''}{signal.name} at the fractional "
    text += f"positions {places.name}, {_RESAMPLED[card.name]}. {out.name} gets the result. A "
    text += "position x lies between the samples floor(x) and floor(x) + 1; indices are clamped to "
    text += "the signal."
    method = card.name.removesuffix("_blend")
    return Title(k.name(f"resample_{method} sample_{method} {method}_resample"), text)


def _around(
    k: KernelBuilder, card: Formula, signal: Var, lead: tuple[Var, ...], x: Var, count: Expr
) -> dict[str, Expr]:
    """The samples about a position, and the fraction between two of them."""
    j = k.let("j base", cast(fn("floor", x), INT32))
    values: dict[str, Expr] = {}
    for key, step in (("p", -1), ("q", 0), ("r", 1), ("s", 2)):
        if key in card.keys:
            place = j + step if step > 0 else j - 1 if step else j
            near: tuple[Expr, ...] = (*lead, clamp(place, 0, count - 1))
            sample = signal[near]
            values[key] = k.let(_INTERPOLATION.inputs[key].names[:1], sample)
    type_ = x.type
    assert isinstance(type_, Scalar)
    values["t"] = k.let("t frac_x", x - cast(j, type_))
    return values

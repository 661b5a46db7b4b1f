"""Interpolation: blends of two to four values by a parameter."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _catmull(b: BodyBuilder, p: Expr, q: Expr, r: Expr, s: Expr, t: Expr) -> Expr:
    a = b.let(("a", "c3"), 1.5 * (q - r) + 0.5 * (s - p))
    c = b.let(("c", "c2"), p - 2.5 * q + 2.0 * r - 0.5 * s)
    return q + t * (0.5 * (r - p) + t * (c + t * a))


def _hermite(b: BodyBuilder, p: Expr, q: Expr, r: Expr, s: Expr, t: Expr) -> Expr:
    t2 = b.let(("t2", "tt"), t * t)
    t3 = b.let(("t3", "ttt"), t2 * t)
    h = b.let(("h01", "blend"), 3.0 * t2 - 2.0 * t3)
    b.note("tangents are half the distances of the outer values")
    m0 = b.let(("m0", "slope_a"), 0.5 * (r - p))
    m1 = b.let(("m1", "slope_b"), 0.5 * (s - q))
    return (1.0 - h) * q + h * r + (t3 - 2.0 * t2 + t) * m0 + (t3 - t2) * m1


def _bezier(b: BodyBuilder, p: Expr, q: Expr, r: Expr, s: Expr, t: Expr) -> Expr:
    if b.draw.shape.chance(0.5):
        u = b.let(("u", "rest"), 1.0 - t)
        return u * u * u * p + 3.0 * u * u * t * q + 3.0 * u * t * t * r + t * t * t * s
    ab = b.let(("ab", "first"), fn("lerp", p, q, t))
    bc = b.let(("bc", "middle"), fn("lerp", q, r, t))
    cd = b.let(("cd", "last"), fn("lerp", r, s, t))
    return fn("lerp", fn("lerp", ab, bc, t), fn("lerp", bc, cd, t), t)


def _bspline(b: BodyBuilder, p: Expr, q: Expr, r: Expr, s: Expr, t: Expr) -> Expr:
    u = b.let(("u", "rest"), 1.0 - t)
    outer = u * u * u * p + t * t * t * s
    names = b.draw.word.choice(("wl wr", "w1 w2", "near_w far_w")).split()
    left = b.let(names[0], 4.0 + t * t * (3.0 * t - 6.0))
    right = b.let(names[1], 4.0 + u * u * (3.0 * u - 6.0))
    return (outer + left * q + right * r) / 6.0


def _minmod(b: BodyBuilder, p: Expr, q: Expr, r: Expr, t: Expr) -> Expr:
    """A linear step whose slope is limited by its neighbours."""
    before = b.let(("before", "dl"), q - p)
    after = b.let(("after", "dr"), r - q)
    slope = b.let(("slope", "limited"), b.lift(0.0, t.type))
    with b.if_(before * after > 0.0):
        b.assign(slope, fn("copysign", fn("min", fn("abs", before), fn("abs", after)), after))
    return q + slope * t


def _cosine(b: BodyBuilder, q: Expr, r: Expr, t: Expr) -> Expr:
    w = b.let(("w", "mu"), 0.5 - 0.5 * fn("cos", 3.1415927 * t))
    return either(b, fn("lerp", q, r, w), q + w * (r - q))


def _smooth(b: BodyBuilder, q: Expr, r: Expr, t: Expr) -> Expr:
    w = b.let(("w", "mu"), fn("smoothstep", b.lift(0.0, t.type), b.lift(1.0, t.type), t))
    return either(b, fn("lerp", q, r, w), (1.0 - w) * q + w * r)


def _angle(b: BodyBuilder, q: Expr, r: Expr, t: Expr) -> Expr:
    b.note("the shorter way around")
    gap = b.let(("gap", "turn"), r - q)
    short = b.let(("short", "delta"), gap - 2.0 * fn("rint", 0.5 * gap))
    return q + t * short


def _nearest(b: BodyBuilder, q: Expr, r: Expr, t: Expr) -> Expr:
    return either(b, fn("where", t < 0.5, q, r), q + fn("rint", t) * (r - q))


def _exponential(b: BodyBuilder, q: Expr, r: Expr, t: Expr, k: Expr) -> Expr:
    w = b.let(("w", "decay"), 1.0 - fn("exp", -k * t))
    return q + (r - q) * w / (1.0 - fn("exp", -k))


def _biased(b: BodyBuilder, q: Expr, r: Expr, t: Expr, k: Expr) -> Expr:
    w = b.let(("w", "bias"), t / ((k - 1.0) * (1.0 - t) + 1.0))
    return fn("lerp", q, r, w)


def _geometric(b: BodyBuilder, q: Expr, r: Expr, t: Expr) -> Expr:
    lo = b.let(("log_a", "la"), fn("log", 2.5 + q))
    hi = b.let(("log_b", "lb"), fn("log", 2.5 + r))
    return fn("exp", fn("lerp", lo, hi, t)) - 2.5


_SPAN = (-2.0, 2.0)
_INTERPOLATION = Family(
    item="knot",
    inputs={
        "p": quantity("p0 prev before_val", "prevs p0_in knots_prev", *_SPAN),
        "q": quantity("p1 left start", "lefts starts keys_a", *_SPAN),
        "r": quantity("p2 right goal", "rights goals keys_b", *_SPAN),
        "s": quantity("p3 next after_val", "nexts p3_in knots_next", *_SPAN),
        "t": quantity("t frac_pos mix", "fractions params blend_in", 0.02, 0.98),
    },
    params={"k": quantity("sharp tension rate", "sharps tensions", 1.5, 4.0, 2.0, 3.0, 1.5)},
    titles="interpolate_by_kind spline_kernel resample",
    kinds="method interp kinds",
    struct="Spline",
    records="Segment Knots Keyframe",
    grids=("i|seg|tid", "curve seg|row col|joint key", "rig joint key|b i j"),
    masks="visible active mask",
    reductions=("sum", "mean", "largest", "smallest"),
    cards=(
        by_hand(
            "catmull_rom",
            "spline curve",
            "the Catmull-Rom spline {q} + t * (({r} - {p}) / 2 + t * (c + t * a)), t = {t}, "
            "c = {p} - 2.5 * {q} + 2 * {r} - {s} / 2, a = 1.5 * ({q} - {r}) + ({s} - {p}) / 2",
            "p q r s t",
            _catmull,
        ),
        by_hand(
            "cubic_hermite",
            "spline curve",
            "the cubic Hermite blend at {t} of {q} and {r} with tangents ({r} - {p}) / 2 and "
            "({s} - {q}) / 2",
            "p q r s t",
            _hermite,
        ),
        by_hand(
            "cubic_bezier",
            "bezier curve",
            "the cubic Bezier curve of {p}, {q}, {r}, {s} at {t}",
            "p q r s t",
            _bezier,
        ),
        by_hand(
            "cubic_bspline",
            "spline smooth_out",
            "the uniform cubic B-spline of {p}, {q}, {r}, {s} at {t}",
            "p q r s t",
            _bspline,
        ),
        by_hand(
            "minmod_linear",
            "limited recon",
            "{q} + m * {t}, m the smaller in size of {q} - {p} and {r} - {q} (0 if their signs "
            "differ)",
            "p q r t",
            _minmod,
        ),
        by_hand(
            "cosine_blend",
            "blend mixed",
            "lerp({q}, {r}, (1 - cos(pi * {t})) / 2)",
            "q r t",
            _cosine,
        ),
        by_hand(
            "smooth_blend", "blend mixed", "lerp({q}, {r}, smoothstep(0, 1, {t}))", "q r t", _smooth
        ),
        by_hand(
            "linear_blend",
            "blend mixed",
            "lerp({q}, {r}, {t})",
            "q r t",
            lambda b, q, r, t: either(
                b, fn("lerp", q, r, t), either(b, q + t * (r - q), (1.0 - t) * q + t * r)
            ),
        ),
        by_hand(
            "cyclic_blend",
            "blend turned",
            "{q} + {t} * (d - 2 * rint(d / 2)) with d = {r} - {q}, for values of period 2",
            "q r t",
            _angle,
        ),
        by_hand(
            "nearest_value", "picked nearest", "{q} where {t} < 0.5, else {r}", "q r t", _nearest
        ),
        by_hand(
            "exponential_blend",
            "blend mixed",
            "{q} + ({r} - {q}) * (1 - exp(-{k} * {t})) / (1 - exp(-{k}))",
            "q r t k",
            _exponential,
        ),
        by_hand(
            "biased_blend",
            "blend mixed",
            "lerp({q}, {r}, w) with w = {t} / (({k} - 1) * (1 - {t}) + 1)",
            "q r t k",
            _biased,
        ),
        by_hand(
            "log_blend",
            "blend mixed",
            "exp(lerp(log(2.5 + {q}), log(2.5 + {r}), {t})) - 2.5",
            "q r t",
            _geometric,
        ),
    ),
)


@idiom
def interpolation(k: KernelBuilder, level: int) -> Title:
    """Blends of two values and splines through four."""
    return compose(k, level, _INTERPOLATION)

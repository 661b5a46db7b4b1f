"""Windows of signal analysis and periodic waveforms."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr

_TURN = ("turn", "phi", "angle")


def _turn(b: BodyBuilder, u: Expr) -> Expr:
    return b.let(_TURN, 6.2831853 * u)


def _hamming(b: BodyBuilder, x: Expr, u: Expr) -> Expr:
    return x * (0.54 - 0.46 * fn("cos", 6.2831853 * u))


def _hann(b: BodyBuilder, x: Expr, u: Expr) -> Expr:
    if b.draw.shape.chance(0.5):
        return 0.5 * x * (1.0 - fn("cos", 6.2831853 * u))
    root = b.let(("half_sine", "root"), fn("sin", 3.1415927 * u))
    return x * root * root


def _blackman(b: BodyBuilder, x: Expr, u: Expr) -> Expr:
    phi = _turn(b, u)
    return x * (0.42 - 0.5 * fn("cos", phi) + 0.08 * fn("cos", 2.0 * phi))


def _nuttall(b: BodyBuilder, x: Expr, u: Expr) -> Expr:
    phi = _turn(b, u)
    low = b.let(("low", "first"), 0.355768 - 0.487396 * fn("cos", phi))
    return x * (low + 0.144232 * fn("cos", 2.0 * phi) - 0.012604 * fn("cos", 3.0 * phi))


def _tukey(b: BodyBuilder, x: Expr, u: Expr, a: Expr) -> Expr:
    edge = b.let(("edge", "dist"), fn("min", u, 1.0 - u))
    gain = b.let(("gain", "win"), b.lift(1.0, u.type))
    with b.if_(edge < 0.5 * a):
        b.assign(gain, 0.5 - 0.5 * fn("cos", 6.2831853 * edge / a))
    return x * gain


def _gauss(b: BodyBuilder, x: Expr, u: Expr, a: Expr) -> Expr:
    z = b.let(("z", "offset"), (2.0 * u - 1.0) / a)
    return x * fn("exp", -0.5 * z * z)


def _lanczos(b: BodyBuilder, x: Expr, u: Expr) -> Expr:
    arg = b.let(("arg", "px"), 3.1415927 * (2.0 * u - 1.0))
    gain = b.let(("gain", "win"), b.lift(1.0, u.type))
    with b.if_(fn("abs", arg) > 0.1):
        b.assign(gain, fn("sin", arg) / arg)
    return x * gain


def _kaiser(b: BodyBuilder, x: Expr, u: Expr, a: Expr) -> Expr:
    side = b.let(("side", "c"), 2.0 * u - 1.0)
    b.note("four terms of the series of the modified Bessel function I0")
    q = b.let(("q", "quarter_sq"), 4.0 * a * a * (1.0 - side * side))
    term = b.let(("term", "power"), b.lift(1.0, u.type))
    total = b.let(("bessel", "series"), b.lift(1.0, u.type))
    for factor in (1.0, 4.0, 9.0):
        b.assign(term, term * q / factor if factor > 1.0 else term * q)
        b.augment(total, "add", term)
    return x * total


_WINDOW = Family(
    item="sample",
    inputs={
        "x": quantity("x sample v", "samples signal frame_in", -1.0, 1.0),
        "u": quantity("u pos phase", "positions phases offsets", 0.01, 0.99),
    },
    params={"a": quantity("alpha width taper", "alphas widths tapers", 0.3, 0.7, 0.25, 0.5, 0.4)},
    titles="apply_window window_by_kind taper_samples",
    kinds="window_type kinds shapes",
    struct="WindowParams",
    records="Sample Tap",
    grids=("i|tid|t", "frame t|channel t|row col", "batch channel t|b c t"),
    weights="gains weights",
    reductions=("sum", "mean", "rms", "largest"),
    cards=(
        by_hand("hann", "windowed tapered", "{x} * (1 - cos(2 * pi * {u})) / 2", "x u", _hann),
        by_hand(
            "hamming",
            "windowed tapered",
            "{x} * (0.54 - 0.46 * cos(2 * pi * {u}))",
            "x u",
            _hamming,
        ),
        by_hand(
            "blackman",
            "windowed tapered",
            "{x} * (0.42 - 0.5 * cos(2 * pi * {u}) + 0.08 * cos(4 * pi * {u}))",
            "x u",
            _blackman,
        ),
        by_hand(
            "nuttall",
            "windowed tapered",
            "{x} * (0.355768 - 0.487396 * cos(p) + 0.144232 * cos(2 * p) - 0.012604 * cos(3 * p)) "
            "with p = 2 * pi * {u}",
            "x u",
            _nuttall,
        ),
        by_hand(
            "tukey",
            "windowed tapered",
            "{x} times 0.5 - 0.5 * cos(2 * pi * e / {a}) where e < {a} / 2, unchanged elsewhere, "
            "with e = min({u}, 1 - {u})",
            "x u a",
            _tukey,
        ),
        by_hand(
            "gaussian_window",
            "windowed tapered",
            "{x} * exp(-z * z / 2) with z = (2 * {u} - 1) / {a}",
            "x u a",
            _gauss,
        ),
        by_hand(
            "lanczos",
            "windowed tapered",
            "{x} * sin(p) / p with p = pi * (2 * {u} - 1) ({x} itself where |p| <= 0.1)",
            "x u",
            _lanczos,
        ),
        by_hand(
            "kaiser_series",
            "windowed tapered",
            "{x} * (1 + q + q^2 / 4 + q^3 / 36) with q = 4 * {a}^2 * (1 - (2 * {u} - 1)^2)",
            "x u a",
            _kaiser,
        ),
        by_hand(
            "welch",
            "windowed tapered",
            "{x} * (1 - (2 * {u} - 1)^2)",
            "x u",
            lambda b, x, u: (
                x * either(b, 4.0 * u * (1.0 - u), 1.0 - (2.0 * u - 1.0) * (2.0 * u - 1.0))
            ),
        ),
        by_hand(
            "bartlett",
            "windowed tapered",
            "{x} * (1 - |2 * {u} - 1|)",
            "x u",
            lambda b, x, u: x * (1.0 - fn("abs", 2.0 * u - 1.0)),
        ),
        by_hand(
            "cosine_power",
            "windowed tapered",
            "{x} * sin(pi * {u})^(2 * {a})",
            "x u a",
            lambda b, x, u, a: x * fn("pow", fn("sin", 3.1415927 * u), 2.0 * a),
        ),
    ),
)


@idiom
def window_function(k: KernelBuilder, level: int) -> Title:
    """Samples tapered by a window of their position in the frame."""
    return compose(k, level, _WINDOW)

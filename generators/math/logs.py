"""Levels, intervals and information: measures by logarithms of several bases."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _decibel(b: BodyBuilder, x: Expr, r: Expr) -> Expr:
    return either(b, 20.0 * fn("log10", x / r), 20.0 * (fn("log10", x) - fn("log10", r)))


def _cents(b: BodyBuilder, x: Expr, r: Expr) -> Expr:
    return 1200.0 * fn("log2", x / r)


def _pitch_error(b: BodyBuilder, x: Expr, r: Expr) -> Expr:
    note = b.let(("note", "semitone"), 12.0 * fn("log2", x / r))
    b.note("distance to the nearest semitone")
    return note - fn(b.draw.shape.choice(("rint", "round")), note)


def _order(b: BodyBuilder, x: Expr) -> Expr:
    tenth = b.let(("digits", "order"), fn("floor", fn("log10", x)))
    return x / fn("pow", b.lift(10.0, x.type), tenth)


def _gated(b: BodyBuilder, x: Expr, r: Expr, g: Expr) -> Expr:
    over = b.let(("over", "excess"), 20.0 * fn("log10", x / r))
    gain = b.let(("gain", "reduction"), b.lift(0.0, x.type))
    with b.if_(over > 0.0):
        b.assign(gain, over * (1.0 / g - 1.0))
    return gain


def _surprise(b: BodyBuilder, x: Expr) -> Expr:
    p = b.let(("p", "prob"), x / (1.0 + x))
    return -p * fn("log2", p) - (1.0 - p) * fn("log2", 1.0 - p)


def _mel(b: BodyBuilder, x: Expr) -> Expr:
    return 2.595 * fn("log10", 1.0 + x / 0.7)


def _symlog(b: BodyBuilder, x: Expr, r: Expr) -> Expr:
    d = b.let(("d", "centered"), x - r)
    return fn("copysign", fn("log10", 1.0 + 5.0 * fn("abs", d)), d)


_LOGS = Family(
    item="reading",
    inputs={"x": quantity("x amp level", "readings amplitudes levels", 0.3, 9.0)},
    params={
        "r": quantity("ref base_level threshold", "refs thresholds", 0.5, 4.0, 1.0, 2.0, 0.5),
        "g": quantity("ratio slope gain", "ratios slopes", 1.5, 5.0, 2.0, 4.0, 3.0),
    },
    titles="log_measure level_by_kind convert_levels",
    kinds="unit kinds scale_type",
    struct="Meter Scale Gauge",
    grids=("i|tid|t", "channel t|row col|band t_idx", "batch channel t|b c t"),
    weights="weights band_gain",
    masks="mask voiced valid",
    reductions=("mean", "largest", "smallest", "sum"),
    cards=(
        by_hand("decibels", "decibel db", "20 * log10({x} / {r})", "x r", _decibel),
        by_hand("cents", "cents_out interval", "1200 * log2({x} / {r})", "x r", _cents),
        by_hand(
            "pitch_error",
            "detune error_out",
            "n - rint(n) with n = 12 * log2({x} / {r})",
            "x r",
            _pitch_error,
        ),
        by_hand("mantissa", "mantissa leading", "{x} / 10^floor(log10({x}))", "x", _order),
        by_hand(
            "magnitude",
            "mag magnitude_out",
            "-2.5 * log10({x} / {r})",
            "x r",
            lambda b, x, r: -2.5 * fn("log10", x / r),
        ),
        by_hand(
            "octave_class",
            "pitch_class chroma",
            "o - floor(o) with o = log2({x} / {r})",
            "x r",
            lambda b, x, r: (o := b.let(("octaves", "o"), fn("log2", x / r))) - fn("floor", o),
        ),
        by_hand(
            "gain_reduction",
            "reduction_db gain_db",
            "d * (1 / {g} - 1) where d = 20 * log10({x} / {r}) is positive, else 0",
            "x r g",
            _gated,
        ),
        by_hand(
            "binary_entropy",
            "entropy bits",
            "-p * log2(p) - (1 - p) * log2(1 - p) with p = {x} / (1 + {x})",
            "x",
            _surprise,
        ),
        by_hand("mel_scale", "mel mels", "2.595 * log10(1 + {x} / 0.7)", "x", _mel),
        by_hand(
            "symmetric_log",
            "symlog_out shaped",
            "log10(1 + 5 * |d|) with the sign of d = {x} - {r}",
            "x r",
            _symlog,
        ),
        by_hand(
            "acidity",
            "ph acidity_out",
            "7 - log10({x} / {r}) + log({g}) / log(10)",
            "x r g",
            lambda b, x, r, g: 7.0 - fn("log10", x / r) + fn("log", g) / 2.3025851,
        ),
        by_hand(
            "moment_magnitude",
            "quake mw",
            "2/3 * log10({x} * {g}) + 6",
            "x g",
            lambda b, x, g: 0.66666667 * fn("log10", x * g) + 6.0,
        ),
        by_hand(
            "loudness",
            "sones loudness_out",
            "2^(log10({x} / {r}) * 2)",
            "x r",
            lambda b, x, r: fn("pow", b.lift(2.0, x.type), 2.0 * fn("log10", x / r)),
        ),
        by_hand(
            "cube_loudness",
            "loud loudness_out",
            "cbrt({x} / {r})",
            "x r",
            lambda b, x, r: fn("cbrt", x / r),
        ),
    ),
)


@idiom
def log_measure(k: KernelBuilder, level: int) -> Title:
    """Levels, intervals, magnitudes and information: logarithms in base 2, e and 10."""
    return compose(k, level, _LOGS)

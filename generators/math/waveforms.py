"""Waveforms of synthesis: periodic shapes, modulated and decaying ones."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _phase(b: BodyBuilder, t: Expr, f: Expr) -> Expr:
    return b.let(("phase", "arg", "theta"), 6.2831853 * f * t)


def _cycle(b: BodyBuilder, t: Expr, f: Expr) -> Expr:
    turns = b.let(("turns", "cycles"), f * t)
    part = fn("frac", turns) if b.draw.shape.chance(0.15) else turns - fn("floor", turns)
    return b.let(("cycle", "saw_pos"), part)


def _pulse(b: BodyBuilder, t: Expr, f: Expr, d: Expr) -> Expr:
    cycle = _cycle(b, t, f)
    return either(
        b, fn("step", cycle - d) * (1.0 - cycle), fn("where", cycle < d, 1.0 - cycle, 0.0)
    )


def _square(b: BodyBuilder, t: Expr, f: Expr, d: Expr) -> Expr:
    swing = b.let(("swing", "s"), fn("sin", _phase(b, t, f) + 0.3))
    level = fn("exp", -t / d)
    return either(b, fn("sign", swing) * level, fn("copysign", level, swing))


def _ricker(b: BodyBuilder, t: Expr, f: Expr) -> Expr:
    a = b.let(("a", "arg"), 3.1415927 * f * (t - 0.5))
    square = b.let(("square", "a2"), a * a)
    return (1.0 - 2.0 * square) * fn("exp", -square)


def _gabor(b: BodyBuilder, t: Expr, f: Expr, d: Expr) -> Expr:
    s = b.let(("s", "offset"), (t - 0.5) / d)
    return fn("exp", -0.5 * s * s) * fn("cos", 6.2831853 * f * (t - 0.5))


def _chirp(b: BodyBuilder, t: Expr, f: Expr, m: Expr) -> Expr:
    return fn("sin", 6.2831853 * t * (f + 0.5 * m * t))


def _fm(b: BodyBuilder, t: Expr, f: Expr, m: Expr) -> Expr:
    phase = _phase(b, t, f)
    return fn("sin", phase + m * fn("sin", 2.0 * phase))


def _soft_square(b: BodyBuilder, t: Expr, f: Expr, m: Expr) -> Expr:
    return fn("tanh", 2.0 * m * fn("sin", _phase(b, t, f)))


def _fold(b: BodyBuilder, t: Expr, f: Expr, m: Expr) -> Expr:
    driven = b.let(("driven", "hot"), (1.0 + m) * fn("sin", _phase(b, t, f)))
    return fn("sin", 1.5707963 * driven)


_WAVE = Family(
    item="time",
    inputs={"t": quantity("t time sec", "times t_in stamps", 0.0, 1.0)},
    params={
        "f": quantity("freq f rate", "freqs rates pitches", 1.2, 3.8, 1.5, 2.0, 2.5, 3.0),
        "d": quantity("decay duty width", "decays duties widths", 0.2, 0.6, 0.25, 0.3, 0.5),
        "m": quantity("depth mod_index drive", "depths mod_indices", 0.4, 1.4, 0.5, 0.8, 1.25),
    },
    titles="synth_wave wave_by_kind oscillator_bank",
    kinds="waveform wave_type shapes",
    struct="Voice Tone Note",
    grids=("i|tid|k", "voice t_idx|channel i|row col", "batch voice i|b c i"),
    parts="voices v voice",
    weights="gains amplitudes levels",
    masks="gate active mask",
    smooth=False,
    reductions=("sum", "mean", "rms", "largest"),
    cards=(
        by_hand(
            "damped_sine",
            "wave signal",
            "exp(-{t} / {d}) * sin(2 * pi * {f} * {t})",
            "t f d",
            lambda b, t, f, d: fn("exp", -t / d) * fn("sin", _phase(b, t, f)),
        ),
        by_hand(
            "sawtooth",
            "wave signal",
            "2 * c - 1 with c the fraction of {f} * {t}",
            "t f",
            lambda b, t, f: 2.0 * _cycle(b, t, f) - 1.0,
        ),
        by_hand(
            "square_wave",
            "wave signal",
            "exp(-{t} / {d}) with the sign of sin(2 * pi * {f} * {t} + 0.3)",
            "t f d",
            _square,
        ),
        by_hand(
            "triangle_wave",
            "wave signal",
            "the triangle wave 4 * |c - 0.5| - 1 with c the fraction of {f} * {t}",
            "t f",
            lambda b, t, f: 4.0 * fn("abs", _cycle(b, t, f) - 0.5) - 1.0,
        ),
        by_hand(
            "rounded_triangle",
            "wave signal",
            "2 / pi * asin(0.999 * sin(2 * pi * {f} * {t}))",
            "t f",
            lambda b, t, f: 0.63661977 * fn("asin", 0.999 * fn("sin", _phase(b, t, f))),
        ),
        by_hand(
            "falling_pulse",
            "wave signal",
            "1 - c where c < {d} and 0 elsewhere, with c the fraction of {f} * {t}",
            "t f d",
            _pulse,
        ),
        by_hand(
            "ricker",
            "wavelet signal",
            "(1 - 2 * a^2) * exp(-a^2) with a = pi * {f} * ({t} - 0.5)",
            "t f",
            _ricker,
        ),
        by_hand(
            "gabor",
            "wavelet signal",
            "exp(-s^2 / 2) * cos(2 * pi * {f} * ({t} - 0.5)) with s = ({t} - 0.5) / {d}",
            "t f d",
            _gabor,
        ),
        by_hand(
            "chirp", "sweep signal", "sin(2 * pi * {t} * ({f} + {m} * {t} / 2))", "t f m", _chirp
        ),
        by_hand(
            "fm_tone",
            "wave signal",
            "sin(p + {m} * sin(2 * p)), p = 2 * pi * {f} * {t}",
            "t f m",
            _fm,
        ),
        by_hand(
            "am_tone",
            "wave signal",
            "(1 + {m} * cos(2 * pi * {t})) * sin(2 * pi * {f} * {t})",
            "t f m",
            lambda b, t, f, m: (1.0 + m * fn("cos", 6.2831853 * t)) * fn("sin", _phase(b, t, f)),
        ),
        by_hand(
            "soft_square",
            "wave signal",
            "tanh(2 * {m} * sin(2 * pi * {f} * {t}))",
            "t f m",
            _soft_square,
        ),
        by_hand(
            "wave_folder",
            "wave signal",
            "sin(pi / 2 * (1 + {m}) * sin(2 * pi * {f} * {t}))",
            "t f m",
            _fold,
        ),
    ),
)


@idiom
def waveform(k: KernelBuilder, level: int) -> Title:
    """Waveforms of a time and a frequency: periodic, modulated, decaying."""
    return compose(k, level, _WAVE)

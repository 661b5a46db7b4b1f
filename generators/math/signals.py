"""Signals: windows, waveforms, and levels on logarithmic scales."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import (
    HALF_PI,
    PI,
    TWO_PI,
    cos,
    exp,
    log2,
    log10,
    sin,
    where,
)
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_WINDOW = Family(
    inputs={
        "x": quantity("x sample", "samples signal", -1.0, 1.0),
        "u": quantity("u pos", "positions", 0.01, 0.99),
    },
    params={
        "a": quantity("alpha width", "alphas widths", 0.3, 0.7, 0.25, 0.5, 0.4),
    },
    titles="apply_window window_by_kind taper_samples",
    kinds="window_type kinds shapes",
    struct="WindowParams",
    records="Sample Tap",
    grids=("i|tid|t", "frame t|frame n|f t", "batch frame t|b f t"),
    sizes={2: "frames frame_len", 3: "batch frames frame_len"},
    weights="gains weights",
    ramp="u",
    forms={2: 5, 3: 1},
    about={
        "hann": "Hann window on each frame",
        "hamming": "Hamming window on each frame",
        "blackman": "Blackman window on each frame",
        "nuttall": "Nuttall window on each frame",
        "blackman_harris": "Blackman-Harris window on each frame",
        "flat_top": "flat-top window on each frame",
        "tukey": "Tukey (tapered cosine) window on each frame",
        "gaussian_window": "Gaussian window on each frame",
        "exponential_window": "two-sided exponential window on each frame",
        "welch": "Welch window on each frame",
        "triangular_window": "triangular window on each frame",
        "bohman": "Bohman window on each frame",
    },
)
_TAPERED = "windowed tapered"


@_WINDOW.formula(_TAPERED)
def hann(body: BodyBuilder, x: Expr, u: Expr) -> Expr:
    if body.draw.shape.chance(0.5):
        return 0.5 * x * (1.0 - cos(TWO_PI * u))
    root = body.let("half_sine root", sin(PI * u))
    return x * root * root


_WINDOW.add("hamming", _TAPERED, lambda x, u: x * (0.54 - 0.46 * cos(TWO_PI * u)))


@_WINDOW.formula(_TAPERED)
def blackman(body: BodyBuilder, x: Expr, u: Expr) -> Expr:
    phi = body.let("turn phi angle", TWO_PI * u)
    return x * (0.42 - 0.5 * cos(phi) + 0.08 * cos(2.0 * phi))


@_WINDOW.formula(_TAPERED)
def nuttall(body: BodyBuilder, x: Expr, u: Expr) -> Expr:
    phi = body.let("turn phi angle", TWO_PI * u)
    low = body.let("low first", 0.355768 - 0.487396 * cos(phi))
    return x * (low + 0.144232 * cos(2.0 * phi) - 0.012604 * cos(3.0 * phi))


@_WINDOW.formula(
    _TAPERED,
    "{x} times 0.5 - 0.5 * cos(2 * pi * e / {a}) where e < {a} / 2, unchanged elsewhere, "
    "with e = min({u}, 1 - {u})",
)
def tukey(body: BodyBuilder, x: Expr, u: Expr, a: Expr) -> Expr:
    edge = body.let("edge dist", fn("min", u, 1.0 - u))
    gain = body.let("gain win", body.lift(1.0, u.type))
    with body.if_(edge < 0.5 * a):
        body.assign(gain, 0.5 - 0.5 * cos(TWO_PI * edge / a))
    return x * gain


@_WINDOW.formula(_TAPERED)
def gaussian_window(body: BodyBuilder, x: Expr, u: Expr, a: Expr) -> Expr:
    z = body.let("z offset", (2.0 * u - 1.0) / a)
    return x * exp(-0.5 * z * z)


@_WINDOW.formula(_TAPERED)
def blackman_harris(body: BodyBuilder, x: Expr, u: Expr) -> Expr:
    phi = body.let("turn phi angle", TWO_PI * u)
    low = body.let("low first", 0.35875 - 0.48829 * cos(phi))
    return x * (low + 0.14128 * cos(2.0 * phi) - 0.01168 * cos(3.0 * phi))


@_WINDOW.formula(_TAPERED)
def flat_top(body: BodyBuilder, x: Expr, u: Expr) -> Expr:
    phi = body.let("turn phi angle", TWO_PI * u)
    low = body.let("low first", 0.21557895 - 0.41663158 * cos(phi) + 0.277263158 * cos(2.0 * phi))
    return x * (low - 0.083578947 * cos(3.0 * phi) + 0.006947368 * cos(4.0 * phi))


@_WINDOW.formula(_TAPERED)
def bohman(body: BodyBuilder, x: Expr, u: Expr) -> Expr:
    side = body.let("side off", abs(2.0 * u - 1.0))
    return x * ((1.0 - side) * cos(PI * side) + 0.31830989 * sin(PI * side))


_WINDOW.add(
    "exponential_window",
    _TAPERED,
    lambda x, u, a: x * exp(-abs(2.0 * u - 1.0) / a),
    a="decay decays",
)
_WINDOW.add(
    "welch",
    _TAPERED,
    lambda body, x, u: (
        x * either(body, 1.0 - (2.0 * u - 1.0) * (2.0 * u - 1.0), 4.0 * u * (1.0 - u))
    ),
)
_WINDOW.add("triangular_window", _TAPERED, lambda x, u: x * (1.0 - abs(2.0 * u - 1.0)))


@idiom(depth=DEPTH)
def window_function(k: KernelBuilder, level: int) -> Title:
    """Samples tapered by a window of their position in the frame."""
    return compose(k, level, _WINDOW)


_WAVE = Family(
    inputs={"t": quantity("t time", "times", 0.0, 1.0)},
    params={
        "f": quantity("freq pitch", "freqs pitches", 1.2, 3.8, 1.5, 2.0, 2.5, 3.0),
        "d": quantity("decay", "decays", 0.2, 0.6, 0.25, 0.3, 0.5),
        "m": quantity("depth", "depths", 0.4, 1.4, 0.5, 0.8, 1.25),
        "lfo": quantity("lfo_freq mod_freq", "lfo_freqs mod_freqs", 0.5, 1.5),
    },
    titles="synth_wave wave_by_kind oscillator_bank",
    kinds="waveform wave_type shapes",
    struct="Voice Tone Note",
    grids=("i|tid|k", "voice t_idx|channel i|row col", "batch voice i|b c i"),
    parts="voices v voice",
    mixed="damped_sine sawtooth triangle_wave square_wave fm_tone soft_square",
    weights="gains amplitudes levels",
    masks="gate active mask",
    varying="f d m",
    grouped_only=True,
    tabled=True,
    flat=True,
    whole="weighted sum of voices, each a",
    about={
        "damped_sine": "sine that decays exponentially",
        "sawtooth": "rising sawtooth from -1 to 1",
        "triangle_wave": "triangle wave from -1 to 1",
        "square_wave": "pulse wave, 1 for a share of each period and -1 after it",
        "falling_pulse": "pulse that falls linearly and is cut off after a share of each period",
        "ricker": "Ricker wavelet about time 0",
        "gabor": "Gabor wavelet about time 0",
        "chirp": "linear chirp",
        "fm_tone": "frequency-modulated tone, the modulator at twice its frequency",
        "am_tone": "amplitude-modulated tone",
        "soft_square": "sine that is driven into soft saturation",
        "wave_folder": "sine through a sinusoidal wave folder",
    },
)
_SIGNAL = "wave signal"


def _phase(body: BodyBuilder, t: Expr, f: Expr) -> Expr:
    return body.let("phase arg theta", TWO_PI * f * t)


def _cycle(body: BodyBuilder, t: Expr, f: Expr) -> Expr:
    turns = body.let("turns cycles", f * t)
    part = fn("frac", turns) if body.draw.shape.chance(0.15) else turns - fn("floor", turns)
    return body.let("cycle saw_pos", part)


_WAVE.add("damped_sine", _SIGNAL, lambda body, t, f, d: exp(-t / d) * sin(_phase(body, t, f)))
_WAVE.add("sawtooth", _SIGNAL, lambda body, t, f: 2.0 * _cycle(body, t, f) - 1.0)
_WAVE.add("triangle_wave", _SIGNAL, lambda body, t, f: 4.0 * abs(_cycle(body, t, f) - 0.5) - 1.0)


@_WAVE.formula(_SIGNAL, d="duty duties")
def square_wave(body: BodyBuilder, t: Expr, f: Expr, d: Expr) -> Expr:
    return where(_cycle(body, t, f) < d, body.lift(1.0, t.type), -1.0)


@_WAVE.formula(_SIGNAL, d="duty duties")
def falling_pulse(body: BodyBuilder, t: Expr, f: Expr, d: Expr) -> Expr:
    cycle = _cycle(body, t, f)
    stepped = fn("step", cycle - d) * (1.0 - cycle)
    return either(body, where(cycle < d, 1.0 - cycle, 0.0), stepped)


@_WAVE.formula("wavelet signal")
def ricker(body: BodyBuilder, t: Expr, f: Expr) -> Expr:
    a = body.let("a arg", PI * f * t)
    square = body.let("square a2", a * a)
    return (1.0 - 2.0 * square) * exp(-square)


@_WAVE.formula("wavelet signal", d="width widths")
def gabor(body: BodyBuilder, t: Expr, f: Expr, d: Expr) -> Expr:
    s = body.let("s offset", t / d)
    return exp(-0.5 * s * s) * cos(TWO_PI * f * t)


_WAVE.add(
    "chirp",
    "sweep signal",
    lambda t, f, m: sin(TWO_PI * t * (f + 0.5 * m * t)),
    m="sweep_rate sweep_rates",
)
_WAVE.add(
    "fm_tone",
    _SIGNAL,
    lambda body, t, f, m: sin((phase := _phase(body, t, f)) + m * sin(2.0 * phase)),
    m="mod_index mod_indices",
)
_WAVE.add(
    "am_tone",
    _SIGNAL,
    lambda body, t, f, m, lfo: (1.0 + m * cos(TWO_PI * lfo * t)) * sin(_phase(body, t, f)),
)
_WAVE.add(
    "soft_square",
    _SIGNAL,
    lambda body, t, f, m: fn("tanh", m * sin(_phase(body, t, f))),
    m="drive drives",
)


@_WAVE.formula(_SIGNAL, m="drive drives")
def wave_folder(body: BodyBuilder, t: Expr, f: Expr, m: Expr) -> Expr:
    driven = body.let("driven hot", m * sin(_phase(body, t, f)))
    return sin(HALF_PI * driven)


@idiom(depth=DEPTH)
def waveform(k: KernelBuilder, level: int) -> Title:
    """Waveforms of a time and a frequency: periodic, modulated, decaying."""
    return compose(k, level, _WAVE)


_LOGS = Family(
    inputs={"x": quantity("x amp level", "readings amplitudes levels", 0.3, 9.0)},
    params={
        "r": quantity("ref base_level threshold", "refs thresholds", 0.5, 4.0, 1.5, 2.0, 0.5),
        "g": quantity("ratio slope gain", "ratios slopes", 1.5, 5.0, 2.0, 4.0, 3.0),
    },
    titles="log_measure level_by_kind convert_levels",
    kinds="unit kinds scale_type",
    struct="Meter Scale Gauge",
    grids=("i|tid|t", "channel t|row col|band t_idx", "batch channel t|b c t"),
    weights="weights band_gain",
    masks="mask voiced valid",
    reductions=("mean", "largest"),
    reduced="decibels",
    groups="channel_ids sensor_ids",
    varying="r",
    lists=False,
    about={
        "decibels": "level of an amplitude in decibels",
        "cents": "musical interval in cents",
        "magnitude": "astronomical magnitude of a flux",
        "octave_class": "place of a frequency within its octave, from 0 to 1",
        "mel_scale": "mel scale of a frequency in kHz",
        "pitch_error": "distance to the nearest semitone, in semitones",
        "mantissa": "decimal mantissa, from 1 to below 10",
        "gain_reduction": "gain in decibels that a compressor applies above its threshold",
    },
)
_LOGS.add(
    "decibels",
    "decibel db",
    lambda body, x, r: either(body, 20.0 * log10(x / r), 20.0 * (log10(x) - log10(r))),
    x="amplitude amplitudes",
    r="reference references",
)
_LOGS.add(
    "cents",
    "cents_out interval",
    lambda x, r: 1200.0 * log2(x / r),
    x="freq freqs",
    r="ref_freq ref_freqs",
)
_LOGS.add(
    "magnitude",
    "mag magnitude_out",
    lambda x, r: -2.5 * log10(x / r),
    x="flux fluxes",
    r="ref_flux ref_fluxes",
)
_LOGS.add(
    "octave_class",
    "pitch_class chroma",
    lambda body, x, r: (o := body.let("octaves o", log2(x / r))) - fn("floor", o),
    x="freq freqs",
    r="ref_freq ref_freqs",
)
_LOGS.add("mel_scale", "mel mels", lambda x: 2595.0 * log10(1.0 + x / 0.7), x="freq_khz freqs_khz")


@_LOGS.formula("detune error_out", x="freq freqs", r="ref_freq ref_freqs")
def pitch_error(body: BodyBuilder, x: Expr, r: Expr) -> Expr:
    note = body.let("note semitone", 12.0 * log2(x / r))
    body.note("distance to the nearest semitone")
    return note - fn("rint", note)


@_LOGS.formula("mantissa leading", x="value values")
def mantissa(body: BodyBuilder, x: Expr) -> Expr:
    order = body.let("digits order", fn("floor", log10(x)))
    return x / 10.0**order


@_LOGS.formula(
    "reduction_db gain_db",
    "d * (1 / {g} - 1) where d = 20 * log10({x} / {r}) is positive, else 0",
    x="level levels",
    r="threshold thresholds",
    g="ratio ratios",
)
def gain_reduction(body: BodyBuilder, x: Expr, r: Expr, g: Expr) -> Expr:
    over = body.let("over excess", 20.0 * log10(x / r))
    gain = body.let("gain reduction", body.lift(0.0, x.type))
    with body.if_(over > 0.0):
        body.assign(gain, over * (1.0 / g - 1.0))
    return gain


@idiom(depth=DEPTH)
def log_measure(k: KernelBuilder, level: int) -> Title:
    """Levels, intervals, magnitudes and information: logarithms in base 2, e and 10."""
    return compose(k, level, _LOGS)

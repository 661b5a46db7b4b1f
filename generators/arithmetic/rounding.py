"""Real numbers rounded, wrapped and gated: snapping, oscillators, dead zones, companding."""

from __future__ import annotations

from generators.arithmetic.tasks import EITHER, ONE, Input, Task, perform
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Build
from generators.kit.functions import (
    either,
    exp,
    least,
    log,
    most,
    sqrt,
    where,
    wrapped_angle,
)
from generators.kit.sites import launch
from generators.program.dtypes import INT32
from generators.program.expr import Expr


def _copysign(size: Expr, x: Expr) -> Expr:
    return fn("copysign", size, x)


def _snap(rounding: str) -> Build:
    return lambda x, h: h * fn(rounding, x / h)


def _snap_from(x: Expr, x0: Expr, h: Expr) -> Expr:
    return x0 + h * fn("rint", (x - x0) / h)


def _dead_zone(x: Expr, w: Expr) -> Expr:
    return where(abs(x) > w, (x - _copysign(w, x)) / (1.0 - w), 0.0)


def _soft(body: BodyBuilder, x: Expr, w: Expr) -> Expr:
    two_sided = most(x - w, 0.0) - most(-x - w, 0.0)
    return either(body, _copysign(most(abs(x) - w, 0.0), x), two_sided)


def _sawtooth(body: BodyBuilder, t: Expr, period: Expr) -> Expr:
    cycle = body.let("cycles phase", t / period)
    return 2.0 * (cycle - fn("floor", cycle + 0.5))


def _triangle(body: BodyBuilder, t: Expr, period: Expr) -> Expr:
    cycle = body.let("cycles turns", t / period)
    return 4.0 * abs(cycle - fn("floor", cycle + 0.5)) - 1.0


def _pulse(body: BodyBuilder, t: Expr, period: Expr, duty: Expr) -> Expr:
    cycle = body.let("cycles turns", t / period)
    one, zero = body.lift(1.0, t.type), body.lift(0.0, t.type)
    return where(cycle - fn("floor", cycle) < duty, one, zero)


def _mu_law(x: Expr, mu: Expr) -> Expr:
    return _copysign(log(1.0 + mu * abs(x)) / log(1.0 + mu), x)


def _mu_law_back(y: Expr, mu: Expr) -> Expr:
    return _copysign((exp(abs(y) * log(1.0 + mu)) - 1.0) / mu, y)


def _knee(x: Expr, limit: Expr, ratio: Expr) -> Expr:
    return where(abs(x) > limit, _copysign(limit + (abs(x) - limit) / ratio, x), x)


_X = Input("x values signal", -4.0, 4.0)
_STEP = Input("step spacing resolution", 0.1, 0.8, ONE)
_TIMES = Input("t times", 0.0, 8.0, local="ti time")
_PERIOD = Input("period cycle_length", 0.6, 1.8, EITHER)

_WAYS_TO_ROUND = {
    "rint": "to the nearest multiple of {h}, ties to the even one",
    "floor": "down to a multiple of {h}",
    "ceil": "up to a multiple of {h}",
    "trunc": "toward zero to a multiple of {h}",
}

_SNAPS = tuple(
    Task(
        "snap_to_grid round_to_step quantize_steps",
        {"x": Input("positions values readings", -4.0, 4.0), "h": _STEP},
        {"snapped rounded": _snap(rounding)},
        f"Round each of {{x}} {way}. Store it in {{out0}}.",
    )
    for rounding, way in _WAYS_TO_ROUND.items()
)

_TASKS = (
    Task(
        "snap_to_lattice align_to_grid",
        {
            "x": Input("positions coords", -4.0, 4.0),
            "x0": Input("origin offset", -0.5, 0.5, ONE),
            "h": _STEP,
        },
        {"snapped aligned": _snap_from},
        "Move each of {x} to the nearest point of the grid {x0} + n * {h}, n being any whole "
        "number. Store it in {out0}.",
    ),
    Task(
        "split_cell cell_and_fraction",
        {"x": Input("coords positions", -4.0, 4.0), "h": Input("cell_size dx", 0.4, 1.2, ONE)},
        {
            "cells cell_ids": lambda x, h: cast(fn("floor", x / h), INT32),
            "fractions local_coords": lambda x, h: x / h - fn("floor", x / h),
        },
        "Find the cell of width {h} that each of {x} lies in: store its index, {x} / {h} rounded "
        "down, in {out0}, and the place in the cell, from 0 to 1, in {out1}.",
    ),
    Task(
        "sawtooth_wave sawtooth_oscillator",
        {"t": _TIMES, "period": _PERIOD},
        {"samples wave": _sawtooth},
        "Sample a sawtooth wave at the times {t}: it rises from -1 to 1 in every {period} and "
        "passes zero at time 0. Store it in {out0}.",
    ),
    Task(
        "triangle_wave triangle_oscillator",
        {"t": _TIMES, "period": _PERIOD},
        {"samples wave": _triangle},
        "Sample a triangle wave at the times {t}: it is -1 at multiples of {period} and 1 halfway "
        "between. Store it in {out0}.",
    ),
    Task(
        "pulse_wave square_pulse pwm_signal",
        {"t": _TIMES, "period": _PERIOD, "duty": Input("duty duty_cycle", 0.3, 0.7, ONE)},
        {"pulse signal": _pulse},
        "Sample a pulse train at the times {t}: 1 in the first {duty} of every {period}, 0 in the "
        "rest of it. Store it in {out0}.",
    ),
    Task(
        "wrap_angles normalize_angles wrap_to_pi",
        {"a": Input("angles headings phases", -12.0, 12.0)},
        {"wrapped wrapped_angles": wrapped_angle},
        "Wrap each of {a}, in radians, to the interval from -pi (included) to pi. Store it in "
        "{out0}.",
    ),
    Task(
        "angle_differences heading_error shortest_turn",
        {
            "a": Input("target_angles goal_headings", -3.1, 3.1, local="goal target"),
            "b": Input("angles headings", -3.1, 3.1),
        },
        {"errors turns": lambda body, a, b: wrapped_angle(body.let("diff delta", a - b))},
        "Store in {out0} the shortest signed turn from {b} to {a}: their difference wrapped to "
        "the interval from -pi to pi.",
    ),
    Task(
        "wrap_periodic wrap_positions",
        {"x": Input("positions coords", -6.0, 6.0), "box": Input("box box_length", 2.0, 4.0, ONE)},
        {"wrapped wrapped_positions": lambda x, box: x - box * fn("floor", x / box)},
        "Wrap each of {x} into a periodic box, from 0 to {box}. Store it in {out0}.",
    ),
    Task(
        "minimum_image nearest_image",
        {
            "x": Input("dx displacements separations", -4.0, 4.0, local="d d_x"),
            "box": Input("box box_length", 2.0, 4.0, ONE),
        },
        {"nearest images": lambda x, box: x - box * fn("rint", x / box)},
        "Minimum image convention in a periodic box of length {box}: bring each displacement of "
        "{x} to the nearest image by taking off whole boxes. Store it in {out0}.",
    ),
    Task(
        "joystick_deadzone rescaled_dead_zone",
        {
            "x": Input("axes_in stick deflections", -1.0, 1.0, local="raw deflection"),
            "w": Input("dead_zone deadband", 0.1, 0.3, ONE),
        },
        {"commands response": _dead_zone},
        "Dead zone of a joystick: deflections {x} of at most {w} in size give 0; larger ones are "
        "rescaled so that the response grows from 0 at {w} to 1 at full deflection, with their "
        "sign. Store it in {out0}.",
    ),
    Task(
        "soft_threshold shrink_coefficients lasso_prox",
        {
            "x": Input("coeffs weights x", -2.0, 2.0),
            "w": Input("threshold lam penalty", 0.2, 0.9, EITHER),
        },
        {"shrunk thresholded": _soft},
        "Soft threshold: move each of {x} toward zero by {w}, those of a smaller size to zero. "
        "Store it in {out0}.",
    ),
    Task(
        "hard_threshold keep_large denoise_coefficients",
        {
            "x": Input("coeffs wavelet_coeffs x", -2.0, 2.0),
            "w": Input("threshold cutoff", 0.3, 0.9, EITHER),
        },
        {"kept thresholded": lambda x, w: where(abs(x) > w, x, 0.0)},
        "Hard threshold: keep each of {x} whose absolute value exceeds {w}, and set the others to "
        "zero. Store it in {out0}.",
    ),
    Task(
        "mu_law_encode compress_mu_law",
        {
            "x": Input("samples audio", -1.0, 1.0),
            "mu": Input("mu", 200.0, 255.0, ONE),
        },
        {"encoded companded": _mu_law},
        "Compand audio by the mu-law: sign(x) * log(1 + {mu} * |x|) / log(1 + {mu}) for each x of "
        "{x}, which lies in [-1, 1]. Store it in {out0}.",
    ),
    Task(
        "mu_law_decode expand_mu_law",
        {"y": Input("encoded companded", -1.0, 1.0), "mu": Input("mu", 200.0, 255.0, ONE)},
        {"samples audio_out": _mu_law_back},
        "Undo the mu-law of companded audio: sign(y) * ((1 + {mu})^|y| - 1) / {mu} for each y of "
        "{y}, which lies in [-1, 1]. Store it in {out0}.",
    ),
    Task(
        "compress_peaks hard_knee_compressor",
        {
            "x": Input("samples signal audio", -1.0, 1.0),
            "limit": Input("threshold knee", 0.3, 0.6, ONE),
            "ratio": Input("ratio", 2.0, 8.0, ONE),
        },
        {"compressed limited": _knee},
        "Compress a signal above a knee: where a sample of {x} exceeds {limit} in size, the "
        "excess is divided by {ratio}; the sign stays. Store it in {out0}.",
    ),
    Task(
        "noise_gate gate_samples",
        {
            "x": Input("samples audio", -1.0, 1.0),
            "w": Input("envelope loudness", 0.0, 1.0, local="env"),
            "limit": Input("threshold gate_level", 0.3, 0.6, ONE),
            "g": Input("floor_gain closed_gain", 0.0, 0.2, ONE),
        },
        {"gated samples_out": lambda x, w, limit, g: where(w >= limit, x, g * x)},
        "Noise gate: samples {x} pass where {w} is at least {limit}, and are multiplied by {g} "
        "elsewhere. Store them in {out0}.",
    ),
    Task(
        "signed_sqrt power_normalize",
        {"x": Input("features descriptors", -4.0, 4.0)},
        {"normalized rooted": lambda x: _copysign(sqrt(abs(x)), x)},
        "Power normalisation of features: the square root of the absolute value of each of {x}, "
        "with its sign. Store it in {out0}.",
    ),
    Task(
        "limit_rate slew_limit",
        {
            "x": Input("targets setpoints", -2.0, 2.0),
            "before": Input("previous last_outputs", -2.0, 2.0, local="prev last"),
            "step": Input("max_step max_change", 0.4, 1.0, ONE),
        },
        {"limited outputs": lambda x, before, step: before + most(-step, least(x - before, step))},
        "Slew-rate limiter: move from {before} toward {x} by at most {step}. Store it in {out0}.",
    ),
)


@idiom(depth=1)
def real_rounding(k: KernelBuilder, level: int) -> Title:
    """Rounding to steps, wrapping into periods, dead zones, gates and companding."""
    f = k.draw.wide_float_type()
    s = launch(k, list=3, grid=1)
    task = k.draw.shape.choice((k.draw.shape.choice(_SNAPS), *_TASKS))
    return perform(s, task, f)

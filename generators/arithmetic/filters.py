"""Filters of a few neighbouring samples: fixed weights, weights of an array, medians, extremes."""

from __future__ import annotations

from dataclasses import dataclass

from generators.arithmetic.lines import Line, Reach
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.kit.naming import maybe
from generators.kit.sites import Site, launch
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var, literal


@dataclass(frozen=True)
class Taps:
    """A filter of fixed whole weights over a norm: kernel names, weights, norm, output, purpose."""

    title: str
    weights: tuple[int, ...]
    norm: int
    out: str
    said: str
    over: str = "signal audio trace"
    """What is filtered."""


_TAPS = (
    Taps("binomial_smooth smooth_121", (1, 2, 1), 4, "smoothed", "Smooth by binomial weights"),
    Taps(
        "binomial_smooth smooth_14641",
        (1, 4, 6, 4, 1),
        16,
        "smoothed",
        "Smooth by binomial weights",
    ),
    Taps("moving_average box_filter", (1, 1, 1), 3, "averaged smoothed", "Moving average"),
    Taps("moving_average box_filter", (1, 1, 1, 1, 1), 5, "averaged smoothed", "Moving average"),
    Taps(
        "savgol_smooth savitzky_golay",
        (-3, 12, 17, 12, -3),
        35,
        "smoothed",
        "Savitzky-Golay smoothing, a quadratic fit to five samples",
    ),
    Taps(
        "savgol_derivative savitzky_golay_slope",
        (-2, -1, 0, 1, 2),
        10,
        "slopes derivative",
        "Savitzky-Golay derivative by sample number, a quadratic fit to five samples",
    ),
    Taps(
        "sharpen_scanline sharpen_rows",
        (-1, 6, -1),
        4,
        "sharpened",
        "Sharpen an image along its rows",
        "scanline",
    ),
    Taps(
        "high_pass fourth_difference",
        (1, -4, 6, -4, 1),
        16,
        "high_pass detail",
        "High-pass filter, the fourth difference over 16",
    ),
    Taps(
        "half_band_filter low_pass_halfband",
        (-1, 0, 9, 16, 9, 0, -1),
        32,
        "filtered low_band",
        "Half-band low-pass filter",
    ),
)


@idiom(depth=2)
def fir_filter(k: KernelBuilder, level: int) -> Title:
    """A filter of a few neighbouring samples: fixed weights, weights of an array, ranks."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=2, grid=6)
    edge = shape.choice(("clamp", "reflect", "zero", "periodic", "halo"))
    kinds = {"taps": 4, "array": 3, "other": 3 if level > 1 else 0}
    kind = shape.weighted(kinds)
    if kind == "taps":
        return _fixed(s, edge, f, shape.choice(_TAPS))
    if kind == "array":
        return _by_array(s, edge, f)
    return shape.choice(_OTHERS)(s, edge, f)


_SAMPLES = Taps.over


def _line(s: Site, edge: str, f: Scalar, reach: Reach, over: str = _SAMPLES) -> Line:
    names = "image" if over == "scanline" and s.rank > 1 else over
    return Line(s, names, (f, f), s.rank - 1, edge, reach)


def _told(line: Line, title: str, what: str, out: Var) -> Title:
    """The title of a filter along a line."""
    rows = ", along each row" if line.s.rank > 1 else ""
    k = line.k
    done = f"{what.format(u=line.u.name, rows=rows)} Store the result in {out.name}."
    return Title(k.name(title), f"{done} {line.said}.")


def _fixed(s: Site, edge: str, f: Scalar, taps: Taps) -> Title:
    """Weights that are written out, as whole numbers over their norm."""
    k, half = s.k, len(taps.weights) // 2
    line = _line(s, edge, f, (half, half), taps.over)
    value: Expr | None = None
    named = k.draw.shape.chance(0.6)
    for m, tap in enumerate(taps.weights):
        if not tap:
            continue
        sample = k.let(f"s{m}", line.at(m - half)) if named else line.at(m - half)
        term = sample if abs(tap) == 1 else float(abs(tap)) * sample
        if value is None:
            value = -term if tap < 0 else term
        else:
            value = value - term if tap < 0 else value + term
    assert value is not None
    out = s.put(taps.out, value / float(taps.norm))
    listed_ = ", ".join(map(str, taps.weights))
    what = f"{taps.said}: the weights {listed_} of the samples of {{u}} around each{{rows}}, over "
    return _told(line, taps.title, f"{what}{taps.norm}.", out)


def _by_array(s: Site, edge: str, f: Scalar) -> Title:
    """Weights of an array, gathered in a loop, with or without their sum, which is given."""
    k = s.k
    half = k.draw.shape.integer(1, 3)
    count = 2 * half + 1
    line = _line(s, edge, f, (half, half))
    normed = k.draw.shape.chance(0.4)
    low = 0.2 if normed else -1.0
    weights = k.array("taps coeffs" if not normed else "weights", f, str(count), low=low, high=1.5)
    acc = k.let("acc total", literal(0.0, f))
    norm = k.scalar("weight_sum norm", f, 0.2 * count, 1.5 * count) if normed else None
    with k.for_("tap t", count) as tap:
        k.augment(acc, "add", weights[tap] * maybe(k, "sample", line.under(tap), 0.6))
    out = s.put("filtered response", acc if norm is None else acc / norm)
    what = f"FIR filter of {count} taps: the sum of {weights.name}[t] times the samples of {{u}} "
    what += f"around each{{rows}}, the first lying {half} before it"
    what += f", over {norm.name}, the sum of the weights." if norm is not None else "."
    return _told(line, "fir_filter convolve_line" if not normed else "weighted_smooth", what, out)


def _median(s: Site, edge: str, f: Scalar) -> Title:
    k, line = s.k, _line(s, edge, f, (1, 1))
    a, b, c = (k.let(name, line.at(m - 1)) for m, name in enumerate(("left", "mid", "right")))
    out = s.put("filtered medians", most(least(a, b), least(most(a, b), c)))
    return _told(
        line,
        "median3 median_filter",
        "Median of each sample of {u} and its two neighbours{rows}, which takes out single spikes.",
        out,
    )


def _extreme(s: Site, edge: str, f: Scalar) -> Title:
    k, half = s.k, s.k.draw.shape.integer(1, 3)
    line = _line(s, "clamp" if edge == "zero" else edge, f, (half, half))
    up = k.draw.shape.chance(0.5)
    found = k.let("highest peak" if up else "lowest", line.at(-half))
    with k.for_("t step", 2 * half + 1, 1) as step:
        k.assign(found, (most if up else least)(found, line.under(step)))
    out = s.put("dilated envelope" if up else "eroded envelope", found)
    name, word = (
        ("dilate_line running_max", "largest") if up else ("erode_line running_min", "smallest")
    )
    return _told(
        line, name, f"The {word} of the {2 * half + 1} samples of {{u}} around each{{rows}}.", out
    )


def _energy(s: Site, edge: str, f: Scalar) -> Title:
    k, line = s.k, _line(s, edge, f, (1, 1))
    here = k.let("here x0", line.at(0))
    out = s.put("energy", here * here - line.at(-1) * line.at(1))
    return _told(
        line,
        "teager_energy teager_kaiser",
        "Teager-Kaiser energy of the samples of {u}"
        "{rows}: the square of each less the product of its two neighbours.",
        out,
    )


def _emphasis(s: Site, edge: str, f: Scalar) -> Title:
    k, line = s.k, _line(s, edge, f, (1, 0))
    coeff = k.scalar("coeff emphasis", f, 0.9, 0.97)
    out = s.put("emphasized", line.at(0) - coeff * line.at(-1))
    return _told(
        line,
        "pre_emphasis emphasize_highs",
        f"Pre-emphasis of speech: each sample of "
        f"{{u}}{{rows}} less {coeff.name} times the one before.",
        out,
    )


def _treble(s: Site, edge: str, f: Scalar) -> Title:
    k, line = s.k, _line(s, edge, f, (1, 1))
    gain = k.scalar("gain boost", f, 0.3, 1.2)
    here = k.let("here x0", line.at(0))
    smooth = maybe(k, "smooth mean_beside", 0.5 * (line.at(-1) + line.at(1)))
    out = s.put("boosted enhanced", here + gain * (here - smooth))
    return _told(
        line,
        "treble_boost boost_highs",
        f"Treble boost: each sample of {{u}}{{rows}} plus {gain.name} times its difference to the "
        "mean of its two neighbours.",
        out,
    )


def _bilateral(s: Site, edge: str, f: Scalar) -> Title:
    k = s.k
    half = k.draw.shape.integer(1, 2)
    # Zeros beyond an end would be samples of another signal.
    line = _line(s, "clamp" if edge == "zero" else edge, f, (half, half))
    falloff = k.scalar("inv_2sigma_sq range_falloff", f, 0.2, 1.0)
    here = k.let("here middle", line.at(0))
    acc, norm = k.let("acc total", literal(0.0, f)), k.let("norm weight_sum", literal(0.0, f))
    with k.for_("t tap", 2 * half + 1) as tap:
        sample = k.let("sample", line.under(tap))
        gap = k.let("diff gap", sample - here)
        w = k.let("w weight", fn("exp", -falloff * gap * gap))
        k.augment(acc, "add", w * sample)
        k.augment(norm, "add", w)
    out = s.put("filtered smoothed", acc / norm)
    return _told(
        line,
        "sigma_filter range_weighted_smooth edge_preserving_smooth",
        f"Smooth without blurring steps: the "
        f"mean of the {2 * half + 1} samples of {{u}} around each{{rows}}, weighted by "
        f"exp(-{falloff.name} * d^2), d being their difference to it.",
        out,
    )


_OTHERS = (_median, _extreme, _energy, _emphasis, _treble, _bilateral)

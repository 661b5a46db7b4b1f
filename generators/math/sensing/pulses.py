"""Pulses of radar: compression by the replica of a chirp, cancellers, Doppler over pulses.

M. A. Richards, Fundamentals of Radar Signal Processing, 2014, chapters 4 and 5.
"""

from __future__ import annotations

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, sin
from generators.math.sensing.samples import (
    Complex,
    Samples,
    Total,
    gets,
    power,
    style,
    times,
    times_conjugate,
    total,
)
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var

_TWO_PI, _PI = 6.2831853, 3.1415927


def _phasor(k: KernelBuilder, phase: Expr, names: str = "phase angle") -> Complex:
    """The complex exponential of i times a phase."""
    p = k.let(names, phase)
    c, s = k.draw.word.choice((("c", "s"), ("cosp", "sinp")))
    return k.let(c, cos(p)), k.let(s, sin(p))


def _canceller(k: KernelBuilder, level: int) -> Title:
    """Differences of following pulses, which take out what does not move."""
    kept, three = style(k), k.draw.shape.chance(0.5)
    k.size("pulses_out", 5, 7)
    k.size("range_gates", 12, 16)
    p, r = k.thread("pulses_out", "range_gates", names=k.draw.word.choice((("p", "r"), ("m", "g"))))
    order = 2 if three else 1
    echoes = kept.declare(k, "echoes rx data", (f"pulses_out+{order}", "range_gates"), 1.0)
    here, after = echoes.read("x0", (p, r)), echoes.read("x1", (p + 1, r))
    if three:
        last = echoes.read("x2", (p + 2, r))
        value = tuple(c - 2.0 * b + a for a, b, c in zip(here, after, last, strict=True))
        said = "the second difference x[p + 2] - 2 * x[p + 1] + x[p] of three"
    else:
        value = tuple(b - a for a, b in zip(here, after, strict=True))
        said = "the difference x[p + 1] - x[p] of two"
    out = kept.store(
        k, "moving cancelled mti", ("pulses_out", "range_gates"), (p, r), (value[0], value[1])
    )
    text = f"Moving-target indication, a {'three' if three else 'two'}-pulse canceller: "
    text += f"{gets(out)} {said} following pulses (rows) of the complex samples x in {echoes.said}."
    return Title(k.name(f"mti_canceller {'three' if three else 'two'}_pulse_canceller"), text)


def _spectrum(k: KernelBuilder, level: int) -> Title:
    """The spectrum of each pulse times the conjugate of the replica's, weighted or not."""
    kept = style(k)
    k.size("pulses", 5, 7)
    k.size("freq_bins", 12, 16)
    p, f = k.thread("pulses", "freq_bins", names=k.draw.word.choice((("p", "f"), ("m", "b"))))
    spectra = kept.declare(k, "spectra rx_spectrum", ("pulses", "freq_bins"), 1.0)
    replica = kept.declare(k, "replica chirp_spectrum", ("freq_bins",), 1.0)
    x, h = spectra.read("x", (p, f)), replica.read("h", (f,))
    value, said = times_conjugate(x, h), ""
    if k.draw.shape.chance(0.5):
        taper = k.array("taper window", FLOAT32, "freq_bins", low=0.1, high=1.0)
        w = k.let("w gain", taper[f])
        value, said = (w * value[0], w * value[1]), f", times {taper.name} of the bin"
    out = kept.store(k, "compressed filtered", ("pulses", "freq_bins"), (p, f), value)
    text = f"Matched filter in the frequency domain: {gets(out)} each pulse's spectrum in "
    text += f"{spectra.said} times the conjugate of {replica.said} of the bin{said}."
    return Title(k.name("matched_filter_spectrum apply_matched_filter"), text)


def _stretch(k: KernelBuilder, level: int) -> Title:
    """Dechirping: each sample times the conjugate of a chirp, by its phase."""
    kept = style(k)
    k.size("pulses", 5, 7)
    k.size("samples", 12, 16)
    p, n = k.thread("pulses", "samples", names=k.draw.word.choice((("p", "n"), ("m", "t"))))
    echoes = kept.declare(k, "echoes rx", ("pulses", "samples"), 1.0)
    slope = k.scalar("chirp_rate slope", FLOAT32, 0.4, 0.9)
    step = k.scalar("dt sample_period", FLOAT32, 0.1, 0.2)
    t = k.let("t time", cast(n, FLOAT32) * step)
    x = echoes.read("x", (p, n))
    value = times_conjugate(x, _phasor(k, _PI * slope * t * t))
    out = kept.store(k, "beat dechirped", ("pulses", "samples"), (p, n), value)
    text = f"Dechirp radar echoes: {gets(out)} the complex samples in {echoes.said} times "
    text += f"exp(-i * pi * {slope.name} * t^2), t being {n.name} * {step.name}."
    return Title(k.name("dechirp stretch_processing"), text)


def _correlate(k: KernelBuilder, level: int) -> Title:
    """Pulse compression: the correlation of each pulse with the replica."""
    kept = style(k)
    made = level > 2 and k.draw.shape.chance(0.6)
    k.size("pulses", 5, 7)
    k.size("range_gates", 12, 16)
    k.size("replica_len", 6, 9)
    p, g = k.thread("pulses", "range_gates", names=k.draw.word.choice((("p", "g"), ("m", "r"))))
    echoes = kept.declare(k, "echoes rx", ("pulses", "range_gates+replica_len"), 1.0)
    length = k.size_param("replica_len num_taps", "replica_len")
    replica = None if made else kept.declare(k, "replica chirp", ("replica_len",), 1.0)
    slope = k.scalar("chirp_rate slope", FLOAT32, 0.02, 0.06) if made else None
    acc = total(k)
    middle = k.let("mid half", 0.5 * cast(length, FLOAT32)) if made else None
    with k.for_("n tap", length) as n:
        x = echoes.read("x", (p, g + n))
        if replica is not None:
            h = replica.read("h", (n,))
        else:
            assert middle is not None
            assert slope is not None
            t = k.let("t time", cast(n, FLOAT32) - middle)
            h = _phasor(k, _PI * slope * t * t)
        acc.add(times_conjugate(x, h))
    dims = ("pulses", "range_gates")
    what = f"the sum over n of x[{g.name} + n] times the conjugate of h[n]"
    if k.draw.shape.chance(0.4):
        result = k.out("power compressed_power", FLOAT32, dims)
        k.store(result, (p, g), power(acc.value))
        out, what = f"{result.name} gets", f"the squared magnitude of {what}"
    else:
        out = gets(kept.store(k, "compressed matched", dims, (p, g), acc.value))
    text = f"Pulse compression: for gate {g.name} of each pulse, {out} {what}, x "
    text += f"being the complex samples in {echoes.said}"
    if replica is not None:
        text += f" and h the replica in {replica.said}."
    elif slope is not None:
        text += f" and h the linear chirp exp(i * pi * {slope.name} * t^2) with t = n - "
        text += f"{length.name} / 2."
    return Title(k.name("pulse_compression matched_filter correlate_replica"), text)


def _turn(k: KernelBuilder, w: Complex, step: Complex, into: tuple[Var, Var]) -> None:
    """One more step of a phasor, by a product."""
    re, im = times(w, step)
    turned = k.let("turned_re next_re", re)
    k.assign(into[1], im)
    k.assign(into[0], turned)


def _transform(
    k: KernelBuilder, echoes: Samples, window: Var, at: tuple[Var, Var], count: Var, running: bool
) -> Total:
    """The sum over pulses, by a cosine and sine for each or by a phasor that is turned."""
    acc, size = total(k), cast(count, FLOAT32)
    d, r = at
    if running:
        step = _phasor(k, -_TWO_PI * cast(d, FLOAT32) / size, "step_phase turn")
        names = k.draw.word.choice((("w_re", "w_im"), ("tw_re", "tw_im")))
        turn = (k.let(names[0], k.lift(1.0, FLOAT32)), k.let(names[1], k.lift(0.0, FLOAT32)))
    with k.for_("p m", count) as p:
        x = echoes.read("x", (p, r))
        gain = k.let("gain weight", window[p])
        if running:
            acc.add(times((gain * x[0], gain * x[1]), turn))
            _turn(k, turn, step, turn)
        else:
            phase = -_TWO_PI * cast((d * p) % count, FLOAT32) / size
            acc.add(times((gain * x[0], gain * x[1]), _phasor(k, phase)))
    return acc


def _doppler(k: KernelBuilder, level: int) -> Title:
    """A discrete Fourier transform over the pulses of each range gate, windowed."""
    kept, shape = style(k), k.draw.shape
    k.size("pulses", 7, 9)
    k.size("range_gates", 10, 14)
    d, r = k.thread("pulses", "range_gates", names=k.draw.word.choice((("d", "r"), ("k", "g"))))
    dims = ("pulses", "range_gates")
    echoes = kept.declare(k, "compressed profiles", dims, 1.0)
    window = k.array("window taper", FLOAT32, "pulses", low=0.1, high=1.0)
    count = k.size_param("num_pulses n_pulses", "pulses")
    running = level > 3 and shape.chance(0.6)
    acc = _transform(k, echoes, window, (d, r), count, running)
    if shape.chance(0.5):
        result = k.out("rd_map doppler_power", FLOAT32, dims)
        row: Expr = d
        how = ""
        if shape.chance(0.4):
            row = (d + count // 2) % count
            how = f" (row {d.name} of it in row ({d.name} + {count.name} // 2) % {count.name})"
        k.store(result, (row, r), power(acc.value))
        out, what = f"{result.name} gets", f"the squared magnitude of the transform{how}"
    else:
        out, what = (
            gets(kept.store(k, "doppler spectrum", dims, (d, r), acc.value)),
            "the transform",
        )
    text = f"Range-Doppler processing: {out} {what} over the pulses p (rows) of {echoes.said}, the "
    text += f"sum of {window.name}[p] * x[p] * exp(-2 * pi * i * {d.name} * p / {count.name}) "
    text += f"for row {d.name} and each range gate (column)"
    text += ", the phasor being turned from pulse to pulse." if running else "."
    return Title(k.name("doppler_dft range_doppler slow_time_dft"), text)


def _ambiguity(k: KernelBuilder, level: int) -> Title:
    """The cross-ambiguity of a surveillance and a reference channel: lags and Doppler shifts."""
    kept = style(k)
    k.size("doppler_bins", 6, 8)
    k.size("lags", 8, 10)
    k.size("samples", 10, 14)
    d, lag = k.thread("doppler_bins", "lags", names=k.draw.word.choice((("d", "lag"), ("f", "m"))))
    watched = kept.declare(k, "surveillance echo", ("samples+lags",), 1.0)
    sent = kept.declare(k, "reference direct", ("samples",), 1.0)
    shifts = k.array("doppler_cycles freqs", FLOAT32, "doppler_bins", low=-0.2, high=0.2)
    count = k.size_param("num_samples n_samples", "samples")
    acc = total(k)
    rate = k.let("omega step_phase", _TWO_PI * shifts[d])
    with k.for_("n t", count) as n:
        x, s = watched.read("x", (n + lag,)), sent.read("s", (n,))
        both = times_conjugate(x, s)
        pair = [k.let(name, v) for name, v in zip(("prod_re", "prod_im"), both, strict=True)]
        acc.add(times_conjugate((pair[0], pair[1]), _phasor(k, rate * cast(n, FLOAT32))))
    dims = ("doppler_bins", "lags")
    what = "the sum over n of x[n + lag] * conj(s[n]) * exp(-2 * pi * i * f * n)"
    if k.draw.shape.chance(0.5):
        result = k.out("caf_power ambiguity", FLOAT32, dims)
        k.store(result, (d, lag), power(acc.value))
        out, what = f"{result.name} gets", f"the squared magnitude of {what}"
    else:
        out = gets(kept.store(k, "caf ambiguity", dims, (d, lag), acc.value))
    text = (
        f"Cross-ambiguity function of passive radar: for each Doppler shift and lag, {out} {what}, "
    )
    text += f"x being {watched.said}, s {sent.said} and f {shifts.name} in cycles a sample."
    return Title(k.name("cross_ambiguity ambiguity_surface"), text)


_FORMS = {
    1: (_canceller, _spectrum, _stretch),
    2: (_correlate,),
    3: (_correlate, _doppler),
    4: (_doppler, _ambiguity),
}


@idiom(depth=4)
def pulse_compression(k: KernelBuilder, level: int) -> Title:
    """Radar pulses: cancellers, dechirping, matched filters, Doppler, cross-ambiguity."""
    return k.draw.shape.choice(_FORMS[min(level, 4)])(k, level)

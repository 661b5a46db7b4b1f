"""Goertzel's recurrence: one frequency of each channel, or a bank of them."""

from __future__ import annotations

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, sin, sqrt
from generators.math.audio.channels import Channels
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var


@idiom(depth=3)
def goertzel_power(k: KernelBuilder, level: int) -> Title:
    """The power or the phasor of one frequency of each channel by Goertzel's recurrence.

    G. Goertzel, American Mathematical Monthly 65 (1958).
    """
    shape = k.draw.shape
    bank = shape.chance(0.2 + 0.1 * level)
    type_ = k.draw.wide_float_type()
    k.size("samples", 8, 12)
    if bank:
        k.size("channels", 4, 6)
        k.size("tones", 3, 5)
        dims: tuple[str, ...] = ("channels", "tones")
        at = k.thread(*dims, names=(k.name("ch c"), k.name("f bin_i tone")))
    else:
        k.size("tracks", 12, 18)
        dims = ("tracks",)
        at = k.thread("tracks", names=(k.name("track tid"),))
    ch = Channels(k, type_, dims[:1], at[:1], shape.chance(0.6))
    x = ch.array("x samples audio", "samples")
    own = "tones" if bank else "tracks"
    phasor = shape.chance(0.4)
    w, c, coeff, said = _tone(k, type_, own, at[-1], phasor)
    window = (
        k.array("window taper", type_, "samples", low=0.1, high=1.0) if shape.chance(0.35) else None
    )
    count = ch.count(x, "samples")
    s1, s2 = k.let("s1", k.lift(0.0, type_)), k.let("s2", k.lift(0.0, type_))
    with k.for_("t n", count) as t:
        sample: Expr = x[ch.place(t)]
        sample = sample if window is None else window[t] * sample
        s0 = k.let("s0", sample + coeff * s1 - s2)
        k.assign(s2, s1)
        k.assign(s1, s0)
    done = _result(k, (phasor, type_, dims, at, count), (s1, s2), (w, c, coeff))
    return _goertzel_power_stored(window, x, bank, said, done, ch, k)


def _tone(
    k: KernelBuilder, type_: Scalar, own: str, at: Var, phasor: bool
) -> tuple[Var | None, Var | None, Var, str]:
    """The angle of a tone and its cosine, where these are needed, and twice the cosine."""
    w = c = None
    way = k.draw.shape.choice(("omega", "coeff"))
    if way == "omega" or phasor:
        omegas = k.array("omega frequencies rad_per_sample", type_, own, low=0.2, high=2.8)
        w = k.let("w angle", omegas[at])
        c = k.let("cos_w cw", cos(w))
        coeff = k.let("coeff two_cos", 2.0 * c)
        said = f"w = {omegas.name} in radians per sample"
    else:
        table = k.array("coeffs two_cos_w", type_, own, low=-1.8, high=1.8)
        coeff = k.let("coeff two_cos", table[at])
        said = f"2 * cos(w) = {table.name}"
    return w, c, coeff, said


def _result(
    k: KernelBuilder,
    launch: tuple[bool, Scalar, tuple[str, ...], tuple[Var, ...], Expr],
    states: tuple[Var, Var],
    tone: tuple[Var | None, Var | None, Var],
) -> str:
    """Store the phasor or the power; what is stored, in words."""
    phasor, type_, dims, at, count = launch
    (s1, s2), (w, c, coeff) = states, tone
    shape = k.draw.shape
    if phasor and c is not None and w is not None:
        outs = [k.out(n, type_, dims) for n in ("real_out", "imag_out")]
        k.store(outs[0], at, s1 - c * s2)
        k.store(outs[1], at, sin(w) * s2)
        done = f"{outs[0].name} gets s1 - s2 * cos(w) and {outs[1].name} s2 * sin(w)"
    else:
        value: Expr = s1 * s1 + s2 * s2 - coeff * s1 * s2
        done = "s1^2 + s2^2 - 2 * cos(w) * s1 * s2"
        if shape.chance(0.35):
            value, done = value / cast(count, type_), f"({done}) / the number of samples"
        elif shape.chance(0.4):
            value, done = sqrt(value + 1.0e-4), f"sqrt({done} + 1e-4)"
        out = k.out("magnitude amplitude" if "sqrt" in done else "power energy", type_, dims)
        k.store(out, at, value)
        done = f"{out.name} gets {done}"
    return done


def _goertzel_power_stored(
    window: Var | None, x: Var, bank: bool, said: str, done: str, ch: Channels, k: KernelBuilder
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    source = x.name if window is None else f"{window.name} * {x.name}"
    each = "each of several tones in each channel" if bank else "one frequency in each track"
    what = "complex amplitude" if "imag_out" in done else "power"
    what = "magnitude" if "sqrt" in done else what
    text = f"{what.capitalize()} of {each} by Goertzel's algorithm. For each sample in turn, s0 = "
    text += f"{source} + 2 * cos(w) * s1 - s2, then s2 = s1 and s1 = s0, both 0 at first, with "
    text += f"{said}. {done}."
    order = "last" if ch.last else "first"
    names = "goertzel_bank" if bank else "tone_detector"
    return Title(
        k.name(f"goertzel_{what.split()[-1]} {names}"), f"{text} Time is the {order} axis."
    )

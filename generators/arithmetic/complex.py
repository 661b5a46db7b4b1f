"""Complex numbers from their real and imaginary parts."""

from __future__ import annotations

from generators.arithmetic.common import alike, total
from generators.build import KernelBuilder, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, log, sin, sqrt
from generators.kit.masks import condition
from generators.kit.naming import helper, maybe
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import Scalar, Vec
from generators.program.expr import Expr

Pair = tuple[Expr, Expr]

_NAMES = {
    "mul": "complex_multiply multiply_spectra apply_transfer",
    "conj": "conjugate_multiply cross_spectrum correlate_spectra",
    "div": "complex_divide deconvolve inverse_filter",
    "square": "complex_square julia_step quadratic_map",
    "rotate": "rotate_phasor twiddle phase_shift",
    "axpy": "complex_axpy mix_signals",
}


@idiom(depth=1)
def complex_arithmetic(k: KernelBuilder, level: int) -> Title:
    """Complex numbers in separate arrays of real and imaginary parts, in structs or pairs."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=3, grid=3, cube=1)
    form = shape.choice(sorted(_NAMES))
    a, a_text = _number(s, f, "a x signal", -1.5)
    b, b_text = _second(s, form, f)
    z, rule = _combined(s, level, form, a, b)
    done = f"Compute z = {rule.format(a=a_text, b=b_text)}"
    if level >= 3:
        z, more = _repeated(s, z, a)
        done += more
    if level >= 2 and shape.chance(0.6):
        gain = k.scalar("gain scale", f, 0.4, 1.6)
        z, done = (gain * z[0], gain * z[1]), f"{done}, times {gain.name}"
    z = (maybe(k, "re_z zr", z[0], 0.7), maybe(k, "im_z zi", z[1], 0.7))
    if level >= 4:
        done += _magnitude(s, level, z)
    outs = [s.out("re_out out_re", f), s.out("im_out out_im", f)]
    if level >= 3 and shape.chance(0.06):
        test = condition(s)
        with k.if_(test.value):
            for out, part in zip(outs, z, strict=True):
                k.store(out, s.at, part)
        with k.else_():
            for out, part in zip(outs, a, strict=True):
                k.store(out, s.at, part)
        done += f". Where {test.off}, {a_text} is kept"
    else:
        for out, part in zip(outs, z, strict=True):
            k.store(out, s.at, part)
    return Title(
        k.name(_NAMES[form]), f"{done}. The parts go to {outs[0].name} and {outs[1].name}."
    )


def _number(s: Site, f: Scalar, names: str, low: float) -> tuple[Pair, str]:
    """A number of each thread: in two arrays, in an array of structs, or in one of pairs."""
    k = s.k
    name = k.draw.word.choice([n for n in names.split() if n not in k.used])
    short = name if len(name) <= 2 else f"{name[0]}{name[-1]}"
    form = k.draw.shape.choice(("split", "split", "struct", "last"))
    if form == "last":
        pairs = s.array(f"{name} {name}_pairs", f, low, 1.5, more="2")
        real = k.let(f"{short}_re", pairs[s.index(0)])
        return (real, k.let(f"{short}_im", pairs[s.index(1)])), pairs.name
    parts = alike(f, low, 1.5, re=f"{name}_re", im=f"{name}_im")
    struct = 1.0 if form == "struct" and not k.structs else 0.0
    r = record(s, "Complex Cplx Phasor", parts, struct)
    style = k.draw.word.choice(("{}_re {}_im", "{}r {}i")).format(short, short).split()
    re, im = (maybe(k, n, r[key], 0.6) for n, key in zip(style, ("re", "im"), strict=True))
    return (re, im), f"({r.say('re')} + i {r.say('im')})"


def _second(s: Site, form: str, f: Scalar) -> tuple[Pair, str]:
    """The other number: one that all share, a phase factor, or one of each thread."""
    k = s.k
    if form == "rotate":
        angle = s.read("phase angle theta", f, -3.0, 3.0)
        phi = k.let("phi ang", angle)
        pair = k.let("cs cos_phi", cos(phi)), k.let("sn sin_phi", sin(phi))
        return pair, f"exp(i {say(k, angle)})"
    low = 0.5 if form == "div" else -1.5
    if form in ("square", "axpy") or k.draw.shape.chance(0.3):
        parts = {"re": Part("c_re b_re", f, low, 1.5), "im": Part("c_im b_im", f, low, 1.5)}
        r = record(s, "Constant Filter", parts, 0.3, shared=True)
        return (r["re"], r["im"]), f"({r.say('re')} + i {r.say('im')})"
    return _number(s, f, "b y kernel h", low)


def _times(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _combined(s: Site, level: int, form: str, a: Pair, b: Pair) -> tuple[Pair, str]:
    """The two numbers combined."""
    k = s.k
    if form in ("conj", "div"):
        top = a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]
        if form == "conj":
            return top, "{a} * conj({b})"
        norm = k.let("norm den", b[0] * b[0] + b[1] * b[1])
        return (top[0] / norm, top[1] / norm), "{a} / {b}"
    if form == "square":
        return (a[0] * a[0] - a[1] * a[1] + b[0], 2.0 * a[0] * a[1] + b[1]), "{a}^2 + {b}"
    if form == "axpy":
        ab = _times(a, b)
        return (ab[0] + a[0], ab[1] + a[1]), "{a} * {b} + {a}"
    if level < 3 or not k.draw.shape.chance(0.6):
        return _times(a, b), "{a} * {b}"
    f = a[0].type
    assert isinstance(f, Scalar)
    pair = Vec(2, f)
    params = [(name, f) for name in ("ar", "ai", "br", "bi")]
    names = "cmul complex_mul"
    call = helper(k, names, params, lambda _, *parts: make(pair, *_times(parts[:2], parts[2:])))
    z = k.let("z product", k.call(call, *a, *b))
    return (z[0], z[1]), "{a} * {b}"


def _repeated(s: Site, z: Pair, a: Pair) -> tuple[Pair, str]:
    """Perhaps a few more products, or the number brought inside the unit circle."""
    k = s.k
    form = k.draw.shape.choice(("power", "compress", "plain"))
    if form == "plain":
        return z, ""
    zr, zi = k.let("zr re_now", z[0]), k.let("zi im_now", z[1])
    if form == "compress":
        size = k.let("size mag_sq", zr * zr + zi * zi)
        return (zr / (1.0 + size), zi / (1.0 + size)), ", then z / (1 + |z|^2)"
    turns = k.draw.value.integer(2, 3)
    with k.for_("turn it", turns):
        re, im = _times((zr, zi), a)
        following = k.let("next_re tmp", re)
        k.assign(zi, im)
        k.assign(zr, following)
    return (zr, zi), f", then multiply z {turns} times by the first number"


def _magnitude(s: Site, level: int, z: Pair) -> str:
    """The size of the result, at level 5 averaged with the one before."""
    size = total([part * part for part in z])
    names, value, text = s.k.draw.shape.choice(
        (
            ("power sq_modulus", size, "|z|^2"),
            ("magnitude modulus", sqrt(size), "|z|"),
            ("log_power spectrum", log(size + 1.0), "log(1 + |z|^2)"),
        )
    )
    if level == 5:
        old = s.read("previous average", value.type, 0.5, 2.0)
        decay = s.k.scalar("decay forget", value.type, 0.5, 0.9)
        value = decay * old + (1.0 - decay) * value
        text = f"{decay.name} * {say(s.k, old)} + (1 - {decay.name}) * {text}"
    return f". {s.put(names, value).name} gets {text}"

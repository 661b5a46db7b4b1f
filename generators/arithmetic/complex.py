"""Complex numbers from their real and imaginary parts."""

from __future__ import annotations

from generators.arithmetic.parts import (
    INT32,
    Grid,
    condition,
    elements,
    grid,
    named,
    parameters,
)
from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar, Vec
from generators.program.expr import Component, Expr

Pair = tuple[Expr, Expr]

_COMPLEX = {
    "mul": ("complex_multiply", "multiply_spectra", "apply_transfer"),
    "conj": ("conjugate_multiply", "cross_spectrum", "correlate_spectra"),
    "div": ("complex_divide", "deconvolve", "inverse_filter"),
    "square": ("complex_square", "julia_step", "quadratic_map"),
    "rotate": ("rotate_phasor", "twiddle", "phase_shift"),
    "axpy": ("complex_axpy", "mix_signals"),
}


@idiom
def complex_arithmetic(k: KernelBuilder, level: int) -> Title:
    """Complex numbers in separate arrays of real and imaginary parts, in structs or pairs."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    g = grid(k, {1: 3, 2: 3, 3: 1})
    form = shape.choice(sorted(_COMPLEX))
    a = _number(k, level, g, type_, ("a", "x", "signal"), -1.5, 1.5)
    b = _second(k, level, form, g, type_)
    z, text = _combined(k, level, form, a[0], b[0], type_)
    text = text.format(a=a[1], b=b[1])
    done = f"Compute z = {text}"
    if level >= 3:
        z, more = _repeated(k, level, z, a[0], type_)
        done += more
    if level >= 2 and shape.chance(0.6):
        gain = parameters(k, [(("gain", "scale"), type_, 0.4, 1.6)], ("Gain",), 0.0)[0]
        z, done = (gain.value * z[0], gain.value * z[1]), f"{done}, times {gain.text}"
    z = (named(k, ("re_z", "zr"), z[0], 0.7), named(k, ("im_z", "zi"), z[1], 0.7))
    re, im = (
        k.out(("re_out", "out_re"), type_, g.sizes),
        k.out(("im_out", "out_im"), type_, g.sizes),
    )
    if level >= 4:
        done += _magnitude(k, level, z, g, type_)
    if level >= 3 and shape.chance(0.5):
        test = condition(k, g)
        with k.if_(test.value):
            k.store(re, g.at, z[0])
            k.store(im, g.at, z[1])
        with k.else_():
            k.store(re, g.at, a[0][0])
            k.store(im, g.at, a[0][1])
        done += f". Only where {test.text}, else {a[1]} is kept"
    else:
        k.store(re, g.at, z[0])
        k.store(im, g.at, z[1])
    return Title(k.name(*_COMPLEX[form]), f"{done}. The parts go to {re.name} and {im.name}.")


def _number(
    k: KernelBuilder,
    level: int,
    g: Grid,
    type_: Scalar,
    names: tuple[str, ...],
    low: float,
    high: float,
) -> tuple[Pair, str]:
    name = k.draw.word.choice([n for n in names if n not in k.used])
    form = k.draw.shape.choice(("split", "split", "struct", "last"))
    if form == "last" and g.ndim < 4:
        pairs = k.array((name, f"{name}_pairs"), type_, (*g.sizes, "2"), low=low, high=high)
        zero, one = (*g.at, k.lift(0, INT32)), (*g.at, k.lift(1, INT32))
        return (
            k.let((f"{name}_re", f"{name}r"), pairs[zero]),
            k.let((f"{name}_im", f"{name}i"), pairs[one]),
        ), pairs.name
    wanted = [
        ((f"{name}_re", f"re_{name}"), type_, low, high),
        ((f"{name}_im", f"im_{name}"), type_, low, high),
    ]
    found = elements(
        k,
        wanted,
        g,
        ("Complex", "Cplx", "Phasor"),
        1.0 if form == "struct" and not k.structs else 0.0,
    )
    text = f"{found[0].text} + i {found[1].text}"
    return (
        named(k, (f"{name}r", f"r{name}"), found[0].value, 0.6),
        named(k, (f"{name}i", f"i{name}"), found[1].value, 0.6),
    ), f"({text})"


def _second(k: KernelBuilder, level: int, form: str, g: Grid, type_: Scalar) -> tuple[Pair, str]:
    if form == "rotate":
        angle = k.array(("phase", "angle", "theta"), type_, g.sizes, low=-3.0, high=3.0)
        phi = k.let(("phi", "ang"), angle[g.at])
        return (
            k.let(("cs", "cos_phi"), fn("cos", phi)),
            k.let(("sn", "sin_phi"), fn("sin", phi)),
        ), f"exp(i {angle.name})"
    low = 0.5 if form == "div" else -1.5
    if form in ("square", "axpy") or k.draw.shape.chance(0.3):
        found = parameters(
            k,
            [(("c_re", "b_re"), type_, low, 1.5), (("c_im", "b_im"), type_, low, 1.5)],
            ("Constant", "Filter"),
            0.3,
        )
        return (found[0].value, found[1].value), f"({found[0].text} + i {found[1].text})"
    return _number(k, level, g, type_, ("b", "y", "kernel", "h"), low, 1.5)


def _times(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _combined(
    k: KernelBuilder, level: int, form: str, a: Pair, b: Pair, type_: Scalar
) -> tuple[Pair, str]:
    if form == "conj":
        return (a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]), "{a} * conj({b})"
    if form == "div":
        norm = k.let(("norm", "den"), b[0] * b[0] + b[1] * b[1])
        top = (a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1])
        return (top[0] / norm, top[1] / norm), "{a} / {b}"
    if form == "square":
        return (a[0] * a[0] - a[1] * a[1] + b[0], 2.0 * a[0] * a[1] + b[1]), "{a}^2 + {b}"
    if form == "axpy":
        ab = _times(a, b)
        return (ab[0] + a[0], ab[1] + a[1]), "{a} * {b} + {a}"
    if level >= 3 and k.draw.shape.chance(0.6):
        pair = Vec(2, type_)

        def build(_: BodyBuilder, ar: Expr, ai: Expr, br: Expr, bi: Expr) -> Expr:
            return make(pair, *_times((ar, ai), (br, bi)))

        params = [(n, type_) for n in ("ar", "ai", "br", "bi")]
        call = k.call(helper(k, ("cmul", "complex_mul"), params, build), *a, *b)
        z = k.let(("z", "product"), call)
        return (_part(z, 0), _part(z, 1)), "{a} * {b}"
    return _times(a, b), "{a} * {b}"


def _part(z: Expr, index: int) -> Expr:
    part = z[index]
    assert isinstance(part, Component)
    return part


def _repeated(k: KernelBuilder, level: int, z: Pair, a: Pair, type_: Scalar) -> tuple[Pair, str]:
    """A few more steps: powers, or a quadratic map, or a normalisation."""
    form = k.draw.shape.choice(("power", "compress", "plain"))
    if form == "plain":
        return z, ""
    zr, zi = k.let(("zr", "re_now"), z[0]), k.let(("zi", "im_now"), z[1])
    if form == "compress":
        size = k.let(("size", "mag_sq"), zr * zr + zi * zi)
        return (zr / (1.0 + size), zi / (1.0 + size)), ", then z / (1 + |z|^2)"
    turns = k.draw.value.integer(2, 3)
    with k.for_(("turn", "it"), turns):
        re = k.let(("next_re", "tmp"), zr * a[0] - zi * a[1])
        k.assign(zi, zr * a[1] + zi * a[0])
        k.assign(zr, re)
    return (zr, zi), f", then multiply z {turns} times by the first number"


def _magnitude(k: KernelBuilder, level: int, z: Pair, g: Grid, type_: Scalar) -> str:
    form = k.draw.shape.choice(("power", "magnitude", "log"))
    names = {"power": ("power", "sq_modulus"), "magnitude": ("magnitude", "modulus")}
    out = k.out(names.get(form, ("log_power", "spectrum")), type_, g.sizes)
    size: Expr = z[0] * z[0] + z[1] * z[1]
    text = "|z|^2"
    if form == "magnitude":
        size, text = fn("sqrt", size), "|z|"
    elif form == "log":
        size, text = fn("log", size + 1.0), "log(1 + |z|^2)"
    if level == 5:
        old = k.array(("previous", "average"), type_, g.sizes, low=0.5, high=2.0)
        decay = k.scalar(("decay", "forget"), type_, 0.5, 0.9)
        size = decay * old[g.at] + (1.0 - decay) * size
        text = f"{decay.name} * {old.name} + (1 - {decay.name}) * {text}"
    k.store(out, g.at, size)
    return f". {out.name} gets {text}"

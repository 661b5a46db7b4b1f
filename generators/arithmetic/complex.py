"""Complex numbers: products of spectra, filters, phases, powers, in arrays of parts or pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, field, make
from generators.build.registry import Title, idiom
from generators.kit.functions import atan2, cos, exp, sin, sqrt
from generators.kit.sites import Site, launch
from generators.kit.words import singular
from generators.program.dtypes import Scalar, Struct, Vec
from generators.program.expr import Expr
from generators.program.ir import FieldInit

Pair = tuple[Expr, Expr]
Code = Callable[..., Pair | Expr]
"""Writes statements to its first argument; gives the two parts of a result, or a real one."""


@dataclass(frozen=True)
class Complex:
    """What is computed: numbers of each element by their names, numbers of all by theirs with
    ranges, real ones of each by names with ranges; names of the result; code; a description.

    Keys of the description are the names' places: ``{0}``, ``{1}``, then ``{out}``.
    """

    title: str
    each: tuple[str, ...]
    shared: tuple[tuple[str, float, float], ...]
    real: tuple[tuple[str, float, float], ...]
    out: str
    code: Code
    said: str
    low: float = -1.5


def _times(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _conj_times(a: Pair, b: Pair) -> Pair:
    """The first number times the conjugate of the second."""
    return a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]


def _power(z: Pair) -> Expr:
    return z[0] * z[0] + z[1] * z[1]


def _divide(k: KernelBuilder, a: Pair, b: Pair) -> Pair:
    norm = k.let("norm_sq den", _power(b))
    top = _conj_times(a, b)
    return top[0] / norm, top[1] / norm


def _wiener(k: KernelBuilder, y: Pair, h: Pair, noise: Expr) -> Pair:
    weight = k.let("weight den", _power(h) + noise)
    top = _conj_times(y, h)
    return top[0] / weight, top[1] / weight


def _unit(k: KernelBuilder, z: Pair) -> Pair:
    size = k.let("magnitude modulus", sqrt(_power(z)))
    return z[0] / size, z[1] / size


def _phase_only(k: KernelBuilder, a: Pair, b: Pair) -> Pair:
    cross = _conj_times(a, b)
    re, im = k.let("cross_re", cross[0]), k.let("cross_im", cross[1])
    return _unit(k, (re, im))


def _rotate(k: KernelBuilder, z: Pair, angle: Expr) -> Pair:
    return _times(z, (k.let("cos_t cs", cos(angle)), k.let("sin_t sn", sin(angle))))


def _exponential(k: KernelBuilder, z: Pair) -> Pair:
    size = k.let("growth modulus", exp(z[0]))
    return size * cos(z[1]), size * sin(z[1])


def _moebius(k: KernelBuilder, z: Pair, a: Pair) -> Pair:
    top = z[0] - a[0], z[1] - a[1]
    product = _conj_times(z, a)
    below = k.let("den_re", 1.0 - product[0]), k.let("den_im", -product[1])
    return _divide(k, top, below)


_TASKS = (
    Complex(
        "complex_multiply apply_transfer_function filter_spectrum",
        ("spectrum signal", "transfer response"),
        (),
        (),
        "filtered product",
        lambda k, a, b: _times(a, b),
        "Filter a spectrum: multiply each complex number of {0} by that of {1}. Store the product "
        "in {out}.",
    ),
    Complex(
        "cross_spectrum correlate_spectra",
        ("spectrum_a", "spectrum_b"),
        (),
        (),
        "cross product",
        lambda k, a, b: _conj_times(a, b),
        "Cross spectrum of two signals: {0} times the complex conjugate of {1}. Store it in {out}.",
    ),
    Complex(
        "phase_correlation whitened_cross_spectrum",
        ("spectrum_a", "spectrum_b"),
        (),
        (),
        "whitened cross",
        _phase_only,
        "Phase correlation of two signals: {0} times the complex conjugate of {1}, divided by its "
        "absolute value. Store it in {out}.",
        0.3,
    ),
    Complex(
        "complex_divide deconvolve inverse_filter",
        ("spectrum recorded", "transfer response"),
        (),
        (),
        "restored quotient",
        _divide,
        "Undo a filter: divide each complex number of {0} by that of {1}, which is never zero. "
        "Store the quotient in {out}.",
        0.3,
    ),
    Complex(
        "wiener_filter wiener_deconvolution",
        ("spectrum recorded", "transfer response"),
        (),
        (("noise_power noise_to_signal", 0.05, 0.4),),
        "restored estimate",
        _wiener,
        "Wiener deconvolution: the spectrum {0} times the complex conjugate of the transfer "
        "function {1}, over the squared modulus of {1} plus {2}. Store it in {out}.",
    ),
    Complex(
        "julia_step quadratic_map",
        ("z",),
        (("c", -0.8, 0.8),),
        (),
        "z_next z_new",
        lambda k, z, c: (z[0] * z[0] - z[1] * z[1] + c[0], 2.0 * z[0] * z[1] + c[1]),
        "One step towards a Julia set: z^2 + c for each complex number of {0}, with the constant "
        "{1}. Store it in {out}.",
    ),
    Complex(
        "mandelbrot_step escape_time_step",
        ("z", "c"),
        (),
        (),
        "z_next z_new",
        lambda k, z, c: (z[0] * z[0] - z[1] * z[1] + c[0], 2.0 * z[0] * z[1] + c[1]),
        "One step towards the Mandelbrot set: z^2 + c for the complex numbers of {0} and {1}. "
        "Store it in {out}.",
    ),
    Complex(
        "rotate_phase phase_shift mix_down",
        ("samples signal",),
        (),
        (("@phase angle", -3.0, 3.0),),
        "rotated shifted",
        _rotate,
        "Turn the phase of each complex sample of {0} by the angle in {1}, in radians: multiply by "
        "cos + i sin. Store it in {out}.",
    ),
    Complex(
        "complex_axpy add_scaled",
        ("x", "y"),
        (("alpha", -1.2, 1.2),),
        (),
        "w result",
        lambda k, x, y, a: (y[0] + _times(a, x)[0], y[1] + _times(a, x)[1]),
        "Complex axpy: {2} times {0}, plus {1}. Store it in {out}.",
    ),
    Complex(
        "power_spectrum squared_magnitude",
        ("spectrum bins_in",),
        (),
        (),
        "power energies",
        lambda k, z: _power(z),
        "Power spectrum: the squared absolute value of each complex number of {0}. Store it in "
        "{out}.",
    ),
    Complex(
        "magnitude_spectrum complex_modulus",
        ("spectrum samples",),
        (),
        (),
        "magnitudes moduli",
        lambda k, z: sqrt(_power(z)),
        "Absolute values of the complex numbers of {0}. Store them in {out}.",
        0.2,
    ),
    Complex(
        "phase_angles complex_argument",
        ("spectrum samples",),
        (),
        (),
        "phases angles",
        lambda k, z: atan2(z[1], z[0]),
        "Phases of the complex numbers of {0}, in radians from -pi to pi. Store them in {out}.",
        0.2,
    ),
    Complex(
        "fm_demodulate phase_differences",
        ("samples signal", "delayed previous"),
        (),
        (),
        "phase_steps phase_advances",
        lambda k, a, b: atan2(_conj_times(a, b)[1], _conj_times(a, b)[0]),
        "FM demodulation: the phase, in radians from -pi to pi, of {0} times the complex conjugate "
        "of {1}, the same signal one sample earlier. Store it in {out}.",
        0.2,
    ),
    Complex(
        "polar_to_complex phasor_from_polar",
        (),
        (),
        (("@modulus magnitude", 0.2, 2.0), ("@phase angle", -3.0, 3.0)),
        "phasor z",
        lambda k, r, t: (r * cos(t), r * sin(t)),
        "Complex numbers from their absolute values {0} and their phases {1} in radians. Store "
        "them in {out}.",
    ),
    Complex(
        "normalize_phasor unit_phasor",
        ("phasor z",),
        (),
        (),
        "unit normalized",
        _unit,
        "Divide each complex number of {0}, none of which is zero, by its absolute value. Store it "
        "in {out}.",
        0.2,
    ),
    Complex(
        "complex_exponential complex_exp",
        ("z exponent",),
        (),
        (),
        "exponential result",
        _exponential,
        "The exponential of each complex number x + i y of {0}: exp(x) * (cos(y) + i sin(y)). "
        "Store it in {out}.",
    ),
    Complex(
        "moebius_map disk_automorphism",
        ("z",),
        (("a", -0.5, 0.5),),
        (),
        "w mapped",
        _moebius,
        "Moebius map of the unit disk: (z - a) / (1 - conj(a) * z) for each complex number of {0}, "
        "a being {1}. Store it in {out}.",
        -0.5,
    ),
    Complex(
        "apply_gain window_samples",
        ("samples signal",),
        (),
        (("@window taper", 0.1, 1.0),),
        "windowed scaled",
        lambda k, z, w: (w * z[0], w * z[1]),
        "Weight each complex sample of {0} by the real number of {1}. Store it in {out}.",
    ),
)


@idiom(depth=1)
def complex_arithmetic(k: KernelBuilder, level: int) -> Title:
    """Complex numbers as arrays of both parts, of pairs, or of structs."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=4, grid=1)
    task = shape.choice(_TASKS)
    layout = shape.weighted({"parts": 4, "pairs": 4, "struct": 1})
    made = _Layout(s, f, layout)
    told: list[str] = []
    values: list[Pair | Expr] = []
    for names in task.each:
        value, text = made.read(names, task.low, 1.5 if task.low > -1.0 else -task.low)
        values.append(value)
        told.append(text)
    for names, low, high in task.shared:
        value, text = made.constant(names, low, high)
        values.append(value)
        told.append(text)
    for names, low, high in task.real:
        if names[0] == "@":
            read = s.read([f"{n}s" for n in names[1:].split()], f, low, high)
            told.append(read.array.name)
            number: Expr = k.let([singular(read.array.name)], read)
        else:
            number = k.scalar(names.split(), f, low, high)
            told.append(number.name)
        values.append(number)
    result = task.code(k, *values)
    out = made.write(task.out, result)
    return Title(k.name(task.title), task.said.format(*told, out=out))


@dataclass(frozen=True)
class _Layout:
    """How complex numbers lie in memory: in two arrays, as vectors of two, or as structs."""

    s: Site
    f: Scalar
    form: str

    def read(self, names: str, low: float, high: float) -> tuple[Pair, str]:
        """A number of each thread, and what a description calls it."""
        k, s = self.s.k, self.s
        free = [n for n in names.split() if n not in k.used]
        name = k.draw.word.choice(free or [f"{n}_values" for n in names.split()])
        short = f"{name[0]}{name[-1]}" if "_" in name else name[0]
        parts = f"{short}_re", f"{short}_im"
        if self.form == "parts":
            re, im = (s.read([f"{name}_{part}"], self.f, low, high) for part in ("re", "im"))
            return (k.let(parts[0], re), k.let(parts[1], im)), f"({name}_re, {name}_im)"
        if self.form == "pairs":
            z = k.let([f"{short}_i", f"{short}_here"], s.read([name], Vec(2, self.f), low, high))
            return (z[0], z[1]), name
        inits = [FieldInit(part, self.f, "uniform", str(low), str(high)) for part in ("re", "im")]
        item = s.read([name], self._struct(), fields=inits)
        z = k.let([f"{short}_i", f"{short}_here"], item)
        return (field(z, "re"), field(z, "im")), name

    def constant(self, names: str, low: float, high: float) -> tuple[Pair, str]:
        """A number that all threads share."""
        k, name = self.s.k, names
        if self.form == "pairs":
            z = k.scalar([name], Vec(2, self.f), low, high)
            return (z[0], z[1]), z.name
        re, im = (k.scalar([f"{name}_{part}"], self.f, low, high) for part in ("re", "im"))
        return (re, im), f"({re.name}, {im.name})"

    def write(self, names: str, value: Pair | Expr) -> str:
        """Store a result; gives what a description calls it."""
        k, s = self.s.k, self.s
        if isinstance(value, Expr):
            return s.put(names, value).name
        free = [n for n in names.split() if n not in k.used]
        name = k.draw.word.choice(free or [f"{n}_values" for n in names.split()])
        if self.form == "parts":
            parts = (
                s.put([f"{name}_{part}"], v) for part, v in zip(("re", "im"), value, strict=True)
            )
            return " and ".join(out.name for out in parts)
        if self.form == "pairs":
            return s.put([name], make(Vec(2, self.f), *value)).name
        struct = self._struct()
        inits = [FieldInit(part, self.f, "uniform", "0", "1") for part in ("re", "im")]
        out = s.array([name], struct, role="out", fields=inits)
        k.store(out, s.at, make(struct, *value))
        return out.name

    def _struct(self) -> Struct:
        k = self.s.k
        return k.structs[0] if k.structs else k.struct("Complex", ("re", self.f), ("im", self.f))

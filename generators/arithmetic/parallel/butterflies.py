"""Butterflies: stages of Fourier, Walsh-Hadamard, number-theoretic and wavelet transforms."""

from __future__ import annotations

from dataclasses import dataclass

from generators.arithmetic.common import ROOT_HALF
from generators.build import KernelBuilder, cast, make
from generators.build.registry import Title, idiom
from generators.kit.functions import TWO_PI, cos, sin
from generators.kit.naming import maybe
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class _Complex:
    """Complex numbers: two arrays of real and imaginary parts, or one of pairs."""

    k: KernelBuilder
    parts: tuple[Var, ...]

    @property
    def name(self) -> str:
        return " and ".join(p.name for p in self.parts)

    def read(self, at: tuple[Operand, ...], names: str) -> tuple[Expr, Expr]:
        """Both parts, in locals called ``<name>_re`` and ``<name>_im``."""
        k = self.k
        first = names.split()[0]
        if len(self.parts) == 1:
            pair = k.let(names, self.parts[0][at])
            return pair[0], pair[1]
        return (
            k.let(f"{first}_re", self.parts[0][at]),
            k.let(f"{first}_im", self.parts[1][at]),
        )

    def put(self, at: tuple[Operand, ...], re: Expr, im: Expr) -> None:
        if len(self.parts) == 1:
            self.k.store(self.parts[0], at, make(Vec(2, re.type), re, im))  # type: ignore[arg-type]
            return
        self.k.store(self.parts[0], at, re)
        self.k.store(self.parts[1], at, im)


def _complex(
    k: KernelBuilder,
    type_: Scalar,
    names: str,
    dims: tuple[str, ...],
    pairs: bool,
    role: str = "in",
) -> _Complex:
    stems = [f"{n}_" for n in names.split()]
    low, high = (None, None) if role == "out" else (-1.0, 1.0)
    if pairs:
        array = k.array([s[:-1] for s in stems], Vec(2, type_), dims, role=role, low=low, high=high)
        return _Complex(k, (array,))
    stem = k.draw.word.choice(stems)
    both = tuple(
        k.array(f"{stem}{part}", type_, dims, role=role, low=low, high=high)
        for part in ("re", "im")
    )
    return _Complex(k, both)


def _times(a: tuple[Expr, Expr], w: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
    """A complex product."""
    return a[0] * w[0] - a[1] * w[1], a[0] * w[1] + a[1] * w[0]


@dataclass(frozen=True)
class Stage:
    """A stage of a transform of radix r: a thread has r points, ``half`` apart."""

    k: KernelBuilder
    lead: tuple[Var, ...]
    dims: tuple[str, ...]
    """Sizes before that of a line's points."""
    points: str
    half: Expr
    places: list[Expr]
    """Where the points of the butterfly stand."""
    group: Expr
    offset: Expr
    """The number of the butterfly in its group."""
    said: str

    def at(self, n: int) -> tuple[Operand, ...]:
        return (*self.lead, self.places[n])


def stage(k: KernelBuilder, level: int, radix: int) -> Stage:
    """Threads in groups of ``half``: the group and the number in it are found by division.

    The line has ``radix * half * groups`` points, the threads ``half * groups``.
    """
    shape = k.draw.shape
    k.size("groups", 3, 5)
    k.size("half", 3, 6)
    several = shape.chance(0.15 + 0.1 * level)
    dims = ("batch",) if several else ()
    if several:
        k.size("batch", 2, 3)
    lead_names = (k.name("b row"),) if several else ()
    way = shape.choice(("flat", "plane"))
    if way == "plane":
        names = (k.name("g group block"), k.name("j pos"))
        *lead, group, offset = k.thread(*dims, "groups", "half", names=(*lead_names, *names))
        half: Expr = k.size_param("half span m", "half")
    else:
        *lead, i = k.thread(*dims, "groups*half", names=(*lead_names, k.name("i tid t")))
        half = k.size_param("half span m", "half")
        group = k.let("group block g", i // half)
        offset = k.let("j pos", i % half if shape.chance(0.6) else i - group * half)
    base = k.let("base top p0", group * (radix * half) + offset)
    places: list[Expr] = [base]
    for n in range(1, radix):
        step = half if n == 1 else n * half
        if radix == 2 or shape.chance(0.5):
            place = k.let(f"p{n} i{n}" if radix > 2 else "bottom partner", base + step)
        else:
            place = k.let(f"p{n} i{n}", places[-1] + half)
        places.append(place)
    name = half.name if isinstance(half, Var) else "half"
    said = f"thread j of a group has {'two' if radix == 2 else 'four'} points, {name} apart, the "
    said += f"first at group * {radix} * {name} + j"
    points = f"{radix}*groups*half"
    return Stage(k, tuple(lead), dims, points, half, places, group, offset, said)


def _twiddle(
    s: Stage, type_: Scalar, radix: int, pairs: bool, sign: float
) -> tuple[list[tuple[Expr, Expr]], str]:
    """The factors of all points but the first: of a table, or of an angle."""
    k = s.k
    if k.draw.shape.chance(0.5):
        table = _complex(
            k, type_, "twiddle w roots", (f"{radix}*half",) if radix > 2 else ("half",), pairs
        )
        found = []
        for n in range(1, radix):
            place = s.offset if n == 1 else n * s.offset
            found.append(table.read((place,), f"f{n}" if radix > 2 else "tw"))
        times = "j" if radix == 2 else "1, 2 and 3 times j"
        return found, f"{table.name} at {times}"
    angle = k.let(
        "angle theta", sign * TWO_PI * cast(s.offset, type_) / cast(radix * s.half, type_)
    )
    found = []
    for n in range(1, radix):
        turned = angle if n == 1 else float(n) * angle
        tag = str(n) if radix > 2 else ""
        found.append(
            (k.let(f"c{tag} w{tag}_re", cos(turned)), k.let(f"s{tag} w{tag}_im", sin(turned)))
        )
    way = "" if sign > 0 else "-"
    times = "" if radix == 2 else ", by its square and by its cube"
    return found, f"exp(i * t) with t = {way}2 * pi * j / ({radix} * {s.half.name}){times}"  # type: ignore[attr-defined]


@idiom
def fft_butterfly(k: KernelBuilder, level: int) -> Title:
    """One stage of a fast Fourier transform of radix 2 or 4, in time or in frequency."""
    shape = k.draw.shape
    radix = 4 if level > 2 and shape.chance(0.25 + 0.05 * level) else 2
    type_ = k.draw.wide_float_type()
    s = stage(k, level, radix)
    pairs = shape.chance(0.35)
    in_place = shape.chance(0.6)
    dims = (*s.dims, s.points)
    data = _complex(k, type_, "x data signal", dims, pairs, "inout" if in_place else "in")
    out = data if in_place else _complex(k, type_, "y out spectrum", dims, pairs, "out")
    sign = shape.choice((-1.0, 1.0))
    time = shape.chance(0.6)
    factors, said = _twiddle(s, type_, radix, pairs, sign)
    batched = [e.name for e in s.lead]
    pair = ["u", "v"] if "b" in batched else list(k.draw.word.choice((("u", "v"), ("a", "b"))))
    names = [f"a{n}" for n in range(radix)] if radix > 2 else pair
    values = [data.read(s.at(n), names[n]) for n in range(radix)]
    if time:
        values[1:] = [
            _named(k, f"t{n}", _times(v, w))
            for n, (v, w) in enumerate(zip(values[1:], factors, strict=True), 1)
        ]
    results = _two(values) if radix == 2 else _four(k, values, sign)
    for n, result in enumerate(results):
        if not time and n:
            result = _times(_named(k, f"d{n}", result), factors[n - 1])
        if radix == 2 and shape.chance(0.35):
            result = _named(k, f"y{n}", result)
        out.put(s.at(n), *result)
    which = "decimation in time" if time else "decimation in frequency"
    text = (
        f"One stage of a {'forward' if sign < 0 else 'backward'} FFT of radix {radix}, {which}, of "
    )
    text += f"{data.name}: {s.said}. "
    times = "All points but the first are" if radix == 4 else "The second is"
    text += f"{times} multiplied {'before' if time else 'after'} the butterfly by {said}."
    text += " It works in place." if in_place else f" {out.name} gets the points."
    return Title(k.name(f"fft_stage_radix{radix} fft_butterfly", "fft_pass"), text)


def _named(k: KernelBuilder, name: str, value: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
    """Both parts of a point in locals."""
    return k.let(f"{name}_re", value[0]), k.let(f"{name}_im", value[1])


_Point = tuple[Expr, Expr]


def _two(v: list[_Point]) -> list[_Point]:
    """Sum and difference."""
    (a, b), (c, d) = v
    return [(a + c, b + d), (a - c, b - d)]


def _four(k: KernelBuilder, v: list[_Point], sign: float) -> list[_Point]:
    """The transform of four points: two sums and two differences, one turned by 90 degrees."""
    (s02, d02), (s13, d13) = ((_two([v[0], v[2]])), (_two([v[1], v[3]])))
    s02, d02, s13, d13 = (
        (k.let(f"{name}_re", re), k.let(f"{name}_im", im))
        for name, (re, im) in zip(("s02", "d02", "s13", "d13"), (s02, d02, s13, d13), strict=True)
    )
    up = (d02[0] - d13[1], d02[1] + d13[0])
    down = (d02[0] + d13[1], d02[1] - d13[0])
    first, third = (down, up) if sign < 0 else (up, down)
    sums = _two([s02, s13])
    return [sums[0], first, sums[1], third]


@idiom
def walsh_hadamard_step(k: KernelBuilder, level: int) -> Title:
    """One stage of the fast Walsh-Hadamard transform, or of its kin over other operations."""
    shape = k.draw.shape
    whole = shape.chance(0.35)
    type_ = INT32 if whole else k.draw.wide_float_type()
    kinds = {"hadamard": 5, "zeta": 2, "moebius": 2, "superset": 1 + (level > 1)}
    kind = shape.weighted(kinds)
    s = stage(k, level, 2)
    in_place = shape.chance(0.65)
    element = type_
    dims = (*s.dims, s.points)
    bounds = {"low": -50, "high": 50} if whole else {"low": -1.0, "high": 1.0}
    data = k.array("x data values", element, dims, role="inout" if in_place else "in", **bounds)
    out = data if in_place else k.out("y out transformed", element, dims)
    names = k.draw.word.choice((("u", "v"), ("first", "second")))
    a, b = (k.let(name, data[s.at(n)]) for n, name in enumerate(names))
    scaled = kind == "hadamard" and not whole and shape.chance(0.4)
    said = _join_pair(k, out, s, kind, (a, b), in_place, scaled)
    return _walsh_hadamard_step_stored(kind, data, s, in_place, said, out, k)


def _join_pair(
    k: KernelBuilder,
    out: Var,
    s: Stage,
    kind: str,
    values: tuple[Expr, Expr],
    in_place: bool,
    scaled: bool,
) -> str:
    """Store both points of a pair, or the one that changes; what becomes of them, in words."""
    a, b = values
    if kind == "hadamard":
        pair = (a + b, a - b)
        if scaled:
            pair = (ROOT_HALF * (a + b), ROOT_HALF * (a - b))
        said = "sum and difference" + (", both times 1 / sqrt(2)" if scaled else "")
        _put(k, out, s, pair)
    elif kind == "superset":
        k.store(out, s.at(0), a + b)
        said = "the first becomes their sum"
        if not in_place:
            k.store(out, s.at(1), b)
    else:
        k.store(out, s.at(1), b + a if kind == "zeta" else b - a)
        said = (
            f"the second becomes {'their sum' if kind == 'zeta' else 'the second less the first'}"
        )
        if not in_place:
            k.store(out, s.at(0), a)
    return said


def _walsh_hadamard_step_stored(
    kind: str, data: Var, s: Stage, in_place: bool, said: str, out: Var, k: KernelBuilder
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    what = {
        "hadamard": "the fast Walsh-Hadamard transform",
        "zeta": "sums over subsets",
        "moebius": "the inverse of sums over subsets",
        "superset": "sums over supersets",
    }[kind]
    called = {
        "hadamard": "hadamard_stage fwht_step",
        "zeta": "subset_sum_step",
        "moebius": "moebius_step",
    }
    text = f"One stage of {what} of {data.name}: {s.said}; "
    text += f"{'they become ' if kind == 'hadamard' else ''}"
    text += f"{said}." + (" It works in place." if in_place else f" {out.name} gets the points.")
    return Title(k.name(called.get(kind, "superset_sum_step")), text)


def _put(k: KernelBuilder, out: Var, s: Stage, values: tuple[Expr, Expr]) -> None:
    for n, value in enumerate(values):
        k.store(out, s.at(n), maybe(k, ("plus added", "minus taken")[n], value, 0.3))

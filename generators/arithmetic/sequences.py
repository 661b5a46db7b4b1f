"""Low-discrepancy sequences: bits reversed, radical inverses, additive recurrences, Sobol points.

H. Niederreiter, Random Number Generation and Quasi-Monte Carlo Methods, 1992; scrambling by hashes:
B. Burley, JCGT 9(4), 2020.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.types import UINT32
from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.kit.naming import held, local, routine
from generators.kit.sites import Site, over
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var, literal

VEC2 = Vec(2, FLOAT32)
WORD = 2**32 - 1
_TO_UNIT = 2.0**-32
_HALVES = ((0x55555555, 1), (0x33333333, 2), (0x0F0F0F0F, 4), (0x00FF00FF, 8))
Word = Callable[..., Expr]


def word(number: int) -> Expr:
    return literal(number, UINT32)


def reversal(k: KernelBuilder, chance: float) -> Word:
    """Bits of a word in reverse: halves of halves change places, the smallest or largest first."""
    down = k.draw.shape.chance(0.5)

    def build(b: BodyBuilder, x: Expr) -> Expr:
        v = b.let("v bits", x if not down else (x << 16) | (x >> 16))
        for mask, n in reversed(_HALVES) if down else _HALVES:
            b.assign(v, ((v & mask) << n) | ((v >> n) & mask))
        return v if down else (v << 16) | (v >> 16)

    return routine(k, chance, "reverse_bits bit_reverse brev32", {"x": UINT32}, build)


def owen(k: KernelBuilder) -> tuple[Word, str]:
    """Nested uniform scrambling by a hash whose bits depend on lower bits alone."""
    flip = reversal(k, 1.0)
    way = k.draw.shape.choice(("laine", "vegdahl"))

    def build(b: BodyBuilder, x: Expr, seed: Expr) -> Expr:
        h = b.let("h v", flip(x) + seed if way == "laine" else flip(x))
        if way == "laine":
            for factor in (0x6C50B47C, 0xB82F1E52, 0xC7AFE638, 0x8D22F6E6):
                b.assign(h, h ^ (h * factor))
            return flip(h)
        b.assign(h, h ^ (h * 0x3D20ADEA))
        b.augment(h, "add", seed)
        b.augment(h, "mul", (seed >> 16) | 1)
        b.assign(h, h ^ (h * 0x05526C56))
        b.assign(h, h ^ (h * 0x53A22864))
        return flip(h)

    told = {
        "laine": "h = reversed(x) + seed, then h ^= h * c for c = 1817228412, 3090095698, "
        "3350193720 and 2367878886 in turn",
        "vegdahl": "h = reversed(x), h ^= h * 1025551850, h += seed, h *= (seed >> 16) | 1, "
        "h ^= h * 89287766, h ^= h * 1403136100",
    }[way]
    types = {"x": UINT32, "seed": UINT32}
    called = "nested_uniform_scramble owen_scramble"
    said = f"scramble(x, seed) is reversed(h) of {told}; reversed() has the 32 bits in reverse"
    return routine(k, 1.0, called, types, build), said


def unit(k: KernelBuilder, x: Expr) -> tuple[Expr, str]:
    """A word as a number in [0, 1), with words for it."""
    if k.draw.shape.chance(0.4):
        return cast(x >> 8, FLOAT32) * literal(2.0**-24, FLOAT32), "(x >> 8) / 2^24"
    return cast(x, FLOAT32) * literal(_TO_UNIT, FLOAT32), "x / 2^32"


@dataclass
class Points:
    """The points of a launch: a thread for each, or for each coordinate."""

    k: KernelBuilder
    s: Site
    point: Var
    dim: Var | None
    index: Expr
    said: str

    def timed(self) -> str:
        """The index as a factor."""
        return self.said if self.said.isidentifier() else f"({self.said})"

    def lead(self) -> tuple[Expr, ...]:
        """Where what belongs to a thread's dimension stands."""
        return () if self.dim is None else (self.dim,)

    def out(self, names: str, type_: Scalar | Vec) -> Var:
        return self.s.out(names, type_)

    def of_dim(self, names: str, low: float, high: float) -> Expr | None:
        """A number of each dimension, where a thread has one."""
        if self.dim is None:
            return None
        kind = UINT32 if isinstance(high, int) else FLOAT32
        return self.k.array(names, kind, "qmc_dims", low=low, high=high)[self.dim]


def points(k: KernelBuilder, dims: bool, skips: bool = True) -> Points:
    """A thread for each point, or one for each coordinate, points or dimensions first."""
    i = k.draw.word.choice(("i", "n", "p"))
    if not dims:
        s = over(k, "qmc_points", (i,), ((150, 190),))
        at: tuple[Expr, ...] = s.at
    elif k.draw.shape.chance(0.6):
        s = over(k, "qmc_points qmc_dims", (i, "d"), ((40, 56), (3, 5)))
        at = s.at
    else:
        s = over(k, "qmc_dims qmc_points", ("d", i), ((3, 5), (40, 56)))
        at = (s.at[1], s.at[0])
    assert isinstance(at[0], Var)
    dim = at[1] if dims else None
    assert dim is None or isinstance(dim, Var)
    index, said = _index(k, at[0]) if skips else (at[0], at[0].name)
    return Points(k, s, at[0], dim, index, said)


def _index(k: KernelBuilder, i: Var) -> tuple[Expr, str]:
    """Which point of the sequence a thread has."""
    way = k.draw.shape.weighted({"own": 3, "skip": 3, "leap": 1, "one": 2})
    if way == "own":
        return i, i.name
    if way == "one":
        return i + 1, f"{i.name} + 1"
    skip = k.scalar("skip start_index", INT32, 1, 64)
    if way == "skip":
        return skip + i, f"{skip.name} + {i.name}"
    leap = k.scalar("leap", INT32, 3, 11)
    return skip + leap * i, f"{skip.name} + {leap.name} * {i.name}"


def shifted(p: Points, x: Expr, chance: float) -> tuple[Expr, str]:
    """A word with a random shift: added around the ends, or by exclusive or."""
    k = p.k
    if not k.draw.shape.chance(chance):
        return x, ""
    shift = p.of_dim("shifts digital_shifts", low=0, high=WORD)
    if shift is None:
        shift = k.scalar("shift rotation", UINT32, 1, WORD)
    name = say(k, shift)
    if k.draw.shape.chance(0.5):
        return x ^ shift, f", x is then changed by exclusive or with {name}"
    return x + shift, f", then {name} is added to x modulo 2^32"


def reversed_bits(k: KernelBuilder, level: int) -> tuple[str, str]:
    """Van der Corput's sequence in base 2, alone or as one coordinate of Hammersley's points."""
    pair = k.draw.shape.chance(0.5)
    p = points(k, False, not pair)
    flip = reversal(k, 0.9 if level > 1 else 0.5)
    x, more = shifted(p, held(k, "x bits_rev", flip(cast(p.index, UINT32))), 0.5)
    value, told = unit(k, x)
    said = f"x is the 32 bits of {p.said} in reverse{more}"
    if not pair:
        out = p.out("samples u_out", FLOAT32)
        k.store(out, p.s.at, value)
        name = "van_der_corput radical_inverse_2 vdc_base2"
        return name, f"Van der Corput's sequence in base 2: {out.name} gets {told}, where {said}."
    count = k.size_param("num_points n_points", "qmc_points")
    first, middle = cast(p.index, FLOAT32), ""
    if k.draw.shape.chance(0.5):
        first, middle = first + 0.5, " + 0.5"
    first = first / cast(count, FLOAT32)
    out = p.out("samples points_out", VEC2)
    k.store(out, p.s.at, make(VEC2, first, value))
    top = f"({p.said}{middle})" if middle else p.said
    text = f"Hammersley's points: {out.name} gets ({top} / {count.name}, {told}), "
    return "hammersley_points hammersley_2d", f"{text}where {said}."


_STEPS = {
    1: (2654435769,),
    2: (3242174889, 2447445414),
    3: (3518319155, 2882110345, 2360945575),
}
"""1 / g, 1 / g^2, ... of the root g of x^(d + 1) = x + 1, times 2^32."""
_FRACTIONS = {
    1: (0.6180339887,),
    2: (0.7548776662, 0.5698402910),
    3: (0.8191725134, 0.6710436067, 0.5497004779),
}


def additive(k: KernelBuilder, level: int) -> tuple[str, str]:
    """Additive recurrences of the golden ratio and its kin (R1, R2, R3), in words or in floats."""
    size = k.draw.shape.choice((1, 2, 3) if level < 2 else (2, 3))
    p = points(k, False)
    whole = k.draw.shape.chance(0.5)
    parts, told = [], []
    if whole:
        seed = k.scalar("seed offset", UINT32, 1, WORD)
        n = k.let("n_word m", cast(p.index, UINT32))
        for step in _STEPS[size]:
            parts.append(unit(k, seed + n * step)[0])
            told.append(str(step))
        how = f"({seed.name} + {p.timed()} * a) modulo 2^32, over 2^32"
    else:
        start = k.scalar("seed offset", FLOAT32, 0.1, 0.9)
        n = k.let("n_f m", cast(p.index, FLOAT32))
        for share in _FRACTIONS[size]:
            parts.append(fn("frac", start + n * share))
            told.append(str(share))
        how = f"the fraction of {start.name} + {p.timed()} * a"
    kind = FLOAT32 if size == 1 else Vec(size, FLOAT32)
    out = p.out("samples points_out", kind)
    k.store(out, p.s.at, parts[0] if size == 1 else make(kind, *parts))
    each = f"a = {told[0]}" if size == 1 else f"the coordinates for a = {', '.join(told)}"
    text = f"Additive recurrence R{size}: {out.name} gets {how}, {each}."
    return f"r{size}_sequence r{size}_points additive_recurrence", text


def gray(x: Expr) -> Expr:
    return x ^ (x >> 1)


def net(k: KernelBuilder, table: Var, lead: tuple[Expr, ...], index: Expr, mixed: bool) -> Var:
    """A coordinate of a digital net: columns of a matrix for the bits of an index, added up."""
    way = k.draw.shape.choice(("while", "bits", "spread"))
    code = gray(index) if mixed else index
    names = "g code" if mixed else "n_bits idx"
    bits = k.let(names, code) if way == "while" else local(k, names, code)
    x = k.let("x acc", word(0))
    if way == "while":
        at = k.let("bit col", k.lift(0, INT32))
        with k.while_(fn("ne", bits, 0)):
            with k.if_(fn("ne", bits & 1, 0)):
                k.assign(x, x ^ table[lead + (at,)])
            k.assign(bits, bits >> 1)
            k.augment(at, "add", 1)
        return x
    with k.for_("bit col", 32) as at:
        picked = (bits >> cast(at, UINT32)) & 1
        if way == "bits":
            with k.if_(fn("ne", picked, 0)):
                k.assign(x, x ^ table[lead + (at,)])
        else:
            k.assign(x, x ^ (picked * table[lead + (at,)]))
    return x


def directions(k: KernelBuilder, p: Points) -> Var:
    dims = ("qmc_dims", "32") if p.dim is not None else ("32",)
    return k.array("directions dir_numbers sobol_v", UINT32, dims, low=1, high=WORD)


def sobol(k: KernelBuilder, level: int) -> tuple[str, str]:
    """Sobol points from direction numbers, in their own order or in that of the Gray code."""
    p = points(k, k.draw.shape.chance(0.75))
    table = directions(k, p)
    mixed = k.draw.shape.chance(0.5)
    x: Expr = net(k, table, p.lead(), cast(p.index, UINT32), mixed)
    x, more = shifted(p, x, 0.4)
    value, told = unit(k, x)
    out = p.out("samples sobol_out", FLOAT32)
    k.store(out, p.s.at, value)
    text = f"Sobol points: {out.name} gets {told}, where x is {net_said(p, table, mixed)}{more}."
    return "sobol_points sobol_sample sobol_sequence", text


def net_said(p: Points, table: Var, mixed: bool) -> str:
    at = f"{table.name}[{p.dim.name}, b]" if p.dim is not None else f"{table.name}[b]"
    of = "m ^ (m >> 1)" if mixed else "m"
    return f"the exclusive or of {at} over the bits b of {of} that are set, m = {p.said}"

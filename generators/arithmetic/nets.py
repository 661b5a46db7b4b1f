"""Digital nets put to use: scrambled points, runs by the Gray code, direction numbers, estimates.

B. Burley, JCGT 9(4), 2020; S. Joe, F. Kuo, ACM TOMS 29 (2003); D. Nuyens, R. Cools, Math. Comp. 75
(2006); T. Warnock, Applications of Number Theory to Numerical Analysis, 1972.
"""

from __future__ import annotations

from collections.abc import Callable

from generators.arithmetic.quality import discrepancy, estimates, lattice_rules
from generators.arithmetic.radical import permuted, radical, two_coordinates
from generators.arithmetic.sequences import (
    WORD,
    Points,
    additive,
    directions,
    net,
    net_said,
    owen,
    points,
    reversed_bits,
    sobol,
    unit,
    word,
)
from generators.arithmetic.types import UINT32
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import trailing_zeros, where
from generators.kit.masks import is_set
from generators.kit.sites import over
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var


def _scrambled(k: KernelBuilder, level: int) -> tuple[str, str]:
    """Sobol points scrambled by a hash; the index may be shuffled the same way before."""
    p = points(k, k.draw.shape.chance(0.75))
    shuffled = k.draw.shape.chance(0.5)
    scramble, said = owen(k)
    table, seed = directions(k, p), k.scalar("seed scramble_seed", UINT32, 1, WORD)
    own, told = _seed(k, p, seed)
    index: Expr = cast(p.index, UINT32)
    if shuffled:
        index = k.let("shuffled idx", scramble(index, seed))
    x = net(k, table, p.lead(), index, False)
    value, scaled = unit(k, k.let("y scrambled", scramble(x, own)))
    out = p.out("samples sobol_out", FLOAT32)
    k.store(out, p.s.at, value)
    if shuffled:
        p.said = f"scramble({p.said}, {seed.name})"
    scaled = scaled.replace("x", "y")
    text = f"Sobol points with Owen scrambling: {out.name} gets {scaled}, y = scramble(x, {told}), "
    text += f"where x is {net_said(p, table, False)}. {said}."
    return "owen_sobol scrambled_sobol sobol_owen_points", text


def _seed(k: KernelBuilder, p: Points, seed: Expr) -> tuple[Expr, str]:
    """The seed of a dimension."""
    if p.dim is None:
        return seed, say(k, seed)
    if k.draw.shape.chance(0.4):
        seeds = k.array("dim_seeds", UINT32, "qmc_dims", low=1, high=WORD)
        return seed ^ seeds[p.dim], f"{say(k, seed)} ^ {seeds.name}[{p.dim.name}]"
    own = k.let("dim_seed own_seed", seed + cast(p.dim, UINT32) * 0x9E3779B9)
    return own, f"{say(k, seed)} + {p.dim.name} * 2654435769"


def _trailing(k: KernelBuilder, n: Expr) -> Expr:
    """How many bits are zero below the lowest that is set."""
    if k.draw.shape.chance(0.5):
        return trailing_zeros(n)
    return fn("bit_count", ~n & (n - 1))


def _runs(k: KernelBuilder, level: int) -> tuple[str, str]:
    """A thread for each run of points: the first from the bits of its index, each other from the
    one before by a single column (Antonov and Saleev)."""
    by_dim = k.draw.shape.chance(0.6)
    names = ("c", "d") if by_dim else ("c",)
    dims = ("point_chunks", "qmc_dims") if by_dim else ("point_chunks",)
    s = over(k, dims, names, ((10, 12), (3, 5)) if by_dim else ((36, 44),))
    k.size("run_length", 5, 7, minimum=2)
    length = k.size_param("run_length chunk_size", "run_length")
    c, d = s.at[0], s.at[1] if by_dim else None
    assert isinstance(c, Var)
    start = k.let("n start", cast(c * length, UINT32))
    p = Points(k, s, c, d if isinstance(d, Var) else None, start, f"{c.name} * {length.name}")
    table = directions(k, p)
    x = net(k, table, p.lead(), start, True)
    out = k.out("samples sobol_out", FLOAT32, _laid(k, dims))
    value, told = unit(k, x)
    with k.for_("j step", length) as j:
        k.store(out, _place(out, p, j, length), value)
        k.augment(start, "add", 1)
        col = k.let("col bit", _trailing(k, start))
        k.assign(x, x ^ table[p.lead() + (col,)])
    text = f"Sobol points in the order of the Gray code, a run of {length.name} points a thread: "
    text += f"x of point m = {c.name} * {length.name} is the exclusive or of the direction numbers "
    text += f"in {table.name}{'' if p.dim is None else f'[{p.dim.name}]'} over the set bits of "
    text += "m ^ (m >> 1), and x of point m that of the point before, changed by exclusive or with "
    text += f"the number of the lowest set bit of m. {out.name} gets {told} of each."
    return "sobol_runs sobol_gray_code sobol_chunks", text


def _laid(k: KernelBuilder, dims: tuple[str, ...]) -> tuple[str, ...]:
    if len(dims) == 1:
        return ("point_chunks*run_length",)
    ways = (("point_chunks*run_length", "qmc_dims"), ("qmc_dims", "point_chunks*run_length"))
    return k.draw.shape.choice(ways)


def _place(out: Var, p: Points, j: Var, length: Var) -> tuple[Expr, ...]:
    at = p.point * length + j
    if p.dim is None:
        return (at,)
    shape = next(q.shape for q in p.k.params if q.name == out.name)
    return (at, p.dim) if shape[-1] == "qmc_dims" else (p.dim, at)


def _matrices(k: KernelBuilder, level: int) -> tuple[str, str]:
    """Direction numbers of each dimension from its primitive polynomial, of three terms."""
    shape = k.draw.shape
    k.size("qmc_dims", 30, 40)
    (d,) = k.thread("qmc_dims", names=(k.draw.word.choice(("d", "dim_idx")),))
    degrees = k.array("degrees poly_degree", INT32, "qmc_dims", low=2, high=4)
    turned = k.array("reciprocal turned", INT32, "qmc_dims", low=0, high=1)
    first = shape.chance(0.5)
    out = k.out(
        "directions dir_numbers", UINT32, ("qmc_dims", "32") if first else ("32", "qmc_dims")
    )
    cell = (lambda b: (d, b)) if first else (lambda b: (b, d))
    s = k.let("s degree", degrees[d])
    q = k.let("q lag", where(is_set(turned[d]), s - 1, k.lift(1, INT32)))
    before = set(k.used)
    with k.for_("b col", s) as b:
        m, begun = _begun(k, d, b)
        k.store(out, cell(b), m << (31 - cast(b, UINT32)))
    k.again(before, *(p.name for p in k.params))
    with k.for_("b col", 32, start=s) as b:
        old = k.let("v_s back", out[cell(b - s)])
        k.store(out, cell(b), old ^ (old >> cast(s, UINT32)) ^ out[cell(b - q)])
    text = "Direction numbers of Sobol points, a thread for each dimension, whose primitive "
    text += (
        f"polynomial is x^s + x^(s - 1) + 1, or x^s + x + 1 where {turned.name} is set, s being "
    )
    text += f"{degrees.name}[{d.name}]: number b of {d.name} in {out.name} is "
    text += f"m << (31 - b) for b < s, {begun}. For greater b it is v[b - s] ^ (v[b - s] >> s) ^ "
    text += "v[b - q], v being those before and q 1, or s - 1 for the other polynomial."
    return "sobol_directions build_direction_numbers init_sobol_matrices", text


def _begun(k: KernelBuilder, d: Var, b: Var) -> tuple[Expr, str]:
    """The first numbers, odd and below 2^(b + 1), from bits that are free."""
    bits = cast(b, UINT32)
    if k.draw.shape.chance(0.5):
        free = k.array("init_bits free_bits", UINT32, ("qmc_dims", "8"), low=0, high=2**20)
        word_of: Expr = free[d, b]
        said = f"{free.name}[{d.name}, b]"
    else:
        seed = k.array("init_words seeds", UINT32, "qmc_dims", low=0, high=2**31)
        word_of, said = seed[d] >> bits, f"({seed.name}[{d.name}] >> b)"
    m = k.let("m odd", ((word_of & ((word(1) << bits) - 1)) << 1) | 1)
    return m, f"where m = 2 * ({said} modulo 2^b) + 1"


_FORMS: dict[int, tuple[Callable[[KernelBuilder, int], tuple[str, str]], ...]] = {
    1: (reversed_bits, additive),
    2: (radical, radical, reversed_bits, additive),
    3: (sobol, permuted, two_coordinates),
    4: (_scrambled, _scrambled, _runs, _runs, discrepancy),
    5: (_matrices, lattice_rules, discrepancy, estimates, estimates),
}


@idiom
def low_discrepancy_points(k: KernelBuilder, level: int) -> Title:
    """Low discrepancy: van der Corput, Halton, R2, Sobol, scrambled points; lattices, quality."""
    name, text = k.draw.shape.choice(_FORMS[level])(k, level)
    return Title(k.name(name), text)

"""Cells of grids as vectors of whole numbers: indices, hashes, Morton codes, distances."""

from __future__ import annotations

from functools import reduce
from operator import mul, or_, xor

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.kit.functions import least, most
from generators.kit.naming import BY_LEVEL, applied, evaluated, local, maybe, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import filled, given, zero
from generators.kit.words import plurals, say, words
from generators.program.dtypes import INT32, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf, summed
from generators.vector.tables import Table

_UINT = Scalar("uint32")
_WHOLE = {"int32": 8, "int64": 2, "uint32": 1}
_CELLS = "cell voxel coord tile"
_PRIMES = ((73856093, 19349663, 83492791), (2654435761, 2246822519, 3266489917))


def _parts(value: Expr) -> list[Expr]:
    """The components of a vector."""
    assert isinstance(value.type, Vec)
    return [value[n] for n in range(value.type.size)]


_TWO = VectorShelf()
"""What is computed of a cell c and a second cell n, or the extent n of the grid."""


@_TWO.formula(
    "indices cell_ids", "cx + nx * cy + nx * ny * cz, the sides nx, ny being those of {n}"
)
def linear_index(c: Expr, n: Expr) -> Expr:
    """Row-major index, x fastest."""
    rows = c[1] if len(_parts(c)) == 2 else c[1] + n[1] * c[2]
    return c[0] + n[0] * rows


@_TWO.formula("wrapped_cells cells_out", "{c} modulo {n} by component")
def wrapped(c: Expr, n: Expr) -> Expr:
    return make(c.type, *(a % b for a, b in zip(_parts(c), _parts(n), strict=True)))


@_TWO.formula("steps distances", "the Manhattan distance, the sum of the |{c}[a] - {n}[a]|")
def manhattan(body: BodyBuilder, c: Expr, n: Expr) -> Expr:
    return summed(_parts(body.let("gap offset", _apart(c, n))))


@_TWO.formula("steps distances", "the Chebyshev distance, the largest of the |{c}[a] - {n}[a]|")
def chebyshev(c: Expr, n: Expr) -> Expr:
    return fn("max_element", _apart(c, n))


def _apart(c: Expr, n: Expr) -> Expr:
    """Sizes of differences; whole numbers without a sign must not become negative."""
    return most(c, n) - least(c, n) if scalar_of(c.type).is_unsigned else abs(c - n)


def _whole(k: KernelBuilder, level: int, site: Site) -> tuple[str, str]:
    """Arithmetic of two whole vectors."""
    shape = k.draw.shape
    vec = Vec(shape.choice((2, 3)), Scalar(shape.weighted(_WHOLE)))
    formula = shape.choice(_TWO.cards)
    if formula.name in ("linear_index", "wrapped"):
        second = Part("extent grid_size grid_dims", vec, 3, 5, forms={"shared": 1})
    else:
        ways = {"each": 3, "first": 2, "shared": 2}
        second = Part("goal_cell target_cell home_cell", vec, 0, 7, forms=ways)
    r = record(site, "Entry Item Job", {"c": Part(_CELLS, vec, 0, 7), "n": second}, 0.0)
    done = f"{_TASKS[formula.name]} With c = {r.say('c')} and n = {r.say('n')}, take "
    text = formula.said({"c": "c", "n": "n"})
    if vec.size == 2:
        text = text.replace(
            " + nx * ny * cz, the sides nx, ny being those", ", nx being the first side"
        )
    done += f"{text}."
    values = {"c": k.let("c cell_i", r["c"]), "n": local(k, "n ref", r["n"])}
    value = evaluated(k, BY_LEVEL[level], formula, values)
    if level >= 2 and shape.chance(0.5) and formula.name in ("manhattan", "chebyshev"):
        cost = k.scalar("step_cost cost_per_step", scalar_of(value.type), 2, 3)
        value, done = cost * value, f"{done} Multiply it by {cost.name}."
    return formula.name, done + deliver(site, level, formula.outs, value)


_TASKS = {
    "linear_index": "Number grid cells row by row.",
    "wrapped": "Wrap cells around a periodic grid.",
    "manhattan": "Count the axis-aligned steps between two grid cells.",
    "chebyshev": "Count the steps between two grid cells, diagonal ones allowed.",
}


def _cell_of(k: KernelBuilder, site: Site) -> tuple[Var, Var, str]:
    """The cell of a point: its coordinates, the point in units of cells, and the text."""
    shape = k.draw.shape
    scalar = Scalar(shape.weighted({"float32": 4, "float64": 1}))
    vec = Vec(shape.choice((2, 3)), scalar)
    p = site.read("points positions samples", vec, 0.0, 3.0)
    sources = {"shared": 1}
    if shape.chance(0.6):
        width = given(site, "cell_size spacing bin_width", scalar, 0.4, 0.9, forms=sources)
        scaled = p / width
    else:
        scaled = given(site, "inv_cell resolution", scalar, 1.2, 2.5, forms=sources) * p
    q = k.let("q scaled g", scaled)
    c = make(Vec(vec.size, INT32), *(cast(fn("floor", part), INT32) for part in _parts(q)))
    text = f"The cell of each point is c = floor({say(k, scaled)}) by component"
    return k.let("c cell ijk", c), q, text


def _hashed(k: KernelBuilder, chance: float, c: Var) -> tuple[Expr, str]:
    primes = k.draw.value.choice(_PRIMES)[: len(_parts(c))]
    mask = k.draw.shape.chance(0.5)

    def build(b: BodyBuilder, cell: Expr) -> Expr:
        terms = (
            cast(part, _UINT) * prime for part, prime in zip(_parts(cell), primes, strict=True)
        )
        return b.let("h hash_val", reduce(xor, terms))

    code = applied(k, chance, "cell_hash hash_coords", {"c": c}, build)
    text = "the cell's bucket in a hash table: the exclusive or of the components times "
    text += f"{', '.join(map(str, primes))} as uint32, "
    if not mask:
        buckets = k.scalar("table_size num_buckets", _UINT, 31, 127)
        return code % buckets, f"{text}modulo {buckets.name}"
    buckets = k.scalar("table_size num_buckets", _UINT, 24, 64)
    return code & (
        buckets - 1
    ), f"{text}masked with {buckets.name} - 1, the size being a power of two"


def spread(b: BodyBuilder, x: Expr) -> Expr:
    """Leave two zero bits between any two of the lowest five."""
    v = b.let("v bits", (x | (x << 8)) & 0x0300F00F)
    w = b.let("w spaced", (v | (v << 4)) & 0x030C30C3)
    return (w | (w << 2)) & 0x09249249


def _morton(k: KernelBuilder, chance: float, c: Var) -> tuple[Expr, str]:
    interleave = routine(k, 1.0, "spread_bits part1by2", {"x": _UINT}, spread)
    parts = [interleave(cast(part, _UINT)) for part in _parts(c)]
    code = reduce(or_, (part << a if a else part for a, part in enumerate(parts)))
    return code, "the Morton code of c: bit b of component a goes to bit 3 * b + a"


def _in_cube(k: KernelBuilder, chance: float, c: Var) -> tuple[Expr, str]:
    side = k.scalar("side grid_dim res", INT32, 8, 16)
    scales: list[Expr] = [side, side * side]
    rest = zip(_parts(c)[1:], scales, strict=False)
    deep = f" + {side.name}^2 * cz" if len(_parts(c)) == 3 else ""
    index = summed([c[0], *(scale * part for part, scale in rest)])
    inside = f"c lying in the grid of {side.name} cells an axis"
    return index, f"its number cx + {side.name} * cy{deep}, {inside}"


_CODES = {"hash": _hashed, "morton": _morton, "cube": _in_cube}


def _binned(k: KernelBuilder, level: int, site: Site) -> tuple[str, str]:
    """The code of a point's cell, and what else a grid wants to know of the point."""
    shape = k.draw.shape
    c, q, done = _cell_of(k, site)
    if level >= 4 and shape.chance(0.5):
        top = k.scalar("last_cell max_cell", INT32, 2, 3)
        c = k.let("c_in clamped", least(most(c, filled(c.type, 1)), filled(c.type, top)))
        done += f", clamped to [1, {top.name}] in each component"
    form = shape.choice(("hash", "hash", "morton", "cube") if level >= 3 else ("hash", "cube"))
    value, text = _CODES[form](k, BY_LEVEL[level], c)
    done += f". Take {text}."
    outs = {"hash": "buckets hash_keys", "morton": "morton_codes", "cube": "cell_ids cell_index"}
    done += deliver(site, level, outs[form], maybe(k, "code key", value))
    if level < 3:
        return form, done
    low = make(q.type, *(cast(part, scalar_of(q.type)) for part in _parts(c)))
    f = k.let("f frac_q local", q - low)
    for place in shape.sample(_PLACES.cards, 2 if level >= 5 else 1):
        out = site.put(place.outs, place.build(k, f))
        done += f" {out.name} gets {place.said({'f': 'q - c' if place.plain else '(q - c)'})}."
    return form, done


_PLACES = VectorShelf()
_PLACES.add("inside", "offsets local_out fractions", lambda f: f)


@_PLACES.formula("center_dist spread", "|{f} - 0.5|^2")
def middle(f: Expr) -> Expr:
    return fn("length_sq", f - filled(f.type, 0.5))


@_PLACES.formula("axes near_axes", "the component of {f} - 0.5 that is largest in size")
def near(f: Expr) -> Expr:
    return cast(fn("argmax", abs(f - filled(f.type, 0.5))), INT32)


@_PLACES.formula("weights_out corner_w", "the product of the components of 1 - {f}")
def weight(f: Expr) -> Expr:
    return reduce(mul, (1.0 - part for part in _parts(f)))


def _crowd(k: KernelBuilder, level: int, site: Site) -> tuple[str, str]:
    """How many of a thread's cells are near its own, and their mean offset."""
    shape = k.draw.shape
    scalar = Scalar(shape.weighted({"int32": 4, "int64": 1}))
    vec = Vec(shape.choice((2, 3)), scalar)
    source = site.read(plurals(words(_CELLS)), vec, -5, 5)
    others = Table(k, "block seed", {"o": Part("block seed occupied_cell", vec, -5, 5)})
    reach = k.scalar("reach max_steps range_cells", scalar, 3, 5)
    c = k.let("c cell_i", source)
    close, total = k.let("close near_count", k.lift(0, INT32)), k.let("total sum_off", zero(vec))
    formula = shape.choice([_TWO.card("manhattan"), _TWO.card("chebyshev"), _SQUARED])
    names = f"{formula.name}_steps {formula.name}_gap"
    use = routine(k, 0.6, names, {"c": vec, "n": vec}, lambda b, x, y: formula.build(b, x, y))
    squared = formula is _SQUARED
    with others.each("j s seed") as (_, (cell,)):
        other = k.let("other seed_cell", cell)
        gap = k.let("gap steps", use(c, other))
        with k.if_(gap <= (reach * reach if squared else reach)):
            k.augment(close, "add", 1)
            k.augment(total, "add", other - c)
    limit = f"{reach.name}^2" if squared else reach.name
    done = f"For c = {say(k, source)}, over the o = {others.said('o')} for which "
    done += f"{formula.said({'c': 'c', 'n': 'o'})} is at most {limit}, sum o - c."
    done += deliver(site, level, "drift sums offset_sums", total)
    done += f" {site.put('counts crowding', close).name} gets how many they are."
    if level >= 5:
        out = site.put("spans extents", fn("max_element", total) - fn("min_element", total))
        done += f" {out.name} gets the largest less the smallest component of the sum."
    return formula.name, done


_SQUARED = Formula("squared", "steps", lambda c, n: fn("length_sq", c - n), "|{c} - {n}|^2")


@idiom(depth=2)
def grid_cells(k: KernelBuilder, level: int) -> Title:
    """Cells of grids: indices and distances, cells of points, hashes, occupied neighbours."""
    site = launch(k, list=5, batch=3 + level // 3)
    if level <= 2:
        build = _whole if level == 1 or k.draw.shape.chance(0.4) else _binned
    else:
        build = _crowd if k.draw.shape.chance(0.3) else _binned
    form, done = build(k, level, site)
    return Title(k.name(*_NAMES[form].split()), done)


_NAMES = {
    "linear_index": "linear_index cell_index flatten_cells",
    "wrapped": "wrap_cells periodic_cells",
    "manhattan": "manhattan_distance cell_steps",
    "chebyshev": "chebyshev_distance cell_steps",
    "hash": "hash_cells cell_hash bucket_of_point",
    "morton": "morton_codes morton_cells",
    "cube": "cell_of_point assign_cells bin_points",
    "squared": "near_cells",
}

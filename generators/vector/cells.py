"""Cells of grids as vectors of whole numbers: indices, hashes, Morton codes, distances."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import BY_LEVEL, maybe, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import plurals, say
from generators.program.dtypes import INT32, Scalar, Type, Vec, scalar_of
from generators.program.expr import Expr, Var
from generators.vector.cell_codes import FORMS, chebyshev, hashed, manhattan, spread

_UINT = Scalar("uint32")
_WHOLE = {"int32": 6, "int64": 2, "int16": 2, "uint32": 2, "uint16": 1, "uint64": 1, "uint8": 1}
_CELLS = ("cell", "voxel", "coord", "tile")
_PRIMES = ((73856093, 19349663, 83492791), (2654435761, 2246822519, 3266489917))


def _other(k: KernelBuilder, site: Site, vec: Vec, kind: str) -> Expr:
    """The extent of the grid, or a second cell."""
    if kind == "extent":
        sources = {"shared": 4, "first": 2, "each": 1}
        return given(site, "extent grid_size dims_n", vec, 3, 5, forms=sources)
    sources = {"each": 3, "first": 2, "shared": 2}
    return given(site, "goal_cell other home_cell", vec, 0, 7, forms=sources)


def _whole(k: KernelBuilder, level: int, site: Site) -> tuple[str, str]:
    """Arithmetic of two whole vectors."""
    shape = k.draw.shape
    vec = Vec(shape.choice((2, 3)), Scalar(shape.weighted(_WHOLE)))
    form = shape.choice(sorted(FORMS))
    build, text, kind = FORMS[form]
    if shape.chance(0.3):
        parts = [
            Part(_CELLS, vec, 0, 7),
            Part("extent grid_size", vec, 3, 5)
            if kind == "extent"
            else Part("other goal_cell", vec, 0, 7),
        ]
        c, n = record(site, "Entry Item Job", parts, 1.0)
    else:
        c = site.array(plurals(_CELLS), vec, 0, 7)[site.at]
        n = _other(k, site, vec, kind)
    done = f"With c = {say(k, c)} and n = {say(k, n)}, take {text}."
    c, n = k.let("c cell_i", c), n if isinstance(n, Var) else k.let("n ref", n)
    use = routine(k, BY_LEVEL[level], (form, f"{form}_of"), {"c": vec, "n": vec}, build)
    value = use(c, n)
    if level >= 2 and shape.chance(0.5):
        value, after = _costed(k, site, value)
        done += after
    return form, done + deliver(site, level, "indices codes cell_out", value)


def _costed(k: KernelBuilder, site: Site, value: Expr) -> tuple[Expr, str]:
    scalar = scalar_of(value.type)
    if k.draw.shape.chance(0.5):
        base = k.scalar("base first_index start", scalar, 1, 5)
        shift = base if value.type == scalar else make(value.type, base)
        return value + shift, f" Add {base.name}."
    cost = k.scalar("stride step_cost", scalar, 2, 3)
    return cost * value, f" Multiply it by {cost.name}."


def _cell_of(k: KernelBuilder, level: int, site: Site) -> tuple[Var, Var, str, Scalar]:
    """The cell of a point: its coordinates, the point in units of cells, and the text."""
    shape = k.draw.shape
    scalar = Scalar(shape.weighted({"float32": 4, "float64": 1}))
    size = shape.choice((2, 3))
    vec, cell = Vec(size, scalar), Vec(size, INT32)
    points = site.array("points positions samples", vec, 0.0, 3.0)
    sources = {"shared": 4, "literal": 2, "first": 1}
    p: Expr = points[site.at]
    if shape.chance(0.6):
        width = given(site, "cell_size spacing bin_width", scalar, 0.4, 0.9, forms=sources)
        scaled, text = p / width, f"{points.name} / {say(k, width)}"
    else:
        inv = given(site, "inv_cell resolution", scalar, 1.2, 2.5, forms=sources)
        scaled, text = inv * p, f"{say(k, inv)} * {points.name}"
    q = k.let("q scaled g", scaled)
    parts = [cast(fn("floor", q[a]), INT32) for a in range(size)]
    c = k.let("c cell ijk", make(cell, *parts))
    return c, q, f"With q = {text} and the cell c = floor(q) by component", scalar


def _coded(k: KernelBuilder, level: int, c: Var) -> tuple[Expr, str, str]:
    """A code of the cell: its hash bucket, its Morton code, or its index in a cube."""
    shape = k.draw.shape
    assert isinstance(c.type, Vec)
    cell = c.type
    form = shape.choice(("hash", "hash", "morton", "cube") if level >= 3 else ("hash", "cube"))
    if form == "hash":
        primes = k.draw.value.choice(_PRIMES)
        use = routine(
            k,
            BY_LEVEL[level],
            "cell_hash hash_coords",
            {"c": cell},
            lambda b, cc: hashed(b, cc, primes),
        )
        if shape.chance(0.5):
            buckets = k.scalar("table_size num_buckets", _UINT, 31, 127)
            value, rest = use(c) % buckets, f"modulo {buckets.name}"
        else:
            value, rest = use(c) & 63, "and 63"
        listed = ", ".join(map(str, primes[: cell.size]))
        text = f"the exclusive or of the c[a] times {listed} as uint32, {rest}"
        return value, text, form
    if form == "morton":
        interleave = routine(k, 1.0, "spread_bits part1by2", {"x": _UINT}, spread)
        code: Expr = interleave(cast(c[0], _UINT))
        for a in range(1, cell.size):
            code = code | (interleave(cast(c[a], _UINT)) << a)
        text = "the Morton code of c, bit b of c[a] going to bit 3 * b + a (spread by v = (x | x "
        text += "<< 8) & 0x0300F00F, w = (v | v << 4) & 0x030C30C3, (w | w << 2) & 0x09249249)"
        return code, text, form
    side = k.scalar("side grid_dim res", INT32, 8, 16)
    index: Expr = c[0]
    scale: Expr = side
    for a in range(1, cell.size):
        index = index + scale * c[a]
        scale = scale * side
    deep = f" + {side.name}^2 * cz" if cell.size == 3 else ""
    return index, f"cx + {side.name} * cy{deep}", form


def _binned(k: KernelBuilder, level: int, site: Site) -> tuple[str, str]:
    """The code of a point's cell, and what else a grid wants to know of the point."""
    shape = k.draw.shape
    c, q, done, scalar = _cell_of(k, level, site)
    assert isinstance(c.type, Vec)
    if level >= 4 and shape.chance(0.5):
        least, most = k.lift(1, INT32), k.scalar("last_cell max_cell", INT32, 2, 3)
        c_in = fn("min", fn("max", c, make(c.type, least)), make(c.type, most))
        c = k.let("c_in clamped", c_in)
        done += f", clamped to [1, {most.name}] in each component,"
    value, text, form = _coded(k, level, c)
    done += f"{'' if done.endswith(',') else ','} take {text}."
    value = maybe(k, "code key", value, 0.5)
    done += deliver(site, level, "keys buckets cell_ids", value)
    if level < 3:
        return form, done
    vec = q.type
    assert isinstance(vec, Vec)
    low = make(vec, *(cast(c[a], scalar) for a in range(vec.size)))
    rest = k.let("f frac_q local", q - low)
    for extra in shape.sample("inside middle weight near", 2 if level >= 5 else 1):
        done += _placed(k, site, rest, extra)
    return form, done


def _placed(k: KernelBuilder, site: Site, rest: Var, form: str) -> str:
    """Where in its cell the point lies."""
    vec = rest.type
    assert isinstance(vec, Vec)
    scalar = vec.scalar
    if form == "inside":
        out = site.put("offsets local_out fractions", rest)
        return f" {out.name} gets q - c."
    if form == "middle":
        far = fn("length_sq", rest - make(vec, k.lift(0.5, scalar)))
        return f" {site.put('center_dist spread', far).name} gets |q - c - 0.5|^2."
    if form == "near":
        axis = cast(fn("argmax", abs(rest - make(vec, k.lift(0.5, scalar)))), INT32)
        out = site.put("axes near_axes", axis)
        return f" {out.name} gets the component of q - c - 0.5 that is largest in size."
    weight: Expr = 1.0 - rest[0]
    for a in range(1, vec.size):
        weight = weight * (1.0 - rest[a])
    out = site.put("weights_out corner_w", weight)
    return f" {out.name} gets the product of the components of 1 - (q - c)."


def _crowd(k: KernelBuilder, level: int, site: Site) -> tuple[str, str]:
    """How many of a thread's cells are near its own, and their mean offset."""
    shape = k.draw.shape
    scalar = Scalar(shape.weighted({"int32": 4, "int64": 1, "int16": 1}))
    vec = Vec(shape.choice((2, 3)), scalar)
    k.size("m", 3, 5)
    cells = site.array(plurals(_CELLS), vec, -5, 5)
    others = k.array("occupied blocks seeds", vec, "m", low=-5, high=5)
    reach = k.scalar("reach max_steps range_cells", scalar, 3, 5)
    count = k.trip_count("block_count num_seeds", "m")
    c = k.let("c cell_i", cells[site.at])
    close = k.let("close near_count", k.lift(0, INT32))
    total = k.let("total sum_off", zero(vec))
    form = shape.choice(("manhattan", "chebyshev", "squared"))
    build = {
        "manhattan": lambda b, x, y: manhattan(b, x, y),
        "chebyshev": lambda b, x, y: chebyshev(b, x, y),
        "squared": lambda b, x, y: fn("length_sq", x - y),
    }[form]
    kinds: list[tuple[str, Type]] = [("c", vec), ("n", vec)]
    use = routine(k, 0.6, f"{form}_steps {form}_gap", kinds, build)
    with k.for_("j s seed", count) as j:
        other = k.let("other seed_cell", others[j])
        gap = k.let("gap steps", use(c, other))
        with k.if_(gap <= (reach if form != "squared" else reach * reach)):
            k.augment(close, "add", 1)
            k.augment(total, "add", other - c)
    rule = {
        "manhattan": "the sum of the |c[a] - o[a]| is at most R",
        "chebyshev": "the largest |c[a] - o[a]| is at most R",
        "squared": "|c - o|^2 is at most R^2",
    }[form].replace("R", reach.name)
    done = f"For c = {cells.name}, over the o of {others.name} of which {rule}, sum o - c."
    done += deliver(site, level, "drift sums offset_sums", total)
    done += f" {site.put('counts crowding', close).name} gets how many they are."
    if level >= 5:
        out = site.put("spans extents", fn("max_element", total) - fn("min_element", total))
        done += f" {out.name} gets the largest less the smallest component of the sum."
    return form, done


@idiom
def grid_cells(k: KernelBuilder, level: int) -> Title:
    """Cells of grids: indices and distances, cells of points, hashes, occupied neighbours."""
    site = launch(k, list=5, batch=3 + level // 3)
    if level <= 2:
        build = _whole if level == 1 or k.draw.shape.chance(0.4) else _binned
    else:
        build = _crowd if k.draw.shape.chance(0.3) else _binned
    form, done = build(k, level, site)
    return Title(k.name(f"{form}_cells cell_{form} assign_cells"), done)

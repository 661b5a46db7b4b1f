"""What points of low discrepancy are worth: lattice rules, L2 discrepancies, estimates.

D. Nuyens, R. Cools, Math. Comp. 75 (2006); F. Hickernell, Math. Comp. 67 (1998); A. Genz, Numerical
Integration, 1987.
"""

from __future__ import annotations

from collections.abc import Callable

from generators.arithmetic.sequences import WORD, net, owen, unit
from generators.arithmetic.types import UINT32
from generators.build import KernelBuilder, cast, fn
from generators.kit.functions import PI, cos, exp, most
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var, literal

Pair = tuple[str, str]


def _num(value: float) -> Expr:
    return literal(value, FLOAT32)


_KERNELS: dict[str, tuple[Callable[[Expr], Expr], str]] = {
    "b2": (
        lambda x: (2.0 * PI * PI) * (x * x - x + 1.0 / 6.0),
        "2 * pi^2 * (x^2 - x + 1 / 6)",
    ),
    "b2plain": (lambda x: x * (x - 1.0) + 1.0 / 6.0, "x * (x - 1) + 1 / 6"),
    "b4": (
        lambda x: -(2.0 * PI**4 / 3.0) * (x * x * (x - 1.0) * (x - 1.0) - 1.0 / 30.0),
        "-2 / 3 * pi^4 * (x^2 * (x - 1)^2 - 1 / 30)",
    ),
}


def lattice_rules(k: KernelBuilder, level: int) -> Pair:
    """Squared worst-case errors of rank-1 lattices: of each candidate for the next component, or of
    whole generating vectors."""
    shape = k.draw.shape
    omega, told = _KERNELS[shape.choice(sorted(_KERNELS))]
    by_component = shape.chance(0.55)
    (c,) = k.thread(k.size("candidates", 30, 40), names=(k.draw.word.choice(("c", "i")),))
    k.size("lattice_points", 24, 32, minimum=5)
    count = k.size_param("num_points n_lattice", "lattice_points")
    weights = None
    if shape.chance(0.6):
        weights = k.scalar("gamma weight", FLOAT32, 0.3, 0.9) if by_component else None
    total = k.let("total err_sum", _num(0.0))
    if by_component:
        zs = k.array("candidates_z z_list", INT32, "candidates", init="index_of:lattice_points")
        z = k.let("z", zs[c])
        factor = f"(1 + {say(k, weights)} * w)" if weights is not None else "(1 + w)"
        before = k.array("products prod_before", FLOAT32, "lattice_points", low=0.4, high=1.8)
        with k.for_("n pt", count) as n:
            x = k.let("x frac_x", cast(n * z % count, FLOAT32) / cast(count, FLOAT32))
            w = k.let("w omega", omega(x))
            part: Expr = 1.0 + (w if weights is None else weights * w)
            k.augment(total, "add", before[n] * part)
        what = f"{before.name}[n] * {factor} with x = (n * {zs.name} modulo {count.name}) / "
        what += count.name
    else:
        what = _vectors(k, c, count, omega, total)
    out = k.out("errors sq_errors", FLOAT32, "candidates")
    k.store(out, c, total / cast(count, FLOAT32) - 1.0)
    text = f"Worst-case errors of lattice rules, a thread for each candidate: {out.name} gets the "
    text += f"mean over n < {count.name} of {what}, less 1, where w = {told}."
    return "cbc_errors lattice_rule_errors lattice_worst_case", text


def _vectors(
    k: KernelBuilder, c: Var, count: Var, omega: Callable[[Expr], Expr], total: Var
) -> str:
    """Whole vectors: products over their components, which may have weights."""
    k.size("qmc_dims", 3, 5)
    dims = k.size_param("num_dims dim_count", "qmc_dims")
    flip = k.draw.shape.chance(0.4)
    names = "generators gen_vectors"
    zs = k.array(
        names,
        INT32,
        ("qmc_dims", "candidates") if flip else ("candidates", "qmc_dims"),
        init="index_of:lattice_points",
    )
    gammas = k.array("gammas dim_weights", FLOAT32, "qmc_dims", low=0.001, high=0.01)
    with k.for_("n pt", count) as n:
        product = k.let("prod term", _num(1.0))
        with k.for_("d j", dims) as d:
            z = zs[d, c] if flip else zs[c, d]
            x = k.let("x frac_x", cast(n * z % count, FLOAT32) / cast(count, FLOAT32))
            w = k.let("w omega", omega(x))
            k.assign(product, product * (1.0 + gammas[d] * w))
        k.augment(total, "add", product)
    at = f"[d, {c.name}]" if flip else f"[{c.name}, d]"
    return (
        f"the product over d of 1 + {gammas.name}[d] * w with x = (n * {zs.name}{at} modulo "
        f"{count.name}) / {count.name}"
    )


def _centred(x: Expr) -> Expr:
    return abs(x - 0.5)


_SINGLE: dict[str, tuple[Callable[[Expr], Expr], str]] = {
    "star": (lambda x: 1.0 - x * x, "1 - x^2"),
    "centered": (
        lambda x: 1.0 + 0.5 * _centred(x) - 0.5 * (x - 0.5) * (x - 0.5),
        "1 + |x - 0.5| / 2 - (x - 0.5)^2 / 2",
    ),
    "symmetric": (lambda x: 1.0 + 2.0 * x - 2.0 * x * x, "1 + 2 * x - 2 * x^2"),
    "modified": (lambda x: 3.0 - x * x, "3 - x^2"),
    "wraparound": (lambda x: x, ""),
}
_DOUBLE: dict[str, tuple[Callable[[Expr, Expr], Expr], str]] = {
    "star": (lambda x, y: 1.0 - most(x, y), "1 - max(x, y)"),
    "centered": (
        lambda x, y: 1.0 + 0.5 * _centred(x) + 0.5 * _centred(y) - 0.5 * abs(x - y),
        "1 + |x - 0.5| / 2 + |y - 0.5| / 2 - |x - y| / 2",
    ),
    "symmetric": (lambda x, y: 1.0 - abs(x - y), "1 - |x - y|"),
    "modified": (lambda x, y: 2.0 - most(x, y), "2 - max(x, y)"),
    "wraparound": (
        lambda x, y: 1.5 - abs(x - y) * (1.0 - abs(x - y)),
        "1.5 - |x - y| * (1 - |x - y|)",
    ),
}


_Value = Callable[[Expr, Expr], Expr]
"""The coordinate of a point along an axis."""


def _over_pairs(
    k: KernelBuilder, kind: str, value: _Value, i: Expr, ends: tuple[Expr, Expr]
) -> Expr:
    """The sum over all points of the products that each makes with one."""
    total = k.let("total pair_sum", _num(0.0))
    with k.for_("j other", ends[0]) as j:
        product = k.let("prod term", _num(1.0))
        with k.for_("d axis", ends[1]) as d:
            x, y = k.let("x xi", value(i, d)), k.let("y xj", value(j, d))
            k.assign(product, product * _DOUBLE[kind][0](x, y))
        k.augment(total, "add", product)
    return total


def _alone(k: KernelBuilder, kind: str, value: _Value, i: Expr, dims: Expr) -> Expr:
    """The product over the axes of one point alone."""
    own = k.let("own single", _num(1.0))
    with k.for_("d axis", dims) as d:
        x = k.let("x xi", value(i, d))
        k.assign(own, own * _SINGLE[kind][0](x))
    return own


def discrepancy(k: KernelBuilder, level: int) -> Pair:
    """What each point adds to an L2 discrepancy: products over dimensions, summed over points."""
    shape = k.draw.shape
    kind = shape.choice(sorted(_DOUBLE))
    k.size("design_points", 24, 32, minimum=2)
    k.size("qmc_dims", 2, 4)
    sets = shape.chance(0.4)
    lead = (k.size("designs", 3, 4),) if sets else ()
    at = k.thread(
        *lead, "design_points", names=(*(("s",) if sets else ()), k.draw.word.choice(["i", "p"]))
    )
    flip = shape.chance(0.4)
    inner = ("qmc_dims", "design_points") if flip else ("design_points", "qmc_dims")
    data = k.array("samples x_points", FLOAT32, (*lead, *inner), low=0.0, high=1.0)
    count, dims = (
        k.size_param("num_points n_pts", "design_points"),
        k.size_param("num_dims n_dims", "qmc_dims"),
    )

    def value(i: Expr, d: Expr) -> Expr:
        place: tuple[Operand, ...] = (d, i) if flip else (i, d)
        return data[at[:-1] + place]

    i = at[-1]
    total = _over_pairs(k, kind, value, i, (count, dims))
    scale = cast(count, FLOAT32)
    told = f"the mean over the points y of the product over d of {_DOUBLE[kind][1]}"
    if kind == "wraparound" or (level < 5 and shape.chance(0.5)):
        share: Expr = total / scale
    else:
        share = total / scale - 2.0 * _alone(k, kind, value, i, dims)
        told += f", less twice that of {_SINGLE[kind][1]}"
    out = k.out("shares row_terms", FLOAT32, (*lead, "design_points"))
    k.store(out, at, share)
    text = f"Terms of a squared {kind} L2 discrepancy, a thread for each point x of {data.name}"
    text += f"{' of each design' if sets else ''}: {out.name} gets {told}."
    return f"{kind}_discrepancy l2_discrepancy_terms {kind}_l2_terms", text


_INTEGRANDS: dict[
    str, tuple[str, Callable[[Expr, Expr, Expr], Expr], Callable[[Expr], Expr], str]
] = {
    "gaussian": (
        "sum",
        lambda x, a, u: a * a * (x - u) * (x - u),
        lambda t: exp(-t),
        "exp(-S), S the sum of (a * (x - u))^2",
    ),
    "continuous": (
        "sum",
        lambda x, a, u: a * abs(x - u),
        lambda t: exp(-t),
        "exp(-S), S the sum of a * |x - u|",
    ),
    "oscillatory": ("sum", lambda x, a, u: a * x + u, cos, "cos(S), S the sum of a * x + u"),
    "product peak": (
        "product",
        lambda x, a, u: 1.0 / (1.0 + a * a * (x - u) * (x - u)),
        lambda t: t,
        "the product of 1 / (1 + (a * (x - u))^2)",
    ),
    "g": (
        "product",
        lambda x, a, u: (abs(4.0 * x - 2.0) * u + a) / (1.0 + a),
        lambda t: t,
        "the product of (u * |4 * x - 2| + a) / (1 + a)",
    ),
}
"""Integrands after Genz and Sobol: how parts of the coordinates are joined, a part, the value."""


def estimates(k: KernelBuilder, level: int) -> Pair:
    """An integral by randomised points: a thread for each replicate, or for each run of points."""
    shape = k.draw.shape
    kind = shape.choice(sorted(_INTEGRANDS))
    joined, part, value, told = _INTEGRANDS[kind]
    (r,) = k.thread(k.size("replicates", 24, 32), names=(k.draw.word.choice(("r", "rep")),))
    k.size("qmc_dims", 2, 4)
    dims = k.size_param("num_dims n_dims", "qmc_dims")
    count = k.scalar("num_points n_samples", INT32, 9, 14)
    way = shape.choice(("owen", "digital", "rotation", "lattice"))
    coordinate, said = _coordinates(k, r, way, count)
    slopes = k.array("slopes a_coef", FLOAT32, "qmc_dims", low=0.5, high=2.0)
    centres = k.array("centres u_coef", FLOAT32, "qmc_dims", low=0.2, high=0.8)
    total = k.let("total acc", _num(0.0))
    with k.for_("n pt", count) as n:
        joint = k.let(
            "s_sum arg" if joined == "sum" else "prod f_val", _num(float(joined != "sum"))
        )
        with k.for_("d axis", dims) as d:
            x = k.let("x coord", coordinate(n, d))
            piece = part(x, slopes[d], centres[d])
            k.assign(joint, joint + piece if joined == "sum" else joint * piece)
        k.augment(total, "add", value(joint))
    out = k.out("estimates means", FLOAT32, "replicates")
    k.store(out, r, total / cast(count, FLOAT32))
    text = (
        f"Randomised quasi-Monte Carlo, a thread for each replicate: {out.name} gets the mean of "
    )
    text += f"f over {count.name} points, where f is {told} over the dimensions d, a being "
    text += f"{slopes.name}[d] and u {centres.name}[d]. {said}"
    return "rqmc_estimates qmc_integrate replicated_qmc", text


def _coordinates(
    k: KernelBuilder, r: Var, way: str, count: Var
) -> tuple[Callable[[Var, Var], Expr], str]:
    """Coordinate d of point n of a replicate, with words for it."""
    if way == "lattice":
        z = k.array("gen_vector z", INT32, "qmc_dims", low=1, high=8)
        shifts = k.array("shifts rotations", FLOAT32, ("replicates", "qmc_dims"), low=0.0, high=1.0)

        def shifted(n: Var, d: Var) -> Expr:
            on = k.let("on_lattice y", cast(n * z[d] % count, FLOAT32) / cast(count, FLOAT32))
            moved = k.let("moved", on + shifts[r, d])
            return fn("where", moved >= 1.0, moved - 1.0, moved)

        said = f"Coordinate x is (n * {z.name}[d] modulo {count.name}) / {count.name} + "
        return shifted, f"{said}{shifts.name}[{r.name}, d], modulo 1."
    table = k.array("directions sobol_v", UINT32, ("qmc_dims", "32"), low=1, high=WORD)
    seeds = k.array("seeds scrambles", UINT32, ("replicates", "qmc_dims"), low=0, high=WORD)
    scramble, rule = owen(k) if way == "owen" else (None, "")
    where = f"{seeds.name}[{r.name}, d]"

    def coordinate(n: Var, d: Var) -> Expr:
        x = net(k, table, (d,), cast(n, UINT32), False)
        if scramble is not None:
            return unit(k, k.let("y word", scramble(x, seeds[r, d])))[0]
        return unit(k, x ^ seeds[r, d] if way == "digital" else x + seeds[r, d])[0]

    said = "Coordinate x is w / 2^32, w = "
    said += {
        "owen": f"scramble(v, {where})",
        "digital": f"v ^ {where}",
        "rotation": f"v + {where} modulo 2^32",
    }[way]
    said += f", v being the exclusive or of {table.name}[d, b] over the set bits b of n."
    return coordinate, f"{said} {rule}." if rule else said

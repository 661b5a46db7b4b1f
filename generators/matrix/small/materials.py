"""Elastic constants: given, of modulus and ratio, by the number of a material, in a struct."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, field
from generators.matrix.small.grid import (
    Grid,
    say,
)
from generators.program import ir
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass
class Lame:
    """The two elastic constants, and where a description finds them."""

    mu: Expr
    lam: Expr
    text: str


def materials(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> Lame:
    """Given as such, from modulus and Poisson's ratio, or by the number of a material."""
    ways = {"lame": 3, "young": 3, "table": 0 if level < 3 else 2, "struct": 0 if level < 2 else 3}
    way = k.draw.shape.weighted(ways)
    if way == "struct":
        return _struct(k, g, scalar, level)
    if way == "young":
        young = g.supply(("young", "modulus"), ("youngs", "moduli"), scalar, 1.0, 4.0, False)
        nu = g.supply(("nu", "poisson"), ("nus", "poissons"), scalar, 0.1, 0.4, False)
        text = f"mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu)), E = {say(young)}"
        return _from_young(k, young, nu, f"{text}, nu = {say(nu)}")
    if way == "table":
        ids = g.array(("material", "material_id", "part_id"), INT32, init="index_of:m")
        k.size("m", 3, 6)
        which = k.let(("mat_id", "m"), ids[g.index])
        mus = k.array(("mus", "shear_moduli"), scalar, "m", low=0.5, high=2.0)
        lams = k.array(("lambdas", "lames"), scalar, "m", low=0.5, high=2.0)
        text = f"mu and lambda are those of {mus.name} and {lams.name} at {ids.name}"
        shear, lame = k.let(("mu", "shear"), mus[which]), k.let(("lam", "lame"), lams[which])
        return Lame(shear, lame, text)
    mu = g.supply(("mu", "shear_modulus"), ("mus", "shear_moduli"), scalar, 0.5, 2.0)
    lam = g.supply(("lam", "lame"), ("lambdas", "lames"), scalar, 0.5, 2.0)
    return Lame(mu, lam, f"mu = {say(mu)}, lambda = {say(lam)}")


def _from_young(k: KernelBuilder, young: Expr, nu: Expr, text: str) -> Lame:
    mu = k.let(("mu", "shear"), young / (2.0 * (1.0 + nu)))
    lam = k.let(("lam", "lame"), young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)))
    return Lame(mu, lam, text)


def _struct(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> Lame:
    """A material by value, or one for each thread."""
    young = k.draw.shape.chance(0.5)
    names = (
        ("young", "poisson") if young else k.draw.word.choice((("mu", "lam"), ("shear", "bulk")))
    )
    bounds = (("1.0", "4.0"), ("0.1", "0.4")) if young else (("0.5", "2.0"), ("0.5", "2.0"))
    inits = [
        ir.FieldInit(name, scalar, "uniform", *bound)
        for name, bound in zip(names, bounds, strict=True)
    ]
    struct = k.struct(k.name("Material", "Elastic"), *((f.name, f.type) for f in inits))
    if k.draw.shape.chance(0.5):
        item: Var = k.scalar(("material", "params"), struct, fields=inits)
    else:
        items = g.structs(("materials", "props"), struct, inits)
        item = k.let(("material", "prop"), items[g.index])
    first, second = field(item, names[0]), field(item, names[1])
    if young:
        text = f"mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu)) of {item.name}'s"
        return _from_young(k, first, second, f"{text} young = E and poisson = nu")
    return Lame(first, second, f"mu is {item.name}.{names[0]}, lambda {item.name}.{names[1]}")

"""Sweeps that relax a linear system on a grid: Jacobi, red-black Gauss-Seidel and SOR, defects."""

from __future__ import annotations

from generators.arithmetic.common import total
from generators.arithmetic.solvers.cells import Cells, both_sides, cells, every, wide_type
from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.naming import maybe
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const, Expr, Var, op

_SETTING = {"shared": 1}


class _System:
    """The system (diagonal) * u - (weighted sum of neighbours) = rhs, and how a cell solves it."""

    def __init__(self, c: Cells, level: int, type_: Scalar, role: str = "in") -> None:
        self.c, self.k = c, c.k
        shape = c.draw
        self.u = c.field("u phi pressure x", type_, -1.0, 1.0, near=True, role=role)
        self.rhs = c.field("rhs f b source", type_, -1.0, 1.0)
        self.way = shape.weighted(
            {
                "plain": 3,
                "spacing": 2,
                "screened": level > 1,
                "faces": 2 * (level > 2 and c.rank == 1),
                "cells": 2 * (level > 2),
            }
        )
        if self.way in ("plain", "spacing", "screened"):
            names = "h2 dx2 h_sq" if self.way != "spacing" else "h dx spacing"
            ways = {"shared": 1} if self.way == "spacing" else _SETTING
            self.h = c.setting(names, type_, 0.1, 0.9, ways)
        if self.way == "screened":
            self.screen = c.setting("kappa2 shift sigma", type_, 0.2, 1.5, {"shared": 1})
        if self.way == "cells":
            names = "conductivity kappa permeability"
            self.coefficient = c.field(names, type_, 0.5, 2.0, near=True)
        if self.way == "faces":
            self.faces = c.field("face_coeff beta", type_, 0.5, 2.0, near=True)

    def parts(self) -> tuple[Expr, Expr]:
        """The weighted sum of the neighbours with the source, and the diagonal; in locals."""
        c, k, u = self.c, self.k, self.u
        if self.way in ("plain", "spacing", "screened"):
            around = k.let("around nb_sum neighbors", total(both_sides(u)))
            h2 = self.h * self.h if self.way == "spacing" else self.h
            sides = float(2 * c.rank)
            diagonal: Expr = k.lift(sides, around.type)
            if self.way == "screened":
                diagonal = k.let("diag center_coeff", sides + self.screen * h2)
            return around + h2 * self.rhs(), diagonal
        weights = [self._weight(axis, by) for axis in range(c.rank) for by in (-1, 1)]
        pairs = zip(weights, both_sides(u), strict=True)
        around = k.let("flux_sum around", total([w * near for w, near in pairs]))
        return around + self.rhs(), k.let("diag weight_sum", total(weights))

    def _weight(self, axis: int, by: int) -> Expr:
        """What the face to a neighbour conducts: the mean of the cells, or what stands with it."""
        names = [f"w_{self.c.side(axis, by)}"]
        if self.way == "faces":
            beta = self.faces
            return self.k.let(names, beta() if by < 0 else beta.near(axis, 1))
        here, there = self.coefficient(), self.coefficient.near(axis, by)
        return self.k.let(names, 2.0 * here * there / (here + there))

    def said(self) -> str:
        u, rhs, sides = self.u.name, self.rhs.name, 2 * self.c.rank
        if self.way in ("plain", "spacing", "screened"):
            h2 = say(self.k, self.h) + (" squared" if self.way == "spacing" else "")
            text = f"the sum of the {sides} neighbours of {u} plus {rhs} times {h2}, over "
            if self.way == "screened":
                return f"{text}{sides} plus {say(self.k, self.screen)} times {h2}"
            return f"{text}{sides}"
        if self.way == "faces":
            weight = f"{self.faces.name} of the face between (a cell's own is the one before it)"
        else:
            weight = f"the harmonic mean of {self.coefficient.name} of both cells"
        return (
            f"the sum of the {sides} neighbours of {u}, each times {weight}, plus {rhs}, "
            "over the sum of these weights"
        )


def _haloed(s: _System) -> str:
    wide = [f.name for f in (s.u, getattr(s, "faces", s.u), getattr(s, "coefficient", s.u))]
    names = list(dict.fromkeys(wide))
    return f"Each of {' and '.join(names)}" if len(names) > 1 else names[0]


@idiom
def jacobi_sweep(k: KernelBuilder, level: int) -> Title:
    """One Jacobi iteration, plain or weighted, of a Poisson-like system on a grid."""
    c = cells(k, level)
    type_ = wide_type(k)
    s = _System(c, level, type_)
    weighted = c.draw.chance(0.2 + 0.12 * level)
    omega = c.setting("omega relax damping", type_, 0.5, 0.9, _SETTING) if weighted else None
    out = c.out(f"{s.u.name}_new relaxed", type_)
    c.rim(out, s.u())
    known = level > 2 and c.draw.chance(0.3)
    text = f"One Jacobi iteration: {s.said()}."
    if known:
        fixed = c.field("is_fixed dirichlet boundary_mask", INT32, 0, 1)
        with k.if_(op("ne", fixed(), k.lift(0, INT32))):
            k.store(out.array, c.index((), wide=False), s.u())
            k.return_()
        text += f" Cells where {fixed.name} is not 0 keep their values."
    above, diagonal = s.parts()
    value = above / diagonal
    if omega is not None:
        relaxed = k.let("target jacobi", value)
        old = maybe(k, "old center uc", s.u())
        value = old + omega * (relaxed - old)
        if isinstance(omega, Var) and c.draw.chance(0.5):
            value = (1.0 - omega) * old + omega * relaxed
        text += f" Each cell goes only {say(k, omega)} of the way there."
    k.store(out.array, c.index((), wide=False), value)
    text += f" {out.name} gets it.{c.said(haloed=_haloed(s))}{c.laid()}{c.finish()}"
    return Title(k.name("jacobi_sweep jacobi_iteration", "relax_jacobi"), text)


def _pick_colour(c: Cells, colour: Expr) -> None:
    """Threads of the other colour end."""
    k = c.k
    parity = c.at[0]
    for here in c.at[1:]:
        parity = parity + here
    test = parity & 1 if c.draw.chance(0.5) else parity % 2
    with k.if_(op("ne", test, colour)):
        k.return_()


@idiom
def red_black_sweep(k: KernelBuilder, level: int) -> Title:
    """One colour of a Gauss-Seidel or SOR sweep, in place."""
    c = cells(k, level, {1: 1, 2: 5, 3: 2 * (level > 1)}, {"clamp": 3, "interior": 4, "reflect": 1})
    type_ = wide_type(k)
    s = _System(c, level, type_, "inout")
    over = c.draw.chance(0.7)
    omega = c.setting("omega sor_factor", type_, 1.1, 1.8, _SETTING) if over else None
    colour = k.scalar("color parity phase", INT32, 0, 1)
    inside = c.edge == "interior"
    way = c.draw.choice(("early", "nested")) if inside else "early"
    if way == "early":
        _pick_colour(c, colour)
        if inside:
            with k.if_(c.on_rim()):
                k.return_()
        _relax(s, omega)
    else:
        parity = c.at[0]
        for here in c.at[1:]:
            parity = parity + here
        tests = [op("eq", parity % 2, colour)]
        tests += [t for a, i in enumerate(c.at) for t in (i > 0, i < c.size(a) - 1)]
        if c.flat:
            c.index((), wide=False)
        with k.if_(every(*tests)):
            _relax(s, omega)
    what = "SOR" if over else "Gauss-Seidel"
    text = (
        f"One half of a red-black {what} sweep: only cells whose indices add up to {colour.name} "
    )
    text += f"modulo 2 change. Each of them is relaxed to {s.said()}"
    text += f", going {say(k, omega)} times the way" if omega is not None else ""
    text += f". {s.u.name} is changed in place.{c.said()}{c.laid()}"
    return Title(k.name("red_black_sweep rb_gauss_seidel", "sor_half_sweep"), text)


def _relax(s: _System, omega: Expr | None) -> None:
    k, c = s.k, s.c
    above, diagonal = s.parts()
    place = c.index((), wide=False)
    if omega is None:
        k.store(s.u.array, place, above / diagonal)
        return
    target = maybe(k, "target gs", above / diagonal)
    if isinstance(omega, Const) or c.draw.chance(0.5):
        k.store(s.u.array, place, omega * (target - s.u()), "add")
        return
    k.store(s.u.array, place, (1.0 - omega) * s.u() + omega * target)


_EQUATIONS = {
    "plain": "Poisson's equation",
    "spacing": "Poisson's equation",
    "screened": "the screened Poisson equation",
    "faces": "a steady diffusion equation",
    "cells": "a steady diffusion equation",
}


@idiom
def grid_residual(k: KernelBuilder, level: int) -> Title:
    """The defect of a system on a grid, perhaps with its square for a norm."""
    c = cells(k, level)
    type_ = wide_type(k)
    s = _System(c, level, type_)
    out = c.out("residual defect r", type_)
    squared = c.out("residual_sq r_sq", type_) if level > 2 and c.draw.chance(0.35) else None
    if squared is None:
        c.rim(out, k.lift(0.0, type_))
    elif c.edge == "interior":
        place = c.index((), wide=False)
        with k.if_(c.on_rim()):
            for made in (out, squared):
                k.store(made.array, place, k.lift(0.0, type_))
            k.return_()
    above, diagonal = s.parts()
    scaled = s.way in ("plain", "screened") and c.draw.chance(0.6)
    value = above - diagonal * s.u()
    if scaled:
        value = value / s.h
    r = k.let("res r_here defect_here", value)
    place = c.index((), wide=False)
    k.store(out.array, place, r)
    told = s.said().rpartition(", over ")
    text = f"The residual of {_EQUATIONS[s.way]}: {told[0]}, less {s.u.name} times "
    text += told[2] + (f", all over {say(k, s.h)}" if scaled else "")
    text += f". {out.name} gets it."
    if squared is not None:
        k.store(squared.array, place, r * r)
        text += f" {squared.name} gets its square."
    text += f"{c.said('get 0', _haloed(s))}{c.laid()}{c.finish()}"
    return Title(k.name("grid_residual compute_defect", "poisson_residual"), text)

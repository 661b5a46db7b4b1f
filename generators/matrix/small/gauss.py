"""Elimination written out by components: Gauss and LU of two and three unknowns."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.matrix.small.parts import POINTS, gets, rows_of, times_identity
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr, Var


@dataclass
class Factors:
    """The factors below the diagonal and what elimination leaves above it."""

    lower: dict[tuple[int, int], Expr]
    upper: dict[tuple[int, int], Expr]


def _factored(k: BodyBuilder, m: Expr) -> Factors:
    """Rows are eliminated one after the other, everything in locals."""
    assert isinstance(m.type, Mat)
    size = m.type.rows
    f_stem, u_stem = k.draw.word.choice((("f", "u"), ("l", "u"), ("factor", "r")))
    lower: dict[tuple[int, int], Expr] = {}
    upper: dict[tuple[int, int], Expr] = {(0, c): m[0, c] for c in range(size)}
    inv = k.draw.shape.chance(0.3)
    pivot: Expr = k.let("inv_pivot p_inv", 1.0 / m[0, 0]) if inv else m[0, 0]
    for r in range(1, size):
        value = m[r, 0] * pivot if inv else m[r, 0] / pivot
        lower[r, 0] = k.let(f"{f_stem}{r}0", value)
    for r in range(1, size):
        for c in range(1, size):
            left = m[r, c] - lower[r, 0] * m[0, c]
            upper[r, c] = k.let(f"{'t' if r > 1 else u_stem}{r}{c}", left)
    if size == 3:
        lower[2, 1] = k.let(f"{f_stem}21", upper[2, 1] / upper[1, 1])
        last = upper[2, 2] - lower[2, 1] * upper[1, 2]
        upper[2, 2] = k.let(f"{u_stem}22", last)
    return Factors(lower, upper)


def _substituted(k: BodyBuilder, f: Factors, b: Expr, suffix: str = "") -> list[Expr]:
    """Forward and back substitution of one right-hand side."""
    assert isinstance(b.type, Vec)
    size = b.type.size
    y: list[Expr] = [b[0]]
    for r in range(1, size):
        value = b[r] - f.lower[r, 0] * y[0]
        if r == 2:
            value = value - f.lower[2, 1] * y[1]
        y.append(k.let(f"y{r}{suffix}", value))
    x: list[Expr] = [y[-1]] * size
    for r in reversed(range(size)):
        left = y[r]
        for c in range(r + 1, size):
            left = left - f.upper[r, c] * x[c]
        x[r] = k.let(f"x{r}{suffix}", left / f.upper[r, r])
    return x


def _system(k: KernelBuilder, g: Site, mat: Mat, level: int) -> tuple[Var, Var, str]:
    a = g.array("systems mats stiffness", mat, -1.0, 1.0, init="well_conditioned")
    b = g.array("rhs loads b", rows_of(mat), -2.0, 2.0)
    m, load = k.let("m a", a[g.at]), k.let("bi load", b[g.at])
    text = f"M = {a.name} and b = {b.name}"
    if level >= 2 and k.draw.shape.chance(0.5):
        way = k.draw.shape.choice(("ridge", "step", "shifted load"))
        if way == "shifted load":
            more = g.array("previous inertia carried", rows_of(mat), -1.0, 1.0)
            gain = given(g, "inv_dt weight", mat.scalar, 0.3, 2.0)
            k.augment(load, "add", gain * more[g.at])
            return m, load, f"{text} + {say(k, gain)} * {more.name}"
        amount = given(g, "ridge shift", mat.scalar, 0.1, 1.0)
        if way == "ridge":
            k.augment(m, "add", times_identity(mat, amount))
            return m, load, f"M = {a.name} + {say(k, amount)} * I and b = {b.name}"
        k.assign(m, times_identity(mat, 1.0) + amount * m)
        return m, load, f"M = I + {say(k, amount)} * {a.name} and b = {b.name}"
    return m, load, text


def _menu(k: KernelBuilder, g: Site, m: Var, b: Var, f: Factors, x: Expr) -> dict[str, Extra]:
    mat = m.type
    assert isinstance(mat, Mat)
    size = mat.rows

    def determinant() -> Expr:
        value = m[0, 0] * f.upper[1, 1]
        return value * f.upper[2, 2] if size == 3 else value

    def packed() -> Expr:
        entries = {(0, c): m[0, c] for c in range(size)} | f.upper | f.lower
        return make(mat, *(entries[r, c] for r in range(size) for c in range(size)))

    def smallest() -> Expr:
        least = fn("min", fn("abs", m[0, 0]), fn("abs", f.upper[1, 1]))
        return fn("min", least, fn("abs", f.upper[2, 2])) if size == 3 else least

    return {
        "det": Extra("dets pivot_products", determinant, "the product of the pivots"),
        "packed": Extra("lu factors", packed, "U, with the factors of L below its diagonal"),
        "pivot": Extra("min_pivots smallest", smallest, "the smallest pivot in size"),
        "energy": Extra("energies compliance", lambda: 0.5 * fn("dot", x, b), "dot(x, b) / 2"),
        "log": Extra(
            "log_dets log_pivots",
            lambda: fn("log", fn("abs", determinant())),
            "the logarithm of the size of the product of the pivots",
        ),
        "last": Extra("schur last_pivots", lambda: f.upper[size - 1, size - 1], "the last pivot"),
    }


@idiom
def gauss_eliminate(k: KernelBuilder, level: int) -> Title:
    """Gaussian elimination of a small system, every entry a variable."""
    shape = k.draw.shape
    g = launch(k, POINTS, "i tid sys")
    size = shape.choice((2, 3))
    mat = Mat(size, size, k.draw.wide_float_type())
    m, b, text = _system(k, g, mat, level)
    done = f"Solve M * x = b, {text}, by Gaussian elimination without pivoting"
    if level >= 3 and shape.chance(0.25):
        return _through_helper(k, g, level, m, b, text)
    f = _factored(k, m)
    several = level >= 3 and shape.chance(0.4)
    vec = rows_of(mat)
    if several:
        k.size("q", 2, 4)
        count = k.trip_count("num_rhs rhs_count", "q")
        more = k.array("cases load_cases", vec, (*g.dims, "q"), low=-2.0, high=2.0)
        target = k.out("responses case_out", vec, (*g.dims, "q"))
        with k.for_("case q", count) as c:
            load = k.let("rhs_c case_load", more[g.index(c)] + b)
            parts = _substituted(k, f, load, "c")
            k.store(target, g.index(c), make(vec, *parts))
        x: Expr = make(vec, *_substituted(k, f, b))
        done += f". {target.name} gets the same with {more.name} added to b"
    else:
        x = make(vec, *_substituted(k, f, b))
    apart = level < 4 and shape.chance(0.3)
    if apart:
        assert not isinstance(x, Var)
        parts = list(getattr(x, "args", ()))
        names = ", ".join(g.put(f"x{r}_out sol{r}", part).name for r, part in enumerate(parts))
        done += f". {names} get the components of x."
    else:
        x = k.let("x sol", x)
        target = g.put("solutions x_out result", x)
        done += f". {target.name} gets x."
    menu = _menu(k, g, m, b, f, x)
    done += extras(g, menu, (shape.integer(0, 1), 1, 1, 2, 3)[level - 1])
    if level >= 5 or (level == 4 and shape.chance(0.4)):
        done += _refined(k, g, m, b, f, x)
    return Title(k.name("gauss_solve eliminate lu_solve solve_by_lu"), done)


def _refined(k: KernelBuilder, g: Site, m: Var, b: Var, f: Factors, x: Expr) -> str:
    """A step of iterative refinement with the factors at hand, for a changed matrix."""
    mat = m.type
    assert isinstance(mat, Mat)
    change = g.array("changes updates delta_m", mat, -0.3, 0.3)
    residual = k.let("residual res", b - (m + change[g.at]) * x)
    parts = _substituted(k, f, residual, "r")
    better = k.let("better refined", x + make(rows_of(mat), *parts))
    return gets(
        g,
        "refined_out corrected",
        better,
        f"x + z, where z solves M * z = b - (M + {change.name}) * x with the same factors",
    )


def _through_helper(k: KernelBuilder, g: Site, level: int, m: Var, b: Var, text: str) -> Title:
    """The whole solution in a function, called for each right-hand side."""
    mat = m.type
    assert isinstance(mat, Mat)
    vec = rows_of(mat)

    def build(body: BodyBuilder, a: Expr, rhs: Expr) -> Expr:
        return make(vec, *_substituted(body, _factored(body, a), rhs))

    name = helper(k, "solve_small gauss_solve_small", (("a", mat), ("rhs", vec)), build)
    x = k.let("x sol", k.call(name, m, b))
    target = g.put("solutions x_out", x)
    done = (
        f"Solve M * x = b, {text}, by Gaussian elimination without pivoting: {target.name} gets x"
    )
    if level == 3:
        size = g.put("sizes x_norms", fn("length", x))
        return Title(k.name("gauss_solve eliminate"), f"{done}, {size.name} its length.")
    z = k.let("z adjoint_x", k.call(name, fn("transpose", m), x))
    g.put("adjoint_out back_solutions", z)
    adjoint = k.params[-1].name
    first = g.put("gradients sensitivity", -fn("outer", z, x))
    done += f", {adjoint} the z that solves transpose(M) * z = x, {first.name} -outer(z, x)"
    if level >= 5:
        goal = g.array("goals targets", vec, -1.0, 1.0)
        miss = k.let("miss gap", x - goal[g.at])
        loss = g.put("losses misfits", 0.5 * fn("dot", miss, miss))
        grad = k.let("lam dual", k.call(name, fn("transpose", m), miss))
        duals = g.put("duals load_gradients", grad)
        both = g.put("matrix_gradients dm", -fn("outer", grad, x))
        done += (
            f". With e = x - {goal.name}, {loss.name} gets dot(e, e) / 2, {duals.name} the l that"
            f" solves transpose(M) * l = e, and {both.name} -outer(l, x)"
        )
    return Title(k.name("gauss_solve eliminate solve_adjoint"), f"{done}.")

"""Cholesky factors of two and three rows, entry by entry, and what they are used for."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.small.parts import POINTS, gets, rows_of, times_identity
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr, Var, literal

Entries = dict[tuple[int, int], Expr]


def _definite(k: KernelBuilder, g: Site, mat: Mat, level: int) -> tuple[Var, str]:
    """A positive definite matrix: given, a Gram matrix with a ridge, or summed up of vectors."""
    ways = {"given": 2, "gram": 3, "kernel": 2, "samples": 0 if level < 3 else 4}
    way = k.draw.shape.weighted(ways)
    name = ("a", "cov", "spd")
    if way == "given":
        source = g.array("covs gram_mats spd_mats", mat, -0.6, 0.6, init="well_conditioned")
        raw = k.let("raw m", source[g.at])
        a = k.let(name, 0.5 * (raw + fn("transpose", raw)))
        return a, f"A the symmetric part of {source.name}"
    ridge = given(g, "ridge jitter", mat.scalar, 0.3, 1.0)
    if way == "kernel":
        source = g.array("points features", rows_of(mat), -1.5, 1.5)
        x = k.let("x pt", source[g.at])
        a = k.let(name, fn("outer", x, x) + times_identity(mat, ridge))
        return a, f"A = outer(x, x) + {say(k, ridge)} * I, x being {source.name}"
    if way == "gram":
        rows = mat.rows + k.draw.shape.integer(0, 1)
        factor = Mat(rows, mat.cols, mat.scalar)
        source = g.array("jacobians factors designs", factor, -1.0, 1.0)
        j = k.let("j design", source[g.at])
        a = k.let(name, fn("transpose", j) * j + times_identity(mat, ridge))
        return a, f"A = transpose(J) * J + {say(k, ridge)} * I, J being {source.name}"
    k.size("m", 3, 5)
    count = k.trip_count("num_samples sample_count", "m")
    source = k.array("samples residual_vecs", rows_of(mat), (*g.dims, "m"), low=-1.0, high=1.0)
    a = k.let(name, times_identity(mat, ridge))
    with k.for_("s sample", count) as s:
        v = k.let("v vec", source[g.index(s)])
        k.augment(a, "add", fn("outer", v, v))
    return (
        a,
        f"A = {say(k, ridge)} * I plus the sum of outer(v, v) over the last axis of {source.name}",
    )


def _factor(k: BodyBuilder, a: Expr) -> Entries:
    """The lower factor in locals, column by column."""
    assert isinstance(a.type, Mat)
    stem = k.draw.word.choice(("l", "c", "g"))
    low: Entries = {}
    low[0, 0] = k.let(f"{stem}00", fn("sqrt", a[0, 0]))
    low[1, 0] = k.let(f"{stem}10", a[1, 0] / low[0, 0])
    if a.type.rows == 3:
        low[2, 0] = k.let(f"{stem}20", a[2, 0] / low[0, 0])
    low[1, 1] = k.let(f"{stem}11", fn("sqrt", a[1, 1] - low[1, 0] * low[1, 0]))
    if a.type.rows == 3:
        left = a[2, 1] - low[2, 0] * low[1, 0]
        low[2, 1] = k.let(f"{stem}21", left / low[1, 1])
        rest = a[2, 2] - low[2, 0] * low[2, 0] - low[2, 1] * low[2, 1]
        low[2, 2] = k.let(f"{stem}22", fn("sqrt", rest))
    return low


def _forward(k: BodyBuilder, low: Entries, b: Expr, size: int, stem: str) -> list[Expr]:
    y: list[Expr] = [k.let(f"{stem}0", b[0] / low[0, 0])]
    y.append(k.let(f"{stem}1", (b[1] - low[1, 0] * y[0]) / low[1, 1]))
    if size == 3:
        left = b[2] - low[2, 0] * y[0] - low[2, 1] * y[1]
        y.append(k.let(f"{stem}2", left / low[2, 2]))
    return y


def _backward(k: BodyBuilder, low: Entries, y: list[Expr]) -> list[Expr]:
    if len(y) == 2:
        x1 = k.let("x1", y[1] / low[1, 1])
        return [k.let("x0", (y[0] - low[1, 0] * x1) / low[0, 0]), x1]
    x2 = k.let("x2", y[2] / low[2, 2])
    x1 = k.let("x1", (y[1] - low[2, 1] * x2) / low[1, 1])
    left = y[0] - low[1, 0] * x1 - low[2, 0] * x2
    return [k.let("x0", left / low[0, 0]), x1, x2]


def _lower(mat: Mat, low: Entries) -> Expr:
    nil = literal(0, mat.scalar)
    cells = [(r, c) for r in range(mat.rows) for c in range(mat.cols)]
    return make(mat, *(low.get(cell, nil) for cell in cells))


def _sampled(k: KernelBuilder, g: Site, mat: Mat, low: Entries) -> Expr:
    """A correlated sample: the mean plus the factor times independent noise."""
    vec = rows_of(mat)
    noise = g.array("noise normals white", vec, -2.0, 2.0)
    mean = given(g, "mean center", vec, -1.0, 1.0)
    z = k.let("z eta", noise[g.at])
    parts = [low[0, 0] * z[0], low[1, 0] * z[0] + low[1, 1] * z[1]]
    if mat.rows == 3:
        parts.append(low[2, 0] * z[0] + low[2, 1] * z[1] + low[2, 2] * z[2])
    return mean + make(vec, *parts)


def _menu(k: KernelBuilder, g: Site, a: Var, low: Entries) -> dict[str, Extra]:
    mat = a.type
    assert isinstance(mat, Mat)
    vec = rows_of(mat)

    def product() -> Expr:
        value = low[0, 0] * low[1, 1]
        return value * low[2, 2] if mat.rows == 3 else value

    def white() -> Expr:
        source = g.array("deltas errors", vec, -2.0, 2.0)
        d = k.let("delta err", source[g.at])
        return make(vec, *_forward(k, low, d, mat.rows, "w"))

    def distance() -> Expr:
        source = g.array("innovations offsets", vec, -2.0, 2.0)
        d = k.let("gap dev", source[g.at])
        parts = _forward(k, low, d, mat.rows, "q")
        w = k.let("white_gap u", make(vec, *parts))
        return fn("dot", w, w)

    rows = mat.rows * (mat.rows + 1) // 2
    packed = [low[r, c] for r in range(mat.rows) for c in range(r + 1)]
    return {
        "log": Extra(
            "log_dets log_volume", lambda: 2.0 * fn("log", product()), "log(determinant(A))"
        ),
        "product": Extra("volumes root_dets", product, "the product of the diagonal of L"),
        "sample": Extra(
            "sampled draws", lambda: _sampled(k, g, mat, low), "the mean plus L times noise"
        ),
        "white": Extra("whitened scaled_errors", white, "w with L * w = the error"),
        "distance": Extra(
            "distances_sq mahalanobis", distance, "dot(w, w) with L * w = the offset"
        ),
        "packed": Extra(
            "packed factors",
            lambda: make(Vec(rows, mat.scalar), *packed),
            "the rows of L up to the diagonal, in one vector",
        ),
        "diag": Extra(
            "stddevs scales",
            lambda: make(vec, *(low[r, r] for r in range(mat.rows))),
            "the diagonal of L",
        ),
    }


@idiom
def cholesky_small(k: KernelBuilder, level: int) -> Title:
    """Cholesky factors by hand: to solve, to sample, to whiten, for a log determinant."""
    shape = k.draw.shape
    g = launch(k, POINTS, "i tid e")
    size = shape.choice((2, 3))
    mat = Mat(size, size, k.draw.wide_float_type())
    a, source = _definite(k, g, mat, level)
    done = f"With {source}, and its Cholesky factor L (lower, A = L * transpose(L)):"
    if level >= 3 and shape.chance(0.5):
        name = helper(
            k, "cholesky lower_factor", (("a", mat),), lambda body, m: _lower(mat, _factor(body, m))
        )
        whole = k.let("low chol", k.call(name, a))
        low: Entries = {(r, c): whole[r, c] for r in range(size) for c in range(r + 1)}
    else:
        low = _factor(k, a)
    count = (1, 1, 1, 2, 3)[level - 1]
    if shape.chance(0.3 if level == 1 else 0.7):
        done += _solution(k, g, mat, low)
        count -= level < 4
    done += extras(g, _menu(k, g, a, low), max(count, 0))
    if level >= 4 and shape.chance(0.6):
        done += _downdated(k, g, mat, low)
    return _title(k, done)


def _title(k: KernelBuilder, done: str) -> Title:
    return Title(k.name("cholesky_small cholesky_factor factor_spd chol_kernel"), done)


def _solution(k: KernelBuilder, g: Site, mat: Mat, low: Entries) -> str:
    rhs = g.array("rhs gradients b", rows_of(mat), -2.0, 2.0)
    b = k.let("bi grad", rhs[g.at])
    parts = _backward(k, low, _forward(k, low, b, mat.rows, "y"))
    way = k.draw.shape.choice(("plain", "step", "from"))
    x: Expr = make(rows_of(mat), *parts)
    if way == "step":
        rate = given(g, "rate step", mat.scalar, 0.2, 0.9)
        x, text = -rate * x, f"-{say(k, rate)} * x"
    elif way == "from":
        start = g.array("params current", rows_of(mat), -1.0, 1.0)
        x, text = start[g.at] - x, f"{start.name} - x"
    else:
        text = "x"
    return gets(
        g,
        "solutions steps_out x_out",
        x,
        f"{text} with A * x = {rhs.name}, by forward and back substitution",
    )


def _downdated(k: KernelBuilder, g: Site, mat: Mat, low: Entries) -> str:
    """How well several samples fit: the sum of squares of whitened vectors, some clipped."""
    vec = rows_of(mat)
    k.size("t", 2, 4)
    count = k.trip_count("num_tests test_count", "t")
    tests = k.array("tests candidates", vec, (*g.dims, "t"), low=-1.5, high=1.5)
    clip = given(g, "clip cutoff", mat.scalar, 0.5, 2.0)
    total = k.let("total score", zero(mat.scalar))
    with k.for_("t test", count) as t:
        d = k.let("d cand", tests[g.index(t)])
        w = k.let("wt white_t", make(vec, *_forward(k, low, d, mat.rows, "f")))
        k.augment(total, "add", fn("min", fn("dot", w, w), clip))
    return gets(
        g,
        "scores robust_sums",
        total,
        f"the sum of min(dot(w, w), {say(k, clip)}), L * w being each of {tests.name}",
    )

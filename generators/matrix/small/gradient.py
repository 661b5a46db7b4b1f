"""Deformation gradients: given, of displacements, of edges, nodes or a mesh."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.matrix.small.grid import (
    Grid,
    from_columns,
    identity,
)
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Var


def gradient(
    k: KernelBuilder, g: Grid, mat: Mat, level: int, invertible: bool = False
) -> tuple[Var, str]:
    """The deformation gradient: given, from a displacement gradient, from edges or nodes."""
    ways = {"given": 3, "displacement": 2, "product": 2 if level >= 2 else 0}
    ways |= {"nodes": 4 if level >= 3 else 0, "mesh": 12 if level >= 4 else 0}
    way = "given" if invertible else k.draw.shape.weighted(ways)
    bound, name = round(1.0 / mat.rows, 2), ("f", "def_grad", "F")
    if way == "given":
        source = g.array(("gradients", "def_grads", "deformation"), mat, -bound, bound, _INIT)
        return k.let(name, source[g.index]), f"for each F in {source.name}"
    if way == "displacement":
        source = g.array(("grad_u", "displacement_grads"), mat, -0.4, 0.4)
        f = k.let(name, source[g.index] + identity(k, mat))
        return f, f"for F = {source.name}[{g.place}] + I"
    if way == "product":
        shapes = g.array(("edges", "deformed_edges", "ds"), mat, -bound, bound, _INIT)
        rest = g.array(("rest_inv", "dm_inv", "inv_rest_shape"), mat, -bound, bound, _INIT)
        f = k.let(name, shapes[g.index] * rest[g.index])
        return f, f"for F = {shapes.name} * {rest.name} of each element"
    return (_from_mesh if way == "mesh" else _from_nodes)(k, g, mat, name)


_INIT = "well_conditioned"


def _from_nodes(k: KernelBuilder, g: Grid, mat: Mat, name: tuple[str, ...]) -> tuple[Var, str]:
    vec = Vec(mat.rows, mat.scalar)
    k.size("a", mat.rows, mat.rows + 1)
    count = k.trip_count(("node_count", "num_nodes"), "a")
    moves = k.array(("displacements", "u", "node_u"), vec, (*g.dims, "a"), low=-0.5, high=0.5)
    shared = k.draw.shape.chance(0.5)
    dims = ("a",) if shared else (*g.dims, "a")
    grads = k.array(("shape_grads", "dndx", "grad_n"), vec, dims, low=-0.6, high=0.6)
    f = k.let(name, identity(k, mat))
    with k.for_(("node", "a", "q"), count) as a:
        grad = grads[a] if shared else grads[g.at(a)]
        k.augment(f, "add", fn("outer", moves[g.at(a)], grad))
    return f, f"for F = I plus the sum of outer({moves.name}, {grads.name}) over an element's nodes"


def _from_mesh(k: KernelBuilder, g: Grid, mat: Mat, name: tuple[str, ...]) -> tuple[Var, str]:
    """Corners of a triangle or tetrahedron are gathered, their edges are columns."""
    size, vec = mat.rows, Vec(mat.rows, mat.scalar)
    k.size("p", 20, 30)
    corners = k.array(
        ("corners", "elements", "conn"), INT32, (*g.dims, str(size + 1)), init="index_of:p"
    )
    points = k.array(("positions", "x", "points"), vec, "p", low=-1.0, high=1.0)
    x0 = k.let(("x0", "origin"), points[corners[g.at(0)]])
    stem = k.draw.word.choice(("edge", "e", "d"))
    edges = [k.let(f"{stem}{c}", points[corners[g.at(c)]] - x0) for c in range(1, size + 1)]
    shape = k.let(("ds", "shape"), from_columns(k, mat, edges))
    rest = g.array(("rest_inv", "dm_inv", "inv_rest_shape"), mat, -0.3, 0.3, _INIT)
    f = k.let(name, shape * rest[g.index])
    text = f"for F = D * {rest.name}, column c of D being {points.name} at corner c + 1 less"
    return f, f"{text} corner 0 of {corners.name}"

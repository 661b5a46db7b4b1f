"""Triangulations: edges to flip, by exact tests of circles through corners."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import index
from generators.kit.masks import one_if
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var

INT64 = Scalar("int64")
Corner = tuple[Expr, Expr]


@dataclass(frozen=True)
class _Mesh:
    """Vertices in the plane with integer coordinates."""

    k: KernelBuilder
    type: Scalar
    """The type in which predicates are evaluated."""
    arrays: tuple[Var, ...]

    def held(self, stem: str, i: Expr) -> Corner:
        """A corner in locals."""
        if len(self.arrays) == 2:
            x, y = self.arrays[0][i], self.arrays[1][i]
        else:
            p = self.k.let(f"p{stem}", self.arrays[0][i])
            x, y = p[0], p[1]
        names = [f"{stem}_{axis}" for axis in "xy"]
        return self.k.let(names[0], cast(x, self.type)), self.k.let(names[1], cast(y, self.type))

    @property
    def name(self) -> str:
        if len(self.arrays) == 1:
            return self.arrays[0].name
        return f"({self.arrays[0].name}, {self.arrays[1].name})"


def _mesh(k: KernelBuilder) -> _Mesh:
    """Vertices on a grid of integers, as an array an axis or as vectors."""
    k.size("verts", 40, 60)
    type_, span = INT32, 2000
    if k.draw.shape.chance(0.5):
        stem = k.draw.word.choice(("", "vert_", "pos_"))
        arrays = tuple(
            k.array(f"{stem}{axis}", type_, "verts", low=-span, high=span) for axis in "xy"
        )
    else:
        names = "vertices points positions"
        arrays = (k.array(names, Vec(2, type_), "verts", low=-span, high=span),)
    return _Mesh(k, INT64, arrays)


def _in_circle(k: KernelBuilder, a: Corner, b: Corner, c: Corner, d: Corner) -> Var:
    """Above 0 where d lies inside the circle through a, b and c, which are counter-clockwise."""
    rows = []
    for stem, p in (("a", a), ("b", b), ("c", c)):
        x, y = k.let(f"{stem}dx", p[0] - d[0]), k.let(f"{stem}dy", p[1] - d[1])
        rows.append((x, y, k.let(f"{stem}2", x * x + y * y)))
    (ax, ay, aa), (bx, by, bb), (cx, cy, cc) = rows
    det = aa * (bx * cy - by * cx) - bb * (ax * cy - ay * cx) + cc * (ax * by - ay * bx)
    return k.let("det in_circle", det)


@idiom(depth=3)
def delaunay_edges(k: KernelBuilder, level: int) -> Title:
    """Edges between two triangles that are not Delaunay: those that a flip would mend."""
    m = _mesh(k)
    if level > 1 and k.draw.shape.chance(0.5):
        return _by_triangle(m)
    ids, at, said = _edge_corners(k)
    border = None
    if level >= 2 and k.draw.shape.chance(0.5):
        border = k.array("is_constrained constrained", INT32, "edges", low=0, high=1)
    flips = k.out("flip_flags needs_flip", INT32, "edges")
    if border is not None:
        with k.if_(fn("ne", border[at], 0)):
            k.store(flips, at, 0)
            k.return_()
    a, b, c, d = (m.held(n, i) for n, i in zip("abcd", ids, strict=True))
    det = _in_circle(k, a, b, c, d)
    if k.draw.shape.chance(0.5):
        k.store(flips, at, one_if(det > 0))
    else:
        flag = k.let("flip bad", k.lift(0, INT32))
        with k.if_(det > 0):
            k.assign(flag, 1)
        k.store(flips, at, flag)
    text = (
        f"The inner edges of a triangulation of {m.name} with integer coordinates (of size below "
    )
    text += f"2^13) lie between the triangles a, b, c and b, a, d, both counter-clockwise: {said}. "
    text += f"{flips.name} gets 1 where d lies inside the circle through a, b and c ({_EXACT})"
    text += f" and {border.name} is 0" if border is not None else ""
    return Title(k.name("delaunay_flip_flags mark_flips find_illegal_edges"), f"{text}, else 0.")


_EXACT = "the in-circle determinant in int64 is above 0"


def _edge_corners(k: KernelBuilder) -> tuple[list[Expr], tuple[Var, ...], str]:
    """The four corners around an edge: in one vector, as two pairs, or from both triangles."""
    k.size("edges", 40, 60)
    if k.draw.shape.chance(0.5):
        quads = k.array("edge_quads flip_quads", Vec(4, INT32), "edges", init="index_of:verts")
        at = k.thread("edges", names=(k.name("e i"),))
        quad = k.let("quad ids", quads[at])
        return [quad[n] for n in range(4)], at, f"{quads.name} holds a, b, c, d"
    ends = k.array("edge_verts edge_ends", Vec(2, INT32), "edges", init="index_of:verts")
    sides = k.array("opposite opp_verts", Vec(2, INT32), "edges", init="index_of:verts")
    at = k.thread("edges", names=(k.name("e i"),))
    end, side = k.let("ends ab", ends[at]), k.let("opp cd", sides[at])
    said = f"{ends.name} holds a and b, {sides.name} c and d"
    return [end[0], end[1], side[0], side[1]], at, said


def _by_triangle(m: _Mesh) -> Title:
    """The edges of a triangle that are not Delaunay: how many, which ones, or the first."""
    k, shape = m.k, m.k.draw.shape
    k.size("tris", 40, 60)
    packed = shape.chance(0.5)
    kind, dims = (Vec(3, INT32), ("tris",)) if packed else (INT32, ("tris", "3"))
    tris = k.array("triangles tri_verts", kind, dims, init="index_of:verts")
    far = k.array("opposite opp_verts", INT32, ("tris", "3"), init="index_of:verts")
    at = k.thread("tris", names=(k.name("t tri"),))
    ids = [tris[at][n] if packed else tris[index(*at, n)] for n in range(3)]
    a, b, c = (m.held(n, i) for n, i in zip("abc", ids, strict=True))
    border = k.array("is_constrained constrained", INT32, ("tris", "3"), low=0, high=1)
    way = shape.choice(sorted(_FOUND))
    local, outs, said, kernels = _FOUND[way]
    found = k.let(local, k.lift(-1 if way == "first" else 0, INT32))
    with k.for_("e edge", 3) as e:
        with k.if_(fn("ne", border[index(*at, e)], 0)):
            k.continue_()
        d = m.held("d", far[index(*at, e)])
        det = _in_circle(k, a, b, c, d)
        with k.if_(det > 0):
            if way == "count":
                k.augment(found, "add", 1)
            elif way == "mask":
                k.assign(found, found | (k.lift(1, INT32) << e))
            else:
                k.assign(found, e)
                k.break_()
    out = k.out(outs, INT32, "tris")
    k.store(out, at, found)
    text = f"The triangles a, b, c of {tris.name} (counter-clockwise) triangulate {m.name} with "
    text += f"integer coordinates (of size below 2^13); {far.name} holds, for each of the edges "
    text += f"ab, bc and ca, the vertex d on its other side. An edge is bad where {border.name} is "
    text += f"0 and d lies inside the circle through a, b and c ({_EXACT}). Edges of the hull are "
    text += "constrained. "
    text += f"{out.name} gets {said}."
    return Title(k.name(kernels), text)


_FOUND = {
    "count": ("num_bad", "bad_counts", "the number of bad edges", "count_illegal_edges"),
    "mask": ("mask", "flip_masks", "a mask with bit n for bad edge n", "delaunay_masks"),
    "first": ("found", "flip_edges first_bad", "the first bad edge, or -1", "find_flips"),
}
"""What is found of the bad edges of a triangle: names of the local and output, words, kernels."""

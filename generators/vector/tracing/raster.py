"""Pixels of triangles: a thread for each pixel over a list, by edge functions and a depth test."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var, literal, op
from generators.vector.simulation.parts import Crowd, Points, index, points_of

_NEARER = 1e-4
"""What a face that comes later has to be nearer by."""


@dataclass(frozen=True)
class _Pixel:
    """A pixel's centre, and the triangles that it looks at."""

    c: Crowd
    x: Var
    y: Var
    corners: Points
    faces: Var | None

    @property
    def count(self) -> Expr:
        if self.faces is None:
            return extent(self.corners.arrays[0], len(self.c.at) - 2)
        return extent(self.faces, 0)

    @property
    def said(self) -> str:
        if self.faces is None:
            return f"with the corners {self.corners.name}"
        return f"with the corners {self.corners.name} at the rows of {self.faces.name}"

    def places(self, t: Expr) -> list[tuple[Expr, ...]]:
        """Where the corners of a triangle lie."""
        lead = self.c.at[:-2]
        if self.faces is None:
            return [(*lead, t, literal(n, INT32)) for n in range(3)]
        return [(*lead, self.c.k.let(f"i{n}", self.faces[index(t, n)])) for n in range(3)]

    def edge(self, a: Expr, b: Expr) -> Expr:
        """Twice the signed area of an edge and the pixel."""
        return (b[0] - a[0]) * (self.y - a[1]) - (b[1] - a[1]) * (self.x - a[0])


def _pixel(k: KernelBuilder, level: int) -> _Pixel:
    shape = k.draw.shape
    frames = level > 1 and shape.chance(0.3)
    k.size("img_h", 9, 12)
    k.size("img_w", 9, 12)
    if frames:
        k.size("views", 2, 3)
    names = k.draw.word.choice(("row col", "y x", "i j")).split()
    dims = (*(("views",) if frames else ()), "img_h", "img_w")
    every = [*([k.name("view v_id")] if frames else []), *(k.name(n) for n in names)]
    *_, row, col = at = k.thread(*dims, names=every)
    vec = Vec(2, FLOAT32)
    c = Crowd(k, level, vec, dims, at)
    mid = [cast(i, FLOAT32) + 0.5 for i in (col, row)]
    x, y = k.let("px", mid[0]), k.let("py", mid[1])
    k.size("tris", 14, 18)
    if shape.chance(0.5):
        k.size("verts", 14, 17)
        faces = k.array("faces tri_ids", INT32, ("tris", "3"), init="index_of:verts")
        points = points_of(k, vec, "screen_pos verts_2d", 0.0, 11.0, (*dims[:-2], "verts"), 1)
        return _Pixel(c, x, y, points, faces)
    points = points_of(k, vec, "corners_2d tri_pos", 0.0, 11.0, (*dims[:-2], "tris", "3"), 1)
    return _Pixel(c, x, y, points, None)


@idiom
def raster_pixels(k: KernelBuilder, level: int) -> Title:
    """The nearest triangle that covers a pixel, its depth and an attribute, by perspective."""
    p = _pixel(k, level)
    c, shape = p.c, p.c.shape
    dims = p.corners.dims
    depth = k.array("depths vert_z", FLOAT32, dims, low=1.0, high=5.0)
    shaded = c.chance(0.7)
    attr = k.array("attributes vert_attr", FLOAT32, dims, low=0.0, high=1.0) if shaded else None
    right = c.chance(0.6, 2)
    far = k.scalar("far z_far", FLOAT32, 3.0, 6.0)
    return _raster_pixels_stored(far, k, attr, shape, right, p, depth)


def _raster_pixels_stored(
    far: Var, k: KernelBuilder, attr: Var | None, shape: Stream, right: bool, p: _Pixel, depth: Var
) -> Title:
    """What :func:`raster_pixels` stores, and its text."""
    best = k.let("best z_best", far)
    who = k.let("tri_id face_id", k.lift(-1, INT32))
    value = k.let("value shade", k.lift(0.0, FLOAT32)) if attr is not None else None
    culled = shape.chance(0.5)
    with k.for_("t f", p.count) as t:
        places = p.places(t)
        a, b, d = (k.let(n, p.corners.at(*at)) for n, at in zip("abc", places, strict=True))
        area = k.let("area area2", (b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]))
        if culled or p.faces is not None:
            with k.if_(area < 0.01 if culled else abs(area) < 0.01):
                k.continue_()
        w0 = k.let("w0 bary0", p.edge(b, d) / area)
        w1 = k.let("w1 bary1", p.edge(d, a) / area)
        w2 = k.let("w2 bary2", 1.0 - w0 - w1)
        with k.if_(op("and", op("and", w0 >= 0.0, w1 >= 0.0), w2 >= 0.0)):
            z0, z1, z2 = (depth[at] for at in places)
            if right:
                pairs = enumerate(((w0, z0), (w1, z1), (w2, z2)))
                parts: list[Expr] = [k.let(f"q{n}", w / z) for n, (w, z) in pairs]
                z = k.let("z depth_px", 1.0 / (parts[0] + parts[1] + parts[2]))
            else:
                parts, z = [w0, w1, w2], k.let("z depth_px", w0 * z0 + w1 * z1 + w2 * z2)
            # Two faces of the same corners are equally far, but for rounding.
            with k.if_(z < (best if p.faces is None else best - _NEARER)):
                k.assign(best, z)
                k.assign(who, t)
                if value is not None and attr is not None:
                    v0, v1, v2 = (attr[at] for at in places)
                    mixed = parts[0] * v0 + parts[1] * v1 + parts[2] * v2
                    k.assign(value, z * mixed if right else mixed)
    return Title(
        k.name("raster_pixels rasterize_depth draw_triangles"),
        _told(p, (depth, attr, far), (best, who, value), right, culled),
    )


def _told(
    p: _Pixel,
    given: tuple[Var, Var | None, Var],
    found: tuple[Var, Var, Var | None],
    right: bool,
    culled: bool,
) -> str:
    (depth, attr, far), (best, who, value), c = given, found, p.c
    out = ", leaving one out where its twice signed area is below 0.01" if culled else ""
    if p.faces is not None and not culled:
        out = ", leaving one out where its twice signed area has a size below 0.01"
    text = (
        f"Rasterize triangles: for each pixel's centre ({p.x.name}, {p.y.name}), test the "
        f"triangles {p.said} by edge functions{out}. Depth is {depth.name} interpolated "
        f"{'with perspective (1 / z is linear)' if right else 'linearly'}. "
    )
    text += f"Store the nearest that covers the pixel before {far.name}, or -1, in "
    text += f"{c.put('ids tri_out', who)}; its depth, or {far.name}, in "
    text += c.put("z_out depth_buffer", best)
    if value is not None and attr is not None:
        text += (
            f"; and {attr.name} there, interpolated alike, or 0 in {c.put('image shaded', value)}"
        )
    if p.faces is not None:
        text += f". A later one counts as nearer by more than {_NEARER}"
    return f"{text}."

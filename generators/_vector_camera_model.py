"""A pinhole camera: a struct by value or parameters, and how points become pixels."""

from __future__ import annotations

from generators._vector_kit import (
    Part,
    said,
    struct_of,
)
from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.dtypes import Scalar, Struct, Vec
from generators.expr import Expr
from generators.ir import FieldInit


class Camera:
    """A camera as a struct by value, or as parameters of the kernel."""

    def __init__(
        self, k: KernelBuilder, level: int, scalar: Scalar, projects: bool = False
    ) -> None:
        self.k, self.scalar = k, scalar
        self.vec, self.flat = Vec(3, scalar), Vec(2, scalar)
        self.square = k.draw.shape.chance(0.4)
        self.posed = level >= 2 or (projects and k.draw.shape.chance(0.6))
        self.aimed = level >= 3
        parts = [
            Part(("focal", "f_len"), scalar, 0.8, 1.8)
            if self.square
            else Part(("focal", "f_xy"), self.flat, 0.8, 1.8),
            Part(("center", "principal", "offset_px"), self.flat, -0.3, 0.3),
        ]
        if self.posed:
            parts.append(Part(("eye", "position", "cam_pos"), self.vec, -0.8, 0.8))
        if self.aimed:
            parts += [
                Part(("right", "x_axis"), self.vec, init="unit"),
                Part(("up", "y_axis"), self.vec, init="unit"),
                Part(("forward", "z_axis"), self.vec, init="unit"),
            ]
            near = Part(("near", "min_depth", "z_near"), scalar, 0.4, 0.9)
            parts += [near] if projects else []
        self.struct: Struct | None = None
        self.fields: tuple[FieldInit, ...] = ()
        if k.draw.shape.chance(0.65):
            title = k.draw.word.choice(("Camera", "Pinhole", "Intrinsics"))
            self.struct, self.fields = struct_of(k, title, parts)
            whole = k.scalar(("cam", "camera", "view"), self.struct, fields=self.fields)
            self.whole: Expr = whole
            self.parts: list[Expr] = [field(whole, f.name) for f in self.fields]
        else:
            self.parts = [k.scalar(p.names, p.type, p.low, p.high, init=p.init) for p in parts]
        self.names = [said(k, p) for p in self.parts]

    def focal(self, parts: list[Expr], c: int) -> Expr:
        return parts[0] if self.square else parts[0][c]


def to_pixel(b: BodyBuilder, cam: Camera, parts: list[Expr], p: Expr) -> Expr:
    """The pixel of a point, which lies ahead of the camera."""
    q: Expr = p
    if cam.posed:
        q = b.let(("rel", "q"), p - parts[2])
    if cam.aimed:
        axes = zip(("xc", "yc", "zc"), parts[3:6], strict=True)
        x, y, z = (b.let(n, fn("dot", q, axis)) for n, axis in axes)
        depth = b.let(("depth", "w"), fn("max", z, parts[6]))
        return _divided(b, cam, parts, (x, y, depth))
    return _divided(b, cam, parts, (q[0], q[1], b.let(("depth", "z"), q[2])))


def _divided(b: BodyBuilder, cam: Camera, parts: list[Expr], xyz: tuple[Expr, Expr, Expr]) -> Expr:
    """The perspective division, focal length and principal point."""
    x, y, depth = xyz
    inv = b.let(("inv_z", "rz"), 1.0 / depth)
    u, v = cam.focal(parts, 0) * x * inv, cam.focal(parts, 1) * y * inv
    return make(cam.flat, u + parts[1][0], v + parts[1][1])

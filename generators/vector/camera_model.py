"""A pinhole camera: a struct by value or parameters, and how points become pixels."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.program.dtypes import Scalar, Struct, Vec
from generators.program.expr import Expr
from generators.program.ir import FieldInit
from generators.vector.kit import (
    Part,
    said,
    struct_of,
)


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
        self.lens = _lens(k, level) if projects else ""
        self.lens_at = len(parts)
        if self.lens:
            parts.append(Part(("k1", "dist_k1", "lens_k"), scalar, 0.02, 0.1))
        if self.lens == "two_terms":
            parts.append(Part(("k2", "dist_k2", "lens_k2"), scalar, 0.001, 0.01))
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

    @property
    def bend(self) -> str:
        """What the lens multiplies points of the image plane by, r their distance from the axis."""
        k1, *more = self.names[self.lens_at :]
        if self.lens == "division":
            return f"1 / (1 + {k1} * r^2)"
        return f"(1 + {k1} * r^2{f' + {more[0]} * r^4' if more else ''})"


def _lens(k: KernelBuilder, level: int) -> str:
    """How the lens distorts, if it does."""
    if not k.draw.shape.chance(0.4 if level == 1 else 0.6):
        return ""
    return k.draw.shape.choice(("radial", "two_terms", "division"))


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
    ahead: Expr = b.let(("depth", "z"), q[2]) if b.draw.shape.chance(0.4) else q[2]
    return _divided(b, cam, parts, (q[0], q[1], ahead))


def _divided(b: BodyBuilder, cam: Camera, parts: list[Expr], xyz: tuple[Expr, Expr, Expr]) -> Expr:
    """The perspective division, distortion, focal length and principal point."""
    x, y, depth = xyz
    fx, fy = cam.focal(parts, 0), cam.focal(parts, 1)
    if not cam.lens and b.draw.shape.chance(0.4):
        return make(cam.flat, fx * x / depth + parts[1][0], fy * y / depth + parts[1][1])
    inv = b.let(("inv_z", "rz"), 1.0 / depth)
    if not cam.lens:
        return make(cam.flat, fx * x * inv + parts[1][0], fy * y * inv + parts[1][1])
    xn, yn = b.let(("xn", "x_img"), x * inv), b.let(("yn", "y_img"), y * inv)
    r2 = b.let(("r2", "radius_sq"), xn * xn + yn * yn)
    k1, *more = parts[cam.lens_at :]
    factor = 1.0 + r2 * (k1 + more[0] * r2) if more else 1.0 + k1 * r2
    bend = b.let(("bend", "radial"), 1.0 / factor if cam.lens == "division" else factor)
    return make(cam.flat, fx * bend * xn + parts[1][0], fy * bend * yn + parts[1][1])

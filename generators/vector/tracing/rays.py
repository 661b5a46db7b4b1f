"""Where rays come from: lists of origins and directions, or the pixels of a camera."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn, make
from generators.program.dtypes import FLOAT32, Quat, Vec
from generators.program.expr import Expr
from generators.vector.simulation.parts import Crowd, points_of

VEC3 = Vec(3, FLOAT32)


@dataclass(frozen=True)
class Ray:
    """A thread's ray: where it starts, its unit direction, and what is said of both."""

    c: Crowd
    o: Expr
    d: Expr
    said: str
    single: bool = False
    """Whether all rays start at one point."""

    def at(self, t: Expr) -> Expr:
        """The point at a distance."""
        return self.o + t * self.d


def cast_rays(
    k: KernelBuilder,
    level: int,
    low: float = -1.0,
    high: float = 1.0,
    camera: float = 0.3,
    few: bool = False,
    eye: tuple[float, float] | None = None,
) -> Ray:
    """A ray for each element of a list or for each pixel; origins lie in [low, high], one that all
    rays share in ``eye``."""
    eye = eye or (low, high)
    if k.draw.shape.chance(camera):
        return _pixels(k, level, *eye)
    several = level > 1 and k.draw.shape.chance(0.3)
    dims = ("views", "rays") if several else ("rays",)
    if several:
        k.size("views", 3, 4)
    k.size("rays", *((24, 32) if several else (80, 120)))
    names = [k.name("v view")] if several else []
    at = k.thread(*dims, names=[*names, k.name("i tid r")])
    c = Crowd(k, level, VEC3, dims, at)
    way = k.draw.shape.choice(("each", "each", "shared"))
    if way == "shared" and several:
        eyes = k.array("eyes cam_centers view_origins", VEC3, "views", low=eye[0], high=eye[1])
        first: Expr = k.let("origin eye o", eyes[at[0]])
        named = f"its view's point in {eyes.name}"
    elif way == "shared":
        start = k.scalar("origin eye source", VEC3, *eye)
        first, named = start, start.name
    else:
        origins = points_of(k, VEC3, "origins ray_origins starts", low, high, dims)
        first, named = k.let("o origin start", origins.at(*at)), origins.name
    directions = k.array("directions ray_dirs dirs", VEC3, dims, init="unit")
    d = k.let("d dir_ray ray", directions[at])
    text = f"each ray from {named} along its unit vector in "
    return Ray(c, first, d, f"{text}{directions.name}", way == "shared")


def _pixels(k: KernelBuilder, level: int, low: float, high: float) -> Ray:
    """The rays of a pinhole camera, turned by a quaternion or by three axes."""
    k.size("img_h", 8, 10)
    k.size("img_w", 9, 11)
    names = k.draw.word.choice(("row col", "y x", "i j")).split()
    row, col = k.thread("img_h", "img_w", names=[k.name(n) for n in names])
    c = Crowd(k, level, VEC3, ("img_h", "img_w"), (row, col))
    eye = k.scalar("eye origin cam_pos", VEC3, low, high)
    focal = k.scalar("focal focal_px f_px", FLOAT32, 1.5, 2.5)
    cx, cy = k.scalar("cx", FLOAT32, 4.0, 5.5), k.scalar("cy", FLOAT32, 4.0, 5.5)
    half = 0.5 if k.draw.shape.chance(0.5) else 0.0
    u, v = (cast(i, FLOAT32) + half if half else cast(i, FLOAT32) for i in (col, row))
    px: Expr = (u - cx) / focal
    py: Expr = (v - cy) / focal
    if k.draw.shape.chance(0.5):
        px, py = k.let("px u_img", px), k.let("py v_img", py)
    d, by = _turned(k, px, py)
    through = (
        f"pixel ({col.name} + 0.5, {row.name} + 0.5)" if half else f"pixel ({col.name}, {row.name})"
    )
    text = f"the ray through {through} of a pinhole camera at {eye.name} {by} (focal length "
    return Ray(c, eye, d, f"{text}{focal.name}, principal point {cx.name}, {cy.name})", True)


def _turned(k: KernelBuilder, px: Expr, py: Expr) -> tuple[Expr, str]:
    """The unit direction of a pixel's ray in the world, and how the camera is turned."""
    if k.draw.shape.chance(0.5):
        turn = k.scalar("cam_rot cam_to_world", Quat(FLOAT32), init="unit")
        seen = fn("normalize", make(VEC3, px, py, k.lift(1.0, FLOAT32)))
        d = k.let("d dir_ray ray", fn("quat_rotate", turn, seen))
        return d, f"turned by {turn.name} (its own x is right, y down, z forward)"
    axes = [k.scalar(n, VEC3, init="unit") for n in ("right", "up", "forward")]
    d = k.let("d dir_ray ray", fn("normalize", axes[2] + px * axes[0] - py * axes[1]))
    return d, "with the axes right, up and forward"


def side(k: KernelBuilder, symbol: str, value: int) -> str:
    """A size that is never smaller than drawn: places are promised to lie within it."""
    return k.size(symbol, value, value, minimum=value)

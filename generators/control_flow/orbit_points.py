"""Where orbits begin, and the constants of Julia sets."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast
from generators.program.dtypes import Scalar, Vec
from generators.program.expr import Expr, Var

Start = Callable[[], tuple[tuple[Var, ...], tuple[Expr, Expr]]]


def orbit_points(k: KernelBuilder, s: Scalar) -> tuple[tuple[str, ...], Start, str]:
    """Where orbits begin: points of two arrays or of one of vectors, or the pixels of an image."""
    shape, word = k.draw.shape, k.draw.word
    kind = shape.weighted({"arrays": 4, "vectors": 2, "pixels": 4})
    if kind == "pixels":
        dims = (k.size("rows", 8, 10), k.size("cols", 8, 11))
        left = k.scalar(("x_min", "left"), s, -1.6, -1.3)
        low = k.scalar(("y_min", "bottom"), s, -1.2, -0.9)
        pixel = k.scalar(("pixel", "spacing", "dx"), s, 0.2, 0.25)

        def image() -> tuple[tuple[Var, ...], tuple[Expr, Expr]]:
            row, col = k.thread(
                *dims, names=word.choice((("row", "col"), ("i", "j"), ("py", "px")))
            )
            return (row, col), (left + cast(col, s) * pixel, low + cast(row, s) * pixel)

        text = f"({left.name} + column * {pixel.name}, {low.name} + row * {pixel.name})"
        return dims, image, text
    n = k.size("n", 48, 64)
    if kind == "vectors":
        points = k.array(("points", "starts", "z0"), Vec(2, s), n, low=-1.4, high=1.1)

        def vectors() -> tuple[tuple[Var, ...], tuple[Expr, Expr]]:
            (i,) = k.thread(n, names=(k.name("i", "tid"),))
            return (i,), (points[i][0], points[i][1])

        return (n,), vectors, points.name
    names = word.choice((("px", "py"), ("re", "im"), ("x0", "y0")))
    xs = k.array(names[0], s, n, low=-1.5, high=0.9)
    ys = k.array(names[1], s, n, low=-1.2, high=1.2)

    def arrays() -> tuple[tuple[Var, ...], tuple[Expr, Expr]]:
        (i,) = k.thread(n, names=(k.name("i", "tid"),))
        return (i,), (xs[i], ys[i])

    return (n,), arrays, f"({xs.name}, {ys.name})"


def julia_constants(k: KernelBuilder, s: Scalar) -> tuple[Expr, Expr]:
    """The added constant of a Julia set, as parameters or the literals of known sets."""
    if k.draw.shape.chance(0.5):
        return k.scalar("cx", s, -0.6, 0.3), k.scalar("cy", s, -0.6, 0.3)
    known = (
        (-0.4, 0.6),
        (0.285, 0.01),
        (-0.7, 0.27),
        (-0.8, 0.156),
        (0.355, 0.355),
        (-0.123, 0.745),
    )
    cx, cy = k.draw.value.choice(known)
    return k.lift(cx, s), k.lift(cy, s)

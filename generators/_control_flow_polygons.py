"""Points against a polygon: crossings, sides, nearest edge."""

from __future__ import annotations

from generators._control_flow_kit import either, shown
from generators.build import KernelBuilder, fn
from generators.dtypes import INT32, Vec
from generators.expr import Expr
from generators.registry import Title


def polygon_tests(k: KernelBuilder, level: int) -> Title:
    """Points against a polygon: inside by crossings, winding, nearest edge, or convex sides."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    vec = Vec(2, s)
    n, m = k.size("n", 56, 80), k.size("m", 6, 8, minimum=3)
    form = shape.choice(("crossings", "sides", "nearest"))
    split = shape.chance(0.4)
    if split:
        px, py = (k.array(f"p{a}", s, n, low=-1.2, high=1.2) for a in "xy")
        vx, vy = (k.array(f"poly_{a}", s, m, low=-1.5, high=1.5) for a in "xy")
    else:
        pts = k.array(("points", "pts"), vec, n, low=-1.2, high=1.2)
        poly = k.array(("polygon", "verts", "outline"), vec, m, low=-1.5, high=1.5)
    count: Expr = k.size_param(("num_verts", "corners"), m)
    out = k.out(
        ("inside", "hit") if form != "nearest" else ("distance", "dist"),
        INT32 if form != "nearest" else s,
        n,
    )
    scale = either(k, ("scale", "zoom"), s, 0.6, 0.9) if level >= 2 and shape.chance(0.5) else None
    hole = level >= 3 and form != "nearest" and shape.chance(0.5)
    (i,) = k.thread(n, names=(k.name("i", "tid"),))

    def corner(j: Expr) -> tuple[Expr, Expr]:
        if split:
            return vx[j], vy[j]
        p = k.let(("v", "corner"), poly[j])
        return p[0], p[1]

    if split:
        x0, y0 = px[i], py[i]
    else:
        p = k.let(("p", "pt"), pts[i])
        x0, y0 = p[0], p[1]
    x = k.let("x", scale * x0 if scale is not None else x0)
    y = k.let("y", scale * y0 if scale is not None else y0)
    cut = round(k.draw.value.integer(2, 5) / 10, 1)
    if hole:
        with k.if_(x * x + y * y < cut * cut):
            k.store(out, i, 0)
            k.return_()
    state = k.let(
        ("crossings", "flips") if form == "crossings" else ("best", "lowest"),
        k.lift(0, INT32) if form == "crossings" else k.lift(100.0, s),
    )
    with k.for_(("j", "e"), count) as j:
        ax, ay = (k.let(name, c) for name, c in zip(("ax", "ay"), corner(j), strict=True))
        after = (j + 1) % count
        bx, by = (k.let(name, c) for name, c in zip(("bx", "by"), corner(after), strict=True))
        if form == "crossings":
            with k.if_(fn("ne", ay > y, by > y)), k.if_(x < ax + (bx - ax) * (y - ay) / (by - ay)):
                k.augment(state, "add", 1)
        elif form == "sides":
            side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
            k.assign(state, fn("min", state, side))
        else:
            ex, ey = k.let("ex", bx - ax), k.let("ey", by - ay)
            along = ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey + 1.0e-6)
            t = k.let(("t", "u"), fn("clamp", along, 0.0, 1.0))
            dx, dy = k.let("dx", x - ax - t * ex), k.let("dy", y - ay - t * ey)
            d2 = k.let(("d2", "sq"), dx * dx + dy * dy)
            k.assign(state, fn("min", state, d2))
    if form == "crossings":
        k.store(out, i, state % 2)
        text = "1 where a ray to the right crosses an odd number of edges, else 0"
    elif form == "sides":
        low = k.draw.value.choice((-0.5, -1.0, -1.5))
        with k.if_(state > low):
            k.store(out, i, 1)
        with k.else_():
            k.store(out, i, 0)
        text = f"1 where (b - a) x (p - a) exceeds {low} for every edge a to b, else 0"
    else:
        k.store(out, i, fn("sqrt", state + 0.01))
        text = "sqrt(d2 + 0.01) for the smallest squared distance d2 to an edge"
    done = (
        f"For each point{f' times {shown(scale)}' if scale is not None else ''} "
        f"and the closed polygon: {out.name} gets {text}."
    )
    done += f" Points closer than {cut} to the origin give 0." if hole else ""
    return Title(k.name(f"polygon_{form}", "point_in_polygon", "polygon_test"), done)

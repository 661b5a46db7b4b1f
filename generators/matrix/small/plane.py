"""Maps of the plane: homographies, affine maps, and what they are compared with."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.matrix.small.extras import Extra, extras, flagged
from generators.matrix.small.grid import Grid, from_rows, grid, held, say
from generators.matrix.small.palette import voted
from generators.program.dtypes import INT32, Mat, Scalar, Vec, scalar_of
from generators.program.expr import Cast, Expr, literal


@idiom
def plane_map(k: KernelBuilder, level: int) -> Title:
    """Homographies and affine maps of points in the plane, and of pixel places."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    pixel = shape.chance(0.4)
    g = grid(k, {2: 1} if pixel else None, "i", "tid", "pt_id")
    vec = Vec(2, scalar)
    if pixel:
        p, source = _pixel(k, g, scalar)
    else:
        points = g.array(("points", "corners", "coords"), vec, -1.0, 1.0)
        p, source = k.let(("p", "xy"), points[g.index]), points.name
    way = shape.choice(("homography", "affine", "linear", "linear"))
    votes: list[Expr] = []
    q, text = _mapped(k, g, p, way, level, votes)
    done = f"Map p = {source}: {text}."
    if level >= 2 and shape.chance(0.3):
        there, note = flagged(g, ("valid", "movable"))
        q = k.let(("chosen", "kept_q"), fn("where", there, q, p))
        done += f" Where not ({note}), q is p."
    target = g.write(("mapped", "warped"), q)
    done += f" {target.name} gets q."
    if level >= 3:
        done += _sampled(k, g, q, scalar) if shape.chance(0.6) else _back(k, g, p, q, scalar)
    if level >= 5:
        done += _back(k, g, p, q, scalar)
    if level >= 4 and way == "linear":
        done += voted(k, g, votes[0], votes[1], vec)
    menu = {
        "shift": Extra(("shifts", "motion"), lambda: q - p, "q - p"),
        "size": Extra(
            ("sizes_sq", "moved_sq"), lambda: fn("length_sq", q - p), "the squared length of q - p"
        ),
        "radius": Extra(("radii", "radius_sq"), lambda: fn("dot", q, q), "dot(q, q)"),
        "turn": Extra(
            ("areas", "crossed"), lambda: p[0] * q[1] - p[1] * q[0], "p[0] q[1] - p[1] q[0]"
        ),
        "mid": Extra(("midpoints", "halfway"), lambda: 0.5 * (p + q), "(p + q) / 2"),
    }
    done += extras(g, menu, (shape.integer(0, 1), 1, 1, 2, 2)[level - 1])
    return Title(k.name("map_points", "warp_points", f"{way}_map", "transform_2d"), done)


def _pixel(k: KernelBuilder, g: Grid, scalar: Scalar) -> tuple[Expr, str]:
    """The place of a pixel in units of its spacing."""
    y, x = g.index
    step = k.scalar(("spacing", "pixel_size"), scalar, 0.1, 0.3)
    fx, fy = k.let(("fx", "u"), Cast(x, scalar)), k.let(("fy", "v"), Cast(y, scalar))
    p = k.let(("p", "xy"), make(Vec(2, scalar), step * fx, step * fy))
    return p, f"{step.name} * ({x.name}, {y.name})"


def _mapped(
    k: KernelBuilder, g: Grid, p: Expr, way: str, level: int, parts: list[Expr]
) -> tuple[Expr, str]:
    """The map itself; the matrix and the shift of a linear one are added to ``parts``."""
    scalar = scalar_of(p.type)
    vec = Vec(2, scalar)
    if way == "homography":
        return _homography(k, g, p, level, scalar)
    if way == "affine":
        mats = g.supply(("affine", "warp"), ("affines", "warps"), Mat(2, 3, scalar), -1.0, 1.0)
        a = held(k, ("a", "m"), mats)
        hom = make(Vec(3, scalar), p[0], p[1], literal(1, scalar))
        if k.draw.shape.chance(0.5):
            return k.let(("q", "moved"), a * hom), f"q = {say(mats)} * (p[0], p[1], 1)"
        x = a[0, 0] * p[0] + a[0, 1] * p[1] + a[0, 2]
        y = a[1, 0] * p[0] + a[1, 1] * p[1] + a[1, 2]
        return k.let(("q", "moved"), make(vec, x, y)), f"q = {say(mats)} * (p[0], p[1], 1)"
    linear = g.supply(
        ("linear", "scale_shear"), ("linears", "shears"), Mat(2, 2, scalar), -1.2, 1.2
    )
    shift = g.supply(("shift", "offset"), ("offsets", "translations"), vec, -1.0, 1.0)
    named, moved = say(linear), say(shift)
    linear, shift = held(k, ("lin", "l_mat"), linear), held(k, ("t", "move"), shift)
    parts += [linear, shift]
    if level < 4 and k.draw.shape.chance(0.4):
        center = g.supply(("center", "anchor"), ("centers", "anchors"), vec, -0.5, 0.5)
        q = k.let(("q", "moved"), linear * (p - center) + center + shift)
        return q, f"q = {named} * (p - {say(center)}) + {say(center)} + {moved}"
    return k.let(("q", "moved"), linear * p + shift), f"q = {named} * p + {moved}"


def _homography(k: KernelBuilder, g: Grid, p: Expr, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """The last row is kept near (0, 0, 1), so that no point goes to infinity."""
    vec = Vec(2, scalar)
    mats = g.supply(("affine_part", "top_rows"), ("tops", "top_rows"), Mat(2, 3, scalar), -1.0, 1.0)
    tilt = g.supply(("tilt", "vanish"), ("tilts", "perspective"), vec, -0.12, 0.12)
    top = held(k, ("top", "a"), mats)
    rows = [make(Vec(3, scalar), *(top[r, c] for c in range(3))) for r in range(2)]
    rows.append(make(Vec(3, scalar), tilt[0], tilt[1], literal(1, scalar)))
    h = k.let(("h", "hm"), from_rows(k, Mat(3, 3, scalar), rows))
    text = f"H has the rows of {say(mats)} and then ({say(tilt)}, 1)"

    def apply(body: BodyBuilder, m: Expr, at: Expr) -> Expr:
        hom = body.let(("hom", "w3"), m * make(Vec(3, scalar), at[0], at[1], literal(1, scalar)))
        if body.draw.shape.chance(0.5):
            inv = body.let(("inv_w", "iw"), 1.0 / hom[2])
            return make(vec, hom[0] * inv, hom[1] * inv)
        return make(vec, hom[0] / hom[2], hom[1] / hom[2])

    text += ", w = H * (p[0], p[1], 1) and q = (w[0] / w[2], w[1] / w[2])"
    if level >= 2 and k.draw.shape.chance(0.6):
        made = helper(k, ("apply_homography", "warp_point"), (("m", h.type), ("at", vec)), apply)
        return k.let(("q", "moved"), k.call(made, h, p)), text
    return k.let(("q", "moved"), apply(k, h, p)), text


def _sampled(k: KernelBuilder, g: Grid, q: Expr, scalar: Scalar) -> str:
    """Read an image at the place it maps to: nearest pixel, held inside."""
    k.size("r", 5, 7)
    k.size("s", 5, 7)
    image = k.array(("image", "texture", "atlas"), scalar, ("r", "s"), low=-1.0, high=1.0)
    zoom = g.supply(("zoom", "texels"), ("zooms",), scalar, 1.5, 3.0)
    rows, cols = extent(image, 0), extent(image, 1)
    px = k.let(("px", "col_at"), cast(fn("floor", zoom * (q[0] + 1.0)), INT32))
    py = k.let(("py", "row_at"), cast(fn("floor", zoom * (q[1] + 1.0)), INT32))
    px = k.let(("cx", "ux"), fn("clamp", px, 0, cols - 1))
    py = k.let(("cy", "uy"), fn("clamp", py, 0, rows - 1))
    target = g.write(("sampled", "colors"), image[py, px])
    return (
        f" {target.name} gets {image.name} at row floor({say(zoom)} * (q[1] + 1)) and column"
        f" floor({say(zoom)} * (q[0] + 1)), each clamped to the image."
    )


def _back(k: KernelBuilder, g: Grid, p: Expr, q: Expr, scalar: Scalar) -> str:
    """Distance to a place it should reach, with a weight."""
    goals = g.array(("goals", "matches"), Vec(2, scalar), -1.0, 1.0)
    e = k.let(("e", "gap"), q - goals[g.index])
    weight = g.array(("weights", "confidence"), scalar, 0.2, 1.0)
    if k.draw.shape.chance(0.5):
        value, text = weight[g.index] * fn("dot", e, e), f"{weight.name} * dot(e, e)"
    else:
        size = k.let(("size_e", "dist"), fn("sqrt", fn("dot", e, e) + 0.01))
        value, text = weight[g.index] * size, f"{weight.name} * sqrt(dot(e, e) + 0.01)"
    target = g.write(("costs", "losses"), value)
    return f" {target.name} gets {text}, e = q - {goals.name}."

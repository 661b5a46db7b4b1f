"""Maps of the plane: homographies, affine maps, and what they are compared with."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, dot, sqrt, where
from generators.kit.masks import flag
from generators.kit.naming import applied, held
from generators.kit.sources import zero
from generators.matrix.place import Place, place
from generators.matrix.small.parts import from_rows, row
from generators.program.dtypes import INT32, Mat, Vec, scalar_of
from generators.program.expr import Expr, literal


@idiom
def plane_map(k: KernelBuilder, level: int) -> Title:
    """Homographies and affine maps of points in the plane, and of pixel places."""
    shape = k.draw.shape
    vec = Vec(2, k.draw.wide_float_type())
    pixel = shape.chance(0.4)
    g = place(k, "i tid pt_id", **({"grid": 1} if pixel else {}))
    points = _pixel(g, vec) if pixel else g.read("points corners coords", vec, -1.0, 1.0)
    p = g.let("p xy", points)
    way = shape.choice(("homography", "affine", "linear", "linear"))
    linear: list[Expr] = []
    q, text = _MAPS[way](g, p, level, linear)
    done = f"Map {g.told(p)}: {text}."
    if level >= 2 and shape.chance(0.3):
        there = flag(g, "valid movable")
        q = g.let("q kept_q chosen", where(there.value, q, p))
        done += f" Where {there.off}, q is p."
    done += g.gets("mapped warped", q)
    if level >= 3:
        done += _sampled(g, q) if shape.chance(0.6) else _back(g, q)
    if level >= 5:
        done += _back(g, q)
    if level >= 4 and linear:
        done += _voted(g, *linear)
    done += g.offer(
        (shape.integer(0, 1), 1, 1, 2, 2)[level - 1],
        shift=("shifts motion", lambda: q - p),
        size=("sizes_sq moved_sq", lambda: fn("length_sq", q - p)),
        radius=("radii radius_sq", lambda: dot(q, q)),
        turn=("areas crossed", lambda: p[0] * q[1] - p[1] * q[0]),
        mid=("midpoints halfway", lambda: 0.5 * (p + q)),
    )
    return Title(k.name(f"map_points warp_points {way}_map transform_2d"), done)


def _pixel(g: Place, vec: Vec) -> Expr:
    """The place of a pixel in units of its spacing."""
    y, x = g.at
    step = g.k.scalar("spacing pixel_size", vec.scalar, 0.1, 0.3)
    fx, fy = g.part("fx u", cast(x, vec.scalar)), g.part("fy v", cast(y, vec.scalar))
    return make(vec, step * fx, step * fy)


def _lifted(p: Expr) -> Expr:
    """A point with 1 as its third coordinate."""
    scalar = scalar_of(p.type)
    return make(Vec(3, scalar), p[0], p[1], literal(1, scalar))


def _affine(g: Place, p: Expr, level: int, linear: list[Expr]) -> tuple[Expr, str]:
    """By a 2 x 3 matrix, or its entries."""
    a = held(g.k, "a m", g.given("affine warp", Mat(2, 3, scalar_of(p.type)), -1.0, 1.0))
    value: Expr = a * _lifted(p)
    text = f"q = {g.tell(value)}"
    if g.chance(0.5):
        rows = [a[r, 0] * p[0] + a[r, 1] * p[1] + a[r, 2] for r in range(2)]
        value = make(p.type, *rows)
    return g.let("q moved", value), text


def _linear(g: Place, p: Expr, level: int, linear: list[Expr]) -> tuple[Expr, str]:
    """By a 2 x 2 matrix, which is kept in ``linear`` with the shift."""
    lin = g.given("linear scale_shear", Mat(2, 2, scalar_of(p.type)), -1.2, 1.2)
    shift = g.given("shift offset", p.type, -1.0, 1.0)
    lin, shift = held(g.k, "lin l_mat", lin), held(g.k, "t move", shift)
    linear += [lin, shift]
    if level < 4 and g.chance(0.4):
        center = g.given("center anchor", p.type, -0.5, 0.5)
        q = g.let("q moved", lin * (p - center) + center + shift)
    else:
        q = g.let("q moved", lin * p + shift)
    return q, g.told(q)


def _homography(g: Place, p: Expr, level: int, linear: list[Expr]) -> tuple[Expr, str]:
    """The last row is kept near (0, 0, 1), so that no point goes to infinity."""
    k, scalar = g.k, scalar_of(p.type)
    top = g.given("affine_part top_rows", Mat(2, 3, scalar), -1.0, 1.0)
    tilt = g.given("tilt vanish", p.type, -0.12, 0.12)
    text = f"H has the rows of {g.tell(top)} and then ({g.tell(tilt)}, 1)"
    top = held(k, "top a", top)
    h = k.let("h hm", from_rows(k, Mat(3, 3, scalar), [row(top, 0), row(top, 1), _lifted(tilt)]))

    def apply(body: BodyBuilder, m: Expr, at: Expr) -> Expr:
        hom = body.let("hom w3", m * _lifted(at))
        if body.draw.shape.chance(0.5):
            inv = body.let("inv_w iw", 1.0 / hom[2])
            return make(at.type, hom[0] * inv, hom[1] * inv)
        return make(at.type, hom[0] / hom[2], hom[1] / hom[2])

    text += ", w = H * (p[0], p[1], 1) and q = (w[0] / w[2], w[1] / w[2])"
    value = applied(k, 0.6 * (level >= 2), "apply_homography warp_point", {"m": h, "at": p}, apply)
    return g.let("q moved", value), text


_MAPS = {"homography": _homography, "affine": _affine, "linear": _linear}


def _sampled(g: Place, q: Expr) -> str:
    """Read an image at the place it maps to: nearest pixel, held inside."""
    k, scalar = g.k, scalar_of(q.type)
    dims = (k.size("r", 5, 7), k.size("s", 5, 7))
    image = k.array("image texture atlas", scalar, dims, low=-1.0, high=1.0)
    zoom = g.given("zoom texels", scalar, 1.5, 3.0)
    px = k.let("px col_at", cast(fn("floor", zoom * (q[0] + 1.0)), INT32))
    py = k.let("py row_at", cast(fn("floor", zoom * (q[1] + 1.0)), INT32))
    px = k.let("cx ux", clamp(px, 0, extent(image, 1) - 1))
    py = k.let("cy uy", clamp(py, 0, extent(image, 0) - 1))
    text = f"{image.name} at row floor({g.tell(zoom)} * (q[1] + 1)) and column"
    text += f" floor({g.tell(zoom)} * (q[0] + 1)), each clamped to the image"
    return g.gets("sampled colors", image[py, px], text)


def _back(g: Place, q: Expr) -> str:
    """Distance to a place it should reach, with a weight."""
    goal = g.read("goals matches", q.type, -1.0, 1.0)
    e = g.let("e gap", q - goal)
    weight = g.read("weights confidence", scalar_of(q.type), 0.2, 1.0)
    size = dot(e, e) if g.chance(0.5) else g.part("size_e dist", sqrt(dot(e, e) + 0.01))
    return g.gets("costs losses", weight * size, f"{g.tell(weight * size)}, {g.told(e)}")


def _voted(g: Place, linear: Expr, shift: Expr) -> str:
    """Matches that a linear map explains: how many, and how well."""
    k, vec = g.k, shift.type
    count = k.trip_count("num_matches match_count", k.size("m", 3, 5))
    sources = k.array("match_src sources", vec, "m", low=-1.0, high=1.0)
    goals = k.array("match_dst destinations", vec, "m", low=-1.0, high=1.0)
    limit = g.given("inlier_sq threshold", scalar_of(vec), 0.5, 2.5)
    inliers = k.let("inliers votes", k.lift(0, INT32))
    cost = k.let("cost msac", zero(scalar_of(vec)))
    with k.for_("match q_m", count) as j:
        e = k.let("e_m off", linear * sources[j] + shift - goals[j])
        err = k.let("err sq_m", dot(e, e))
        with k.if_(err < limit):
            k.augment(inliers, "add", 1)
            k.augment(cost, "add", err)
        with k.else_():
            k.augment(cost, "add", limit)
    first, second = g.put("votes_out support", inliers), g.put("msac_costs fit_cost", cost)
    return (
        f" Over the matches, with e = the same map of {sources.name} minus {goals.name}:"
        f" {first.name} gets how often dot(e, e) < {g.tell(limit)}, {second.name} the sum of"
        f" min(dot(e, e), {g.tell(limit)})."
    )

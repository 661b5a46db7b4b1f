"""Several views: epipolar and transfer errors, triangulation by midpoints, bundle adjustment."""

from __future__ import annotations

from generators.build import KernelBuilder, fn, make
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, most, sqrt
from generators.kit.masks import one_if
from generators.kit.words import plurals
from generators.program.dtypes import FLOAT32, INT32, Mat, Quat, Vec
from generators.program.expr import Expr, Var
from generators.vector.simulation.parts import Crowd, Points, crowd, points_of

VEC2, VEC3, MAT3 = Vec(2, FLOAT32), Vec(3, FLOAT32), Mat(3, 3, FLOAT32)


def _matches(
    k: KernelBuilder, level: int, far: float = 1.0
) -> tuple[Crowd, Expr, Expr, str, tuple[Var, ...]]:
    """Matches of two views, of one pair or of several: both points, a text, the pair's index."""
    c = crowd(k, level, space=3, sizes=(40, 64), member="i tid m")
    c.vec = VEC2
    p = points_of(k, VEC2, "points_a left_pts first_uv", -far, far, c.dims, level)
    q = points_of(k, VEC2, "points_b right_pts second_uv", -far, far, c.dims, level)
    said = f"{p.name} and {q.name}"
    first, second = k.draw.word.choice((("pa", "pb"), ("p", "q")))
    return c, k.let(first, p.at(*c.at)), k.let(second, q.at(*c.at)), said, c.at[:-1]


def _matrix(c: Crowd, names: str, lead: tuple[Var, ...], init: str = "uniform") -> tuple[Expr, str]:
    """A matrix of all, of each pair of views, or of each hypothesis along the first axis."""
    k = c.k
    low, high = (-1.0, 1.0) if init == "uniform" else (-0.1, 0.1)
    if lead:
        array = k.array(plurals(names.split()), MAT3, c.dims[:1], init=init, low=low, high=high)
        return k.let(f"{names.split()[-1]}_v", array[lead]), array.name
    one = k.scalar(names, MAT3, low, high, init=init)
    return one, one.name


@idiom
def epipolar_error(k: KernelBuilder, level: int) -> Title:
    """How far matches are from their epipolar lines: algebraic, to the line, symmetric, Sampson."""
    c, a, b, said, lead = _matches(k, level)
    mat, name = _matrix(c, "fundamental essential f_mat", lead)
    one = k.lift(1.0, FLOAT32)
    x, y = k.let("x1", make(VEC3, a[0], a[1], one)), k.let("x2", make(VEC3, b[0], b[1], one))
    line = k.let("line_b", mat * x)
    back: Expr = fn("transpose", mat) * y
    way = c.shape.choice(("line", "symmetric", "sampson", "sampson"))
    e = k.let("e algebraic", dot(y, line))
    inner = k.let("n2 line_sq", line[0] * line[0] + line[1] * line[1])
    told = {"line": "distance from", "symmetric": "symmetric distance from", "sampson": "Sampson"}
    signed = c.shape.chance(0.5)
    told |= {} if signed else {"line": "squared distance from"}
    told["symmetric"] = "symmetric squared distance from"
    text = f"Measure how far matches a, b of {said} are from their epipolar lines"
    text += (
        f" ({told[way]}{'' if way == 'sampson' else ' the line'}{' error' * (way == 'sampson')})"
    )
    text += f". With both as (x, y, 1), the line l = {name} * a and e = dot(b, l)"
    text += ": " if way == "line" else f", m = transpose({name}) * b: "
    if way == "line":
        found: Expr = e / sqrt(inner) if signed else e * e / inner
        what = "e / |l_xy|" if signed else "e^2 / |l_xy|^2"
    else:
        other = k.let("line_a", back)
        outer = other[0] * other[0] + other[1] * other[1]
        if way == "sampson":
            found = e * e / (inner + outer)
            what = "e^2 / (|l_xy|^2 + |m_xy|^2)"
        else:
            found = e * e * (1.0 / inner + 1.0 / outer)
            what = "e^2 * (1 / |l_xy|^2 + 1 / |m_xy|^2)"
    return Title(k.name(_EPIPOLAR[way]), text + _voted(c, found, what, way == "line" and signed))


_EPIPOLAR = {
    "line": "epipolar_distance epipolar_residuals",
    "symmetric": "symmetric_epipolar_error epipolar_residuals",
    "sampson": "sampson_error sampson_distance",
}


def _voted(c: Crowd, found: Expr, what: str, signed: bool = False) -> str:
    """An error: stored, robust, or as a vote."""
    k = c.k
    way = c.shape.choice(("plain", "vote", "cut", "weighted"))
    if signed and way in ("vote", "cut"):
        found, what = abs(found), f"|{what.replace('|l_xy|', 'sqrt(lx^2 + ly^2)')}|"
    if way == "plain":
        return f"{c.put('errors residuals', found)} gets {what}."
    error = k.let("err r", found)
    if way == "weighted":
        scores = k.array("confidence match_scores", FLOAT32, c.dims, low=0.2, high=1.0)
        name = c.put("weighted_errors costs", scores[c.at] * error)
        return f"{name} gets {what}, times {scores.name}."
    limit = k.scalar("threshold max_error", FLOAT32, 0.1, 0.4)
    if way == "vote":
        near = one_if(error < limit)
        text = f"{c.put('inliers votes', near)} gets 1 where {what} is below {limit.name}, else 0"
        if c.shape.chance(0.5):
            text += f", {c.put('errors residuals', error)} the value"
        return f"{text}."
    name = c.put("errors costs", fn("min", error, limit))
    return f"{name} gets {what}, at most {limit.name}."


@idiom
def transfer_error(k: KernelBuilder, level: int) -> Title:
    """Errors of matches under a homography, one way or both."""
    c, a, b, said, lead = _matches(k, level, 0.6)
    mat, name = _matrix(c, "homography h_mat", lead, "well_conditioned")
    one = k.lift(1.0, FLOAT32)
    moved = k.let("moved_a", mat * make(VEC3, a[0], a[1], one))
    ratio = k.let("inv_wa", 1.0 / moved[2])
    off = make(VEC2, moved[0] * ratio - b[0], moved[1] * ratio - b[1])
    d = k.let("diff_a", off)
    error: Expr = dot(d, d)
    text = "Measure the transfer error of matches under a homography: for each match a, b of "
    text += f"{said}, move a by {name} and take the squared distance to b"
    if c.chance(0.5, 2):
        other, back = _matrix(c, "inverse_h h_inv", lead, "well_conditioned")
        round_ = k.let("moved_b", other * make(VEC3, b[0], b[1], one))
        turn = k.let("inv_wb", 1.0 / round_[2])
        e = k.let("diff_b", make(VEC2, round_[0] * turn - a[0], round_[1] * turn - a[1]))
        error = error + dot(e, e)
        text += f"; add the same for b by {back} and a"
    return Title(
        k.name("transfer_error homography_error homography_residuals"),
        f"{text}. {_voted(c, error, 'the error')}",
    )


@idiom
def triangulate_midpoints(k: KernelBuilder, level: int) -> Title:
    """Points from two views: the middle of the shortest way between two rays, and its length."""
    c = crowd(k, level, space=3, sizes=(40, 64), member="i tid m")
    c.vec = VEC3
    several = len(c.dims) > 1
    from_a, from_b = ("centers_a", "centers_b") if several else ("center_a", "center_b")
    centers: list[Expr]
    if several:
        places = [k.array(n, VEC3, c.dims[:1], low=-1.0, high=1.0) for n in (from_a, from_b)]
        names = ("origin_a", "origin_b")
        centers = [k.let(n, p[c.at[:1]]) for n, p in zip(names, places, strict=True)]
    else:
        centers = [k.scalar(n, VEC3, -1.0, 1.0) for n in (from_a, from_b)]
    dirs = [
        k.let(n, k.array(a, VEC3, c.dims, init="unit")[c.at])
        for n, a in (("u", "rays_a"), ("v", "rays_b"))
    ]
    by = ""
    turned = c.shape.chance(0.5)
    u: Expr = dirs[0]
    v: Expr = dirs[1]
    if turned:
        if several:
            array = k.array("rotations rots_b", Quat(FLOAT32), c.dims[:1], init="unit")
            rot: Expr = array[c.at[:1]]
            name = array.name
        else:
            rot = k.scalar("rotation rot_b", Quat(FLOAT32), init="unit")
            name = "".join(p.name for p in k.params[-1:])
        by = f" turned by {name}"
        v = k.let("v_world vw", fn("quat_rotate", rot, v))
    return _triangulate_midpoints_stored(k, centers, u, v, (from_a, from_b, by), c)


def _triangulate_midpoints_stored(
    k: KernelBuilder, centers: list[Expr], u: Expr, v: Expr, said: tuple[str, str, str], c: Crowd
) -> Title:
    """What :func:`triangulate_midpoints` stores, and its text."""
    from_a, from_b, by = said
    w = k.let("w base", centers[0] - centers[1])
    b = k.let("uv cos_uv", dot(u, v))
    least = k.scalar("min_sin_sq", FLOAT32, 0.12, 0.3)
    du, dv = k.let("u_dot_w", dot(u, w)), k.let("v_dot_w", dot(v, w))
    denom = k.let("denom det", most(1.0 - b * b, least))
    s, t = k.let("depth_a", (b * dv - du) / denom), k.let("depth_b", (dv - b * du) / denom)
    first, second = k.let("near_a", centers[0] + s * u), k.let("near_b", centers[1] + t * v)
    point = 0.5 * (first + second)
    text = (
        f"Triangulate points by the midpoints between pairs of rays, u of rays_a from {from_a} and "
        f"v of rays_b from {from_b}{by}. With b = u.v, w = {from_a} - {from_b}, s = "
        "(b * v.w - u.w) / m and t = (v.w - b * u.w) / m, m = max(1 - b^2, min_sin_sq): "
    )
    way = c.shape.choice(("point", "gap", "ahead"))
    if way == "ahead":
        good = k.let("ok in_front", fn("min", s, t) > 0.0)
        kept = k.let("mid point", make(VEC3, k.lift(0.0, FLOAT32)))
        with k.if_(good):
            k.assign(kept, point)
        text += f"{c.put('points triangulated', kept)} gets the middle of {from_a} + s u and "
        text += f"{from_b} + t v where s and t are positive, else 0."
    else:
        text += f"{c.put('points triangulated', point)} gets the middle of {from_a} + s u and "
        text += f"{from_b} + t v."
    if way == "gap" or c.chance(0.4, 2):
        gap = k.let("gap_v skew", first - second)
        root = c.shape.chance(0.5)
        name = c.put("gaps ray_dist", fn("length", gap) if root else dot(gap, gap))
        what = "the length of their difference" if root else "|their difference|^2"
        text += f" {name} gets {what}."
    if c.chance(0.3, 2):
        text += f" {c.put('depths s_out', s)} gets s."
    return Title(k.name("triangulate_midpoints stereo_points ray_midpoints"), text)


@idiom
def bundle_residuals(k: KernelBuilder, level: int) -> Title:
    """Bundle adjustment: residuals of observations by indices of cameras and points, distorted."""
    shape = k.draw.shape
    k.size("m", 40, 60)
    k.size("cams", 4, 6)
    k.size("num_points", 10, 16)
    at = k.thread("m", names=(k.name("i tid obs"),))
    c = Crowd(k, level, VEC2, ("m",), at)
    cam_ids = k.array("cam_ids camera_index", INT32, "m", init="index_of:cams")
    point_ids = k.array("point_ids point_index", INT32, "m", init="index_of:num_points")
    p = points_of(k, VEC3, "points landmarks", -1.0, 1.0, ("num_points",), level)
    seen = points_of(k, VEC2, "observed pixels uv", -1.0, 1.0, ("m",), level)
    return _bundle_residuals_stored(k, cam_ids, at, point_ids, shape, p, c, seen)


def _bundle_residuals_stored(
    k: KernelBuilder,
    cam_ids: Var,
    at: tuple[Var, ...],
    point_ids: Var,
    shape: Stream,
    p: Points,
    c: Crowd,
    seen: Points,
) -> Title:
    """What :func:`bundle_residuals` stores, and its text."""
    cam, pt = k.let("cam c_id", cam_ids[at]), k.let("pt p_id", point_ids[at])
    return _bundle_residuals_ended(shape, pt, p, k, cam, c, seen, at)


def _bundle_residuals_ended(
    shape: Stream,
    pt: Var,
    p: Points,
    k: KernelBuilder,
    cam: Var,
    c: Crowd,
    seen: Points,
    at: tuple[Var, ...],
) -> Title:
    """What :func:`bundle_residuals` stores at last, and its text."""
    way = shape.choice(("quat", "angle"))
    place = p.at(pt)
    if way == "quat":
        rot = k.array("rotations cam_rot", Quat(FLOAT32), "cams", init="unit")
        turned: Expr = fn("quat_rotate", rot[cam], place)
        said = rot.name
    else:
        rot = k.array("rot_vecs axis_angle", VEC3, "cams", low=0.2, high=0.9)
        turned, said = _rodrigues(k, rot[cam], place), f"{rot.name} (axis times angle)"
    shift = k.array("translations cam_trans", VEC3, "cams", low=2.0, high=3.5)
    x = k.let("x in_cam", turned + shift[cam])
    z = x[2]
    px, py = k.let("px u_n", x[0] / z), k.let("py v_n", x[1] / z)
    focal = k.array("focals focal", FLOAT32, "cams", low=1.0, high=2.0)
    text = (
        f"Compute the reprojection residual of each observation: its point of {p.name} is turned "
        f"by its camera's {said}, moved by {shift.name} and projected to p = (x, y) / z"
    )
    return _bundle_residuals_kept(focal, cam, text, c, k, shape, px, py, seen, at)


def _bundle_residuals_kept(
    focal: Var,
    cam: Var,
    text: str,
    c: Crowd,
    k: KernelBuilder,
    shape: Stream,
    px: Var,
    py: Var,
    seen: Points,
    at: tuple[Var, ...],
) -> Title:
    """What :func:`_bundle_residuals_ended` stores, and its text."""
    scale: Expr = focal[cam]
    if c.chance(0.65, 2):
        r2 = k.let("r2 rad_sq", px * px + py * py)
        style = shape.choice(("k", "distortion_"))
        k1 = k.array(f"{style}1", FLOAT32, "cams", low=-0.4, high=0.4)
        grow: Expr = 1.0 + k1[cam] * r2
        text += f", multiplied by 1 + {k1.name} * |p|^2"
        if shape.chance(0.5):
            k2 = k.array(f"{style}2", FLOAT32, "cams", low=-0.9, high=0.9)
            grow = grow + k2[cam] * r2 * r2
            text += f" + {k2.name} * |p|^4"
        scale = k.let("zoom scale", scale * grow)
    r = k.let("r res", make(VEC2, scale * px, scale * py) - seen.at(*at))
    text += f", times {focal.name}; the residual is that less {seen.name}. "
    return Title(k.name("bundle_residuals reprojection_error ba_residuals"), text + _kept(c, r))


def _rodrigues(k: KernelBuilder, vector: Expr, x: Expr) -> Expr:
    """A point turned by Rodrigues' formula."""
    v = k.let("rv rot_v", vector)
    p = k.let("p here", x)
    angle = k.let("theta angle", fn("length", v))
    axis = k.let("axis", fn("normalize", v))
    cosine, sine = k.let("cos_t", fn("cos", angle)), k.let("sin_t", fn("sin", angle))
    side = sine * fn("cross", axis, p)
    return cosine * p + side + (1.0 - cosine) * dot(axis, p) * axis


def _kept(c: Crowd, r: Var) -> str:
    """The residual, a robust cost of it, or both."""
    k = c.k
    way = c.shape.choice(("plain", "cost", "huber", "both"))
    if way == "plain":
        return f"Store the residual in {c.put('residuals res_out', r)}."
    square = k.let("sq r_sq", dot(r, r))
    if way == "both":
        text = f"Store the residual r in {c.put('residuals res_out', r)} and |r|^2 / 2 in "
        return f"{text}{c.put('costs cost_out', 0.5 * square)}."
    width = k.scalar("delta loss_scale", FLOAT32, 0.3, 1.0)
    if way == "cost":
        cost = width * width * fn("log", 1.0 + square / (width * width))
        name = c.put("costs cost_out", cost)
        return f"{name} gets {width.name}^2 * log(1 + |r|^2 / {width.name}^2), r the residual."
    w = k.let("weight w", k.lift(1.0, FLOAT32))
    with k.if_(square > width * width):
        k.assign(w, sqrt(width / sqrt(square)))
    name = c.put("residuals res_out", w * r)
    text = f"{name} gets the residual r times the root of its Huber weight, {width.name} / |r| "
    return f"{text}where |r| > {width.name}, else 1."

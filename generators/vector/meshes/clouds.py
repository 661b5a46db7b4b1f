"""Point clouds: nearest points, mean spacing, normals from neighbours, rows of a registration."""

from __future__ import annotations

from dataclasses import replace

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, most, sqrt, where
from generators.kit.masks import one_if
from generators.kit.sources import zero
from generators.program.dtypes import FLOAT32, INT32, Mat, Quat, Transform, Vec
from generators.program.expr import Expr, Var
from generators.vector.simulation.parts import Crowd, Points, crowd, others, points_of


@idiom
def chamfer_distance(k: KernelBuilder, level: int) -> Title:
    """The nearest point of another set, and its squared or robust distance: a side of Chamfer's."""
    c = crowd(k, level, flat=0.3)
    k.size("refs", 12, 20)
    shared = len(c.dims) > 1 and c.shape.chance(0.3)
    lead = () if shared else c.dims[:-1]
    p = c.points("points source pred", -1.5, 1.5)
    q = points_of(k, c.vec, "targets target_pts reference", -1.5, 1.5, (*lead, "refs"), level)
    own = c.at[: len(lead)]
    mine = k.let("x xi here", p.at(*c.at))
    best = k.let("best d2_min nearest", k.lift(1.0e30, c.scalar))
    keeps = c.shape.chance(0.6)
    who = k.let("arg best_j near_id", k.lift(-1, INT32)) if keeps else None
    valid = None
    if c.chance(0.3, 2):
        valid = k.array("num_targets lengths", INT32, c.dims[:1], low=8, high=24)
    stop: Expr = q.count
    if valid is not None:
        stop = k.let("stop last", fn("min", valid[c.at[0]], q.count))
    with k.for_("j t", stop) as j:
        d = c.maybe("d delta", q.at(*own, j) - mine)
        d2 = k.let("d2 dist_sq", dot(d, d) if isinstance(d, Var) else fn("length_sq", d))
        if who is not None:
            with k.if_(d2 < best):
                k.assign(best, d2)
                k.assign(who, j)
        else:
            k.assign(best, fn("min", best, d2))
    few = f", among the first {valid.name} of them" if valid is not None else ""
    text = f"For each point of {p.name}, find the nearest of {q.name}{few}. "
    told, out = _as_loss(c, best, who is None)
    if who is None:
        text += f"Store {told} in {out}."
        return Title(k.name("one_sided_chamfer nearest_distance chamfer_terms"), text)
    text += f"Store {told} in {out} and its index in {c.put('nearest_ids match_ids', who)} "
    text += "(of equally near ones the first)."
    return Title(k.name("nearest_points nearest_neighbors match_points"), text)


def _as_loss(c: Crowd, best: Var, robust: bool) -> tuple[str, str]:
    """The squared distance, the distance, or a robust cost of it; and where it is stored."""
    way = c.shape.choice(("square", "root", "square", "root", "huber" if robust else "root"))
    if way == "square":
        return "its squared distance", c.put("sq_dists dist2_out", best)
    if way == "root":
        return "its distance", c.put("dists dist_out", sqrt(best))
    width = c.k.scalar("huber_delta", c.scalar, 0.3, 0.6)
    dist = c.k.let("dist r", sqrt(best))
    cost = where(dist < width, 0.5 * best, width * (dist - 0.5 * width))
    name = c.put("costs loss_out", cost)
    return f"Huber's cost of its distance with threshold {width.name}", name


@idiom
def nearest_spacing(k: KernelBuilder, level: int) -> Title:
    """The mean distance to the few nearest points, which a sorted vector keeps: outlier tests."""
    c = crowd(k, level, flat=0.3)
    p = c.points("points positions cloud", -1.5, 1.5)
    few = c.shape.choice((2, 3, 4))
    kept = Vec(few, c.scalar)
    mine = k.let("x xi here", p.at(*c.at))
    best = k.let("best near_d2 lowest", make(kept, k.lift(1.0e30, c.scalar)))
    k.sizes[c.dims[-1]] = replace(k.sizes[c.dims[-1]], min=few + 1)
    with others(c, p, True, {"all": 1}) as j:
        d = c.maybe("d delta", p.at(*c.place(j)) - mine)
        d2 = k.let("d2 dist_sq", dot(d, d) if isinstance(d, Var) else fn("length_sq", d))
        if c.shape.chance(0.5):
            _bubble(k, best, d2, few)
        else:
            _shift(k, best, d2, few)
    root = c.shape.chance(0.7)
    total: Expr = sqrt(best[0]) if root else best[0]
    for n in range(1, few):
        total = total + (sqrt(best[n]) if root else best[n])
    mean = k.let("mean spacing", total / float(few))
    return _spacing_stored(c, p, best, (few, root, mean))


def _spacing_stored(c: Crowd, p: Points, best: Var, of: tuple[int, bool, Var]) -> Title:
    """What :func:`nearest_spacing` stores, and its text."""
    k, (few, root, mean) = c.k, of
    what = "distance" if root else "squared distance"
    text = f"For each point of {p.name}, find the {few} nearest other points. "
    way = c.shape.choice(("mean", "outlier", "last"))
    title = "nearest_spacing knn_mean_distance mean_knn_distance"
    if not root:
        title = "knn_mean_sq_distance mean_sq_spacing"
    if way == "outlier":
        title = "outlier_test knn_outliers mark_inliers"
        typical = (0.35 if c.vec.size == 2 else 0.75) + 0.03 * few
        typical = typical if root else typical * typical
        limit = k.scalar("max_spacing threshold", c.scalar, typical, 1.3 * typical)
        name = c.put("keep inliers", one_if(mean < limit))
        text += f"{name} gets 1 where their mean {what} is below {limit.name}, else 0 (an outlier)."
    elif way == "mean":
        names = "spacings mean_dist" if root else "sq_spacings mean_sq_dist"
        text += f"{c.put(names, mean)} gets their mean {what}."
    else:
        far = sqrt(best[few - 1]) if root else best[few - 1]
        outs = ("spacings mean_dist", "knn_radii kth_dist")
        outs = outs if root else ("sq_spacings mean_sq_dist", "sq_radii kth_sq_dist")
        text += f"Store their mean {what} in {c.put(outs[0], mean)} and the largest in "
        text += f"{c.put(outs[1], far)}."
    return Title(k.name(title), text)


def _bubble(k: KernelBuilder, best: Var, d2: Var, few: int) -> None:
    """Carry a value through a sorted vector, leaving the smaller of each pair behind."""
    held = k.let("carry held", d2)
    for n in range(few):
        with k.if_(held < best[n]):
            if n == few - 1:
                k.set(best, n, held)
                continue
            kept = k.let(f"old_{n}", best[n])
            k.set(best, n, held)
            k.assign(held, kept)


def _shift(k: KernelBuilder, best: Var, d2: Var, few: int) -> None:
    """Put a value in its place of a sorted vector, the rest moving up."""
    with k.if_(d2 < best[few - 1]):
        k.set(best, few - 1, most(best[few - 2], d2))
        for n in range(few - 2, 0, -1):
            k.set(best, n, fn("min", best[n], most(best[n - 1], d2)))
        k.set(best, 0, fn("min", best[0], d2))


@idiom
def cloud_normals(k: KernelBuilder, level: int) -> Title:
    """Normals of a cloud: covariance of neighbours, power iteration for its smallest direction."""
    c = crowd(k, level, space=3)
    p = c.points("points positions cloud", -1.0, 1.0)
    mat = Mat(3, 3, c.scalar)
    mine = k.let("x xi here", p.at(*c.at))
    squares = k.let("squares dd_sum", make(mat, k.lift(0.0, c.scalar)))
    shift = k.let("shift d_sum", zero(c.vec))
    # The point itself is one of its neighbourhood, with the offset 0.
    radius = k.scalar("radius reach", c.scalar, 0.9, 1.4) if c.shape.chance(0.5) else None
    total = k.let("w_sum weight" if radius else "num_in members", k.lift(1.0, c.scalar))
    # All points together have one covariance: only with a radius has each a surface of its own.
    ways = {"table": 3, "counted": 2, "rows": 1} | ({"all": 3} if radius is not None else {})
    with others(c, p, True, ways) as j:
        d = k.let("d delta", p.at(*c.place(j)) - mine)
        if radius is None:
            k.augment(squares, "add", fn("outer", d, d))
            k.augment(shift, "add", d)
            k.augment(total, "add", 1.0)
        else:
            with k.if_(dot(d, d) < radius * radius):
                w = k.let("w", 1.0 - dot(d, d) / (radius * radius))
                k.augment(squares, "add", w * fn("outer", d, d))
                k.augment(shift, "add", w * d)
                k.augment(total, "add", w)
    mean = k.let("mean center", shift / total)
    cov = k.let("cov c_mat", squares / total - fn("outer", mean, mean))
    return _cloud_normals_stored(c, k, cov, radius, p, mine)


def _cloud_normals_stored(
    c: Crowd, k: KernelBuilder, cov: Var, radius: Var | None, p: Points, mine: Var
) -> Title:
    """What :func:`cloud_normals` stores, and its text."""
    eye = k.scalar("viewpoint sensor", c.vec, -2.0, 2.0) if c.shape.chance(0.6) else None
    begun, begin = _first_guess(c, mine, eye)
    n = k.let("n normal v", begun)
    # A little more than the trace: where C is zero the start is kept.
    ridge = k.scalar("ridge reg", c.scalar, 0.001, 0.01)
    use = k.let("flip shifted", fn("diag", make(c.vec, fn("trace", cov) + ridge)) - cov)
    turns = k.scalar("num_iters iterations", INT32, 8, 12)
    with k.for_("it turn", turns):
        k.assign(n, fn("normalize", use * n))
    near = f" within {radius.name}, weighted by 1 - d^2 / {radius.name}^2" if radius else ""
    near += ", d being their distance from it" if radius else ""
    told = c.told[0].replace("all particles", "all points")
    text = (
        f"Estimate the normal of each point of {p.name}: C is the covariance of it and of "
        f"{told}{near}, and the direction v in which C is least is found by {turns.name} power "
        f"iterations with (trace(C) + {ridge.name}) * I - C from {begin}. "
    )
    text += f"Store v in {c.put('normals normals_out', n)}."
    return Title(k.name("cloud_normals estimate_normals pca_normals"), text)


def _first_guess(c: Crowd, mine: Var, eye: Expr | None) -> tuple[Expr, str]:
    """Where a normal's iteration starts: toward the sensor, or at a given normal."""
    if eye is not None:
        toward = f"the direction to {getattr(eye, 'name', '')} (so v stays on its side)"
        return fn("normalize", eye - mine), toward
    guess = c.array("rough_normals old_normals", c.vec, init="unit")
    return guess[c.at], f"its {guess.name}"


@idiom
def plane_rows(k: KernelBuilder, level: int) -> Title:
    """Point-to-plane registration: the residual and the row of six for each match, robust."""
    c = crowd(k, level, space=3, sizes=(32, 48))
    c.vec = vec = Vec(3, FLOAT32)
    p = points_of(k, vec, "source src_points points", -1.0, 1.0, c.dims, level)
    k.size("m", 20, 30)
    q = points_of(k, vec, "target dst_points", -1.0, 1.0, ("m",), level)
    normals = k.array("normals target_normals", vec, "m", init="unit")
    match = k.array("matches correspond nearest", INT32, c.dims, init="index_of:m")
    way = c.shape.choice(("pose", "quat", "plain"))
    moved: Expr = p.at(*c.at)
    said = p.name
    if way == "pose":
        pose = k.scalar("pose guess", Transform(FLOAT32), init="unit", low=-0.5, high=0.5)
        moved, said = fn("transform_point", pose, moved), f"{p.name} moved by {pose.name}"
    elif way == "quat":
        turn = k.scalar("rotation rot_q", Quat(FLOAT32), init="unit")
        shift = k.scalar("translation shift", vec, -0.5, 0.5)
        moved = fn("quat_rotate", turn, moved) + shift
        said = f"{p.name} turned by {turn.name} plus {shift.name}"
    x, j = k.let("x moved_p", moved), k.let("j m_id", match[c.at])
    n = k.let("n normal", normals[j])
    r = k.let("r residual", dot(n, x - q.at(j)))
    text = "Build the rows of a point-to-plane registration. For each point x of "
    text += f"{said} with the match j in {match.name}, the residual is r = dot(n, x - "
    text += f"{q.name}[j]) with n = {normals.name}[j]. "
    return _plane_rows_stored(c, r, k, x, n, text)


def _plane_rows_stored(c: Crowd, r: Var, k: KernelBuilder, x: Var, n: Var, text: str) -> Title:
    """What :func:`plane_rows` stores, and its text."""
    weight, words = _robust(c, r)
    row = k.let("axn turn_part", fn("cross", x, n))
    wide = Vec(6, FLOAT32)
    parts = make(wide, *(row[a] for a in range(3)), *(n[a] for a in range(3)))
    text += words
    if c.shape.chance(0.5):
        root = k.let("sw root_w", sqrt(weight)) if weight is not None else None
        jac = k.let("jac row6", parts)
        found: Expr = jac if root is None else root * jac
        text += f"Store (cross(x, n), n) in {c.put('jacobian rows_out', found)} and r in "
        text += f"{c.put('residuals r_out', r if root is None else root * r)}"
        text += ", both times sqrt(w)." if root is not None else "."
    else:
        jac = k.let("jac row6", parts)
        scale = r if weight is None else weight * r
        text += f"{c.put('gradients jtr', scale * jac)} gets {'w * ' * (weight is not None)}r * "
        text += "(cross(x, n), n)."
        if weight is not None and c.shape.chance(0.6):
            text += f" {c.put('weights w_out', weight)} gets w."
    return Title(k.name("plane_rows icp_rows point_to_plane"), text)


def _robust(c: Crowd, r: Var) -> tuple[Expr | None, str]:
    """The weight of a residual."""
    k = c.k
    way = c.shape.choice(("none", "huber", "tukey", "cauchy"))
    if way == "none":
        return None, ""
    width = k.scalar("delta robust_scale", FLOAT32, 0.3, 0.8)
    size = k.let("a_r size", abs(r))
    if way == "huber":
        found: Expr = where(size < width, k.lift(1.0, FLOAT32), width / size)
        return k.let(
            "w weight", found
        ), f"Its weight is w = 1 where |r| < {width.name}, else {width.name} / |r|. "
    if way == "cauchy":
        ratio = r / width
        found = 1.0 / (1.0 + ratio * ratio)
        return k.let("w weight", found), f"Its weight is w = 1 / (1 + (r / {width.name})^2). "
    w = k.let("w weight", k.lift(0.0, FLOAT32))
    with k.if_(size < width):
        u = k.let("u q_r", 1.0 - (r / width) * (r / width))
        k.assign(w, u * u)
    return w, f"Its weight is w = (1 - (r / {width.name})^2)^2, 0 if |r| >= {width.name}. "

"""Cameras: pinhole projection with distortion, and the 4 x 4 transforms of graphics."""

from __future__ import annotations

from collections.abc import Sequence

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, most
from generators.kit.naming import applied, held
from generators.kit.records import Part, record
from generators.kit.sites import Names
from generators.matrix.parts import Place, place, transpose
from generators.program.dtypes import FLOAT32, INT32, Mat, Quat, Scalar, Type, Vec, scalar_of
from generators.program.expr import Expr, Var, literal


def _lens(g: Place, scalar: Scalar, level: int) -> tuple[list[Expr], Expr | None]:
    """Focal lengths and centre, and the matrix that holds them, if any."""
    k = g.k
    way = g.shape.choice(("scalars", "mat", "struct" if level >= 2 else "mat", "vec"))
    if way == "mat":
        m = held(k, "kin cam", g.one("k_mat calibration", Mat(3, 3, scalar), 0.4, 2.0))
        return [m[0, 0], m[1, 1], m[0, 2], m[1, 2]], m
    if way == "vec":
        v = held(k, "cal lv", g.one("lens_params calib", Vec(4, scalar), 0.4, 2.0))
        return [v[c] for c in range(4)], None
    if way == "scalars" and g.chance(0.4):
        f = k.scalar("focal f", scalar, 0.8, 2.0)
        c = k.scalar("center principal", Vec(2, scalar), 0.2, 1.0)
        return [f, f, c[0], c[1]], None
    parts = {name: Part(name, scalar, 0.4, 2.0) for name in ("fx", "fy", "cx", "cy")}
    r = record(g, "Camera Intrinsics Pinhole", parts, float(way == "struct"), shared=True)
    return list(r.values.values()), None


def _before(g: Place, scalar: Scalar, level: int) -> Var:
    """The point before the camera, at depths of 1 to 4."""
    k, vec = g.k, Vec(3, scalar)
    way = g.shape.choice(("rigid", "quat") if level >= 2 else ("camera", "rigid"))
    if way == "camera":
        return g.let("q pc", g.read("cam_points points_cam", vec, 0.8, 2.0))
    p = k.let("p pt", g.read("points positions landmarks", vec, -1.0, 1.0))

    def pose(one: str, many: str, type_: Type, low: object, high: object, init: str = "") -> Expr:
        """Of the camera, of which each item of a batch has its own."""
        init = init or "uniform"
        if g.rank > 1:
            return g.read(many, type_, low, high, axes=(0,), init=init)
        return k.scalar(one, type_, low, high, init=init)

    shift = pose("translation t_cam", "translations", vec, 2.6, 3.4)
    if way == "quat":
        turn = pose("orientation camera_quat", "orientations", Quat(scalar), None, None, "unit")
        return g.let("q pc", fn("quat_rotate", turn, p) + shift)
    rot = held(k, "rot rm", pose("rotation rot_cam", "rotations", Mat(3, 3, scalar), -0.5, 0.5))
    return g.let("q pc", rot * p + shift)


def _divided(g: Place, names: Names, h: Expr) -> Var:
    """The first two components over the third."""
    vec = Vec(2, scalar_of(h.type))
    if g.chance(0.5):
        return g.let(names, make(vec, h[0] / h[2], h[1] / h[2]))
    inv = g.part("inv_w iw", 1.0 / h[2])
    return g.let(names, make(vec, h[0] * inv, h[1] * inv))


@idiom(depth=3)
def project_points(k: KernelBuilder, level: int) -> Title:
    """A pinhole camera: extrinsics, projection, distortion, residuals, Jacobians."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    g = place(k, "i tid pt_id")
    q = _before(g, scalar, level)
    lens, matrix = _lens(g, scalar, level)
    done = "Project 3D points, all before the camera, to pixels with a pinhole camera: with "
    done += g.told(q)
    if matrix is not None and shape.chance(0.5):
        h = g.let("h hom", matrix * q)
        uv = _divided(g, "uv px", h)
        done += f", {g.told(h, uv)}."
    else:
        matrix = None
        inv = g.part("inv_z iz", 1.0 / q[2]) if shape.chance(0.5) else None
        at = [q[c] / q[2] if inv is None else q[c] * inv for c in range(2)]
        first, second = g.k.draw.word.choice((("x", "y"), ("xn", "yn")))
        x, y = g.let(first, at[0], "x"), g.let(second, at[1], "y")
        done += f", {g.told(x, y)}"
        if level >= 3 and shape.chance(0.6):
            x, y, text = _distorted(g, x, y, level)
            done += text
        uv = g.let("uv px", make(Vec(2, scalar), lens[0] * x + lens[2], lens[1] * y + lens[3]))
        done += f", {g.told(uv)}."
    done += g.gets("pixels projected uvs", uv)
    if level >= 3:
        done += _residual(g, uv)
    # The derivative is that of the projection without distortion.
    if level >= 4 and matrix is None and "f = 1 +" not in done:
        done += _jacobian(g, q, lens, scalar)
    done += g.offer(
        (0, 1, 1, 2, 3)[level - 1],
        depth=("depths depth_out", lambda: q[2]),
        camera=("camera_points cam_points", lambda: q),
    )
    return Title(k.name("project_points pinhole_project project_to_pixels"), done)


def _distorted(g: Place, x: Var, y: Var, level: int) -> tuple[Var, Var, str]:
    """Radial, and sometimes tangential, distortion."""
    r2 = g.let("r2 rad2", x * x + y * y)
    k1 = g.one("k1 kappa1", r2.type, -0.3, -0.05)
    tangential = level >= 4 and g.chance(0.4)
    bend = k1 * r2
    if g.chance(0.5):
        bend = r2 * (k1 + r2 * g.one("k2 kappa2", r2.type, 0.02, 0.1))
    factor = g.let("f radial", 1.0 + bend)
    new_x, new_y = x * factor, y * factor
    if tangential:
        p1 = g.one("p1 tan1", r2.type, -0.1, 0.1)
        new_x = new_x + 2.0 * p1 * x * y
        new_y = new_y + p1 * (r2 + 2.0 * y * y)
    new = g.let("xd x_dist", new_x), g.let("yd y_dist", new_y)
    return *new, f", {g.told(r2, factor, *new)}"


def _residual(g: Place, uv: Expr) -> str:
    """The distance to what was seen, or half its square."""
    r = g.let("r residual", uv - g.read("observed detections keypoints", uv.type, -0.5, 2.0))
    if g.shape.chance(0.6):
        return g.gets("residuals errors", r, g.told(r)[4:])
    square = g.part("sq err2", dot(r, r))
    return g.gets("costs losses", 0.5 * square, f"0.5 * dot(r, r), {g.told(r)}")


def _jacobian(g: Place, q: Expr, lens: Sequence[Expr], scalar: Scalar) -> str:
    """The derivative of undistorted uv by q."""
    nil = literal(0, scalar)
    iz = g.k.let("iz2 z_inv", 1.0 / q[2])
    first = (lens[0] * iz, nil, -lens[0] * q[0] * iz * iz)
    second = (nil, lens[1] * iz, -lens[1] * q[1] * iz * iz)
    jac = g.let("jac d_uv", make(Mat(2, 3, scalar), *first, *second), "J")
    way = g.shape.choice(("velocity", "gradient", "covariance"))
    if way == "velocity":
        names, value = (
            "image_flow pixel_velocity",
            jac * g.read("velocities", Vec(3, scalar), -1.0, 1.0),
        )
    elif way == "gradient":
        sums = g.read("uv_grads adjoints", Vec(2, scalar), -1.0, 1.0)
        names, value = "point_grads back", transpose(jac) * sums
    else:
        mat = Mat(3, 3, scalar)
        cov = g.read("point_covs uncertainty", mat, -0.5, 0.5, init="well_conditioned")
        names, value = "pixel_covs spread", jac * cov * transpose(jac)
    f = f"{g.tell(lens[0])} * q[0] / q[2], {g.tell(lens[1])} * q[1] / q[2]"
    return g.gets(names, value, f"{g.tell(value)}, J the 2 x 3 derivative of ({f}) by q")


def _projected(g: Place, scalar: Scalar, level: int, v: Var) -> Expr:
    """Clip coordinates of a point before the camera: by a matrix, in perspective by its numbers,
    or orthographic."""
    mat, wide = Mat(4, 4, scalar), Vec(4, scalar)
    ways = ("given", "perspective", "orthographic") if level >= 2 else ("given",)
    way = g.shape.choice(ways)
    if way == "given":
        return g.one("proj projection", mat, -0.4, 0.8) * v
    if way == "orthographic":
        s = g.one("half_size half_extent", Vec(3, scalar), 1.0, 3.0)
        return make(Vec(3, scalar), v[0] / s[0], v[1] / s[1], -v[2] / s[2])
    bounds = {"focal": (0.8, 2.0), "near": (0.1, 0.5), "far": (6.0, 12.0)}
    parts = {name: Part(name, scalar, *bound) for name, bound in bounds.items()}
    r = record(g, "Camera Lens View", parts, 0.5 if level >= 3 else 0.0, shared=True)
    f, near, far = r.values.values()
    depth = ((far + near) * v[2] + 2.0 * far * near) / (near - far)
    return make(wide, f * v[0], f * v[1], depth, -v[2])


def _viewed(g: Place, scalar: Scalar, level: int, p: Expr) -> Var:
    """A vertex before the camera: by one matrix, by model and view, or in the camera's axes."""
    mat, vec, wide = Mat(4, 4, scalar), Vec(3, scalar), Vec(4, scalar)
    one = literal(1, scalar)
    hom = make(wide, p[0], p[1], p[2], one)
    way = g.shape.choice(("model", "both", "axes") if level >= 2 else ("model", "both"))
    if way == "model":
        return g.let("v view_p", g.one("model_view mv", mat, -1.0, 1.0) * hom, "v")
    if way == "both":
        world = g.let("w world_p", g.one("model world", mat, -1.0, 1.0) * hom, "w")
        v = g.let("v view_p", g.one("view camera_inv", mat, -1.0, 1.0) * world, "v")
        g.spoken[v.name] = "v", f"{g.spoken[v.name][1]}, {g.told(world)}"
        return v
    eye = g.k.scalar(("eye", "camera_pos"), vec, -0.6, 0.6)
    names = g.k.draw.word.choice((("right", "up", "back"), ("cam_x", "cam_y", "cam_z")))
    axes = [g.k.scalar(name, vec, init="unit") for name in names]
    r = g.let("r rel", p - eye)
    v = g.let("v view_p", make(wide, *(dot(axis, r) for axis in axes), one), "v")
    g.spoken[v.name] = "v", f"{g.spoken[v.name][1]}, {g.told(r)}, the three axes orthonormal"
    return v


@idiom(depth=3)
def view_transform(k: KernelBuilder, level: int) -> Title:
    """Vertices through model, view and projection; and what rasterizers do next."""
    shape = k.draw.shape
    g = place(k, "i tid vert")
    scalar = shape.weighted({FLOAT32: 6, Scalar("float64"): 1})
    vec = Vec(3, scalar)
    p = g.let("p pos", g.read("vertices positions points", vec, -1.0, 1.0))
    v = _viewed(g, scalar, level, p)
    clip = _projected(g, scalar, level, v)
    if clip.type == vec:
        n = g.let("n ndc", clip)
        done = "Transform vertices to device coordinates of an orthographic camera:"
        done += f" {g.told(n)}, with {g.told(v)}, {g.told(p)}.{g.gets('ndc_out ndc_pos', n)}"
        return Title(k.name("orthographic_view transform_vertices"), done)
    c = g.let("c clip", clip)
    done = f"Transform vertices to clip space: {g.told(c)}, with {g.told(v)}, {g.told(p)}."
    if level == 1 or shape.chance(0.3):
        done += g.gets("clip_out clip_pos", c)
    if level >= 2:
        ndc, more = _normalized(g, c, vec, level)
        done += more
    if level >= 3:
        done += _tested(g, c, scalar)
    if level >= 4:
        lit = level >= 5 or shape.chance(0.5)
        done += _shaded(g, vec) if lit else ""
        done += _on_screen(g, ndc, scalar) if level >= 5 or not lit else ""
    done += g.offer(
        (shape.integer(0, 1), 0, 1, 1, 1)[level - 1],
        depth=("depths w_out", lambda: c[3]),
    )
    return Title(k.name("view_transform transform_vertices project_vertices"), done)


def _normalized(g: Place, clip: Expr, vec: Vec, level: int) -> tuple[Expr, str]:
    """Division by w, which is at least some small value."""
    least = g.one("min_w near_w", vec.scalar, 0.05, 0.2)

    def build(body: BodyBuilder, c: Expr, low: Expr) -> Expr:
        inv = body.let("inv_w iw", 1.0 / most(c[3], low))
        return make(vec, c[0] * inv, c[1] * inv, c[2] * inv)

    args = {"c": clip, "w_floor": least}
    ndc = g.let("n ndc", applied(g.k, 0.6 * (level >= 3), "to_ndc perspective_divide", args, build))
    text = f"the device coordinates n = (c[0], c[1], c[2]) / max(c[3], {g.tell(least)}), whose"
    text += " divisor keeps what lies behind the camera finite"
    return ndc, g.gets("ndc_out ndc", ndc, text)


def _tested(g: Place, clip: Expr, scalar: Scalar) -> str:
    """Outcodes of the clip planes, or one flag for all of them."""
    k = g.k
    code = k.let("code visible", k.lift(0, INT32))
    if g.chance(0.5):
        for bit, axis in ((1, 0), (4, 1)):
            with k.if_(clip[axis] < -clip[3]):
                k.assign(code, code + bit)
            with k.if_(clip[axis] > clip[3]):
                k.assign(code, code + 2 * bit)
        text = "1 where c[0] < -c[3], plus 2 where c[0] > c[3], 4 where c[1] < -c[3], 8 where"
        return g.gets("outcodes clip_codes", code, f"{text} c[1] > c[3]")
    guard = g.one("guard margin", scalar, 0.7, 1.8)
    edge = k.let("edge bound", guard * abs(clip[3]))
    with k.if_(fn("and", abs(clip[0]) < edge, abs(clip[1]) < edge)):
        k.assign(code, 1)
    text = f"1 where |c[0]| and |c[1]| are below {g.tell(guard)} * |c[3]|, else 0"
    return g.gets("visible kept", code, text)


def _shaded(g: Place, vec: Vec) -> str:
    """Normals by their own matrix, lit by a lamp."""
    normal = g.read("normals vertex_normals", vec, init="unit")
    turn = g.one("normal_mat normal_matrix", Mat(3, 3, vec.scalar), -1.0, 1.0)
    m = g.let("m n_view", fn("normalize", turn * normal), "m")
    light = g.one("light light_dir", vec, -1.0, 1.0)
    lit = g.let("l lambert", dot(m, light), "l")
    ambient = g.one("ambient fill", vec.scalar, 0.1, 0.4)
    wrap = 0.5 * lit + 0.5
    value = ambient + (wrap * wrap if g.chance(0.4) else most(lit, 0.0))
    return g.gets("shading intensity", value, f"{g.tell(value)}, {g.told(lit, m)}")


def _on_screen(g: Place, n: Expr, scalar: Scalar) -> str:
    """Pixels of a viewport, y downward."""
    size = g.k.scalar("viewport resolution", Vec(2, scalar), 8.0, 64.0)
    at = make(size.type, 0.5 * (n[0] + 1.0) * size[0], 0.5 * (1.0 - n[1]) * size[1])
    return g.gets("pixels screen", at)

"""Cameras: pinhole projection with distortion, and the 4 x 4 transforms of graphics."""

from __future__ import annotations

from collections.abc import Sequence

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, most
from generators.kit.naming import applied, held
from generators.kit.records import Part, record
from generators.kit.sites import Names
from generators.kit.sources import unit_vector
from generators.kit.words import say
from generators.matrix.parts import Place, from_rows, place, transpose
from generators.program.dtypes import FLOAT32, INT32, Mat, Quat, Scalar, Vec, scalar_of
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
    p = k.let("p pt", g.read("points positions landmarks", vec, -1.0, 1.0))
    way = g.shape.choice(("rigid", "rigid", "shifted", "quat") if level >= 2 else ("shifted",))
    shift = g.one("translation t_cam", vec, 2.6, 3.4)
    if way == "shifted":
        return g.let("q pc", p + shift)
    if way == "quat":
        pose = k.scalar("orientation camera_quat", Quat(scalar), init="unit")
        rot: Expr = g.part("rot rm", fn("quat_to_matrix", pose))
    else:
        rot = held(k, "rot rm", g.one("rotation extrinsic", Mat(3, 3, scalar), -0.5, 0.5))
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
    done = f"Project 3D points to pixels with a pinhole camera: with {g.told(q)}"
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
    if level >= 4 and matrix is None:
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


def _projection(g: Place, scalar: Scalar, level: int) -> tuple[Expr, str]:
    """The projection: given, perspective of its numbers, or orthographic."""
    k, mat, wide = g.k, Mat(4, 4, scalar), Vec(4, scalar)
    ways = ("given", "perspective", "orthographic") if level >= 2 else ("given",)
    way = g.shape.choice(ways)
    nil, one = literal(0, scalar), literal(1, scalar)
    if way == "given":
        source = g.one("proj projection", mat, -0.4, 0.8)
        return held(k, "pm lens", source), g.tell(source)
    if way == "orthographic":
        s = held(k, "s ext", g.one("half_size extent", Vec(3, scalar), 1.0, 3.0))
        ortho = fn("diag", make(wide, one / s[0], one / s[1], -one / s[2], one))
        return k.let("pm ortho", ortho), g.tell(ortho)
    bounds = {"focal": (0.8, 2.0), "near": (0.1, 0.5), "far": (6.0, 12.0)}
    parts = {name: Part(name, scalar, *bound) for name, bound in bounds.items()}
    r = record(g, "Camera Lens View", parts, 0.5 if level >= 3 else 0.0, shared=True)
    f, near, far = r.values.values()
    depth = g.part("depth range_z", far - near)
    a = g.part("za c22", -(far + near) / depth)
    b = g.part("zb c23", -2.0 * far * near / depth)
    entries = ((f, nil, nil, nil), (nil, f, nil, nil), (nil, nil, a, b), (nil, nil, -one, nil))
    rows = [make(wide, *line) for line in entries]
    text = f"({', '.join(map(g.tell, rows))})"
    return k.let("pm persp", from_rows(k, mat, rows)), text


def _viewed(g: Place, scalar: Scalar, level: int) -> tuple[Expr, str]:
    """Model and view: given, or a camera that looks at a point."""
    k, mat, vec, wide = g.k, Mat(4, 4, scalar), Vec(3, scalar), Vec(4, scalar)
    way = g.shape.choice(("model", "both", "look") if level >= 3 else ("model", "both"))
    model = g.one("model world", mat, -1.0, 1.0)
    if way == "model":
        return held(k, "mm obj", model), g.tell(model)
    if way == "both":
        value = g.one("view camera_inv", mat, -1.0, 1.0) * model
        return k.let("mv model_view", value), g.tell(value)
    e = k.scalar(("eye", "camera_pos"), vec, 1.5, 3.0)
    aim = k.scalar(("look_at", "aim_point"), vec, -0.5, 0.5)
    back = k.let("z_axis back", fn("normalize", e - aim))
    side = k.let("x_axis side", fn("normalize", fn("cross", unit_vector(vec, 1), back)))
    top = k.let("y_axis top", fn("cross", back, side))
    rows = [make(wide, a[0], a[1], a[2], -dot(a, e)) for a in (side, top, back)]
    view = k.let("view_m look", from_rows(k, mat, [*rows, unit_vector(wide, 3)]))
    text = f"V * {g.tell(model)}, V the right-handed look-at matrix of a camera at {e.name}"
    text += f" that looks at {aim.name}, with (0, 1, 0) as the up direction"
    return k.let("mv model_view", view * model), text


@idiom(depth=3)
def view_transform(k: KernelBuilder, level: int) -> Title:
    """Vertices through model, view and projection; and what rasterizers do next."""
    shape = k.draw.shape
    g = place(k, "i tid vert")
    scalar = shape.weighted({FLOAT32: 6, Scalar("float64"): 1})
    vec = Vec(3, scalar)
    p = k.let("p pos", g.read("vertices positions points", vec, -1.0, 1.0))
    mv, text = _viewed(g, scalar, level)
    lens, lens_text = _projection(g, scalar, 1 if "look-at" in text else level)
    hom = make(Vec(4, scalar), p[0], p[1], p[2], literal(1, scalar))
    if shape.chance(0.5):
        value = k.let("mvp full", lens * mv) * hom
    else:
        value = lens * k.let("view_p cam_p", mv * hom)
    c = g.let("c clip", value)
    done = "Transform vertices to clip space: "
    done += f"c = P * M * (p, 1), with p = {say(k, p)}, M = {text}, P = {lens_text}."
    if level == 1 or shape.chance(0.3):
        done += g.gets("clip_out clip_pos", c)
    if level >= 2:
        ndc, more = _normalized(g, c, vec, level)
        done += more
    if level >= 3:
        done += _tested(g, c, scalar)
    if level >= 4:
        lit = level >= 5 or shape.chance(0.5)
        done += _shaded(g, mv, vec) if lit else ""
        done += _on_screen(g, ndc, scalar) if level >= 5 or not lit else ""
    done += g.offer(
        (shape.integer(0, 1), 0, 1, 1, 1)[level - 1],
        depth=("depths w_out", lambda: c[3]),
    )
    return Title(k.name("view_transform transform_vertices project_vertices"), done)


def _normalized(g: Place, clip: Expr, vec: Vec, level: int) -> tuple[Expr, str]:
    """Division by w, which is at least some small value."""

    def build(body: BodyBuilder, c: Expr) -> Expr:
        inv = body.let("inv_w iw", 1.0 / most(c[3], 0.1))
        return make(vec, c[0] * inv, c[1] * inv, c[2] * inv)

    ndc = g.let(
        "n ndc", applied(g.k, 0.6 * (level >= 3), "to_ndc perspective_divide", {"c": clip}, build)
    )
    return ndc, g.gets(
        "ndc_out ndc", ndc, "the device coordinates n = (c[0], c[1], c[2]) / max(c[3], 0.1)"
    )


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


def _shaded(g: Place, mv: Expr, vec: Vec) -> str:
    """Normals by the upper 3 x 3 part, lit by a lamp."""
    k = g.k
    n = k.let("nrm n_local", g.read("normals vertex_normals", vec, init="unit"))
    rows = [make(vec, mv[r, 0], mv[r, 1], mv[r, 2]) for r in range(3)]
    turned = k.let("turned n_view", k.let("upper linear", fn("matrix_from_rows", *rows)) * n)
    light = g.one("light sun", vec, -1.0, 1.0)
    lit = g.let("l lit lambert", dot(fn("normalize", turned), light))
    ambient = g.one("ambient fill", vec.scalar, 0.1, 0.4)
    wrap = 0.5 * lit + 0.5
    value = ambient + (wrap * wrap if g.chance(0.4) else most(lit, 0.0))
    text = f"{g.tell(value)}, l = dot(normalize(m), {g.tell(light)}), m = M's upper left 3 x 3 *"
    return g.gets("shading intensity", value, f"{text} {say(k, n)}")


def _on_screen(g: Place, n: Expr, scalar: Scalar) -> str:
    """Pixels of a viewport, y downward."""
    size = g.k.scalar("viewport resolution", Vec(2, scalar), 8.0, 64.0)
    at = make(size.type, 0.5 * (n[0] + 1.0) * size[0], 0.5 * (1.0 - n[1]) * size[1])
    return g.gets("pixels screen", at)

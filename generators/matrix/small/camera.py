"""Cameras: pinhole projection with distortion, residuals and Jacobians."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.matrix.small.extras import Extra, extras
from generators.matrix.small.grid import Grid, grid, held, say
from generators.program import ir
from generators.program.dtypes import Mat, Quat, Scalar, Type, Vec
from generators.program.expr import Expr, literal


@dataclass
class Lens:
    """Focal lengths and centre, or a matrix that holds them."""

    fx: Expr
    fy: Expr
    cx: Expr
    cy: Expr
    text: str
    matrix: Expr | None = None


def _lens(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> Lens:
    way = k.draw.shape.choice(("scalars", "mat", "struct" if level >= 2 else "mat", "vec"))
    if way == "mat":
        source = g.supply(
            ("k_mat", "intrinsics"), ("k_mats", "intrinsics"), Mat(3, 3, scalar), 0.4, 2.0
        )
        m = held(k, ("kin", "cam"), source)
        text = f"fx = K[0, 0], fy = K[1, 1], cx = K[0, 2], cy = K[1, 2] of K = {say(source)}"
        return Lens(m[0, 0], m[1, 1], m[0, 2], m[1, 2], text, m)
    if way == "vec":
        source = g.supply(("lens", "calib"), ("lenses", "calibs"), Vec(4, scalar), 0.4, 2.0)
        v = held(k, ("cal", "lv"), source)
        return Lens(v[0], v[1], v[2], v[3], f"(fx, fy, cx, cy) = {say(source)}")
    names = ("fx", "fy", "cx", "cy")
    if way == "struct":
        inits = [ir.FieldInit(name, scalar, "uniform", "0.4", "2.0") for name in names]
        fields: tuple[tuple[str, Type], ...] = tuple((f.name, f.type) for f in inits)
        struct = k.struct(k.name("Camera", "Intrinsics", "Pinhole"), *fields)
        cam = k.scalar(("camera", "cam"), struct, fields=inits)
        parts = [field(cam, name) for name in names]
        return Lens(parts[0], parts[1], parts[2], parts[3], f"fx, fy, cx, cy of {cam.name}")
    if k.draw.shape.chance(0.4):
        f = k.scalar(("focal", "f"), scalar, 0.8, 2.0)
        c = k.scalar(("center", "principal"), Vec(2, scalar), 0.2, 1.0)
        text = f"fx = fy = {f.name}, (cx, cy) = {c.name}"
        return Lens(f, f, c[0], c[1], text)
    found = [k.scalar((name,), scalar, 0.4, 2.0) for name in names]
    return Lens(found[0], found[1], found[2], found[3], "fx, fy, cx, cy as given")


def _placed(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> tuple[Expr, str]:
    """The point before the camera, at depths of 1 to 4."""
    vec, mat = Vec(3, scalar), Mat(3, 3, scalar)
    points = g.array(("points", "positions", "landmarks"), vec, -1.0, 1.0)
    p = k.let(("p", "pt"), points[g.index])
    away = make(vec, literal(0, scalar), literal(0, scalar), literal("3.0", scalar))
    way = k.draw.shape.choice(("rigid", "rigid", "shifted", "quat") if level >= 2 else ("shifted",))
    if way == "shifted":
        shift = g.supply(("offset", "t"), ("offsets", "shifts"), vec, -0.5, 0.5)
        return k.let(("q", "pc"), p + shift + away), f"q = {points.name} + {say(shift)} + (0, 0, 3)"
    shift = g.supply(("translation", "t"), ("translations", "shifts"), vec, -0.5, 0.5)
    if way == "quat":
        poses = g.array(("orientations", "attitudes"), Quat(scalar), init="unit")
        rot: Expr = k.let(("rot", "rm"), fn("quat_to_matrix", poses[g.index]))
        text = f"the rotation {poses.name}"
    else:
        given = g.supply(("rotation", "extrinsic"), ("rotations", "extrinsics"), mat, -0.5, 0.5)
        rot, text = held(k, ("rot", "rm"), given), say(given)
    value = rot * p + shift + away
    return k.let(("q", "pc"), value), f"q = {text} * {points.name} + {say(shift)} + (0, 0, 3)"


@idiom
def project_points(k: KernelBuilder, level: int) -> Title:
    """A pinhole camera: extrinsics, projection, distortion, residuals, Jacobians."""
    shape = k.draw.shape
    g = grid(k, None, "i", "tid", "pt_id")
    scalar = k.draw.wide_float_type()
    vec = Vec(2, scalar)
    q, place = _placed(k, g, scalar, level)
    lens = _lens(k, g, scalar, level)
    by_matrix = lens.matrix is not None and shape.chance(0.5)
    done = f"With {place}"
    if by_matrix:
        assert lens.matrix is not None
        h = k.let(("h", "hom"), lens.matrix * q)
        if shape.chance(0.5):
            uv = k.let(("uv", "px"), make(vec, h[0] / h[2], h[1] / h[2]))
        else:
            inv = k.let(("inv_w", "iw"), 1.0 / h[2])
            uv = k.let(("uv", "px"), make(vec, h[0] * inv, h[1] * inv))
        source = lens.text.rsplit(" = ", 1)[1]
        done += f" and h = {source} * q, uv = (h[0] / h[2], h[1] / h[2])"
    else:
        x, y, text = _normalized(k, q, scalar, level)
        done += f", {text}"
        if level >= 3 and shape.chance(0.6):
            x, y, text = _distorted(k, g, x, y, level)
            done += text
        made = make(vec, lens.fx * x + lens.cx, lens.fy * y + lens.cy)
        uv = k.let(("uv", "px"), made)
        done += f", uv = (fx * x + cx, fy * y + cy) with {lens.text}"
    target = g.write(("pixels", "projected", "uvs"), uv)
    done += f". {target.name} gets uv."
    if level >= 3:
        done += _residual(k, g, uv, level)
    if level >= 4 and not by_matrix:
        done += _jacobian(k, g, q, lens, scalar, level)
    menu = {
        "depth": Extra(("depths", "depth_out"), lambda: q[2], "q[2]"),
        "inverse": Extra(("inv_depth", "disparity"), lambda: 1.0 / q[2], "1 / q[2]"),
        "range": Extra(("ranges", "distances"), lambda: fn("length", q), "the length of q"),
        "radial": Extra(
            ("radial", "off_axis"),
            lambda: fn("sqrt", q[0] * q[0] + q[1] * q[1]) / q[2],
            "sqrt(q[0]^2 + q[1]^2) / q[2]",
        ),
        "camera": Extra(("camera_points", "local_points"), lambda: q, "q"),
    }
    done += extras(g, menu, (0, 1, 1, 2, 3)[level - 1])
    return Title(k.name("project_points", "pinhole_project", "to_pixels", "camera_project"), done)


def _normalized(k: KernelBuilder, q: Expr, scalar: Scalar, level: int) -> tuple[Expr, Expr, str]:
    if k.draw.shape.chance(0.5):
        inv = k.let(("inv_z", "iz"), 1.0 / q[2])
        x, y = q[0] * inv, q[1] * inv
    else:
        x, y = q[0] / q[2], q[1] / q[2]
    names = k.draw.word.choice(("x y", "xn yn")).split()
    return k.let(names[0], x), k.let(names[1], y), "x = q[0] / q[2], y = q[1] / q[2]"


def _distorted(k: KernelBuilder, g: Grid, x: Expr, y: Expr, level: int) -> tuple[Expr, Expr, str]:
    """Radial, and sometimes tangential, distortion."""
    r2 = k.let(("r2", "rad2"), x * x + y * y)
    k1 = g.supply(("k1", "kappa1"), ("k1s",), r2.type, -0.3, -0.05)
    tangential = level >= 4 and k.draw.shape.chance(0.4)
    if k.draw.shape.chance(0.5):
        k2 = g.supply(("k2", "kappa2"), ("k2s",), r2.type, 0.02, 0.1)
        factor = k.let(("radial", "dist"), 1.0 + r2 * (k1 + r2 * k2))
        text = f"; x and y times 1 + r2 * ({say(k1)} + {say(k2)} * r2)"
    else:
        factor = k.let(("radial", "dist"), 1.0 + k1 * r2)
        text = f"; x and y times 1 + {say(k1)} * r2"
    text += ", r2 = x * x + y * y"
    new_x, new_y = x * factor, y * factor
    if tangential:
        p1 = g.supply(("p1", "tan1"), ("p1s",), r2.type, -0.1, 0.1, False)
        new_x = new_x + 2.0 * p1 * x * y
        new_y = new_y + p1 * (r2 + 2.0 * y * y)
        text += f"; then 2 * {say(p1)} * x * y added to x and {say(p1)} * (r2 + 2 * y * y) to y"
    names = k.draw.word.choice(("xd yd", "x_dist y_dist")).split()
    return k.let(names[0], new_x), k.let(names[1], new_y), text


def _residual(k: KernelBuilder, g: Grid, uv: Expr, level: int) -> str:
    seen = g.array(("observed", "detections", "keypoints"), uv.type, -0.5, 2.0)
    r = k.let(("r", "residual"), uv - seen[g.index])
    way = k.draw.shape.choice(("plain", "squares", "huber"))
    if way == "plain":
        target = g.write(("residuals", "errors"), r)
        return f" {target.name} gets uv - {seen.name}."
    square = k.let(("sq", "err2"), fn("dot", r, r))
    if way == "squares":
        target = g.write(("costs", "losses"), 0.5 * square)
        return f" {target.name} gets half the squared length of uv - {seen.name}."
    scalar = square.type
    delta = g.supply(("delta", "huber_delta"), ("deltas",), scalar, 0.5, 1.5)
    cost = k.let(("cost", "rho"), 0.5 * square)
    with k.if_(square > delta * delta):
        k.assign(cost, delta * (fn("sqrt", square) - 0.5 * delta))
    target = g.write(("costs", "losses"), cost)
    return (
        f" With e the length of uv - {seen.name}, {target.name} gets e * e / 2, or where e exceeds"
        f" d = {say(delta)}: d * (e - d / 2)."
    )


def _jacobian(k: KernelBuilder, g: Grid, q: Expr, lens: Lens, scalar: Scalar, level: int) -> str:
    """The derivative of undistorted uv by q."""
    mat = Mat(2, 3, scalar)
    nil = literal(0, scalar)
    iz = k.let(("iz2", "z_inv"), 1.0 / q[2])
    first = (lens.fx * iz, nil, -lens.fx * q[0] * iz * iz)
    second = (nil, lens.fy * iz, -lens.fy * q[1] * iz * iz)
    jac = k.let(("jac", "d_uv"), make(mat, *first, *second))
    text = "the 2 x 3 derivative of (fx q[0] / q[2], fy q[1] / q[2]) by q"
    way = k.draw.shape.choice(("velocity", "gradient", "covariance"))
    if way == "velocity":
        moves = g.array(("velocities", "flows"), Vec(3, scalar), -1.0, 1.0)
        target = g.write(("image_flow", "pixel_velocity"), jac * moves[g.index])
        return f" {target.name} gets J * {moves.name}, J {text}."
    if way == "gradient":
        sums = g.array(("uv_grads", "adjoints"), Vec(2, scalar), -1.0, 1.0)
        target = g.write(("point_grads", "back"), fn("transpose", jac) * sums[g.index])
        return f" {target.name} gets transpose(J) * {sums.name}, J {text}."
    covs = g.array(("point_covs", "uncertainty"), Mat(3, 3, scalar), -0.5, 0.5, "well_conditioned")
    target = g.write(("pixel_covs", "spread"), jac * covs[g.index] * fn("transpose", jac))
    return f" {target.name} gets J * {covs.name} * transpose(J), J {text}."

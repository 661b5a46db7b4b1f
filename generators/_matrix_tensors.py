"""Tensors in another frame: rotated, projected or scaled, and inertia about another point."""

from __future__ import annotations

from generators._matrix_products import SUMMARIES
from generators.build import KernelBuilder, fn
from generators.dtypes import Mat, Quat, Scalar, Type, Vec
from generators.expr import Expr, Var
from generators.pieces import (
    constant,
    extra_output,
    fine,
    shown,
    thread,
    times_identity,
    tuned,
)
from generators.registry import Title

_FRAMES = {
    "rotated": lambda f: fn("quat_to_matrix", f),
    "scaled": lambda f: fn("diag", f),
    "mapped": lambda f: f,
    "projected": lambda f: f,
}
_FRAME_TEXT = {
    "rotated": "the rotation matrix of quaternion",
    "scaled": "the diagonal matrix of",
    "mapped": "the matrix",
    "projected": "the 2 x 3 matrix",
}


def _frames(k: KernelBuilder, form: str, n: str, scalar: Scalar) -> Var:
    if form == "rotated":
        return k.array(("rotations", "orientations"), Quat(scalar), n, init="unit")
    frame: Type = Vec(3, scalar)
    names: tuple[str, ...] = ("offsets", "arms", "axes")
    if form == "projected":
        frame, names = Mat(2, 3, scalar), ("jacobians", "projections", "j")
    elif form == "mapped":
        frame, names = Mat(3, 3, scalar), ("transitions", "maps", "gradients")
    return k.array(names, frame, n, low=-1.0, high=1.0)


def _inertia(k: KernelBuilder, m: Var, offset: Expr, name: str) -> tuple[Expr, str]:
    """The parallel axis theorem, by a skew matrix or by dot and outer products."""
    assert isinstance(m.type, Mat)
    weight = tuned(k, ("mass", "weight"), m.type.scalar, 0.3, 2.0)
    text = shown(weight)
    if isinstance(weight, Expr):
        share = fine(k, 0.2, 0.95)
        weight, text = share * weight, f"{share} * {text}"
    if k.draw.shape.chance(0.5):
        arm = k.let(("cross_arm", "sk"), fn("skew", offset))
        return m - weight * (arm * arm), f"c = m - {text} * s * s with s = skew({name}[i])"
    d = k.let(("d", "arm"), offset)
    moved = times_identity(m.type, fn("dot", d, d)) - fn("outer", d, d)
    formula = f"c = m + {text} * (dot(d, d) * I - outer(d, d))"
    return m + weight * moved, f"{formula} with d = {name}[i]"


def _framed(k: KernelBuilder, m: Var, r: Var) -> tuple[Expr, str]:
    """r * m * transpose(r) or its inverse, with a factor, a ridge, or a share of m."""
    assert isinstance(r.type, Mat)
    assert isinstance(m.type, Mat)
    square = r.type == m.type
    rt = fn("transpose", r)
    back = square and k.draw.shape.chance(0.3)
    value, text = (rt * m * r, "transpose(r) * m * r") if back else (r * m * rt, "")
    text = text or "r * m * transpose(r)"
    forms = ("scaled", "ridge", "gram", *(("drift", "relative") if square else ()))
    form, c = k.draw.shape.choice(forms), fine(k, 0.1, 0.98)
    if form == "scaled":
        return c * value, f"c = {c} * {text}"
    if form == "gram":
        return value + c * (r * rt), f"c = {text} + {c} * r * transpose(r)"
    if form == "drift":
        return value - c * m, f"c = {text} - {c} * m"
    if form == "relative":
        return value + c * (r * m), f"c = {text} + {c} * r * m"
    size = r.type.cols if back else r.type.rows
    return value + times_identity(Mat(size, size, m.type.scalar), c), f"c = {text} + {c} * I"


def congruence(k: KernelBuilder, level: int) -> Title:
    """R * M * transpose(R) and sums of outer products: tensors, covariances, inertia."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    n = k.size("n", 48, 80)
    form = shape.choice(("rotated", "projected", "inertia", "scaled", "mapped"))
    inner = Mat(3, 3, scalar)
    tensors = k.array(("tensors", "covariances", "m", "inertias"), inner, n, low=-1.0, high=1.0)
    frames = _frames(k, form, n, scalar)
    result = Mat(2, 2, scalar) if form == "projected" else inner
    out = k.out(("out", "transformed", "world_tensors"), result, n)
    i = thread(k, n, "i", "tid", "e")
    m = k.let(("m", "mat", "tensor"), tensors[i])
    done = f"For each m of {tensors.name}"
    if level >= 2:
        k.assign(m, 0.5 * (m + fn("transpose", m)))
        done += ", made symmetric as 0.5 * (m + transpose(m)),"
    if level >= 3 and shape.chance(0.6):
        cut, limit = constant(k, 0.2, 0.6), constant(k, 1.5, 2.5)
        with k.if_(fn("ddot", m, m) > limit):
            k.assign(m, cut * m)
        done += f" multiplied by {cut} where the sum of its squares exceeds {limit},"
    if form == "inertia":
        value, text = _inertia(k, m, frames[i], frames.name)
        c = k.let(("moved", "shifted", "total"), value)
        done += f" compute {text}"
    else:
        r = k.let(("r", "rot", "f"), _FRAMES[form](frames[i]))
        value, text = _framed(k, m, r)
        c = k.let(("c", "moved", "turned"), value)
        done += f" compute {text}, r being {_FRAME_TEXT[form]} {frames.name}[i]"
    if level >= 3:
        done += _rank_one(k, c)
    k.store(out, i, c)
    done += "."
    if level >= 2:
        what = shape.choice(("trace", "determinant", "Frobenius norm squared"))
        names, summary = SUMMARIES[what]
        done += extra_output(k, level - 1, names, (n, i), summary(c), f"the {what} of c")
    return Title(k.name("rotate_tensors", "transform_tensors", f"{form}_tensors"), done)


def _rank_one(k: KernelBuilder, c: Var) -> str:
    """Add weighted outer products of a few shared vectors."""
    assert isinstance(c.type, Mat)
    vec = Vec(c.type.rows, c.type.scalar)
    modes = k.array(("modes", "directions", "samples"), vec, k.size("m", 2, 5), low=-1.0, high=1.0)
    count = k.trip_count(("mode_count", "num_modes"), "m")
    weight = constant(k, 0.2, 0.8)
    with k.for_(("s", "mode"), count) as s:
        mode = k.let(("u", "d"), modes[s])
        k.augment(c, "add", weight * fn("outer", mode, mode))
    return f"; add {weight} * outer(u, u) for every u in {modes.name}"

"""Attitude from two directions: frames of three axes, the rotation between them, its use."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var, op
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    Rig,
    inlined,
    is_set,
    mask,
    rig,
    told,
    unit,
    unless,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.reports import reported


def _axes(b: BodyBuilder, first: Expr, second: Expr) -> tuple[Expr, Expr, Expr]:
    """Three unit axes: along the first, across both, and the one that is left."""
    t1 = b.let(("t1", "along", "e1"), unit(first))
    t2 = b.let(("t2", "across", "e2"), unit(fn("cross", t1, second)))
    return t1, t2, fn("cross", t1, t2)


def _measured(r: Rig, level: int) -> Record:
    slots = {
        "sun": Slot(("sun", "acc"), ("sun_dirs", "gravity_dirs"), r.vec, -2.0, 2.0),
        "mag": Slot(("mag", "star"), ("mag_dirs", "star_dirs"), r.vec, -2.0, 2.0),
    }
    return Record(
        r, slots, as_struct=r.k.draw.shape.chance(0.3 + 0.06 * level),
        struct=("Sighting", "Reading", "Measurement"), arrays=("sightings", "readings"),
        local=("reading", "seen"),
    )  # fmt: skip


@idiom
def triad_attitude(k: KernelBuilder, level: int) -> Title:
    """The attitude in which two measured directions match two known ones."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "epoch"), ("orbit", "unit", "run"),
            scalar=FLOAT32 if shape.chance(0.75) else None)  # fmt: skip
    seen = _measured(r, level)
    direct = level == 1 and shape.chance(0.5)
    s1, s2 = seen["sun"], seen["mag"]
    done = f"Of a = {seen.told('sun')} and b = {seen.told('mag')}"
    if shape.chance(0.5):
        bias = r.given(("mag_biases", "hard_iron"), ("mag_bias",), r.vec, -0.3, 0.3)
        s2 = k.let(("corrected", "mag_c"), s2 - bias)
        done += f" - {told(bias)}"
    build = _frame(r)
    names = ("triad", "frame_of")
    doc = "Frame of two directions."
    chance = 0.0 if direct or level < 2 else 0.75
    framed = inlined(k, chance, names, [("first", s1), ("second", s2)], build, doc)
    body = k.let(("body", "m_body", "seen_frame"), framed)
    done += ", the frame has the columns t = normalize(a), u = normalize(cross(t, b)) and "
    done += "cross(t, u)"
    rotation: Expr = body
    if not direct:
        r1 = r.given(("ref_suns", "known_a"), ("ref_sun", "known_first"), r.vec, -2.0, 2.0,
                     forms=MOSTLY_ARRAY)  # fmt: skip
        r2 = r.given(("ref_mags", "known_b"), ("ref_mag", "known_second"), r.vec, -2.0, 2.0,
                     forms=MOSTLY_ARRAY)  # fmt: skip
        if chance and k.functions:
            value: Expr = k.call(k.functions[-1].name, r1, r2)
        else:
            value = build(k, r1, r2)
        ref = k.let(("ref", "m_ref", "known_frame"), value)
        rotation = ref * fn("transpose", body)
        done += (
            f"; R is the same frame of {told(r1)} and {told(r2)} times the transpose of this one"
        )
    else:
        done += "; R is this frame"
    q = k.let(("q", "attitude", "rot"), fn("quat_from_matrix", rotation))
    done += ", q its quaternion (w positive for a positive trace, else the component of the "
    done += "largest diagonal entry)."
    if level == 1 and shape.chance(0.5):
        mount = r.given(("mounts",), ("mount", "sensor_rot"), r.quat, init="unit",
                        forms=MOSTLY_ARRAY)  # fmt: skip
        left = shape.chance(0.5)
        k.assign(q, mount * q if left else q * mount)
        done += f" q is multiplied by {told(mount)} from the {'left' if left else 'right'}."
    if level >= 2:
        k.assign(q, unit(q))
        done += " q is normalized."
        done += _fused(r, level, q)
    done += f" {r.store(('attitudes', 'rotations', 'q_out'), q).name} gets q."
    if level >= 3:
        done += reported(r, q, 1, level - 2)
    if level >= 4:
        done += _checked(r, level, q, s1)
    return Title(k.name("triad_attitude", "two_vector_attitude", "fix_attitude", "triad"), done)


def _frame(r: Rig) -> Callable[..., Expr]:
    as_rows = r.k.draw.shape.chance(0.3)

    def build(b: BodyBuilder, first: Expr, second: Expr) -> Expr:
        axes = _axes(b, first, second)
        if as_rows:
            rows = b.let(("rows", "stacked"), fn("matrix_from_rows", *axes))
            return fn("transpose", rows)
        return fn("matrix_from_cols", *axes)

    return build


def _fused(r: Rig, level: int, q: Var) -> str:
    """Blend with what was predicted, or take up only the turn about one axis."""
    k, shape = r.k, r.k.draw.shape
    forms = ["slerp", "delta"] + (["heading"] if r.scalar == FLOAT32 else [])
    form = shape.choice(forms)
    before = r.given(("predicted", "last_attitudes", "q_prior"), (), r.quat, init="unit",
                     forms={"each": 1})  # fmt: skip
    if form != "heading":
        share = r.given(("trusts", "gains"), ("trust", "gain"), r.scalar, 0.1, 0.8)
    if form == "slerp":
        k.assign(q, fn("quat_slerp", before, q, share))
        return f" q becomes the slerp from {told(before)} to q by {told(share)} (the short way)."
    error = k.let(("delta", "err"), fn("quat_inverse", before) * q)
    if form == "heading":
        axis = r.given(("ups", "spin_axes"), ("up", "spin_axis"), r.vec, init="unit",
                       forms=MOSTLY_ARRAY)  # fmt: skip
        turn = k.let(("turn", "heading_err"), fn("quat_twist", axis, error))
        k.assign(q, unit(before * turn))
        name = told(before)
        return (
            f" With d = inverse({name}) * q, q becomes normalize({name} * t), t being the twist of "
            f"d about {told(axis)}: normalize(dot(dv, a) * a, dw)."
        )
    v = k.let(("dv", "small"), share * r.imaginary(error))
    if shape.chance(0.5):
        with k.if_(error[3] < 0.0):
            k.assign(v, -v)
    else:
        k.augment(v, "mul", fn("sign", error[3]))
    k.assign(q, unit(before * r.with_real(v, 1.0)))
    return f" With d = inverse({told(before)}) * q, q becomes normalize({told(before)} * (s * " \
        f"{told(share)} * dv, 1)), s being the sign of dw."  # fmt: skip


def _checked(r: Rig, level: int, q: Var, measured: Expr) -> str:
    """How well a known direction, seen from the attitude, fits the measured one."""
    k, shape = r.k, r.k.draw.shape
    known = r.given(("catalog", "expected_dirs"), ("expected",), r.vec, init="unit",
                    forms=MOSTLY_ARRAY)  # fmt: skip
    local = k.let(("local", "predicted_dir"), fn("quat_rotate_inv", q, known))
    fit = k.let(("fit", "cosine"), fn("dot", local, unit(measured)))
    text = f"the dot product of normalize(a) with {told(known)} rotated by the inverse of q"
    condition: Expr = fit > 0.0
    shown = f"{text} is positive"
    if level >= 5:
        flag = mask(r, ("usable", "lit"), ("usable",))
        condition, shown = op("and", flag, condition), f"{is_set(flag)} and {shown}"
    if shape.chance(0.5):
        out = r.store(("accepted", "good"), condition)
        return f" {out.name} gets whether {shown}."
    with k.if_(unless(condition)):
        k.assign(fit, 0.0)
    return f" {r.store(('fits', 'qualities'), fit).name} gets {text} where {shown}, else 0."

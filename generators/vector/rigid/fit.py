"""Point sets laid over each other: residuals of a pose, their weights, costs and gradients."""

from __future__ import annotations

from typing import NamedTuple

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import (
    Rig,
    inlined,
    is_unset,
    mask,
    maybe_named,
    rig,
    told,
    unless,
)
from generators.vector.rigid.spatial import six


class Pair(NamedTuple):
    """A source point, its partner, the partner's normal and weight or none; and their names."""

    source: Expr
    target: Expr
    normal: Expr | None
    weight: Expr | None
    text: str
    weight_text: str = ""


def _points(r: Rig, level: int) -> Pair:
    """Where the two points of a pair come from."""
    k, shape = r.k, r.k.draw.shape
    one = len(r.dims) == 1
    home = {"each": 1} if one else {"last": 1}
    planes = shape.chance(0.45)
    matched = level >= 2 and shape.chance(0.4)
    source = r.given(("source", "scan", "moving"), (), r.vec, -1.5, 1.5, forms=home)
    dims = ("c",) if matched else r.place("last")[0]
    at: tuple[Expr, ...] = r.place("last")[1]
    number = ""
    if matched:
        k.size("c", 12, 20)
        ids = r.given(("nearest", "matches", "pairs"), (), INT32, init="index_of:c", forms=home)
        number = f" at {told(ids)}"
        at = (k.let(("partner", "j_near", "match"), ids),)
    if shape.chance(0.25 + 0.06 * level) and (planes or level > 1):
        fields = [FieldInit("point", r.vec, "uniform", "-1.5", "1.5")]
        fields += [FieldInit("normal", r.vec, "unit")] if planes else []
        if not planes:
            fields.append(FieldInit("weight", r.scalar, "uniform", "0.2", "1.5"))
        struct = k.struct(k.name("Surfel", "Anchor"), *((f.name, f.type) for f in fields))
        items = k.array(("surfels", "model"), struct, dims, fields=fields)
        item = k.let(("surfel", "target_item"), items[at])
        text, goal = f"{told(source)} and point of {items.name}{number}", field(item, "point")
        if planes:
            return Pair(source, goal, field(item, "normal"), None, text)
        return Pair(source, goal, None, field(item, "weight"), text, f"weight of {items.name}")
    target = k.array(("target", "model", "fixed_points"), r.vec, dims, low=-1.5, high=1.5)
    text = f"{told(source)} and {target.name}{number}"
    if not planes:
        return Pair(source, target[at], None, None, text)
    normals = k.array(("normals", "target_normals"), r.vec, dims, init="unit")
    return Pair(source, target[at], normals[at], None, f"{text} (normals {normals.name})")


@idiom
def point_registration(k: KernelBuilder, level: int) -> Title:
    """Residuals between moved points and their partners, robust weights, costs and gradients."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "p"), ("cand", "hyp", "guess"), grids={1: 2, 2: 4},
            scalar=FLOAT32 if shape.chance(0.7) else None)  # fmt: skip
    forms = {"shared": 1} if len(r.dims) == 1 else {"first": 4, "each": 1}
    pose = r.given(("poses", "candidates", "estimates"), ("pose", "estimate"), r.pose, -0.5, 0.5,
                   init="unit", forms=forms)  # fmt: skip
    inverse = shape.chance(0.25)
    pair = _points(r, level)
    p, normal = pair.source, pair.normal
    if level > 1 or shape.chance(0.5):
        p = k.let(("p", "src", "x"), p)
    tf: Expr = fn("transform_inverse", pose) if inverse else pose
    if inverse and shape.chance(0.6):
        tf = k.let(("to_model", "inv"), tf)
    y = k.let(("y", "moved", "q"), fn("transform_point", tf, p))
    done = f"Of the pairs of points p and g in {pair.text}, p moved by "
    done += f"{'the inverse of ' if inverse else ''}{told(pose)} is y."
    gap = k.let(("gap", "diff", "e"), y - pair.target)
    if normal is not None:
        n = k.let(("n", "nrm"), normal)
        res = k.let(("res", "dist", "residual"), fn("dot", n, gap))
        done += " The residual s is dot(n, y - g)"
    else:
        n = None
        res = None
        done += " The residual e is y - g"
    if level >= 2:
        return _weighted(r, level, done, (y, gap), (n, res), pair)
    if res is not None:
        value: Expr = res
        form = shape.choice(("plain", "square", "size"))
        if form != "plain":
            value = fn("abs", res) if form == "size" else res * res
        out = r.store(("residuals", "errors", "distances"), value)
        what = {"plain": "s", "square": "s * s", "size": "|s|"}[form]
        return Title(k.name("plane_residuals", "icp_residuals"), f"{done}; {out.name} gets {what}.")
    form = shape.choice(("vector", "square", "length", "half"))
    values: dict[str, tuple[Expr, str]] = {
        "vector": (gap, "e"),
        "square": (fn("length_sq", gap), "|e|^2"),
        "length": (fn("length", gap), "|e|"),
        "half": (0.5 * fn("dot", gap, gap), "dot(e, e) / 2"),
    }
    out = r.store(("residuals", "errors", "gaps"), values[form][0])
    done = f"{done}; {out.name} gets {values[form][1]}."
    return Title(k.name("point_residuals", "icp_residuals"), done)


def _kernel_of(r: Rig, level: int, square: Var) -> tuple[Expr, str]:
    """The weight of a robust loss at a squared residual."""
    k, shape = r.k, r.k.draw.shape
    width = r.given((), ("width", "scale_c"), r.scalar, 0.8, 2.0, forms={"shared": 1})
    form = shape.choice(("cauchy", "welsch", "huber", "tukey", "german"))
    texts = {
        "cauchy": "1 / (1 + r2 / {0}^2)",
        "welsch": "exp(-r2 / {0}^2)",
        "huber": "{0} / max(sqrt(r2), {0})",
        "tukey": "max(1 - r2 / (4 * {0}^2), 0)^2",
        "german": "1 / (1 + r2 / {0}^2)^2",
    }

    def build(b: BodyBuilder, r2: Expr, c: Expr) -> Expr:
        if form == "huber":
            return c / fn("max", fn("sqrt", r2), c)
        if form == "tukey":
            part = b.let(("part", "inside"), fn("max", 1.0 - r2 / (4.0 * c * c), 0.0))
            return part * part
        ratio = maybe_named(b, ("ratio", "rel"), r2 / (c * c), 0.5)
        if form == "welsch":
            return fn("exp", -ratio)
        if form == "cauchy":
            return 1.0 / (1.0 + ratio)
        base = b.let(("base", "den"), 1.0 + ratio)
        return 1.0 / (base * base)

    chance = 0.6 * (level >= 3)
    doc = "Weight of a residual, by its square."
    names = ("robust_weight", f"{form}_weight")
    value = inlined(k, chance, names, [("r2", square), ("c", width)], build, doc)
    return value, texts[form].format(told(width))


def _weighted(
    r: Rig,
    level: int,
    done: str,
    moved: tuple[Var, Var],
    plane: tuple[Var | None, Var | None],
    pair: Pair,
) -> Title:
    k, shape = r.k, r.k.draw.shape
    (y, gap), (n, res) = moved, plane
    square = k.let(("r2", "sq", "err_sq"), res * res if res is not None else fn("dot", gap, gap))
    weight, text = _kernel_of(r, level, square)
    w = k.let(("w", "weight_r", "robust"), weight)
    done += f"; r2 is its square, and w = {text}"
    if pair.weight is not None:
        k.augment(w, "mul", pair.weight)
        done += f", times {pair.weight_text}"
    elif level >= 3 and shape.chance(0.5):
        trust = r.given(("confidences", "trust"), (), r.scalar, 0.2, 1.5,
                        forms={"last": 2, "each": 1})  # fmt: skip
        k.augment(w, "mul", trust)
        done += f", times {told(trust)}"
    if level >= 3 and shape.chance(0.6):
        done += _gated(r, square, w)
    cost = w * square
    if level >= 4 or shape.chance(0.5):
        done += f". {r.store(('costs', 'losses', 'energies'), cost).name} gets w * r2"
    else:
        done += f". {r.store(('weights_out', 'robust_w'), w).name} gets w"
    if level >= 3:
        done += _gradient(r, level, y, gap, n, res, w)
    if level >= 5:
        done += _summed(r, cost)
    names = ("icp_weights", "robust_registration", "align_points", "registration_terms")
    return Title(k.name(*names), f"{done}.")


def _gated(r: Rig, square: Var, w: Var) -> str:
    k, shape = r.k, r.k.draw.shape
    reach = r.given((), ("max_sq", "gate"), r.scalar, 2.0, 4.0, forms={"fixed": 1})
    if shape.chance(0.5):
        with k.if_(square > reach):
            k.assign(w, 0.0)
        return f", 0 where r2 > {told(reach)}"
    flag = mask(r, ("valid", "overlaps"), ("valid",))
    with k.if_(unless(flag)):
        k.assign(w, 0.0)
    return f", 0 where {is_unset(flag)}"


def _gradient(
    r: Rig, level: int, y: Var, gap: Var, n: Var | None, res: Var | None, w: Var
) -> str:  # fmt: skip
    """The gradient with respect to a small turn and shift, as six numbers or two vectors."""
    k, shape = r.k, r.k.draw.shape
    if n is not None and res is not None:
        push = k.let(("push", "grad_t"), (w * res) * n)
        text = "w * s * n"
    else:
        push, text = k.let(("push", "grad_t"), w * gap), "w * e"
    turn = fn("cross", y, push)
    form = shape.choice(("six", "six", "two", "turn"))
    if form == "six":
        out = r.store(("gradients", "jacobian_rows", "rhs"), six(r, turn, push))
        return f", {out.name} gets (cross(y, f), f) with f = {text}"
    done = f", {r.store(('turn_grads', 'rot_grads'), turn).name} gets cross(y, f) with f = {text}"
    if form == "two":
        done += f", {r.store(('shift_grads', 'move_grads'), push).name} gets f"
    return done


def _summed(r: Rig, cost: Expr) -> str:
    """The cost of each candidate, added up over its points by all threads."""
    k = r.k
    first = (r.dims[0],) if len(r.dims) > 1 else ("1",)
    total = k.accumulator(("total_cost", "cost_sum"), r.scalar, first)
    index: Expr = r.at[0] if len(r.dims) > 1 else k.lift(0, INT32)
    k.atomic("add", total, index, cost)
    each = "each candidate's" if len(r.dims) > 1 else "the one"
    return f", and all w * r2 are added atomically to {each} element of {total.name}"

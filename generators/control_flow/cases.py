"""Cases of plane geometry, told apart by nested branches."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import either, flag_type, is_set, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var, op


@idiom
@with_struct
def geometry_cases(k: KernelBuilder, level: int) -> Title:
    """Cases of plane geometry: kinds of triangles, quadrants, overlaps of boxes and intervals."""
    shape = k.draw.shape
    form = shape.choice(("sides", "overlap", "zone", "outcode", "circles"))
    whole = form == "sides" or shape.chance(0.3)
    s = Scalar(shape.choice(("int32", "int64", "int16"))) if whole else k.draw.wide_float_type()
    two = shape.chance(0.3)
    n = (k.size("rows", 8, 10), k.size("cols", 9, 11)) if two else (k.size("n", 72, 96),)
    low, high = (2, 6) if form == "sides" else (0, 50) if whole else (-2.0, 2.0)
    if form == "circles":
        low, high = (1, 20) if whole else (0.2, 2.0)
    names: tuple[str, ...]
    if form == "sides":
        names = k.draw.word.choice((("a", "b", "c"), ("side_a", "side_b", "side_c")))
    elif form == "overlap":
        names = k.draw.word.choice((("a_lo", "b_lo"), ("start_a", "start_b")))
    elif form == "circles":
        names = ("distance", "radius_a", "radius_b")
    else:
        names = k.draw.word.choice((("x", "y"), ("px", "py")))
    arrays = [k.array(name, s, n, low=low, high=high) for name in names]
    extents = []
    if form == "overlap":
        widths = (5, 20) if whole else (0.3, 1.5)
        extents = [
            k.array(name, s, n, low=widths[0], high=widths[1]) for name in ("a_len", "b_len")
        ]
    out = k.out(("kind", "case", "label"), INT32, n)
    measure = k.out(("size", "amount"), s, n) if shape.chance(0.6 if level >= 2 else 0.3) else None
    counts = (
        k.array(("active", "valid"), flag_type(k), n, low=0, high=1)
        if level >= 3 and shape.chance(0.6)
        else None
    )
    i = k.thread(*n, names=("i", "j") if two else (k.name("i", "tid"),))
    note = ""
    if counts is not None:
        with k.if_(op("not", is_set(counts[i]))):
            k.store(out, i, -1)
            if measure is not None:
                k.store(measure, i, 0)
            k.return_()
        note = f" Entries whose {counts.name} is not set give -1."
    values = [k.let(_short(a.name), a[i]) for a in arrays]
    spans = [
        k.let((f"{e.name[0]}_hi", f"end_{e.name[0]}"), v + e[i])
        for v, e in zip(values, extents, strict=False)
    ]
    label = k.let(("label", "kind_id"), k.lift(0, INT32))
    makers = {
        "sides": _triangle,
        "overlap": _overlap,
        "zone": _zone,
        "outcode": _outcode,
        "circles": _circles,
    }
    text, amount, amount_text = makers[form](k, level, values, spans, label, s)
    k.store(out, i, label)
    if measure is not None:
        k.store(measure, i, amount)
        note += f" {measure.name} gets {amount_text}."
    given = ", ".join(a.name for a in (*arrays, *extents))
    return Title(
        k.name(f"{form}_cases", f"classify_{form}", f"{form}_kind"), f"From {given}: {text}.{note}"
    )


def _short(name: str) -> tuple[str, ...]:
    """What the value of an array is called."""
    if name == "distance":
        return ("between", "dist")
    if name.startswith("radius_"):
        return (f"r{name[-1]}", f"rad_{name[-1]}")
    return (name[0], name.replace("side_", "s_"), "v")


def _triangle(
    k: KernelBuilder, level: int, v: list[Var], _s: list[Var], label: Var, s: Scalar
) -> tuple[str, Expr, str]:
    a, b, c = v
    bad = op("or", op("or", a + b <= c, b + c <= a), c + a <= b)
    if not s.is_int:
        raise AssertionError("sides are whole numbers")
    with k.if_(bad):
        k.assign(label, 0)
    with k.elif_(op("and", fn("eq", a, b), fn("eq", b, c))):
        k.assign(label, 3)
    with k.elif_(op("or", op("or", fn("eq", a, b), fn("eq", b, c)), fn("eq", a, c))):
        k.assign(label, 2)
    with k.else_():
        k.assign(label, 1)
    text = "0 for sides that make no triangle, 3 for three, 2 for two and 1 for no equal sides"
    if level >= 2 and k.draw.shape.chance(0.6):
        most = k.let(("longest", "m"), fn("max", fn("max", a, b), c))
        squares = a * a + b * b + c * c
        with k.if_(op("and", label > 0, fn("eq", squares, 2 * most * most))):
            k.augment(label, "add", 10)
        text += ", plus 10 where a right angle is among them"
    return text, a + b + c, "the sum of the sides"


def _overlap(
    k: KernelBuilder, level: int, v: list[Var], s: list[Var], label: Var, type_: Scalar
) -> tuple[str, Expr, str]:
    (a, b), (a_end, b_end) = v, s
    with k.if_(op("or", a_end <= b, b_end <= a)):
        k.assign(label, 0)
    with k.elif_(op("and", a <= b, b_end <= a_end)):
        k.assign(label, 2)
    with k.elif_(op("and", b <= a, a_end <= b_end)):
        k.assign(label, 3)
    with k.else_():
        k.assign(label, 1)
    gap = fn("min", a_end, b_end) - fn("max", a, b)
    common = fn("max", gap, 0)
    text = "0 where the intervals [lo, lo + len] are apart, 2 where the first holds the second, "
    text += "3 where the second holds the first, 1 where they overlap otherwise"
    return text, common, "the length that both have in common, 0 if none"


def _zone(
    k: KernelBuilder, level: int, v: list[Var], _s: list[Var], label: Var, s: Scalar
) -> tuple[str, Expr, str]:
    x, y = v
    middle: Operand = 25 if s.is_int else 0.0
    cx = either(k, ("cx", "center_x"), s, 20, 30) if s.is_int else middle
    with k.if_(x >= cx):
        with k.if_(y >= middle):
            k.assign(label, 1)
        with k.else_():
            k.assign(label, 4)
    with k.else_():
        with k.if_(y >= middle):
            k.assign(label, 2)
        with k.else_():
            k.assign(label, 3)
    text = f"the quadrant 1 to 4 of the point about ({shown(cx)}, {shown(middle)})"
    if level >= 3:
        reach = 18 if s.is_int else 1.2
        dx = k.let("dx", fn("abs", x - cx))
        dy = k.let("dy", fn("abs", y - middle))
        with k.if_(op("and", dx < reach, dy < reach)):
            k.augment(label, "mul", 10)
        text += f", times 10 where both distances are below {reach}"
    return text, x + y, "the sum of both coordinates"


def _outcode(
    k: KernelBuilder, level: int, v: list[Var], _s: list[Var], label: Var, s: Scalar
) -> tuple[str, Expr, str]:
    """The code of Cohen and Sutherland."""
    spans = ((8, 15), (35, 42)) if s.is_int else ((-1.4, -0.6), (0.6, 1.4))
    axes = (("x_min", "x_max", 1), ("y_min", "y_max", 4))
    for value, (low_name, high_name, bit) in zip(v, axes, strict=True):
        low, high = k.scalar(low_name, s, *spans[0]), k.scalar(high_name, s, *spans[1])
        with k.if_(value < low):
            k.augment(label, "add", bit)
        with k.elif_(value > high):
            k.augment(label, "add", 2 * bit)
    text = "the outcode of the point for the box of x_min, x_max, y_min and y_max: 1 left of it, 2 "
    return f"{text}right, plus 4 below, 8 above", v[0] + v[1], "the sum of both coordinates"


def _circles(
    k: KernelBuilder, level: int, v: list[Var], _s: list[Var], label: Var, s: Scalar
) -> tuple[str, Expr, str]:
    between, a, b = v
    with k.if_(between >= a + b):
        k.assign(label, 0)
    with k.elif_(between + b <= a):
        k.assign(label, 2)
    with k.elif_(between + a <= b):
        k.assign(label, 3)
    with k.else_():
        k.assign(label, 1)
    text = "0 where circles of these radii, their centers that far apart, do not meet, 2 where the "
    text += "first holds the second, 3 where the second holds the first, 1 where they cross"
    return text, between - a - b, "the distance less both radii"

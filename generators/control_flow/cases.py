"""Cases of plane geometry, told apart by branches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, both, branch, counter, leave, same, some, some_type
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.masks import flag
from generators.kit.sites import launch
from generators.kit.sources import setting
from generators.kit.words import say
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Operand, Var

Made = tuple[str, Expr, str]
"""What a label says, in words; a measure, and that in words."""


def _triangle(k: KernelBuilder, level: int, label: Var, a: Var, b: Var, c: Var) -> Made:
    equal = some(same(a, b), same(b, c), same(a, c))
    branch(
        k,
        (some(a + b <= c, b + c <= a, c + a <= b), (label, 0)),
        (both(same(a, b), same(b, c)), (label, 3)),
        (equal, (label, 2)),
        (None, (label, 1)),
    )
    text = "0 for sides that make no triangle, 3 for three, 2 for two and 1 for no equal sides"
    if level >= 2 and k.draw.shape.chance(0.6):
        longest = k.let("longest m", most(a, b, c))
        right = both(label > 0, same(a * a + b * b + c * c, 2 * longest * longest))
        branch(k, (right, (label, label + 10)))
        text += ", plus 10 where a right angle is among them"
    return text, a + b + c, "the sum of the sides"


def _overlap(k: KernelBuilder, level: int, label: Var, a: Var, b: Var, la: Var, lb: Var) -> Made:
    a_end, b_end = k.let("a_hi end_a", a + la), k.let("b_hi end_b", b + lb)
    branch(
        k,
        (some(a_end <= b, b_end <= a), (label, 0)),
        (both(a <= b, b_end <= a_end), (label, 2)),
        (both(b <= a, a_end <= b_end), (label, 3)),
        (None, (label, 1)),
    )
    text = "0 where the intervals [lo, lo + len] are apart, 2 where the first holds the second, "
    text += "3 where the second holds the first, 1 where they overlap otherwise"
    common = most(least(a_end, b_end) - most(a, b), 0)
    return text, common, "the length that both have in common, 0 if none"


def _zone(k: KernelBuilder, level: int, label: Var, x: Var, y: Var) -> Made:
    whole = x.type.is_int
    middle: Operand = 25 if whole else 0.0
    cx = setting(k, "cx center_x", x.type, *((20, 30) if whole else (-0.5, 0.5)))
    upper, lower = [(y >= middle, (label, 1)), (None, (label, 4))], [(y >= middle, (label, 2))]
    branch(k, (x >= cx, upper), (None, [*lower, (None, (label, 3))]))
    text = f"the quadrant 1 to 4 of the point about ({say(k, cx)}, {say(k, middle)})"
    if level >= 3:
        reach = k.draw.value.choice((12, 18) if whole else (0.8, 1.2))
        dx, dy = k.let("dx", abs(x - cx)), k.let("dy", abs(y - middle))
        branch(k, (both(dx < reach, dy < reach), (label, label * 10)))
        text += f", times 10 where both distances are below {reach}"
    return text, x + y, "the sum of both coordinates"


def _outcode(k: KernelBuilder, level: int, label: Var, x: Var, y: Var) -> Made:
    """The code of Cohen and Sutherland."""
    spans = ((8, 15), (35, 42)) if x.type.is_int else ((-1.4, -0.6), (0.6, 1.4))
    for value, axis, bit in ((x, "x", 1), (y, "y", 4)):
        low = k.scalar(f"{axis}_min", x.type, *spans[0])
        high = k.scalar(f"{axis}_max", x.type, *spans[1])
        above = (value > high, (label, label + 2 * bit))
        branch(k, (value < low, (label, label + bit)), above)
    text = "the outcode of the point for the box of x_min, x_max, y_min and y_max: 1 left of it, 2 "
    return f"{text}right, plus 4 below, 8 above", x + y, "the sum of both coordinates"


def _circles(k: KernelBuilder, level: int, label: Var, between: Var, a: Var, b: Var) -> Made:
    branch(
        k,
        (between >= a + b, (label, 0)),
        (between + b <= a, (label, 2)),
        (between + a <= b, (label, 3)),
        (None, (label, 1)),
    )
    text = "0 where circles of these radii, their centers that far apart, do not meet, 2 where the "
    text += "first holds the second, 3 where the second holds the first, 1 where they cross"
    return text, between - a - b, "the distance less both radii"


@dataclass(frozen=True)
class _Kind:
    """Names of the arrays, which the values take one by one, their ranges, and the branches."""

    names: tuple[str, ...]
    values: str
    whole: tuple[int, int]
    real: tuple[float, float]
    label: Callable[..., Made]


_KINDS = {
    "sides": _Kind(("a b c", "side_a side_b side_c"), "s1 s2 s3", (2, 6), (2, 6), _triangle),
    "overlap": _Kind(
        ("a_lo b_lo", "start_a start_b"), "a0 b0 len_a len_b", (0, 50), (-2.0, 2.0), _overlap
    ),
    "zone": _Kind(("x y", "px py"), "vx vy", (0, 50), (-2.0, 2.0), _zone),
    "outcode": _Kind(("x y", "px py"), "vx vy", (0, 50), (-2.0, 2.0), _outcode),
    "circles": _Kind(
        ("distance radius_a radius_b", "gap r_first r_second"),
        "between ra rb",
        (1, 20),
        (0.2, 2.0),
        _circles,
    ),
}


@idiom
@with_struct
def geometry_cases(k: KernelBuilder, level: int) -> Title:
    """Cases of plane geometry: kinds of triangles, quadrants, overlaps of boxes and intervals."""
    shape = k.draw.shape
    form = shape.choice(sorted(_KINDS))
    kind = _KINDS[form]
    type_ = some_type(k, 1.0 if form == "sides" else 0.3, "int32 int64 int16")
    s = launch(k, list=2, grid=1)
    ends = kind.whole if type_.is_int else kind.real
    found: list[Expr] = [
        s.read(name, type_, *ends) for name in k.draw.word.choice(kind.names).split()
    ]
    if form == "overlap":
        widths = (5, 20) if type_.is_int else (0.3, 1.5)
        found += [s.read(name, type_, *widths) for name in ("a_len", "b_len")]
    given = ", ".join(say(k, value) for value in found)
    out = s.out("kind case label", INT32)
    measure = Also(s, 0.6 if level >= 2 else 0.3, "size amount", type_)
    note = ""
    if level >= 3 and shape.chance(0.6):
        test = flag(s, "active valid")
        leave(s, test.unless, (out, -1), (measure, 0))
        note = f" Entries where {test.off} give -1."
    values = [k.let(name, value) for name, value in zip(kind.values.split(), found, strict=True)]
    label = counter(k, "label_id kind_id")
    text, amount, meaning = kind.label(k, level, label, *values)
    k.store(out, s.at, label)
    note += measure.told(meaning, amount)
    name = k.name(f"{form}_cases classify_{form} {form}_kind")
    return Title(name, f"From {given}: {out.name} gets {text}.{note}")

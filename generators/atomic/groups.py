"""What the entries of each group have in common: extremes, sums and counts."""

from __future__ import annotations

from generators.atomic.parts import GROUPS, amounts, contribution, number_type, skip_some
from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.pieces import listed
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_EXTREMES = {
    "min": ("lowest", "minima", "lows"),
    "max": ("highest", "maxima", "highs"),
}
_KEPT = {
    "min": "the smallest in {}",
    "max": "the largest in {}",
    "sum": "the sum in {}",
    "count": "how many there are in {}",
}


@idiom
def group_extremes(k: KernelBuilder, level: int) -> Title:
    """Smallest and largest value of each group, at higher levels with sums and counts."""
    shape, type_ = k.draw.shape, number_type(k)
    n, m = k.size("n", 72, 96), k.size("m", 5, 8)
    values = amounts(k, ("values", "heights", "scores", "times"), type_, n)
    groups = k.array(GROUPS, INT32, n, init=f"index_of:{m}")
    kinds = shape.choice((("min",), ("max",), ("min", "max"))) if level < 3 else ("min", "max")
    made = _gathered(k, type_, kinds, shape.choice(("sum", "count")) if level >= 3 else "")
    (i,) = k.thread(n)
    skipped = skip_some(k, i, n) if level >= 2 and shape.chance(0.2 * level) else ""
    value: Expr = values[i]
    text = values.name
    if level >= 2 and shape.chance(0.5):
        other = amounts(k, ("reference", "weights", "penalty"), type_, n)
        product = type_.is_unsigned or shape.chance(0.5)
        value = value * other[i] if product else value - other[i]
        text = f"{text} {'*' if product else '-'} {other.name}"
    uses = sum(kind != "count" for kind in made)
    amount, phrase = contribution(k, value, level, uses, "Each value", extremes=True)
    group: Expr = groups[i]
    if len(made) > 1:
        group = k.let(("g", "group", "label"), group)
    for kind, array in made.items():
        term: Expr | int = 1 if kind == "count" else amount
        k.atomic(kind if kind in ("min", "max") else "add", array, group, term)
    kept = listed([_KEPT[kind].format(array.name) for kind, array in made.items()])
    words = ("group_extremes", "segment_range") if len(kinds) == 2 else (f"group_{kinds[0]}",)
    done = f"Group {text} by {groups.name} and keep, for each group, {kept}."
    return Title(k.name(*words), f"{done}{phrase}{skipped}")


def _gathered(
    k: KernelBuilder, type_: Scalar, kinds: tuple[str, ...], extra: str
) -> dict[str, Var]:
    """An accumulator for each kind, and one for sums or counts."""
    least = 0 if type_.is_unsigned else -100000
    made = {}
    for kind in kinds:
        start = 100000 if kind == "min" else least
        begin = float(start) if type_.is_float else start
        made[kind] = k.accumulator(_EXTREMES[kind], type_, "m", start=begin)
    if extra:
        total_type = type_ if extra == "sum" else INT32
        made[extra] = k.accumulator((f"{extra}s", f"group_{extra}s"), total_type, "m")
    return made

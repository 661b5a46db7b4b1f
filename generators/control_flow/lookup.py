"""Tables looked up by binary search: the entry before, the nearest, a line or a smooth step."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import either, shown
from generators.control_flow.params import with_struct
from generators.control_flow.sorted import Search, bisect, ranked, search, skipped, valid_mask
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Array
from generators.program.expr import Expr, Operand, Var, op

_BEYOND = {"ends": 4, "fill": 3, "early": 3}
"""Beyond the knots: the query is clamped, a number is stored, or the table's end is."""


@idiom
@with_struct
def sorted_search(k: KernelBuilder, level: int) -> Title:
    """Binary search in a sorted table; at higher levels entries of a table, interpolated."""
    if level == 1 or (level == 2 and k.draw.shape.chance(0.4)):
        return ranked(k, level)
    shape = k.draw.shape
    s = search(k, level, whole=False)
    table = s.table(("heights", "table", "y"))
    form = shape.choice(("step", "nearest", "linear", "linear", "smooth"))
    beyond = shape.weighted(_BEYOND | ({"line": 3} if form == "linear" else {}))
    outs: dict[Var, Operand] = {k.out(("out", "found", "response"), s.type, s.dims): 0.0}
    more = () if beyond == "early" else _more(k, s, level, form)
    outs.update(more)
    valid = valid_mask(s) if level >= 3 else None
    fill: Operand = 0.0
    if beyond == "fill":
        fill = either(k, ("fill_value", "default_value"), s.type, 3.0, 9.0)
    s.start()
    last = skipped(s, valid, outs)
    s.ask()
    said = _ends(s, beyond, fill, table, outs)
    left = _left(s, form, beyond)
    out, *others = outs
    value, text = _value(s, level, form, table, left)
    for var in others:
        said += _other(s, var, table, left)
    k.store(out, s.at, value)
    done = f"Search the {s.where} for q = {s.query} by bisection; {out.name} gets {text}."
    return Title(k.name(f"{form}_lookup", f"table_{form}"), done + said + last)


def _more(k: KernelBuilder, s: Search, level: int, form: str) -> dict[Var, Operand]:
    """Further outputs, with what they get where nothing is found."""
    if level < 3:
        return {}
    more: dict[Var, Operand] = {}
    if k.draw.shape.chance(0.2 * level - 0.2):
        more[k.out(("cell", "interval"), INT32, s.dims)] = -1
    if form == "linear" and k.draw.shape.chance(0.5):
        more[k.out(("slope", "derivative"), s.type, s.dims)] = 0.0
    return more


def _other(s: Search, var: Var, table: Var, left: Var) -> str:
    assert isinstance(var.type, Array)
    if var.type.element == INT32:
        s.k.store(var, s.at, left)
        return f" {var.name} gets the index of the last knot that is not above q."
    rise = s.entry(table, left + 1) - s.entry(table, left)
    s.k.store(var, s.at, rise / (s.knot(left + 1) - s.knot(left)))
    return f" {var.name} gets the slope of that line."


def _ends(s: Search, beyond: str, fill: Operand, table: Var, outs: dict[Var, Operand]) -> str:
    """What happens to queries beyond the knots."""
    k, (out, *others) = s.k, outs
    assert s.q is not None
    first, last = s.knot(0), s.knot(s.size - 1)
    if beyond == "line":
        return " Beyond the ends the first and last line go on."
    if beyond == "ends":
        s.q = k.let(("clamped", "qc", "inside"), fn("clamp", s.q, first, last))
        return " Before that, q is clamped to the range of the knots."
    if beyond == "early":
        for outside, end in ((s.q < first, 0), (s.q >= last, s.size - 1)):
            with k.if_(outside):
                k.store(out, s.at, s.entry(table, end))
                k.return_()
        ends = f"the first or last of {table.name} is stored"
        return f" Below the first knot and from the last on, {ends}."
    with k.if_(op("or", s.q < first, s.q >= last)):
        k.store(out, s.at, fill)
        for var in others:
            k.store(var, s.at, outs[var])
        k.return_()
    marks = "".join(f", {outs[var]} in {var.name}" for var in others)
    return f" Below the first knot and from the last on, {shown(fill)} is stored{marks}."


def _left(s: Search, form: str, beyond: str) -> Var:
    """Index of the last knot that is not above the query."""
    lo = bisect(s, strict=False)
    names = ("left_knot", "c", "cell_index", "at")
    if beyond in ("fill", "early"):
        return s.k.let(names, lo - 1)
    if form == "step":
        return s.k.let(names, fn("max", lo - 1, 0) if s.k.draw.shape.chance(0.5) else lo - 1)
    return s.k.let(names, fn("clamp", lo - 1, 0, s.size - 2))


def _value(s: Search, level: int, form: str, table: Var, left: Var) -> tuple[Expr, str]:
    """The table at the query between the knots ``left`` and ``left + 1``."""
    k, q = s.k, s.q
    assert q is not None
    y0, y1 = s.entry(table, left), s.entry(table, left + 1)
    before = "the last knot that is not above q"
    if form == "step":
        return y0, f"the entry of {table.name} at {before}"
    if form == "nearest":
        nearer = s.knot(left + 1) - q < q - s.knot(left)
        at = k.let(("nearest", "pick"), left)
        with k.if_(nearer):
            k.assign(at, left + 1)
        text = f"the entry of {table.name} at the nearer of {before} and the next one (the first "
        return s.entry(table, at), text + "of equals)"
    line = f"lerp({table.name}[c], {table.name}[c + 1], "
    fraction = f"t = (q - {s.knots.name}[c]) / ({s.knots.name}[c + 1] - {s.knots.name}[c])"
    text = f"{line}{'t' if form == 'linear' else 't * t * (3 - 2 * t)'}) with {fraction}"
    text += f", where c is {before}"
    if level >= 3 and k.draw.shape.chance(0.6):
        return _by_helper(s, form, left, (y0, y1)), text
    t = k.let(("t", "fraction", "u"), (q - s.knot(left)) / (s.knot(left + 1) - s.knot(left)))
    return fn("lerp", y0, y1, _eased(form, t)), text


def _eased(form: str, t: Expr) -> Expr:
    return t * t * (3.0 - 2.0 * t) if form == "smooth" else t


def _by_helper(s: Search, form: str, left: Var, ends: tuple[Expr, Expr]) -> Expr:
    """The line or smooth step between two points, in a function."""
    k = s.k
    assert s.q is not None

    def between(b: BodyBuilder, x: Expr, x0: Expr, x1: Expr, y0: Expr, y1: Expr) -> Expr:
        t = b.let(("t", "u"), (x - x0) / (x1 - x0))
        return fn("lerp", y0, y1, _eased(form, t))

    names = ("interpolate", "line_between") if form == "linear" else ("smooth_between", "ease")
    params = [(name, s.type) for name in ("x", "x0", "x1", "y0", "y1")]
    called = helper(k, names, params, between)
    return k.call(called, s.q, s.knot(left), s.knot(left + 1), *ends)

"""Searches and small sorts: tables, patterns, polygons, neighbours, greedy change, medians."""

from __future__ import annotations

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, either, function_of, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var, op


@idiom
@with_struct
def table_lookup(k: KernelBuilder, level: int) -> Title:
    """Where a value falls among sorted edges, by lower_bound or a scan, and what stands there."""
    shape = k.draw.shape
    whole = shape.chance(0.35)
    s = Scalar(shape.choice(("int32", "int64", "uint32"))) if whole else k.draw.wide_float_type()
    two, m = shape.chance(0.3), k.size("m", 9, 14)
    n = (k.size("rows", 8, 9), k.size("cols", 8, 9)) if two else (k.size("n", 56, 80),)
    low, high = (0, 400) if whole else (-2.0, 2.0)
    edges = k.array(
        ("edges", "breakpoints", "knots", "cdf"), s, m, init="sorted", low=low, high=high
    )
    beyond = (0, 440) if whole else (-2.4, 2.4)
    x = k.array(("x", "queries", "values"), s, n, low=beyond[0], high=beyond[1])
    style = shape.choice(("lower_bound", "lower_bound", "scan", "backwards"))
    wants = ("bin", "bin", "entry", "gap") if level == 1 else ("bin", "entry", "gap", "share")
    want = shape.choice(wants)
    if s.is_unsigned and want != "entry":
        want = "bin"
    elif whole and want == "share":
        want = "gap"
    t = k.draw.wide_float_type() if want == "entry" else s
    table = (
        k.array(("rates", "heights", "prices"), t, m, low=0.5, high=3.0)
        if want == "entry"
        else None
    )
    out = k.out(("out", "found", "looked_up"), INT32 if want == "bin" else t, n)
    counts = also(k, 0.0 if level < 3 else 0.5, ("slot_out", "position"), INT32, n)
    scaled = level >= 2 and shape.chance(0.4) and not whole
    gain = either(k, ("gain", "unit"), s, 1.05, 1.4) if scaled else None
    i = k.thread(*n, names=("i", "j") if two else (k.name("i", "tid"),))
    q = k.let(("q", "v", "xi"), gain * x[i] if gain is not None else x[i])
    note = ""
    if level >= 3 and shape.chance(0.6):
        with k.if_(op("or", q < edges[0], q > edges[extent(edges) - 1])):
            k.store(out, i, -1 if want == "bin" or not (t.is_unsigned) else 0)
            if counts is not None:
                k.store(counts, i, -1)
            k.return_()
        note = (
            f" Values outside of {edges.name} give {0 if want != 'bin' and t.is_unsigned else -1}."
        )
    slot = _slot(k, style, edges, q)
    if want == "bin":
        k.store(out, i, slot)
        text = "that index"
    elif want == "entry":
        assert table is not None
        k.store(out, i, table[slot])
        text = f"{table.name} there"
    elif want == "gap":
        k.store(out, i, fn("abs", edges[slot] - q))
        text = "the distance from the value to that edge"
    else:
        before = k.let(("before", "prev"), fn("max", slot - 1, 0))
        span = k.let(("span", "width"), edges[slot] - edges[before])
        with k.if_(span > 0.2):
            k.store(out, i, (q - edges[before]) / span)
        with k.else_():
            k.store(out, i, 0.0)
        text = (
            "where the value lies between the edge before (the first "
            "for index 0) and that edge, 0 if they are within 0.2"
        )
    if counts is not None:
        k.store(counts, i, slot)
        note += f" {counts.name} gets the index as well."
    value_text = f"{shown(gain)} * {x.name}" if gain is not None else x.name
    done = (
        f"Find for each v = {value_text} the first index of "
        f"the sorted {edges.name} whose edge is not below it "
    )
    done += f"(the last index if none is); {out.name} gets {text}."
    return Title(
        k.name("table_lookup", "find_bin", "bracket_values", "lookup_edges"), f"{done}{note}"
    )


def _slot(k: KernelBuilder, style: str, edges: Var, q: Expr) -> Var:
    if style == "lower_bound":
        return k.let(("slot", "j", "at"), fn("lower_bound", edges, q))
    if style == "scan":
        slot = k.let(("slot", "j", "at"), k.lift(0, INT32))
        last = extent(edges) - 1
        with k.while_(slot < last):
            with k.if_(edges[slot] >= q):
                k.break_()
            k.augment(slot, "add", 1)
        return slot
    slot = k.let(("slot", "j", "at"), extent(edges) - 1)
    with k.while_(slot > 0):
        with k.if_(edges[slot - 1] < q):
            k.break_()
        k.augment(slot, "sub", 1)
    return slot


@idiom
@with_struct
def pattern_search(k: KernelBuilder, level: int) -> Title:
    """A short pattern in rows of codes: the first match, their number, or the best alignment."""
    shape = k.draw.shape
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 4, "int8": 2, "int16": 2}))
    rows, cols = k.size("rows", 36, 56), k.size("cols", 10, 14, minimum=4)
    size = shape.integer(2, 3)
    text = k.array(("text", "sequence", "codes"), type_, (rows, cols), low=0, high=2)
    pattern = k.array(("pattern", "motif", "needle"), type_, str(size), low=0, high=2)
    count: Expr = k.size_param(("num_cols", "text_length"), cols)
    form = shape.choice(("first", "count", "best"))
    joker = level >= 2 and shape.chance(0.5)
    wild = k.draw.value.integer(0, 1)
    out = k.out(
        ("match", "position", "found") if form != "count" else ("matches", "hits"), INT32, rows
    )
    errors = also(k, 0.7 if form == "best" else 0.0, ("errors", "distance"), INT32, rows)
    apart = level >= 3 and form == "count" and shape.chance(0.6)
    start = (
        k.array(("start", "offset"), INT32, rows, low=0, high=2)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    (row,) = k.thread(rows, names=(k.name("row", "r", "i"),))
    first: Operand = 0
    if start is not None:
        first = k.let(("begin", "from_col"), start[row])
    differ = function_of(
        k,
        level,
        ("differs", "is_mismatch"),
        [("code", type_), ("expected", type_)],
        lambda _, code, expected: _differs(code, expected, wild if joker else None),
    )
    found = k.let(("found", "answer"), k.lift(0 if form == "count" else -1, INT32))
    best = k.let(("best", "fewest"), k.lift(size + 1, INT32)) if form == "best" else None
    stepped = not apart and shape.chance(0.5)
    j = Var("", INT32) if stepped else k.let(("j", "pos"), k.lift(first, INT32))
    with (
        k.for_(("j", "pos"), count - (size - 1), start=first)
        if stepped
        else k.while_(j + size <= count)
    ) as turn:
        j = turn if turn is not None else j
        if form == "best":
            wrong = k.let(("wrong", "differs"), k.lift(0, INT32))
            with (
                k.for_(("p", "q"), size) as p,
                k.if_(differ(text[row, j + p], pattern[p])),
            ):
                k.augment(wrong, "add", 1)
            assert best is not None
            with k.if_(wrong < best):
                k.assign(best, wrong)
                k.assign(found, j)
        else:
            same = k.let(("same", "matched"), k.lift(0, INT32))
            with k.for_(("p", "q"), size) as p:
                with k.if_(differ(text[row, j + p], pattern[p])):
                    k.break_()
                k.augment(same, "add", 1)
            with k.if_(fn("eq", same, size)):
                if form == "first":
                    k.assign(found, j)
                    k.break_()
                else:
                    k.augment(found, "add", 1)
                    if apart:
                        k.augment(j, "add", size - 1)
        if not stepped:
            k.augment(j, "add", 1)
    k.store(out, row, found)
    words = {
        "first": "the first column at which it matches, or -1",
        "count": "how often it matches" + (", matches not overlapping" if apart else ""),
        "best": "the first column with the fewest differing codes",
    }
    done = (
        f"Compare the {size} codes of {pattern.name} with each "
        f"row of {text.name}; {out.name} gets {words[form]}."
    )
    if errors is not None and best is not None:
        k.store(errors, row, best)
        done += f" {errors.name} gets that number."
    done += f" A code {wild} in {pattern.name} matches anything." if joker else ""
    done += f" The search begins at column {start.name}." if start is not None else ""
    return Title(k.name("find_pattern", "match_motif", "scan_pattern", "search_rows"), done)


def _differs(code: Expr, expected: Expr, wild: int | None) -> Expr:
    """Whether a code is not the expected one, which may be a wildcard."""
    differs = fn("ne", code, expected)
    return differs if wild is None else op("and", differs, fn("ne", expected, wild))

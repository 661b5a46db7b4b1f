"""Products with matrices that are mostly zero: fixed width, bands; and gathered rows."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.matrix.large.core import at, cells
from generators.matrix.large.finish import finish
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var, op


@idiom
def ell_product(k: KernelBuilder, level: int) -> Title:
    """A fixed-width sparse matrix times a vector or several: products, steps of solvers, graphs."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    several = shape.chance(0.55)
    n, width = (k.size("n", 10, 14) if several else k.size("n", 48, 80)), k.size("m", 3, 5)
    right = k.size("r", 4, 5) if several else ""
    flipped = shape.chance(0.4)
    dims = (width, n) if flipped else (n, width)
    columns = k.array("columns col_ids neighbors", INT32, dims, init=f"index_of:{n}")
    weighted = shape.chance(0.75)
    values = (
        k.array("values coeffs edge_weights", scalar, dims, low=-0.8, high=0.8)
        if weighted
        else None
    )
    x = k.array("x state features", scalar, (n, right) if several else n, low=-1.0, high=1.0)
    used = None
    if shape.chance(0.35):
        used = k.array("row_lengths degrees counts", INT32, n, low=1, high=3)
    count = k.trip_count("width max_nonzeros", width)
    c = cells(
        k,
        scalar,
        (n, right) if several else (n,),
        *(
            (("i", "r"), ("row", "col"), ("node", "f"))
            if several
            else (("i",), ("row",), ("node",))
        ),
    )
    row = c.at[0]
    form = shape.choice(
        ("product", "product", "difference", "largest")
        if not weighted
        else ("product", "product", "difference")
    )
    total = k.let("total acc s", x[c.at] if form == "largest" else zero(scalar))
    limit = used[row] if used is not None else None

    def term(e: Var) -> None:
        place = (e, row) if flipped else (row, e)
        col = k.let("source nbr col_id", columns[place])
        entry: Expr = x[at(col, *c.at[1:])]
        if form == "difference":
            entry = entry - x[c.at]
        if values is not None:
            entry = values[place] * entry
        if form == "largest":
            k.assign(total, fn("max", total, entry))
        else:
            k.augment(total, "add", entry)

    with k.for_("e slot p", count) as e:
        if limit is None:
            term(e)
        else:
            with k.if_(e < limit):
                term(e)
    what = {
        "product": "sum",
        "difference": "sum",
        "largest": "take the maximum, started from the row's own entry, of",
    }[form]
    slot = f"{e.name}, {row.name}" if flipped else f"{row.name}, {e.name}"
    c.say(f"For each {row.name} {what} the entries of {x.name} at {columns.name}[{slot}]")
    less = ", each less the row's own entry" if form == "difference" else ""
    c.say(
        f"over {e.name}{less}{f', weighted by {values.name}[{slot}]' if values is not None else ''}"
    )
    c.say(f"while {e.name} < {used.name}[{row.name}]." if used is not None else "of all slots.")
    if level >= 2 and form == "product" and shape.chance(0.5):
        diagonal = k.array("diagonal self_weight diag", scalar, n, low=0.5, high=1.5)
        k.augment(total, "add", diagonal[row] * x[c.at])
        c.say(f"{diagonal.name}[{row.name}] times the row's own entry is added.")
    if level >= 3 and shape.chance(0.4):
        rhs = k.array("rhs target", scalar, c.dims, low=-1.0, high=1.0)
        k.assign(total, rhs[c.at] - total)
        c.say(f"It is subtracted from {rhs.name}.")
    finish(c, level, total, "out y result")
    return Title(k.name("ell_spmv sparse_product gather_neighbors sparse_matvec"), c.text)


@idiom
def gather_rows(k: KernelBuilder, level: int) -> Title:
    """Rows of a table by index: lookups, positions, bags with weights and padding."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    batched = shape.chance(0.5)
    lead = [k.size("b", 3, 4)] if batched else []
    tokens, wide = k.size("t", 5, 7), k.size("d", 4, 6)
    rows = k.size("v", 6, 9)
    bag = shape.chance(0.45)
    slots = k.size("m", 3, 4) if bag else ""
    table = k.array("table embeddings codebook", scalar, (rows, wide), low=-1.0, high=1.0)
    at_dims = [*lead, tokens, *([slots] if bag else [])]
    ids = k.array("ids tokens row_ids", INT32, at_dims, init=f"index_of:{rows}")
    weighted = bag and shape.chance(0.5)
    weights = k.array("weights shares", scalar, at_dims, low=0.2, high=1.0) if weighted else None
    count = k.trip_count("bag_size num_slots", slots) if bag else None
    pad = k.scalar("pad_id skip_id", INT32, 0, 3) if shape.chance(0.35) else None
    c = cells(
        k,
        scalar,
        [*lead, tokens, wide],
        *((("b", "t", "d"), ("item", "pos", "f")) if batched else (("t", "d"), ("pos", "f"))),
    )
    place, last = c.at[:-1], c.at[-1]
    if count is None:
        row = k.let("row_id token src", ids[place])
        if pad is None:
            value = k.let("value entry", table[row, last])
        else:
            value = k.let("value entry", zero(scalar))
            with k.if_(op("ne", row, pad)):
                k.assign(value, table[row, last])
        c.say(f"Look up entry {last.name} of row {ids.name}[{', '.join(v.name for v in place)}]")
        c.say(f"of {table.name}{f', 0 where that is {pad.name}' if pad is not None else ''}.")
    else:
        best = weights is None and pad is None and shape.chance(0.4)
        start = table[ids[at(*place, 0)], last] if best else zero(scalar)
        value = k.let("total acc pooled", start)
        with k.for_("s slot p", count) as s:
            row = k.let("row_id token src", ids[at(*place, s)])
            entry: Expr = table[row, last]
            if weights is not None:
                entry = weights[at(*place, s)] * entry
            if best:
                k.assign(value, fn("max", value, entry))
            elif pad is None:
                k.augment(value, "add", entry)
            else:
                with k.if_(op("ne", row, pad)):
                    k.augment(value, "add", entry)
        c.say(f"{'The maximum' if best else 'The sum'} over {s.name} of entry {last.name} of the")
        c.say(f"rows {ids.name}[{', '.join(v.name for v in place)}, {s.name}] of {table.name}")
        c.say(f"{f'times {weights.name} there' if weights is not None else ''}".strip())
        c.said[-1] += f"{f', without rows {pad.name}' if pad is not None else ''}."
    if level >= 2 and shape.chance(0.6):
        where = k.array("positions pos_table", scalar, (tokens, wide), low=-0.5, high=0.5)
        k.augment(value, "add", where[c.at[-2:]])
        c.say(f"{where.name}[{c.at[-2].name}, {last.name}] is added.")
    c.channel = len(c.dims) - 1
    finish(c, level, value, "out gathered looked_up", active=level >= 3)
    return Title(k.name("gather_rows embedding_lookup embedding_bag lookup"), c.text)

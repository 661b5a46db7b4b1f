"""Products of arrays of scalars, an output element a thread: dense, batched, whole, sparse."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import most
from generators.kit.sources import zero
from generators.matrix.large.cells import NAMES, Cells, cells, finish
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var, literal

_LAYOUTS = (("i", "k", "k", "j"), ("i", "k", "j", "k"), ("k", "i", "k", "j"))
"""The axes of both factors: of a * b, a * transpose(b), transpose(a) * b."""


@idiom(depth=3)
def array_product(k: KernelBuilder, level: int) -> Title:
    """Matrix times matrix or vector, an element a thread, with scale, bias and activation."""
    shape, scalar = k.draw.shape, k.draw.float_type()
    vector = shape.chance(0.35)
    m = k.size("m", 48, 80) if vector else k.size("m", 7, 10)
    inner, n = k.size("k", 4, 8), "" if vector else k.size("n", 7, 10)
    axes = shape.choice(_LAYOUTS[::2] if vector else _LAYOUTS)
    symbols = {"i": m, "j": n, "k": inner}
    first, second = [symbols[x] for x in axes[:2]], [symbols[x] for x in axes[2:]]
    a = k.array("a lhs weights", scalar, first, low=-1.0, high=1.0)
    b = k.array("b rhs x", scalar, second[:1] if vector else second, low=-1.0, high=1.0)
    weights = None
    if shape.chance(0.06):
        weights = k.array("diagonal d_inner", scalar, inner, low=0.3, high=1.5)
    depth = k.trip_count("depth inner k_size", inner)
    dims = (m,) if vector else (m, n)
    c = cells(k, scalar, dims, (("i",), ("row",)) if vector else NAMES[2][:2], len(dims) - 1)
    total = k.let("total acc s", zero(scalar))
    with k.for_("kk p t", depth) as p:
        by = {"i": c.at[0], "j": c.at[-1], "k": p}
        left, right = a[by[axes[0]], by[axes[1]]], b[p] if vector else b[by[axes[2]], by[axes[3]]]
        term = left * right if weights is None else weights[p] * left * right
        k.augment(total, "add", term)
    c.say(f"Sum {c.tell(term)} over {p.name}.")
    finish(c, level, total, "c out result", "product")
    layer = "apply " in c.text or "bias" in c.text
    titles = "dense_layer linear_forward" if layer else "matvec gemv" if vector else "matmul gemm"
    return Title(k.name(titles), c.text)


def _operand(
    k: KernelBuilder, names: str, scalar: Scalar, dims: tuple[str, str], batch: str
) -> Callable[..., Expr]:
    """A matrix, transposed or not, for each product or shared by all of them."""
    flipped, shared = k.draw.shape.chance(0.35), k.draw.shape.chance(0.25)
    inner = dims[::-1] if flipped else dims
    array = k.array(names, scalar, inner if shared else (batch, *inner), low=-1.0, high=1.0)

    def entry(item: Expr, row: Expr, col: Expr) -> Expr:
        pair = (col, row) if flipped else (row, col)
        return array[pair if shared else (item, *pair)]

    return entry


def _only(k: KernelBuilder, test: Expr | None) -> AbstractContextManager[None]:
    """A block under a condition, if there is one."""
    return nullcontext() if test is None else k.if_(test)


@idiom
def batched_product(k: KernelBuilder, level: int) -> Title:
    """A product for each item of a batch: transposed, shared or narrow operands, epilogue."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    half = scalar == FLOAT32 and shape.chance(0.12)
    batch, m, n = k.size("b", 3, 4), k.size("m", 4, 5), k.size("n", 4, 5)
    inner = k.size("k", 3, 5)
    narrow = Scalar("float16") if half else scalar
    left = _operand(k, "a lhs queries", narrow, (m, inner), batch)
    right = _operand(k, "b_mat rhs weights", narrow, (inner, n), batch)
    depth = k.trip_count("depth inner k_size", inner)
    c = cells(k, scalar, (batch, m, n), NAMES[3], 2)
    item, row, col = c.at
    lengths = None
    if level >= 2 and shape.chance(0.1):
        lengths = k.array("lengths valid_depth", INT32, batch, low=1, high=4)
    total = k.let("total acc s", zero(scalar))
    with k.for_("p kk t", depth) as p:
        term = cast(left(item, row, p), scalar) * cast(right(item, p, col), scalar)
        with _only(k, None if lengths is None else p < lengths[item]):
            k.augment(total, "add", term)
    limit = f" < {c.tell(lengths[item])}" if lengths is not None else ""
    c.say(f"For each ({c.where}), sum {c.tell(term)} over {p.name}{limit}{', in float32' * half}.")
    finish(c, level, total, "out products result", "product")
    return Title(k.name("batched_matmul bmm batch_product"), c.text)


_WHOLE = {"int8": (-20, 20), "uint8": (0, 30), "int16": (-30, 30)}


@idiom
def quantised_product(k: KernelBuilder, level: int) -> Title:
    """Whole-number matrix products with zero points and scales, back to floats."""
    shape = k.draw.shape
    lead = (k.size("b", 3, 4),) if shape.chance(0.3) else ()
    m, n, inner = k.size("m", 5, 8), k.size("n", 5, 8), k.size("k", 3, 5)
    first, second = (shape.choice(tuple(_WHOLE)) for _ in range(2))
    flipped, own = shape.chance(0.5), () if shape.chance(0.6) else lead
    (low, high), (low2, high2) = _WHOLE[first], _WHOLE[second]
    a = k.array("a_q acts_q x_q", Scalar(first), (*lead, m, inner), low=low, high=high)
    dims = (*own, n, inner) if flipped else (*own, inner, n)
    b = k.array("b_q weights_q w_q", Scalar(second), dims, low=low2, high=high2)
    wide = Scalar(shape.weighted({"int32": 5, "int64": 2}))
    zeros = [shape.chance(0.4) for _ in range(2)]
    names = ("a_zero x_zero", "b_zero w_zero")
    points = [k.scalar(n, wide, 1, 9) if z else None for n, z in zip(names, zeros, strict=True)]
    depth = k.trip_count("depth inner", inner)
    c = cells(k, k.draw.wide_float_type(), (*lead, m, n), NAMES[2 + len(lead)], 1 + len(lead))
    head, (i, j) = c.at[:-2], c.at[-2:]
    total = k.let("total acc isum", literal(0, wide))
    with k.for_("p kk", depth) as p:
        at = (*(head if own else ()), *((j, p) if flipped else (p, j)))
        sides = [cast(a[index(*head, i, p)], wide), cast(b[at], wide)]
        left, right = (s if z is None else s - z for s, z in zip(sides, points, strict=True))
        k.augment(total, "add", left * right)
    c.say(f"Sum {c.tell(left * right)} over {p.name} in {wide}.")
    if level >= 2 and shape.chance(0.5):
        bias = k.array("bias_q offset_q", wide, n, low=-90, high=90)[j]
        k.augment(total, "add", bias)
        c.say(f"{c.tell(bias)} is added.")
    step = c.factor("scale step", 0.002, 0.005)
    value = k.let("value real dequantised", step * cast(total, c.scalar))
    c.say(f"As a float, it is multiplied by {c.tell(step)}.")
    finish(c, level, value, "out result real_out", "dequantised")
    return Title(k.name("quantised_product int_gemm dequant_matmul"), c.text)


@idiom(depth=3)
def ell_product(k: KernelBuilder, level: int) -> Title:
    """A fixed-width sparse matrix times a vector or several: products, steps of solvers, graphs."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    several = shape.chance(0.55)
    n, width = k.size("n", 10, 14) if several else k.size("n", 48, 80), k.size("m", 3, 5)
    whole = (n, k.size("r", 4, 5)) if several else (n,)
    flipped, weighted = shape.chance(0.4), shape.chance(0.75)
    dims = (width, n) if flipped else (n, width)
    columns = k.array("columns col_ids neighbors", INT32, dims, init=f"index_of:{n}")
    names = "values coeffs edge_weights"
    values = k.array(names, scalar, dims, low=-0.8, high=0.8) if weighted else None
    x = k.array("x state features", scalar, whole, low=-1.0, high=1.0)
    names = "row_lengths degrees counts"
    used = k.array(names, INT32, n, low=1, high=3) if shape.chance(0.35) else None
    count = k.trip_count("width max_nonzeros", width)
    indices = (("i", "r"), ("row", "col"), ("node", "f"))
    c = cells(k, scalar, whole, indices if several else [names[:1] for names in indices])
    row, own = c.at[0], x[c.at]
    forms = ("product", "product", "difference") + (() if weighted else ("largest",))
    form = shape.choice(forms)
    total = k.let("total acc s", own if form == "largest" else zero(scalar))

    def term(e: Var) -> Expr:
        place = (e, row) if flipped else (row, e)
        col = c.part("source nbr col_id", columns[place])
        entry = x[index(col, *c.at[1:])] - own if form == "difference" else x[index(col, *c.at[1:])]
        entry = entry if values is None else values[place] * entry
        if form == "largest":
            k.assign(total, most(total, entry))
        else:
            k.augment(total, "add", entry)
        return entry

    with k.for_("e slot p", count) as e, _only(k, None if used is None else e < used[row]):
        entry = term(e)
    what = f"take the maximum of {c.tell(own)} and" if form == "largest" else "sum"
    limit = "" if used is None else f" while {c.tell(e < used[row])}"
    c.say(f"For each {c.tell(row)} {what} {c.tell(entry)} over {e.name}{limit}.")
    _completed(c, level, total, own, form)
    return Title(k.name("ell_spmv sparse_product gather_neighbors sparse_matvec"), c.text)


def _completed(c: Cells, level: int, total: Var, own: Expr, form: str) -> None:
    """The diagonal of a sparse matrix, the residual of a system, and the store."""
    k = c.k
    if level >= 2 and form == "product" and c.chance(0.5):
        more = c.read("diagonal self_weight diag", c.scalar, 0.5, 1.5, axes=(0,)) * own
        k.augment(total, "add", more)
        c.say(f"{c.tell(more)} is added.")
    if level >= 3 and c.chance(0.4):
        rhs = c.read("rhs target", c.scalar, -1.0, 1.0)
        k.assign(total, rhs - total)
        c.say(f"It is subtracted from {c.tell(rhs)}.")
    finish(c, level, total, "out y result", "linear")


def _gathered(
    c: Cells, table: Var, ids: Var, weights: Var | None, pad: Var | None, count: Expr | None
) -> Var:
    """An entry of the row that an index names, or of several rows, summed or the largest."""
    k, at, last = c.k, c.at[:-1], c.at[-1]
    best = count is not None and weights is None and pad is None and c.chance(0.4)
    start = table[ids[index(*at, 0)], last] if best else zero(c.scalar)

    def entry(*slot: Expr) -> Expr:
        """One entry, which is put into the value unless its row is a padding."""
        row = c.part("row_id token src", ids[index(*at, *slot)])
        found = (
            table[row, last] if weights is None else weights[index(*at, *slot)] * table[row, last]
        )
        if best:
            k.assign(value, most(value, found))
        else:
            with _only(k, None if pad is None else fn("ne", row, pad)):
                k.augment(value, "add", found)
        return found

    value = k.let("value total pooled" if count is not None else "value entry", start)
    skipped = "" if pad is None else f", 0 where that row is {pad.name}"
    if count is None:
        c.say(f"Look up {c.tell(entry())}{skipped}.")
    else:
        with k.for_("s slot p", count) as s:
            text = c.tell(entry(s))
        c.say(f"{'The maximum' if best else 'The sum'} over {s.name} of {text}{skipped}.")
    return value


@idiom
def gather_rows(k: KernelBuilder, level: int) -> Title:
    """Rows of a table by index: lookups, positions, bags with weights and padding."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    lead = [k.size("b", 3, 4)] if shape.chance(0.5) else []
    tokens, wide, rows = k.size("t", 5, 7), k.size("d", 4, 6), k.size("vocab", 6, 9)
    slots = [k.size("m", 3, 4)] if shape.chance(0.45) else []
    table = k.array("table embeddings codebook", scalar, (rows, wide), low=-1.0, high=1.0)
    places = [*lead, tokens, *slots]
    ids = k.array("ids tokens row_ids", INT32, places, init=f"index_of:{rows}")
    weights = None
    if slots and shape.chance(0.5):
        weights = k.array("weights shares", scalar, places, low=0.2, high=1.0)
    count = k.trip_count("bag_size num_slots", slots[0]) if slots else None
    pad = k.scalar("pad_id skip_id", INT32, 0, 3) if shape.chance(0.35) else None
    names = (("b", "t", "d"), ("item", "pos", "f")) if lead else (("t", "d"), ("pos", "f"))
    c = cells(k, scalar, [*lead, tokens, wide], names, len(lead) + 1)
    value = _gathered(c, table, ids, weights, pad, count)
    if level >= 2 and shape.chance(0.6):
        more = c.read("positions pos_table", scalar, -0.5, 0.5, axes=(-2, -1))
        k.augment(value, "add", more)
        c.say(f"{c.tell(more)} is added.")
    finish(c, level, value, "out gathered looked_up", "gain")
    return Title(k.name("gather_rows embedding_lookup embedding_bag lookup"), c.text)

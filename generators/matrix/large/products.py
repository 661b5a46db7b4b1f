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
    shape, scalar = k.draw.shape, FLOAT32
    vector = shape.chance(0.35)
    m = k.size("m", 48, 80) if vector else k.size("m", 7, 10)
    inner, n = k.size("inner_dim", 4, 8), "" if vector else k.size("n", 7, 10)
    axes = shape.choice(_LAYOUTS[::2] if vector else _LAYOUTS)
    symbols = {"i": m, "j": n, "k": inner}
    first, second = [symbols[x] for x in axes[:2]], [symbols[x] for x in axes[2:]]
    names = k.draw.word.choice(_VECTOR_PAIRS if vector else _PAIRS)
    a = k.array(names[0], scalar, first, low=-1.0, high=1.0)
    b = k.array(names[1], scalar, second[:1] if vector else second, low=-1.0, high=1.0)
    depth = k.size_param("inner k_size", inner)
    dims = (m,) if vector else (m, n)
    c = cells(k, scalar, dims, (("i",), ("row",)) if vector else NAMES[2][:2], len(dims) - 1)
    total = k.let("total acc s", zero(scalar))
    with k.for_("kk p t", depth) as p:
        by = {"i": c.at[0], "j": c.at[-1], "k": p}
        left, right = a[by[axes[0]], by[axes[1]]], b[p] if vector else b[by[axes[2]], by[axes[3]]]
        k.augment(total, "add", left * right)
    turned = [f"the transpose of {a.name}" if axes[0] == "k" else a.name]
    turned.append(f"the transpose of {b.name}" if axes[2:] == ("j", "k") and not vector else b.name)
    c.say(f"Multiply {turned[0]} by {'the vector ' * vector}{turned[1]}.")
    finish(c, level, total, "y out" if vector else "c out", "product")
    layer = "apply " in c.text or "bias" in c.text
    titles = "dense_layer linear_forward" if layer else "matvec gemv" if vector else "matmul gemm"
    return Title(k.name(titles), c.text)


_PAIRS = (("a", "b"), ("lhs", "rhs"), ("a_mat", "b_mat"), ("x", "weights"))
_VECTOR_PAIRS = (("a", "x"), ("w", "x"), ("weights", "x"))
"""Names of both factors."""


def _operand(
    k: KernelBuilder, name: str, scalar: Scalar, dims: tuple[str, str], batch: str, share: float
) -> tuple[Callable[..., Expr], str]:
    """A matrix, transposed or not, for each product or shared by all of them; what it is."""
    flipped, shared = k.draw.shape.chance(0.3), k.draw.shape.chance(share)
    inner = dims[::-1] if flipped else dims
    array = k.array(name, scalar, inner if shared else (batch, *inner), low=-1.0, high=1.0)

    def entry(item: Expr, row: Expr, col: Expr) -> Expr:
        pair = (col, row) if flipped else (row, col)
        return array[pair if shared else (item, *pair)]

    said = f"the transpose of {array.name}" if flipped else array.name
    return entry, f"{said}{' (the same for all items)' * shared}"


def _only(k: KernelBuilder, test: Expr | None) -> AbstractContextManager[None]:
    """A block under a condition, if there is one."""
    return nullcontext() if test is None else k.if_(test)


@idiom
def batched_product(k: KernelBuilder, level: int) -> Title:
    """A product for each item of a batch: transposed, shared or narrow operands, epilogue."""
    shape, scalar = k.draw.shape, FLOAT32
    half = shape.chance(0.12)
    batch, m, n = k.size("b", 3, 4), k.size("m", 4, 5), k.size("n", 4, 5)
    inner = k.size("inner_dim", 3, 5)
    narrow = Scalar("float16") if half else scalar
    names = k.draw.word.choice(_PAIRS)
    left, first = _operand(k, names[0], narrow, (m, inner), batch, 0.0)
    right, second = _operand(k, names[1], narrow, (inner, n), batch, 0.3)
    depth = k.size_param("inner k_size", inner)
    c = cells(k, scalar, (batch, m, n), NAMES[3][1:2] + (("item", "i", "j"),), 2)
    item, row, col = c.at
    total = k.let("total acc s", zero(scalar))
    with k.for_("p kk t", depth) as p:
        term = cast(left(item, row, p), scalar) * cast(right(item, p, col), scalar)
        k.augment(total, "add", term)
    c.say(f"Batched matrix product: for each item, multiply {first} by {second}.")
    if half:
        c.say("The sum is taken in float32.")
    finish(c, level, total, "out products result", "product")
    return Title(k.name("batched_matmul bmm batch_product"), c.text)


_WHOLE = {"int8": (-20, 20), "uint8": (0, 30), "int16": (-30, 30)}
_WIDTHS = (("int8", "int8"), ("uint8", "int8"), ("int16", "int8"), ("uint8", "uint8"))
"""Types of activations and weights."""
_QUANTISED = (("a_q", "b_q"), ("acts_q", "weights_q"), ("x_q", "w_q"))


@idiom
def quantised_product(k: KernelBuilder, level: int) -> Title:
    """Whole-number matrix products with zero points and scales, back to floats."""
    shape = k.draw.shape
    lead = (k.size("b", 3, 4),) if shape.chance(0.3) else ()
    m, n, inner = k.size("m", 5, 8), k.size("n", 5, 8), k.size("inner_dim", 3, 5)
    first, second = shape.choice(_WIDTHS)
    flipped, own = shape.chance(0.5), () if shape.chance(0.6) else lead
    (low, high), (low2, high2) = _WHOLE[first], _WHOLE[second]
    called = k.draw.word.choice(_QUANTISED)
    a = k.array(called[0], Scalar(first), (*lead, m, inner), low=low, high=high)
    dims = (*own, n, inner) if flipped else (*own, inner, n)
    b = k.array(called[1], Scalar(second), dims, low=low2, high=high2)
    # A sum of products of 16 and 8 bits outgrows 32 bits after some hundred terms.
    wide = Scalar("int64" if first == "int16" else "int32")
    zeros = [shape.chance(0.8 if kind == "uint8" else 0.15) for kind in (first, second)]
    names = [name.replace("_q", "_zero") for name in called]
    points = [k.scalar(n, wide, 1, 9) if z else None for n, z in zip(names, zeros, strict=True)]
    depth = k.size_param("depth inner", inner)
    c = cells(k, k.draw.wide_float_type(), (*lead, m, n), NAMES[2 + len(lead)], 1 + len(lead))
    head, (i, j) = c.at[:-2], c.at[-2:]
    total = k.let("total acc isum", literal(0, wide))
    with k.for_("p kk", depth) as p:
        at = (*(head if own else ()), *((j, p) if flipped else (p, j)))
        sides = [cast(a[index(*head, i, p)], wide), cast(b[at], wide)]
        left, right = (s if z is None else s - z for s, z in zip(sides, points, strict=True))
        k.augment(total, "add", left * right)
    pairs = zip((a, b), points, strict=True)
    told = [x.name if z is None else f"({x.name} - {z.name})" for x, z in pairs]
    kinds = first if first == second else f"{first} times {second}"
    c.say(f"Quantised matrix product ({kinds}): sum {told[0]} * {told[1]} over the depth in {wide}")
    c.said[-1] += f"{f', {b.name} being stored transposed' * flipped}."
    if level >= 2 and shape.chance(0.5):
        bias = k.array("bias_q bias_int", wide, n, low=-90, high=90)[j]
        k.augment(total, "add", bias)
        c.say(f"Add {c.tell(bias)}.")
    step = _dequantised_by(c)
    value = k.let("value dequantised", step * cast(total, c.scalar))
    c.say(f"Convert to float and multiply by {c.tell(step)}.")
    finish(c, level, value, "out result real_out", "dequantised")
    return Title(k.name("quantised_product int_gemm dequant_matmul"), c.text)


def _dequantised_by(c: Cells) -> Expr:
    """The scale of all entries, or one of each column."""
    if c.chance(0.6):
        return c.along("scales col_scales", 0.002, 0.005, c.channel)
    return c.k.scalar("scale", c.scalar, 0.002, 0.005)


@idiom(depth=3)
def ell_product(k: KernelBuilder, level: int) -> Title:
    """A fixed-width sparse matrix times a vector or several: products, steps of solvers, graphs."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    several = shape.chance(0.55)
    n = k.size("n", 10, 14) if several else k.size("n", 48, 80)
    # Rows use three slots at most.
    width = k.size("longest", 3, 5, minimum=3)
    whole = (n, k.size("r", 4, 5)) if several else (n,)
    flipped, weighted = shape.chance(0.4), shape.chance(0.9)
    dims = (width, n) if flipped else (n, width)
    columns = k.array("columns col_ids", INT32, dims, init=f"index_of:{n}")
    names = "values coeffs"
    values = k.array(names, scalar, dims, low=-0.8, high=0.8) if weighted else None
    x = k.array("x vec" if not several else "x rhs", scalar, whole, low=-1.0, high=1.0)
    names = "row_lengths row_counts"
    used = k.array(names, INT32, n, low=1, high=3) if shape.chance(0.35) else None
    indices = (("i", "r"), ("row", "col"))
    c = cells(k, scalar, whole, indices if several else [names[:1] for names in indices])
    row, own = c.at[0], x[c.at]
    form = shape.choice(("product", "product", "product", "difference"))
    total = k.let("total acc s", zero(scalar))

    def term(e: Var) -> Expr:
        place = (e, row) if flipped else (row, e)
        col = c.part("nbr neighbor" if form == "difference" else "col_id source", columns[place])
        entry = x[index(col, *c.at[1:])] - own if form == "difference" else x[index(col, *c.at[1:])]
        entry = entry if values is None else values[place] * entry
        k.augment(total, "add", entry)
        return entry

    stop: Expr = used[row] if used is not None else k.size_param("width max_nonzeros", width)
    with k.for_("e slot p", stop) as e:
        term(e)
    _ell_said(c, (columns, values, x, used), flipped, form)
    _completed(c, level, total, own, form)
    names = "ell_laplacian graph_laplacian" if form == "difference" else "ell_spmv ell_matvec"
    names = "ell_spmm ell_matmul" if several and form != "difference" else names
    return Title(k.name(names), c.text)


def _ell_said(
    c: Cells, of: tuple[Var, Var | None, Var, Var | None], flipped: bool, form: str
) -> None:
    """How the matrix lies, and what it is multiplied by."""
    columns, values, x, used = of
    axis = "first" if flipped else "second"
    stored = f"the column of each slot in {columns.name}, slots along the {axis} axis"
    valued = f"its value in {values.name}" if values is not None else "all values 1"
    limit = "" if used is None else f"; row r uses its first {used.name}[r] slots"
    if form == "difference":
        c.say(f"Graph Laplacian of {x.name} over an ELL matrix ({stored}, {valued}{limit}): sum")
        weight = f"{values.name} * " if values is not None else ""
        c.said[-1] += f" {weight}({x.name} of the column - {x.name} of the row) over the slots."
    else:
        c.say(f"Multiply a sparse matrix in ELL format ({stored}, {valued}{limit})")
        c.said[-1] += f" by {x.name}."


def _completed(c: Cells, level: int, total: Var, own: Expr, form: str) -> None:
    """The diagonal of a sparse matrix, the residual of a system, and the store."""
    k = c.k
    if level >= 2 and form == "product" and c.chance(0.5):
        more = c.read("diagonal diag", c.scalar, 0.5, 1.5, axes=(0,)) * own
        k.augment(total, "add", more)
        c.say(f"The diagonal lies apart: {c.tell(more)} is added.")
    if level >= 2 and c.chance(0.4):
        b = c.read("b target", c.scalar, -1.0, 1.0)
        residual = k.let("residual res", b - total)
        c.say(f"Subtract the sum from {c.tell(b)}.")
        finish(c, level, residual, "residuals r_out", "plain")
        return
    finish(c, level, total, "y out", "linear" if form == "product" else "plain")


def _gathered(
    c: Cells, table: Var, ids: Var, weights: Var | None, pad: Var | None, count: Expr | None
) -> Var:
    """An entry of the row that an index names, or of several rows, summed or the largest."""
    k, at, last = c.k, c.at[:-1], c.at[-1]
    if count is None and pad is None:
        row = k.let("row_id token", ids[at])
        c.say(f"Look up row {c.tell(ids[at])} of {table.name} for each token.")
        return k.let("value entry", table[row, last])
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

    value = k.let("pooled bag_sum" if count is not None else "value entry", start)
    if count is None and pad is not None:
        entry()
        c.say(f"Look up row {ids.name} of {table.name} for each token; {pad.name} gives zeros.")
        return value
    assert count is not None
    with k.for_("s slot p", count, start=int(best)) as s:
        entry(s)
    skipped = "" if pad is None else f", leaving out those equal to {pad.name}"
    kind = "maximum" if best else "sum" if weights is None else f"sum weighted by {weights.name}"
    c.say(f"Embedding bag: for each bag of ids, the {kind} of the rows of {table.name} that its")
    c.said[-1] += f" {ids.name} name{skipped}."
    return value


@idiom
def gather_rows(k: KernelBuilder, level: int) -> Title:
    """Rows of a table by index: lookups, positions, bags with weights and padding."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    lead = [k.size("b", 3, 4)] if shape.chance(0.5) else []
    tokens, wide, rows = k.size("tokens", 5, 7), k.size("dim", 4, 6), k.size("vocab", 4, 6)
    slots = [k.size("m", 3, 4)] if shape.chance(0.45) else []
    table = k.array("table embeddings", scalar, (rows, wide), low=-1.0, high=1.0)
    places = [*lead, tokens, *slots]
    ids = k.array("ids token_ids row_ids", INT32, places, init=f"index_of:{rows}")
    weights = None
    if slots and shape.chance(0.5):
        weights = k.array("weights bag_weights", scalar, places, low=0.2, high=1.0)
    count = k.size_param("bag_size num_slots", slots[0]) if slots else None
    pad = k.scalar("pad_id padding_idx", INT32, 0, 3) if shape.chance(0.35) else None
    names = (("b", "t", "d"), ("item", "pos", "f")) if lead else (("t", "d"), ("pos", "f"))
    c = cells(k, scalar, [*lead, tokens, wide], names, len(lead) + 1)
    value = _gathered(c, table, ids, weights, pad, count)
    if level >= 2 and not slots and shape.chance(0.6):
        more = c.read("pos_embeddings pos_table", scalar, -0.5, 0.5, axes=(-2, -1))
        k.augment(value, "add", more)
        c.say(f"Add the embedding of the token's position in {more.array.name}.")
    finish(c, level, value, "out embedded", "plain")
    return Title(k.name("embedding_bag" if slots else "embedding_lookup gather_rows"), c.text)

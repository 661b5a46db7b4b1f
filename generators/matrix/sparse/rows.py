"""Sparse matrices by rows: offsets, blocks, sampled products."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Expr, Operand, Var

_MOST, _FEW = 40, 20
"""Entries that offsets lead to at most; few in graphs, so that some nodes have none."""


@dataclass(frozen=True)
class Csr:
    """Rows of a sparse matrix: offsets, columns, and how they are called."""

    w: Work
    offsets: Var
    cols: Var
    edges: str

    def bounds(self, row: Expr, nested: bool) -> tuple[Operand, Operand]:
        """First and one past the last entry of a row, as locals or where they are used."""
        if nested:
            return self.offsets[row], self.offsets[row + 1]
        k = self.w.k
        first, second = alike(k, "start end", "begin stop", "lo hi", "first last")
        return k.let(first, self.offsets[row]), k.let(second, self.offsets[row + 1])


def csr(w: Work, rows: str, cols: str, graph: bool = False) -> Csr:
    """Row offsets and columns over ``rows`` and ``cols``; no offset is beyond the entries."""
    k = w.k
    most_edges = _FEW if graph else _MOST
    w.size("edges" if graph else "nnz", most_edges, most_edges + 10, minimum=most_edges)
    edges = "edges" if graph else "nnz"
    pairs = ("row_ptr nbr_ids", "offsets neighbors", "indptr indices")
    if not graph:
        pairs = ("row_ptr col_idx", "indptr indices", "row_offsets columns")
    first, second = alike(k, *pairs)
    offsets = k.array(first, INT32, f"{rows}+1", init="sorted", low=0, high=most_edges)
    return Csr(w, offsets, k.array(second, INT32, edges, init=f"index_of:{cols}"), edges)


@idiom
def csr_spmm(k: KernelBuilder, level: int) -> Title:
    """A sparse matrix by row offsets times a dense matrix or a vector; scaled or added."""
    w = work(k, level, flattening=0.25)
    rows = w.size("rows", 8, 12, "num_rows")
    cols = w.size("cols", 6, 10, "num_cols") if w.chance(0.3) else rows
    vector = w.chance(0.3)
    m = csr(w, rows, cols)
    values = w.tensor("values vals data", ("nnz",)) if w.chance(0.85) else None
    width = () if vector else (w.size("rhs", 3, 6, "num_rhs"),)
    way = k.draw.shape.weighted({"plain": 4, "gemv": 2, "residual": 2, "scaled": 1})
    x = w.tensor("x" if vector or way == "residual" else "x dense", (cols, *width))
    nested = w.chance(0.5)
    b = w.tensor("b", (rows, *width)) if way == "residual" else None
    with w.each((rows, *width), ("row i r", "j col_out q")) as at:
        first, last = m.bounds(at[0], nested)
        total = w.sum("total acc s")
        with k.for_("e nz p", last, start=first) as e:
            col = k.let("col c", m.cols[e]) if w.chance(0.5) else m.cols[e]
            entry = x[index(col, *at[1:])]
            k.augment(total, "add", entry if values is None else values[e] * entry)
        what = "all of value 1" if values is None else f"their values in {values.name}"
        residual = "" if b is None else f"Residual {b.name} - A * {x.name} with a CSR matrix A."
        w.say(residual or f"Multiply a CSR matrix by {x.name}.")
        w.say(
            f"Row r has the entries {m.offsets.name}[r] up to {m.offsets.name}[r + 1] (exclusive), "
            f"their columns in {m.cols.name}, {what}."
        )
        _finished(w, way, (total, b), (rows, *width), at)
    plain = "csr_spmv csr_matvec" if vector else "csr_spmm csr_matmul"
    return Title(k.name("csr_residual" if way == "residual" else plain), w.text())


def _finished(
    w: Work, way: str, of: tuple[Var, Tensor | None], dims: tuple[str, ...], at: tuple[Var, ...]
) -> None:
    """Store a product: as it is, scaled, with what is there, or less a right side."""
    total, b = of
    if way == "gemv":
        y = w.tensor("y out", dims, role="inout")
        alpha, beta = w.number("alpha", 0.5, 1.5), w.number("beta", 0.3, 0.9)
        y.store(at, alpha * total + beta * y[at])
        w.say(f"{y.name} becomes {written(alpha)} * the product + {written(beta)} * {y.name}.")
        return
    value: Expr = total
    if b is not None:
        value = b[at] - total
    elif way == "scaled":
        scale = w.tensor("row_scale inv_diag", dims[:1], 0.2, 1.0)
        value = scale[at[0]] * total
        w.say(f"Multiply the product by {scale.name} of the row.")
    out = w.out("residual r_out" if way == "residual" else "y out", dims)
    out.store(at, value)
    w.say(f"{out.name} gets the result.")


@idiom
def bsr_spmv(k: KernelBuilder, level: int) -> Title:
    """A sparse matrix of small dense blocks times a vector or several, a block row a thread."""
    w = work(k, level)
    size = k.draw.shape.choice((2, 3, 4))
    mat, vec = Mat(size, size, w.type_), Vec(size, w.type_)
    rows = w.size("rows", 8, 12, "block_rows")
    way = k.draw.shape.choice(("plain", "plain", "residual", "jacobi", "add"))
    # Only a square matrix has a diagonal to divide by.
    wide = way not in ("residual", "jacobi") and w.chance(0.3)
    cols = w.size("cols", 6, 10, "block_cols") if wide else rows
    width = (w.size("rhs", 3, 4, "num_rhs"),) if w.chance(0.2) else ()
    m = csr(w, rows, cols)
    blocks = k.array("blocks values vals", mat, "nnz", low=-0.8, high=0.8)
    x = w.tensor("x vecs", (cols, *width), type_=vec)
    turned = w.chance(0.25)
    with w.each((rows, *width), ("row i", "j q")) as at:
        first, last = m.bounds(at[0], w.chance(0.5))
        total = k.let("total acc s", make(vec, k.lift(0.0, w.type_)))
        with k.for_("e p", last, start=first) as e:
            block = fn("transpose", blocks[e]) if turned else blocks[e]
            k.augment(total, "add", block * x[index(m.cols[e], *at[1:])])
        role = "inout" if way == "add" else "out"
        kind = f"a BSR matrix{' A' * (way in ('residual', 'jacobi'))} of {size} x {size} blocks"
        value, head = _corrected(w, way, (total, x), (rows, *width), at, (mat, vec))
        told = head.format(kind=f"{kind}, each stored by columns," if turned else kind)
        w.say(told.replace(",.", "."))
        w.say(
            f"Block row r has the blocks {m.offsets.name}[r] up to {m.offsets.name}[r + 1] "
            f"(exclusive) of {blocks.name}, the block column of each in {m.cols.name}."
        )
        names = {"residual": "residual r_out", "jacobi": "correction dx"}.get(way, "y out")
        out = w.tensor(names, (rows, *width), role=role, type_=vec)
        out.store(at, value, "add" if way == "add" else "")
        adds = f"The product is added to {out.name}."
        w.say(f"{out.name} gets the result." if way != "add" else adds)
    titles = {"residual": "bsr_residual", "jacobi": "block_jacobi"}
    plain = "bsr_spmm bsr_matmul" if width else "bsr_spmv bsr_matvec"
    return Title(k.name(titles.get(way, plain)), w.text())


def _corrected(
    w: Work,
    way: str,
    of: tuple[Var, Tensor],
    dims: tuple[str, ...],
    at: tuple[Var, ...],
    types: tuple[Mat, Vec],
) -> tuple[Expr, str]:
    """The product as it is, the residual of a system, or a step of block Jacobi; in words."""
    total, x = of
    if way not in ("residual", "jacobi"):
        return total, f"Multiply {{kind}} by {x.name}."
    b = w.tensor("b", dims, type_=types[1])
    rest, said = b[at] - total, f"{b.name} - A * {x.name}"
    if way == "residual":
        return rest, f"Residual {said} with {{kind}}."
    inverse = w.tensor("inv_diag", dims[:1], type_=types[0])
    omega = w.number("omega", 0.5, 0.9)
    text = f"Correction of a damped block Jacobi step, {written(omega)} * D * ({said}), with "
    text += f"{{kind}} and the inverses {inverse.name} of its diagonal blocks in D."
    return omega * (inverse[at[0]] * rest), text


@idiom
def sampled_product(k: KernelBuilder, level: int) -> Title:
    """Entries of a dense product at the places of a sparse matrix (SDDMM)."""
    w = work(k, level, flattening=0.25)
    rows, cols = w.size("rows", 8, 12, "num_rows"), w.size("cols", 6, 10, "num_cols")
    depth, by_entry = w.size("dim", 3, 6, "num_features"), w.chance(0.5)
    names = alike(k, "a b", "u v", "queries keys")
    a, b = w.tensor(names[0], (rows, depth)), w.tensor(names[1], (cols, depth))
    row_of, col_of, where = _pattern(w, rows, cols, by_entry)
    sampled = w.tensor("values vals", ("nnz",), 0.2, 1.0) if w.chance(0.5) else None
    scale = w.number("scale", 0.3, 0.9) if w.chance(0.4) else None
    out = w.tensor("out products", ("nnz",), role="out" if by_entry else "inout")

    def entry(row: Expr, col: Expr, e: Expr) -> None:
        total = k.let("dot total acc", zero(w.type_))
        with w.loop("d p kk", depth) as d:
            k.augment(total, "add", a[row, d] * b[col, d])
        value: Expr = total if scale is None else scale * total
        out.store((e,), value if sampled is None else sampled[e] * value)

    if by_entry:
        (e,) = k.thread("nnz", names=(k.name("e tid nz"),))
        first, second = alike(k, "row col", "i j")
        entry(k.let(first, row_of[e]), k.let(second, col_of[e]), e)
    else:
        first, second = alike(k, "row col", "i j")
        (row,) = k.thread(rows, names=(first,))
        with k.for_("e nz", row_of[row + 1], start=row_of[row]) as e:
            entry(row, k.let(second, col_of[e]), e)
    times = "" if scale is None else f"{written(scale)} * "
    times += "" if sampled is None else f"{sampled.name} * "
    w.say(
        f"Sampled dense-dense product (SDDMM): for each entry of a sparse pattern in {where}, "
        f"{out.name} gets {times}the dot product of row r of {a.name} and row c of {b.name}."
    )
    return Title(k.name("sddmm sampled_matmul"), w.text())


def _pattern(w: Work, rows: str, cols: str, by_entry: bool) -> tuple[Var, Var, str]:
    """Where entries are: both indices of each, or columns by row offsets; and that in words."""
    k = w.k
    if by_entry:
        w.size("nnz", 40, 60)
        first, second = alike(k, "row_idx col_idx", "rows_coo cols_coo")
        row_of = k.array(first, INT32, "nnz", init=f"index_of:{rows}")
        col_of = k.array(second, INT32, "nnz", init=f"index_of:{cols}")
        return row_of, col_of, f"COO form (row r = {row_of.name}, column c = {col_of.name})"
    m = csr(w, rows, cols)
    offsets = m.offsets.name
    where = f"CSR form (row r has entries {offsets}[r] up to {offsets}[r + 1], c = {m.cols.name})"
    return m.offsets, m.cols, where

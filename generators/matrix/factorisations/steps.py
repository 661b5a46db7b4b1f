"""Steps of factorisations and solvers, a launch each."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var


def items(w: Work) -> tuple[tuple[str, ...], list[str]]:
    """Often from level 2 on: a batch of matrices."""
    if w.chance(0.45, 2):
        return (w.size("batch", 3, 5, "batch num_items"),), ["b item"]
    return (), []


@idiom
def triangular_solve(k: KernelBuilder, level: int) -> Title:
    """Substitution for each right-hand side: forward or backward, transposed, unit diagonal."""
    w = work(k, level, flattening=0.25)
    # A thread works through a whole system, so there are many of them.
    several = w.chance(0.45, 2)
    lead = (w.size("systems", 3, 5, "num_systems batch"),) if several else ()
    call = ["b sys_id"] * several
    n = w.size("order", 4, 6, "n order")
    many = (w.size("rhs", 5, 9, "num_rhs"),) if not lead or w.chance(0.6) else ()
    lower, unit, over = w.chance(0.5), w.chance(0.3), w.chance(0.4)
    flipped = w.chance(0.3)
    held = lower != flipped
    a = w.tensor("l_mat lower" if held else "u_mat upper", (*lead, n, n), -0.5, 0.5)
    diag = None if unit else w.tensor("diag pivots", (*lead, n), 1.0, 2.0)
    names = [*call, "r col"] if many else call
    at = k.thread(*lead, *many, names=[k.name(c) for c in names])
    first, more = at[: len(lead)], at[len(lead) :]
    role = "inout" if over else "in"
    b = w.tensor("x rhs" if over else "b rhs", (*lead, n, *many), role=role)
    x = b if over else w.out("x solution", (*lead, n, *many))

    def row(i: Expr) -> None:
        total = k.let("total s acc", b[index(*first, i, *more)])
        start: Expr | int = 0 if lower else i + 1
        with k.for_("j p", i if lower else w.count(n), start=start) as j:
            entry = a[index(*first, j, i) if flipped else index(*first, i, j)]
            k.augment(total, "sub", entry * x[index(*first, j, *more)])
        x.store((*first, i, *more), total if diag is None else total / diag[index(*first, i)])

    with w.loop("step t" if not lower else "i row", n) as t:
        row(t if lower else k.let("i row", w.count(n) - 1 - t))
    side = "lower" if lower else "upper"
    whole = f"the {side} triangle of {f'the transpose of {a.name}' if flipped else a.name}"
    each = f"{'each' if many else 'the'} right-hand side{' of each system' * bool(lead)}"
    _triangle_said(w, (b, x), lower, f"{whole} with {diag.name if diag else 'ones'}", each)
    return Title(k.name(f"solve_{side} {side}_substitution", "triangular_solve"), w.text())


def _triangle_said(w: Work, of: tuple[Tensor, Tensor], lower: bool, whole: str, each: str) -> None:
    """Which way it is solved, with which matrix, and where right-hand side and solution are."""
    b, x = of
    where = f" in {b.name}" if b is not x else ""
    where = where or f" ({b.name} holds it and is overwritten by the solution)"
    w.say(
        f"Triangular solve by {'forward' if lower else 'backward'} substitution for {each}{where}."
        f" The matrix is {whole} on the diagonal."
    )
    if b is not x:
        w.say(f"{x.name} gets the solution.")


@idiom
def elimination_step(k: KernelBuilder, level: int) -> Title:
    """One step of LU: the trailing part of a matrix less an outer product of column and row."""
    w = work(k, level, flattening=0.4)
    lead, call = items(w)
    m = w.size("m", 6, 9, "m num_rows", minimum=4)
    n = w.size("n", 6, 9, "n num_cols", minimum=4)
    apart, own = w.chance(0.35), w.chance(0.5)
    a = w.tensor("a mat", (*lead, m, n), role="in" if apart else "inout")
    step = k.scalar("step p", INT32, 0, 2)
    column = w.tensor("col_vec pivot_col", (*lead, m))
    line = w.tensor("row_vec pivot_row", (*lead, n), 0.5, 2.0)
    out = w.out("out trailing", (*lead, m, n)) if apart else a
    with w.each((*lead, m, n), [*call, "i row", "j col"]) as at:
        first, (i, j) = at[:-2], at[-2:]
        over = k.let("pivot", line[index(*first, step)])
        inside = fn("and", i > step, j > step)
        if own:
            factor = k.let("factor multiplier", column[index(*first, i)] / over)
            term: Expr = factor * line[index(*first, j)]
        else:
            term = column[index(*first, i)] * line[index(*first, j)] / over
        if apart:
            out.store(at, fn("where", inside, a[at] - term, a[at]))
        else:
            with k.if_(inside):
                if w.chance(0.5):
                    a.store(at, term, "sub")
                else:
                    a.store(at, k.let("updated entry", a[at] - term))
    every = " of each item" * bool(lead)
    w.say(
        f"Trailing update of an LU factorisation with pivot index {step.name}{every}: from each "
        f"entry (i, j) of {a.name} with i > {step.name} and j > {step.name}, subtract "
        f"{column.name}[i] * {line.name}[j] / {line.name}[{step.name}]; {column.name} and "
        f"{line.name} are column and row {step.name} of the matrix."
    )
    if apart:
        w.say(f"{out.name} gets the matrix; other entries are copied.")
    return Title(k.name("lu_update eliminate_step", "trailing_update"), w.text())


@idiom
def reflector_apply(k: KernelBuilder, level: int) -> Title:
    """A Householder reflection, or an orthogonalisation against a basis, of each column."""
    w = work(k, level, flattening=0.3)
    lead, call = items(w)
    right = w.chance(0.4)
    n = w.size("order", 5, 8, "row_length" if right else "num_rows")
    cols = w.size("rows", 6, 9, "num_rows") if right else w.size("cols", 6, 9, "num_cols")
    shape = (*lead, cols, n) if right else (*lead, n, cols)
    a = w.tensor("a mat", shape, role="inout")
    basis = w.chance(0.45)
    many = (w.size("basis", 2, 3, "num_basis basis_size"),) if basis else ()
    v = w.tensor("q_vecs basis_vecs" if basis else "v reflector", (*lead, *many, n))
    scale = w.tensor("tau betas", lead, 0.4, 1.2) if lead and not basis else None
    tau: Expr | None = None
    if not basis and not lead:
        tau = w.number("tau beta", 0.4, 1.2)
    tail = not basis and w.chance(0.35)
    at = k.thread(*lead, cols, names=[k.name(c) for c in [*call, "i row" if right else "j col"]])
    first = at[:-1]
    line = "row" if right else "column"
    start = k.scalar("step first_entry", INT32, 0, 1) if tail else k.lift(0, INT32)
    if basis:
        with w.loop("s m", "basis") as s:
            _taken_off(w, a, v, at, (*first, s), (start, None))
        w.say(
            f"Modified Gram-Schmidt: make each {line} of {a.name} orthogonal to the orthonormal "
            f"vectors u in {v.name}, one after the other, by subtracting dot(u, {line}) * u with "
            f"the {line} as the ones before have left it."
        )
    else:
        number = scale[first] if scale is not None else tau
        _taken_off(w, a, v, at, first, (start, number))
        t = scale.name if scale is not None else written(tau) if tau is not None else ""
        below = f" Entries before index {written(start)} stay as they are." if tail else ""
        w.say(
            f"Apply the Householder reflection I - {t} * {v.name} * transpose({v.name}) to each "
            f"{line} of {a.name} in place.{below}"
        )
    names = f"gram_schmidt orthogonalize_{line}s" if basis else "householder_apply apply_reflector"
    return Title(k.name(names), w.text())


def _taken_off(
    w: Work,
    a: Tensor,
    v: Tensor,
    at: tuple[Var, ...],
    own: tuple[Expr, ...],
    by: tuple[Expr | int, Expr | None],
) -> None:
    """Take its part along a vector off a column, times a number if there is one."""
    k, (start, number) = w.k, by

    def place(i: Expr) -> tuple[Expr, ...]:
        return (*at, i) if a.dims[-1] == "order" else (*at[:-1], i, at[-1])

    dot = k.let("dot proj", zero(w.type_))
    with w.loop("i p", "order", start=start) as i:
        k.augment(dot, "add", v[index(*own, i)] * a[place(i)])
    if number is not None:
        k.augment(dot, "mul", number)
    plain = w.chance(0.6)
    with w.loop("r q", "order", start=start) as r:
        part = v[index(*own, r)] * dot
        if plain:
            a.store(place(r), part, "sub")
        else:
            a.store(place(r), a[place(r)] - part)


@idiom
def givens_rows(k: KernelBuilder, level: int) -> Title:
    """Pairs of rows or columns of a matrix turned by Givens rotations."""
    w = work(k, level, flattening=0.3)
    lead, call = items(w)
    pairs, cols = w.size("pairs", 3, 5, "num_pairs pairs"), w.size("cols", 5, 8, "num_cols cols")
    w.words["2*pairs"] = "n num_rows"
    apart = w.chance(0.35)
    a = w.tensor("a mat", (*lead, "2*pairs", cols), role="in" if apart else "inout")
    out = w.out("out turned", a.dims) if apart else a
    c_arr, s_arr = (
        w.tensor(name, (*lead, pairs)) for name in alike(k, "cosines sines", "c_rot s_rot")
    )
    way = k.draw.shape.choice(("beside", "halves", "brent"))
    with w.each((*lead, pairs, cols), [*call, "p pair", "j col"]) as at:
        first, (p, j) = at[:-2], at[-2:]
        turns = (c_arr[index(*first, p)], s_arr[index(*first, p)])
        c, s = map(k.let, alike(k, "c s", "cos_p sin_p"), turns)
        if way == "beside":
            top: Expr = k.let("upper r0", 2 * p)
            low: Expr = top + 1
            said = "rows 2p and 2p + 1"
        elif way == "halves":
            top, low = p, p + w.count(pairs)
            said = f"rows p and p + {written(w.count(pairs))}"
        else:
            top, low = p, k.let("lower r1", 2 * w.count(pairs) - 1 - p)
            said = "row p and the p-th row from the end"
        rows = (a[index(*first, top, j)], a[index(*first, low, j)])
        x, y = map(k.let, alike(k, "x y", "a_top a_low"), rows)
        out.store((*first, top, j), c * x + s * y)
        out.store((*first, low, j), c * y - s * x)
    where = f"into {out.name}" if apart else "in place"
    item = "b, " * bool(lead)
    every = " of each item b" * bool(lead)
    w.say(
        f"Apply a Givens rotation to each pair p of rows of {a.name}{every}, {where}: {said}, with "
        f"cosine {c_arr.name}[{item}p] and sine {s_arr.name}[{item}p]. Entries x and y of the two "
        f"rows become cos * x + sin * y and cos * y - sin * x."
    )
    return Title(k.name("givens_rotate rotate_rows apply_givens", "plane_rotations"), w.text())

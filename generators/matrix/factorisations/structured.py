"""Products of structured matrices; matrices of all pairs of rows or features."""

from __future__ import annotations

from collections.abc import Sequence

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, sqrt
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.factorisations.steps import items
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.dtypes import INT32
from generators.program.expr import Const, Expr, Var


@idiom
def structured_product(k: KernelBuilder, level: int) -> Title:
    """A banded, Toeplitz, circulant, Hankel or tridiagonal matrix times a vector or several."""
    w = work(k, level, flattening=0.2)
    form = k.draw.shape.choice(("banded", "toeplitz", "circulant", "hankel", "tridiagonal"))
    n = w.size("n", 9, 14, "n num_rows")
    many = (w.size("rhs", 3, 5, "num_rhs"),) if w.chance(0.5) else ()
    x = w.tensor("x v", (n, *many))
    build = {"banded": _banded, "tridiagonal": _tridiagonal}.get(form)
    with w.each((n, *many), ("i row", "r q")) as at:
        i, more = at[0], at[1:]
        if build is not None:
            value, kind, said = build(w, x, i, more)
        else:
            value, kind, said = _by_diagonals(w, form, x, i, more)
        what = "the columns of " if many else ""
        w.say(f"Multiply a {kind} matrix by {what}{x.name}. {said}")
        if w.chance(0.4, 2):
            y = w.tensor("y out", (n, *many), role="inout")
            beta = w.number("beta keep", 0.3, 0.9)
            y.store(at, value + beta * y[at])
            w.say(f"{y.name} becomes the product plus {written(beta)} times its old value.")
        else:
            out = w.out("y out result", (n, *many))
            out.store(at, value)
            w.say(f"{out.name} gets the product.")
    return Title(k.name(f"{form}_matvec {form}_product"), w.text())


def _banded(w: Work, x: Tensor, i: Expr, more: tuple[Expr, ...]) -> tuple[Expr, str, str]:
    k = w.k
    band = k.draw.shape.choice((1, 2, 3))
    by_row = w.chance(0.5)
    dims = ("n", str(2 * band + 1)) if by_row else (str(2 * band + 1), "n")
    ab = w.tensor("bands ab", dims, fixed=True)
    half: Expr = k.lift(band, INT32)
    if w.chance(0.7):
        half = k.size_param("half_band bandwidth", str(band))
    total = w.sum()
    d: Expr
    if w.chance(0.5):
        first = k.let("first lo", most(i - half, 0))
        after = k.lift(band + 1, INT32) if isinstance(half, Const) else half + 1
        last = k.let("last hi", least(i + after, w.count("n")))
        with k.for_("j c", last, start=first) as j:
            d = j - i + half
            k.augment(total, "add", ab[(i, d) if by_row else (d, i)] * x[index(j, *more)])
    else:
        count = k.lift(2 * band + 1, INT32) if isinstance(half, Const) else 2 * half + 1
        with k.for_("d diag", count) as diagonal:
            d = diagonal
            at = k.let("j c", i + d - half)
            with k.if_(fn("and", at >= 0, at < w.count("n"))):
                k.augment(total, "add", ab[(i, d) if by_row else (d, i)] * x[index(at, *more)])
    place = f"{ab.name}[i, j - i + {written(half)}]"
    place = place if by_row else f"{ab.name}[j - i + {written(half)}, i]"
    said = f"Entry (i, j) is {place} where |i - j| <= {written(half)}, and zero elsewhere."
    return total, "banded", said


def _tridiagonal(w: Work, x: Tensor, i: Expr, more: tuple[Expr, ...]) -> tuple[Expr, str, str]:
    k = w.k
    low, mid, high = (w.tensor(s, ("n",)) for s in alike(k, "lower diag upper", "dl d du"))
    total = k.let("total acc s", mid[i] * x[index(i, *more)])
    with k.if_(i > 0):
        k.augment(total, "add", low[i] * x[index(i - 1, *more)])
    with k.if_(i < w.count("n") - 1):
        k.augment(total, "add", high[i] * x[index(i + 1, *more)])
    said = (
        f"Row i has {low.name}[i] left of the diagonal, {mid.name}[i] on it and {high.name}[i] "
        f"right of it."
    )
    return total, "tridiagonal", said


def _by_diagonals(
    w: Work, form: str, x: Tensor, i: Expr, more: tuple[Expr, ...]
) -> tuple[Expr, str, str]:
    """Matrices whose entry depends on the sum or the difference of row and column."""
    k = w.k
    c = w.tensor("c first_col", ("n",), fixed=True)
    other = None
    if form != "circulant":
        other = w.tensor("last_row" if form == "hankel" else "r first_row", ("n",), fixed=True)
    total = w.sum()
    if other is None:
        with w.loop("j col p", "n") as j:
            k.augment(total, "add", _circulant_entry(w, c, i, j) * x[index(j, *more)])
        said = f"Entry (i, j) is {c.name}[(i - j) mod n], n being the order."
        return total, "circulant", said
    _two_halves(w, form, total, (c, other, x), (i, more))
    if form == "toeplitz":
        said = f"Entry (i, j) is {c.name}[i - j] where i >= j, else {other.name}[j - i]."
        return total, "Toeplitz", said
    said = (
        f"Entry (i, j) is {c.name}[i + j] where i + j < n, else {other.name}[i + j - n + 1], n "
        "being the order."
    )
    return total, "Hankel", said


def _circulant_entry(w: Work, c: Tensor, i: Expr, j: Expr) -> Expr:
    """An entry of a circulant matrix, by its first column."""
    k, n = w.k, w.count("n")
    if w.chance(0.5):
        return c[(i - j + n) % n]
    lag = k.let("lag d", i - j)
    with k.if_(lag < 0):
        k.augment(lag, "add", n)
    return c[lag]


def _two_halves(
    w: Work,
    form: str,
    total: Var,
    of: tuple[Tensor, Tensor, Tensor],
    at: tuple[Expr, tuple[Expr, ...]],
) -> None:
    """A row of a Toeplitz or Hankel matrix: its part in the first column, then that in the row."""
    k, n, (c, other, x), (i, more) = w.k, w.count("n"), of, at
    hankel = form == "hankel"
    turn = k.let("turn split", n - i if hankel else i + 1)
    with k.for_("j col p", turn) as j:
        k.augment(total, "add", c[i + j if hankel else i - j] * x[index(j, *more)])
    k.used.discard(j.name)
    with k.for_(j.name, n, start=turn) as j:
        entry = other[i + j - n + 1 if hankel else j - i]
        k.augment(total, "add", entry * x[index(j, *more)])


@idiom
def kronecker_product(k: KernelBuilder, level: int) -> Title:
    """Kronecker products: their entries, or one times a vector without forming it."""
    w = work(k, level, flattening=0.25)
    if w.chance(0.3):
        return _kronecker_sum(w)
    for symbol, high in (("ra", 4), ("ca", 4), ("rb", 3), ("cb", 3)):
        w.size(symbol, 2, high, f"{symbol} {symbol[1]}_{'rows' if symbol[0] == 'r' else 'cols'}")
    names = alike(k, "a b", "left right", "a_mat b_mat")
    a, b = w.tensor(names[0], ("ra", "ca")), w.tensor(names[1], ("rb", "cb"))
    whole = w.chance(0.65)
    scale = w.number("alpha scale", 0.4, 1.6) if w.chance(0.3, 2) else None
    times = "" if scale is None else f"{written(scale)} * "
    w.words["ra*rb"], w.words["ca*cb"] = "num_rows out_rows", "num_cols out_cols"
    dims = ("ra*rb", "ca*cb") if whole else ("ra*rb",)
    x = None if whole else w.tensor("x vec_in", ("ca*cb",), fixed=True)
    with w.each(dims, ["i row", "j col"][: len(dims)]) as at:
        i = at[0]
        ia, ja, ib, jb = k.draw.word.choice((("ia", "ja", "ib", "jb"), ("p", "q", "r", "s")))
        p, r = k.let(ia, i // w.count("rb")), k.let(ib, i % w.count("rb"))
        if x is None:
            j = at[-1]
            q, s = k.let(ja, j // w.count("cb")), k.let(jb, j % w.count("cb"))
            value: Expr = a[p, q] * b[r, s]
        else:
            total = w.sum("total acc")
            with w.loop(ja, "ca") as q:
                inner = k.let("inner part", zero(w.type_))
                with w.loop(jb, "cb") as s:
                    k.augment(inner, "add", b[r, s] * x[q * w.count("cb") + s])
                k.augment(total, "add", a[p, q] * inner)
            value = total
        adding = w.chance(0.12)
        out = w.tensor("out kron" if whole else "y out", dims, role="inout" if adding else "out")
        out.store(at, value if scale is None else scale * value, "add" if adding else "")
    product = f"{times}kron({a.name}, {b.name}){'' if x is None else f' * {x.name}'}"
    what = f"Kronecker product of two matrices{', never formed, times a vector' * (x is not None)}"
    how = f"{product} is added to {out.name}" if adding else f"{out.name} gets {product}"
    w.say(f"{what}: {how}.")
    return Title(k.name("kronecker_product kron" if whole else "kron_matvec kron_apply"), w.text())


def _kronecker_sum(w: Work) -> Title:
    """A kron I + I kron B times a vector: an operator along each axis of a grid."""
    k = w.k
    n, m = w.size("n", 4, 6, "n num_rows"), w.size("m", 4, 6, "m num_cols")
    names = alike(k, "a b", "left right", "a_mat b_mat")
    a, b = w.tensor(names[0], (n, n), fixed=True), w.tensor(names[1], (m, m), fixed=True)
    x = w.tensor("x u_in", (n, m), fixed=True)
    scale = w.number("alpha scale", 0.4, 1.6, 0.0) if w.chance(0.3, 2) else None
    out = w.tensor("y out", (n, m), role="out", fixed=True)
    with w.each((n, m), ("i row", "j col")) as (i, j):
        total = w.sum("total acc")
        with w.loop("p q", n) as p:
            k.augment(total, "add", a[i, p] * x[p, j])
        with w.loop("s r", m) as s:
            k.augment(total, "add", b[j, s] * x[i, s])
        out.store((i, j), total if scale is None else scale * total)
    value = f"{a.name} * {x.name} + {x.name} * transpose({b.name})"
    value = value if scale is None else f"{written(scale)} * ({value})"
    w.say(
        f"Apply the Kronecker sum of the square matrices {a.name} and {b.name} to the grid "
        f"{x.name}: {out.name} gets {value}."
    )
    return Title(k.name("kronecker_sum kron_sum_apply"), w.text())


@idiom
def feature_covariance(k: KernelBuilder, level: int) -> Title:
    """Gram, covariance and correlation matrices of features over samples, weighted or not."""
    w = work(k, level, flattening=0.25)
    lead, call = items(w)
    n = w.size("observations", 8, 14, "num_samples", minimum=3)
    d = w.size("d", 4, 7, "num_features d")
    x = w.tensor("x samples data", (*lead, n, d))
    form = k.draw.shape.choice(("gram", "covariance", "given", "given", "correlation"))
    means = (
        w.tensor("means mu", (*lead, d), -0.3, 0.3) if form in ("given", "correlation") else None
    )
    stds = w.tensor("stds sigma", (*lead, d), 0.5, 1.5) if form == "correlation" else None
    weighted = form == "gram" and w.chance(0.5)
    weights = w.tensor("weights sample_w", (n,), 0.2, 1.0) if weighted else None
    ridge = None
    if form != "correlation" and w.chance(0.35):
        ridge = w.number("ridge jitter", 0.01, 0.1, literal=0.0)
    with w.each((*lead, d, d), [*call, "i fi", "j fj"]) as at:
        i, j = at[-2:]
        value = _comoment(w, x, at, (means, stds, weights), form)
        if ridge is not None:
            if not isinstance(value, Var):
                value = k.let("cov_ij entry", value)
            with k.if_(fn("eq", i, j)):
                k.augment(value, "add", ridge)
        out = w.out(
            f"{ {'gram': 'gram', 'correlation': 'corr'}.get(form, 'cov') } out", (*lead, d, d)
        )
        out.store(at, value)
    _moments_said(w, form, x, (means, stds, weights), out)
    if ridge is not None:
        w.say(f"{written(ridge)} is added on the diagonal.")
    name = "gram_matrix" if form == "gram" else f"{form}_matrix feature_{form}"
    if form in ("given", "covariance"):
        name = "covariance_matrix feature_covariance"
    return Title(k.name(name), w.text())


def _moments_said(
    w: Work,
    form: str,
    x: Tensor,
    by: tuple[Tensor | None, Tensor | None, Tensor | None],
    out: Tensor,
) -> None:
    """What matrix of features is computed, and from what."""
    means, stds, weights = by
    of = "" if weights is None else f", each sample weighted by {weights.name}"
    names = (x.name, means.name if means is not None else "", stds.name if stds is not None else "")
    what = {
        "gram": f"Gram matrix of the features of {names[0]}: the sum over samples of the product "
        f"of two features{of}",
        "covariance": f"Covariance matrix of the features of {names[0]} in one pass: with n "
        f"samples, (the sum of products - the product of both sums / n) / (n - 1)",
        "given": f"Covariance matrix of the features of {names[0]} about the given means "
        f"{names[1]}: the sum of products of deviations over (number of samples - 1)",
        "correlation": f"Correlation matrix of the features of {names[0]}: the mean product of "
        f"deviations from {names[1]}, divided by both standard deviations in {names[2]}",
    }[form]
    w.say(f"{what}. {out.name} gets the matrix.")


def _comoment(
    w: Work,
    x: Tensor,
    at: tuple[Var, ...],
    by: tuple[Tensor | None, Tensor | None, Tensor | None],
    form: str,
) -> Expr:
    """The sum of products of two features, divided as the form wants it."""
    k, (means, stds, weights) = w.k, by
    first, (i, j) = at[:-2], at[-2:]
    size = cast(w.count("observations"), w.type_)
    mean_i = mean_j = None
    if form == "covariance":
        return _in_one_pass(w, x, at, size)
    if means is not None:
        names = alike(k, "mean_i mean_j", "mu_i mu_j")
        mean_i, mean_j = (
            k.let(n, means[index(*first, f)]) for n, f in zip(names, (i, j), strict=True)
        )
    total = w.sum("total acc")
    with w.loop("s obs", "observations") as s:
        a, b = x[index(*first, s, i)], x[index(*first, s, j)]
        if mean_i is not None and mean_j is not None:
            a, b = a - mean_i, b - mean_j
        term = a * b
        k.augment(total, "add", term if weights is None else weights[s] * term)
    if form == "gram":
        return total
    if stds is not None:
        return total / (size * stds[index(*first, i)] * stds[index(*first, j)])
    return total / cast(w.count("observations") - 1, w.type_)


def _in_one_pass(w: Work, x: Tensor, at: tuple[Var, ...], size: Expr) -> Expr:
    """A covariance by the sums of both features and of their products."""
    k, first, (i, j) = w.k, at[:-2], at[-2:]
    sum_i, sum_j, both = (w.sum(n) for n in alike(k, "sum_i sum_j sum_ij", "s_i s_j s_ij"))
    with w.loop("s obs", "observations") as s:
        a, b = map(k.let, alike(k, "x_i x_j", "u v"), (x[index(*first, s, f)] for f in (i, j)))
        k.augment(sum_i, "add", a)
        k.augment(sum_j, "add", b)
        k.augment(both, "add", a * b)
    return (both - sum_i * sum_j / size) / (size - 1.0)


@idiom
def distance_matrix(k: KernelBuilder, level: int) -> Title:
    """Distances of all pairs of rows: L2, squared, L1, cosine, largest; by norms or differences."""
    w = work(k, level, flattening=0.25)
    lead, call = items(w)
    m, n = w.size("m", 5, 8, "m num_queries"), w.size("n", 5, 8, "n num_points")
    d = w.size("features", 3, 6, "num_features")
    names = alike(k, "x y", "queries points", "a b", "left right")
    x, y = w.tensor(names[0], (*lead, m, d)), w.tensor(names[1], (*lead, n, d))
    form = k.draw.shape.choice(("l2", "squared", "l1", "cosine", "chebyshev", "norms"))
    with w.each((*lead, m, n), [*call, "i row", "j col"]) as at:
        first, (i, j) = at[:-2], at[-2:]
        dots = alike(k, "xy xx yy", "dot x_sq y_sq") if form in ("cosine", "norms") else []
        dot = w.sum(dots[0] if dots else "largest dist" if form == "chebyshev" else "total acc")
        squares = [w.sum(n) for n in dots[1:]] if form == "cosine" else []
        with w.loop("c p", d) as c:
            a, b = x[index(*first, i, c)], y[index(*first, j, c)]
            if form in ("cosine", "norms"):
                a, b = map(k.let, alike(k, "x_c y_c", "a_c b_c"), (a, b))
                k.augment(dot, "add", a * b)
                for s, v in zip(squares, (a, b), strict=False):
                    k.augment(s, "add", v * v)
            elif form == "chebyshev":
                k.assign(dot, most(dot, abs(a - b)))
            else:
                diff = k.let("diff delta", a - b)
                k.augment(dot, "add", abs(diff) if form == "l1" else diff * diff)
        value, said = _distance(w, form, dot, squares, (first, i, j), names)
        out = w.out("dist out distances", (*lead, m, n))
        out.store(at, value)
    w.say(f"{said} between each row of {x.name} and each row of {y.name}. {out.name} gets it.")
    by_norms = "l2" if said.startswith("Euclidean") else "squared"
    name = {"norms": by_norms}.get(form, form)
    return Title(k.name(f"{name}_distances pairwise_{name}", "distance_matrix"), w.text())


def _distance(
    w: Work,
    form: str,
    total: Var,
    squares: list[Var],
    at: tuple[tuple[Var, ...], Var, Var],
    called: Sequence[str],
) -> tuple[Expr, str]:
    """A distance of what was summed, and what it is in words."""
    first, i, j = at
    lead = ("batch",) * len(first)
    if form == "norms":
        names = [f"{name}_sq {name}_norms" for name in called]
        xx = w.tensor(names[0], (*lead, "m"), 6.0, 8.0)
        yy = w.tensor(
            f"{called[1]}_{xx.name.removeprefix(called[0] + '_')}", (*lead, "n"), 6.0, 8.0
        )
        value: Expr = xx[index(*first, i)] + yy[index(*first, j)] - 2.0 * total
        said = f"from the squared norms {xx.name} and {yy.name} and the dot product"
        if w.chance(0.5):
            # Rounding may leave less than zero where both are the same.
            value = sqrt(most(value, 0.0))
            return value, f"Euclidean distance, {said}, the square at least 0,"
        return value, f"Squared Euclidean distance, {said},"
    if form == "cosine":
        eps = w.number("eps", 1.0e-6, 1.0e-3, literal=0.0)
        value = 1.0 - total / (sqrt(squares[0] * squares[1]) + eps)
        return (
            value,
            f"Cosine distance, 1 - dot(u, v) / (|u| * |v| + {written(eps)}) of rows u and v,",
        )
    if form == "l2":
        return sqrt(total), "Euclidean distance"
    told = {"squared": "Squared Euclidean distance", "l1": "Manhattan (L1) distance"}
    return total, told.get(form, "Chebyshev distance (largest absolute difference)")

"""Products of structured matrices; matrices of all pairs of rows or features."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, sqrt
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.factorisations.steps import items
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var


@idiom
def structured_product(k: KernelBuilder, level: int) -> Title:
    """A banded, Toeplitz, circulant, Hankel or tridiagonal matrix times a vector or several."""
    w = work(k, level, flattening=0.2)
    form = k.draw.shape.choice(("banded", "toeplitz", "circulant", "hankel", "tridiagonal"))
    n = w.size("n", 9, 14, "n num_rows")
    many = (w.size("width", 3, 5, "num_rhs width"),) if w.chance(0.5) else ()
    x = w.tensor("x v", (n, *many))
    build = {"banded": _banded, "tridiagonal": _tridiagonal}.get(form)
    with w.each((n, *many), ("i row", "r q")) as at:
        i, more = at[0], at[1:]
        if build is not None:
            value, said = build(w, x, i, more)
        else:
            value, said = _by_diagonals(w, form, x, i, more)
        w.say(f"Multiply {said} by {x.name}.")
        if w.chance(0.4, 2):
            y = w.tensor("y out", (n, *many), role="inout")
            beta = w.number("beta keep", 0.3, 0.9)
            y.store(at, value + beta * y[at])
            w.say(f"{y.name} becomes the product plus {written(beta)} * {y.name}.")
        else:
            out = w.out("y out result", (n, *many))
            out.store(at, value)
            w.say(f"{out.name} gets the product.")
    return Title(k.name(f"{form}_matvec {form}_product"), w.text())


def _banded(w: Work, x: Tensor, i: Expr, more: tuple[Expr, ...]) -> tuple[Expr, str]:
    k = w.k
    band = k.draw.shape.choice((1, 2, 3))
    w.words[str(2 * band + 1)] = "band_width"
    by_row = w.chance(0.5)
    dims = ("n", str(2 * band + 1)) if by_row else (str(2 * band + 1), "n")
    ab = w.tensor("bands ab", dims, fixed=True)
    half: Expr = k.size_param("half_band kl", str(band)) if w.chance(0.5) else k.lift(band, INT32)
    total = w.sum()
    d: Expr
    if w.chance(0.5):
        first = k.let("first lo", most(i - half, 0))
        last = k.let("last hi", least(i + half + 1, w.count("n")))
        with k.for_("j c", last, start=first) as j:
            d = j - i + half
            k.augment(total, "add", ab[(i, d) if by_row else (d, i)] * x[index(j, *more)])
    else:
        with w.loop("d diag_i", str(2 * band + 1)) as diagonal:
            d = diagonal
            at = k.let("j c", i + d - half)
            with k.if_(fn("and", at >= 0, at < w.count("n"))):
                k.augment(total, "add", ab[(i, d) if by_row else (d, i)] * x[index(at, *more)])
    place = f"{ab.name}[i, {'j - i + '}{written(half)}]"
    place = place if by_row else f"{ab.name}[j - i + {written(half)}, i]"
    return total, f"a banded matrix, whose entry (i, j) is {place} for |i - j| <= {written(half)},"


def _tridiagonal(w: Work, x: Tensor, i: Expr, more: tuple[Expr, ...]) -> tuple[Expr, str]:
    k = w.k
    low, mid, high = (w.tensor(s, ("n",)) for s in alike(k, "lower diag upper", "dl d du"))
    total = k.let("total acc s", mid[i] * x[index(i, *more)])
    with k.if_(i > 0):
        k.augment(total, "add", low[i] * x[index(i - 1, *more)])
    with k.if_(i < w.count("n") - 1):
        k.augment(total, "add", high[i] * x[index(i + 1, *more)])
    return total, (
        f"a tridiagonal matrix, row i of which has {low.name}[i], {mid.name}[i] and {high.name}[i],"
    )


def _by_diagonals(
    w: Work, form: str, x: Tensor, i: Expr, more: tuple[Expr, ...]
) -> tuple[Expr, str]:
    """Matrices whose entry depends on the sum or the difference of row and column."""
    k = w.k
    n = w.count("n")
    c = w.tensor("c gen first_col", ("n",) if form == "circulant" else ("n+n",), fixed=True)
    total = w.sum()
    with w.loop("j col p", "n") as j:
        if form == "circulant":
            at: Expr = (i - j + n) % n
            if w.chance(0.5):
                apart = k.let("d at_d", i - j)
                with k.if_(apart < 0):
                    k.augment(apart, "add", n)
                at = apart
            said = "(i - j) mod n"
        elif form == "toeplitz":
            at, said = i - j + n, f"i - j + {written(n)}"
        else:
            at, said = i + j, "i + j"
        k.augment(total, "add", c[at] * x[index(j, *more)])
    article = (
        "a Hankel" if form == "hankel" else f"a {form.capitalize() if form == 'toeplitz' else form}"
    )
    said = said.replace(" mod n", " mod the order").replace("len(", "the length of (")
    return total, f"{article} matrix, whose entry (i, j) is {c.name}[{said}],"


@idiom
def kronecker_product(k: KernelBuilder, level: int) -> Title:
    """Kronecker products: their entries, or one times a vector without forming it."""
    w = work(k, level, flattening=0.25)
    lead: tuple[str, ...] = ()
    call: list[str] = []
    for symbol, low, high in (("ra", 2, 4), ("ca", 2, 4), ("rb", 2, 3), ("cb", 2, 3)):
        w.size(symbol, low, high)
    names = alike(k, "a b", "left right", "a_mat b_mat")
    a, b = w.tensor(names[0], (*lead, "ra", "ca")), w.tensor(names[1], (*lead, "rb", "cb"))
    whole = w.chance(0.5)
    scale = w.number("alpha scale", 0.4, 1.6) if w.chance(0.3, 2) else None
    times = "" if scale is None else f"{written(scale)} * "
    w.words["ra*rb"], w.words["ca*cb"] = "num_rows out_rows", "num_cols out_cols"
    dims = (*lead, "ra*rb", "ca*cb") if whole else (*lead, "ra*rb")
    x = None if whole else w.tensor("x vec_in", (*lead, "ca*cb"), fixed=True)
    with w.each(dims, [*call, "i row", "j col"][: len(dims)]) as at:
        first, i = at[: len(lead)], at[len(lead)]
        p, r = k.let("ia p", i // w.count("rb")), k.let("ib r", i % w.count("rb"))
        if x is None:
            j = at[-1]
            q, s = k.let("ja q", j // w.count("cb")), k.let("jb t", j % w.count("cb"))
            value: Expr = a[index(*first, p, q)] * b[index(*first, r, s)]
        else:
            total = w.sum()
            with w.loop("ja q", "ca") as q:
                inner = k.let("inner part", zero(w.type_))
                with w.loop("jb t", "cb") as s:
                    entry = x[index(*first, q * w.count("cb") + s)]
                    k.augment(inner, "add", b[index(*first, r, s)] * entry)
                k.augment(total, "add", a[index(*first, p, q)] * inner)
            value = total
        adding = w.chance(0.3)
        out = w.tensor("out kron y", dims, role="inout" if adding else "out")
        out.store(at, value if scale is None else scale * value, "add" if adding else "")
    what = "" if x is None else f" times {x.name}, without forming it"
    w.say(
        f"Take {times}the Kronecker product of {a.name} and {b.name}{what}; "
        f"{f'it is added to {out.name}' if adding else f'{out.name} gets the result'}."
    )
    return Title(k.name("kronecker_product kron" if whole else "kron_matvec kron_apply"), w.text())


@idiom
def feature_covariance(k: KernelBuilder, level: int) -> Title:
    """Gram, covariance and correlation matrices of features over samples, weighted or not."""
    w = work(k, level, flattening=0.25)
    lead, call = items(w)
    n, d = w.size("n", 8, 14, "num_samples n", minimum=3), w.size("d", 4, 7, "num_features d")
    x = w.tensor("x samples data", (*lead, n, d))
    form = k.draw.shape.choice(("gram", "covariance", "given", "correlation"))
    means = (
        w.tensor("means mu", (*lead, d), -0.3, 0.3) if form in ("given", "correlation") else None
    )
    stds = w.tensor("stds sigma", (*lead, d), 0.5, 1.5) if form == "correlation" else None
    weighted = form in ("gram", "given") and w.chance(0.4)
    weights = w.tensor("weights sample_w", (n,), 0.2, 1.0) if weighted else None
    ridge = w.number("ridge shrink", 0.01, 0.1) if w.chance(0.35) else None
    with w.each((*lead, d, d), [*call, "i fi", "j fj"]) as at:
        i, j = at[-2:]
        value = _comoment(w, x, at, (means, stds, weights), form)
        if ridge is not None:
            value = k.let("value cov_ij", value)
            with k.if_(fn("eq", i, j)):
                k.augment(value, "add", ridge)
        out = w.out("out cov gram", (*lead, d, d))
        out.store(at, value)
    centre = {"gram": "", "covariance": " less its mean over samples"}.get(form, "")
    if means is not None:
        centre = f" less {means.name}" + (f", over {stds.name}" if stds is not None else "")
    over = {"gram": "", "correlation": ", over the number of samples"}
    count = over.get(form, ", over one less than the number of samples")
    of = "" if weights is None else f"{weights.name} of the sample times "
    each = f", each{centre}" if centre else ""
    w.say(
        f"Sum over samples {of}the product of two features of {x.name}{each}, for all pairs of "
        f"features; {out.name} gets the sums{count}."
    )
    if ridge is not None:
        w.say(f"{written(ridge)} is added on the diagonal.")
    name = "centered_covariance" if form == "given" else f"{form}_matrix"
    return Title(k.name(name, "second_moments"), w.text())


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
    size = cast(w.count("n"), w.type_)
    mean_i = mean_j = None
    if form == "covariance":
        mean_i, mean_j = w.sum("mean_i mu_i"), w.sum("mean_j mu_j")
        with w.loop("q m", "n") as q:
            k.augment(mean_i, "add", x[index(*first, q, i)])
            k.augment(mean_j, "add", x[index(*first, q, j)])
        k.augment(mean_i, "div", size)
        k.augment(mean_j, "div", size)
    elif means is not None:
        mean_i = k.let("mean_i mu_i", means[index(*first, i)])
        mean_j = k.let("mean_j mu_j", means[index(*first, j)])
    total = w.sum("total acc")
    with w.loop("s row", "n") as s:
        a, b = x[index(*first, s, i)], x[index(*first, s, j)]
        if mean_i is not None and mean_j is not None:
            a, b = a - mean_i, b - mean_j
        term = a * b
        k.augment(total, "add", term if weights is None else weights[s] * term)
    if form == "gram":
        return total
    if stds is not None:
        return total / (size * stds[index(*first, i)] * stds[index(*first, j)])
    return total / (size - 1.0)


@idiom
def distance_matrix(k: KernelBuilder, level: int) -> Title:
    """Distances of all pairs of rows: L2, squared, L1, cosine, largest; by norms or differences."""
    w = work(k, level, flattening=0.25)
    lead, call = items(w)
    m, n = w.size("m", 5, 8, "m num_queries"), w.size("n", 5, 8, "n num_points")
    d = w.size("d", 3, 6, "dim num_features")
    names = alike(k, "x y", "queries points", "a b", "left right")
    x, y = w.tensor(names[0], (*lead, m, d)), w.tensor(names[1], (*lead, n, d))
    form = k.draw.shape.choice(("l2", "squared", "l1", "cosine", "chebyshev", "norms"))
    with w.each((*lead, m, n), [*call, "i row", "j col"]) as at:
        first, (i, j) = at[:-2], at[-2:]
        dot = w.sum("total acc s" if form != "cosine" else "dot xy")
        squares = [w.sum("norm_x xx"), w.sum("norm_y yy")] if form == "cosine" else []
        with w.loop("c p", d) as c:
            a, b = x[index(*first, i, c)], y[index(*first, j, c)]
            if form in ("cosine", "norms"):
                a, b = k.let("xa xc", a), k.let("yb yc", b)
                k.augment(dot, "add", a * b)
                for s, v in zip(squares, (a, b), strict=False):
                    k.augment(s, "add", v * v)
            elif form == "chebyshev":
                k.assign(dot, most(dot, abs(a - b)))
            else:
                diff = k.let("diff delta", a - b)
                k.augment(dot, "add", abs(diff) if form == "l1" else diff * diff)
        value, said = _distance(w, form, dot, squares, (first, i, j))
        out = w.out("dist out distances", (*lead, m, n))
        out.store(at, value)
    w.say(f"For each row of {x.name} and each of {y.name}, {out.name} gets {said}.")
    return Title(k.name(f"{form}_distances pairwise_{form}", "distance_matrix"), w.text())


def _distance(
    w: Work, form: str, total: Var, squares: list[Var], at: tuple[tuple[Var, ...], Var, Var]
) -> tuple[Expr, str]:
    """A distance of what was summed, and what it is in words."""
    first, i, j = at
    lead = ("batch",) * len(first)
    if form == "norms":
        xx = w.tensor("x_norms sq_x", (*lead, "m"), 6.0, 8.0)
        yy = w.tensor("y_norms sq_y", (*lead, "n"), 6.0, 8.0)
        value: Expr = xx[index(*first, i)] + yy[index(*first, j)] - 2.0 * total
        said = f"{xx.name} + {yy.name} - 2 * their dot product, the squared distance"
        if w.chance(0.5):
            return sqrt(value), f"the root of {said}"
        return value, said
    if form == "cosine":
        eps = w.number("eps floor", 0.01, 0.1)
        value = 1.0 - total / (sqrt(squares[0] * squares[1]) + eps)
        return value, f"1 - dot / (sqrt(|x|^2 * |y|^2) + {written(eps)})"
    if form == "l2":
        return sqrt(total), "their Euclidean distance"
    names = {"squared": "their squared distance", "l1": "the sum of absolute differences"}
    return total, names.get(form, "the largest absolute difference")

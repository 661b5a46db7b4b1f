"""Second moments of small point sets: covariance, scatter, cross-covariance of two sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, sqrt
from generators.kit.naming import routine
from generators.kit.sources import zero
from generators.matrix.parts import Entry, Place, mat_of, place, rows_of, times_identity, voigt
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Const, Expr, Var, literal

Weight = Callable[[Expr, Expr], Expr]
Sums = tuple[Var, Var | None, str]
"""The second moments, the mean if any, and the text."""


@dataclass
class Cloud:
    """How a loop reads point ``j`` of this thread's set, how many there are, and their weights."""

    g: Place
    vec: Vec
    at: Callable[[Expr], Expr]
    count: Expr
    text: str
    weight: Weight | None = None
    bell: bool = False

    @property
    def k(self) -> KernelBuilder:
        return self.g.k

    def number(self, less: int = 0) -> Expr:
        """How many points there are, or one less."""
        if less and isinstance(self.count, Const):
            return literal(int(self.count.value) - 1, self.vec.scalar)
        return cast(self.count - 1 if less else self.count, self.vec.scalar)

    def matrix(self, names: str) -> Var:
        """A local for a sum of outer products."""
        return self.k.let(names, zero(Mat(self.vec.size, self.vec.size, self.vec.scalar)))


def _cloud(g: Place, vec: Vec, level: int) -> Cloud:
    """Points of each thread's own, or gathered by the numbers of its neighbours."""
    k = g.k
    count = k.size_param("num_points neighbor_count count", k.size("m", 3, 5, minimum=2))
    if level >= 2 and g.chance(0.5):
        k.size("p", 24, 40)
        points = k.array("positions cloud", vec, "p", low=-1.0, high=1.0)
        ids = g.array("neighbors knn ids", INT32, more="m", init="index_of:p")
        text = f"the points of {points.name} numbered by {ids.name}[{g.where}]"
        return Cloud(g, vec, lambda j: points[ids[g.index(j)]], count, text)
    points = g.array("points samples", vec, -1.0, 1.0, more="m")
    return Cloud(g, vec, lambda j: points[g.index(j)], count, f"{points.name}[{g.where}]")


def _weigh(cloud: Cloud, level: int) -> str:
    """No weights, given ones, or ones that fall off with the distance to a centre."""
    g, k, scalar = cloud.g, cloud.k, cloud.vec.scalar
    way = g.shape.weighted({"none": 3, "each": 3, "bell": 2 if level >= 3 else 0})
    if level < 2 or way == "none":
        return ""
    if way != "bell":
        weights = g.array("weights point_weights", scalar, 0.2, 1.0, more="m")
        cloud.weight = lambda j, p: weights[g.index(j)]
        return f" with the weights w of {weights.name}[{g.where}]"
    center = g.read("centers queries", cloud.vec, -0.5, 0.5)
    width = g.one("inv_width sharpness", scalar, 0.5, 2.0)

    def bell(j: Expr, p: Expr) -> Expr:
        away = k.let("away r", p - center)
        return exp(-width * dot(away, away))

    cloud.weight, cloud.bell = bell, True
    return f" with the weights w = exp(-{g.tell(width)} * |p - {g.tell(center)}|^2)"


def _mean(cloud: Cloud, names: str) -> tuple[Var, Var | None]:
    """A pass over the points for their mean; the sum of weights beside it."""
    k, vec = cloud.k, cloud.vec
    mean = k.let(names, zero(vec))
    total = k.let("total w_sum", zero(vec.scalar)) if cloud.weight else None
    with k.for_("j s nb", cloud.count) as j:
        if cloud.weight is None or total is None:
            k.augment(mean, "add", cloud.at(j))
        else:
            p = k.let("p pt", cloud.at(j))
            w = k.let("w wj", cloud.weight(j, p))
            k.augment(mean, "add", w * p)
            k.augment(total, "add", w)
            k.used -= {p.name, w.name}
    k.used.discard(j.name)
    k.assign(mean, mean / (total if total is not None else cloud.number()))
    return mean, total


def _two_passes(cloud: Cloud, level: int) -> Sums:
    """The mean, and then the products of what is left without it."""
    k, vec = cloud.k, cloud.vec
    cells = [(min(r, c), max(r, c)) for r in range(vec.size) for c in range(vec.size)]
    by_helper = level >= 3 and cloud.g.chance(0.5)
    mean, total = _mean(cloud, "mean centroid mu")
    cov = cloud.matrix("cov c")

    def square(_: BodyBuilder, d: Expr) -> Expr:
        return make(cov.type, *(d[r] * d[c] for r, c in cells)) if by_helper else fn("outer", d, d)

    squared = routine(k, float(by_helper), "self_outer square_of", {"d": vec}, square)
    with k.for_("j s nb", cloud.count) as j:
        p = k.let("p pt", cloud.at(j)) if cloud.bell else cloud.at(j)
        term = squared(k.let("d centered", p - mean))
        k.augment(cov, "add", term if cloud.weight is None else cloud.weight(j, p) * term)
    text = "the sum of outer(p - mean, p - mean) over the points p,"
    text = text.replace("the sum of", "the sum of w *") if cloud.weight else text
    less = total is None and cloud.g.chance(0.4)
    k.augment(cov, "div", total if total is not None else cloud.number(less))
    by = "the sum of the weights w" if total is not None else "how many there are"
    by += " less one" * less
    return cov, mean, f"{text} divided by {by}"


def _one_pass(cloud: Cloud, level: int) -> Sums:
    """Sums of points and of their squares at once, about the first point: about the origin the
    difference of both would lose its digits."""
    k, vec = cloud.k, cloud.vec
    first, second = k.draw.word.choice((("first", "second"), ("s1", "s2"), ("sum_d", "sum_dd")))
    base = k.let("base ref anchor", cloud.at(k.lift(0, INT32)))
    total, square = k.let(first, zero(vec)), cloud.matrix(second)
    norm = k.let("w_total w_sum", zero(vec.scalar)) if cloud.weight else None
    with k.for_("j s nb", cloud.count) as j:
        p = k.let("p pt", cloud.at(j)) if cloud.bell else cloud.at(j)
        d = k.let("d off", p - base)
        w = k.let("w wj", cloud.weight(j, p)) if cloud.weight else None
        k.augment(total, "add", d if w is None else w * d)
        k.augment(square, "add", fn("outer", d, d) if w is None else w * fn("outer", d, d))
        if norm is not None and w is not None:
            k.augment(norm, "add", w)
    count = norm if norm is not None else cloud.number()
    shift = k.let("mean_d shift", total / count)
    cov = k.let("cov", square / count - fn("outer", shift, shift))
    kind = "weighted mean" if cloud.weight else "mean"
    text = f"the {kind} of outer(d, d) less outer(e, e), d = p less the first point for each point"
    return cov, None, f"{text} p, e the {kind} of d"


def _chords(cloud: Cloud, level: int) -> Sums:
    """Moments of the steps from point to point, or of the ways from the first one."""
    k, steps = cloud.k, cloud.g.chance(0.5)
    cov = cloud.matrix("cov scatter tensor")
    first = None if steps else k.let("first base", cloud.at(k.lift(0, INT32)))
    with k.for_("j s", cloud.count, 1) as j:
        d = k.let("d chord", cloud.at(j) - (cloud.at(j - 1) if first is None else first))
        k.augment(cov, "add", fn("outer", d, d))
    way = "each point to the next" if steps else "the first point to each other one"
    kind = "sum"
    if cloud.g.chance(0.5):
        k.augment(cov, "div", cloud.number(1))
        kind = "mean"
    text = f"the {kind} of outer(d, d), d the vector from {way}"
    return cov, None, text


def _about_origin(cloud: Cloud, level: int) -> Sums:
    """Moments about a given centre, or about the origin."""
    g, k = cloud.g, cloud.k
    center = g.read("centers origins", cloud.vec, -0.5, 0.5)
    cov = cloud.matrix("cov scatter moment")
    with k.for_("j s nb", cloud.count) as j:
        p = cloud.at(j)
        d = k.let("d arm", p - center)
        term = fn("outer", d, d)
        k.augment(cov, "add", cloud.weight(j, p) * term if cloud.weight else term)
    kind = "sum"
    if not cloud.weight and g.chance(0.5):
        k.augment(cov, "div", cloud.number())
        kind = "mean"
    told = "w * outer(d, d)" if cloud.weight else "outer(d, d)"
    return cov, None, f"the {kind} of {told} over the points p, d = p - {g.tell(center)}"


def _crossed(cloud: Cloud, level: int) -> Sums:
    """Cross-covariance of matched points, as for the best rotation between two sets."""
    g, k, vec = cloud.g, cloud.k, cloud.vec
    other = g.array("targets matched other", vec, -1.0, 1.0, more="m")
    mean, _ = _mean(cloud, "mean_p centroid_p")
    matched = Cloud(g, vec, lambda j: other[g.index(j)], cloud.count, "")
    goal, _ = _mean(matched, "mean_q mu_q")
    cov = cloud.matrix("h cross_cov")
    with k.for_("c pair", cloud.count) as c:
        k.augment(cov, "add", fn("outer", cloud.at(c) - mean, other[g.index(c)] - goal))
    text = "the sum of outer(p - mean, q - mean of q) over the points p and those q of"
    text += f" {other.name}[{g.where}] that match them"
    if level >= 4:
        shift = g.gets("offsets centroid_shifts", goal - mean, "the mean of q minus that of p")
        text += f" ({shift[1:-1]})"
    return cov, mean, text


def _menu(g: Place, c: Var, mean: Var | None) -> dict[str, Entry]:
    """What is told of second moments."""
    vec = rows_of(mat_of(c))

    def along() -> Expr:
        axis = g.read("axes directions", vec, -1.0, 1.0)
        return dot(axis, c * axis)

    def correlation() -> Expr:
        return c[0, 1] / sqrt(g.part("var_product vp", c[0, 0] * c[1, 1]))

    menu: dict[str, Entry] = {
        "trace": ("traces total_variance", lambda: fn("trace", c)),
        "det": ("dets generalized_variance", lambda: fn("determinant", c)),
        "diag": ("variances diagonals", lambda: fn("get_diag", c)),
        "along": ("spread along_axis", along),
        "packed": ("packed upper", lambda: voigt(c)),
        "ratio": ("correlations rho", correlation),
    }
    if mean is not None:
        menu["mean"] = ("means centroids", lambda: mean, "the mean")
    return menu


_WAYS = {
    "one": _one_pass,
    "origin": _about_origin,
    "two": _two_passes,
    "chords": _chords,
    "cross": _crossed,
}


@idiom(depth=2)
def point_covariance(k: KernelBuilder, level: int) -> Title:
    """Sums of outer products over a few points: covariance, scatter, cross-covariance."""
    shape = k.draw.shape
    g = place(k, "i tid query_id", list=1)
    vec = Vec(shape.choice((2, 3)), k.draw.wide_float_type())
    cloud = _cloud(g, vec, level)
    weighted = _weigh(cloud, level)
    ways = {"one": 3, "origin": 3 if level < 4 else 1, "two": 3 if level >= 2 else 1}
    ways["chords"] = 0 if cloud.weight else 2
    way = shape.weighted(ways | {"cross": 2 if level >= 3 and not cloud.weight else 0})
    cov, mean, text = _WAYS[way](cloud, level)
    g.spoken[cov.name] = "C", text
    if mean is not None:
        g.spoken[mean.name] = "mean", ""
    kinds = {"one": "Covariance matrix", "two": "Covariance matrix", "cross": "Cross-covariance"}
    kind = kinds.get(way, "Second moments")
    done = f"{kind} of {cloud.text}{weighted}: C is {text}."
    if level >= 3 and shape.chance(0.25):
        ridge = times_identity(mat_of(cov), g.one("ridge noise_floor", vec.scalar, 0.05, 0.3))
        k.augment(cov, "add", ridge)
        done += f" Add {g.tell(ridge)}."
    if level >= 3 and way != "cross" and shape.chance(0.25):
        done += _whitened(g, cov)
    menu = _menu(g, cov, mean)
    if way != "cross" and shape.chance(0.25):
        done += g.offer(1, packed=menu.pop("packed"))
    else:
        done += g.gets("covs covariances" if "Cov" in kind else "moments", cov)
    few = 1 if mean is not None and shape.chance(0.4) else 0
    done += g.offer((few, 1, 1, 2, 3)[level - 1], **menu)
    titles = {"cross": "cross_covariance", "chords": "chord_moments edge_moments"}
    titles |= {"origin": "second_moments moments_about"}
    return Title(k.name(titles.get(way, "point_covariance local_covariance")), done)


def _whitened(g: Place, cov: Var) -> str:
    """How far a query lies in units of the spread."""
    mat = mat_of(cov)
    ridge = times_identity(mat, g.one("reg damping", mat.scalar, 0.2, 0.6))
    x = g.k.let("x probe", g.read("queries_x probes", rows_of(mat), -1.0, 1.0))
    inv = g.part("inv precision", fn("inverse", cov + ridge))
    return g.gets("distances_sq probe_scores", dot(x, inv * x))

"""Statistics of many samples: classes, mixtures, covariances, lags, calibration, thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from generators.atomic.parallel.parts import (
    COUNTS,
    Shared,
    Work,
    extent_of,
    guarded,
    named,
    work,
)
from generators.build import BodyBuilder, KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, log, most
from generators.kit.naming import routine
from generators.kit.text import written
from generators.program.dtypes import INT32, Array, Scalar, Type, Vec, scalar_of
from generators.program.expr import Expr, Var

_SPAN = (48, 72)


def _row_index(w: Work, c: Expr | int) -> tuple[Expr | int, ...]:
    return (*w.at, c)


@idiom(depth=3)
def class_statistics(k: KernelBuilder, level: int) -> Title:
    """Counts, sums and sums of squares of features by class, as naive Bayes and k-means need."""
    shape = k.draw.shape
    real = k.draw.wide_float_type()
    k.size("classes", 3, 4)
    vec = Vec(shape.choice((2, 3)), real)
    form = shape.choice(("scalar", "points", "features"))
    site, f = _samples(k, level, form)
    with site as w:
        label = w.read("labels classes_of cluster_ids", INT32, init="index_of:classes")
        c = w.let("c label group", label, 0.9)
        weight = w.read("weights sample_weight", real, 0.5, 2.0) if shape.chance(0.3) else None
        parts = ["features"] if form == "features" else []
        type_ = vec if form == "points" else real
        more = "squares" if level > 1 and shape.chance(0.7) else ""
        counts = w.shared(
            "counts class_counts", real if weight else shape.weighted(COUNTS), ("classes",)
        )
        sums = w.shared("sums totals", type_, ("classes", *parts))
        squares = w.shared("squares sum_sq", type_, ("classes", *parts)) if more else None
        value_of = named(k, "w sample_w", weight, 1.0) if weight is not None else None
        with nullcontext() if f is None else k.if_(fn("eq", f, k.lift(0, INT32))):
            counts.update("add", (c,), 1 if value_of is None else value_of)
        if form == "features":
            x = k.array("features_in x samples", real, (*w.dims, "features"), low=-2.0, high=2.0)
            along = k.for_("f j d", extent(x, len(w.dims))) if f is None else nullcontext(f)
            with along as place:
                load: Expr = x[_row_index(w, place)]
                _moments(k, load, value_of, [sums, squares], (c, place), real)
            said = f"each feature k of {x.name}"
        else:
            names = "x points" if form == "points" else "x samples values"
            load = w.read(names, type_, -2.0, 2.0)
            _moments(k, load, value_of, [sums, squares], (c,), real)
            said = written(load)
    about = "Class counts and sums" if squares is None else "Class counts, sums and sums of squares"
    text = f"{about}: for each sample of class c = {written(label)}, add {said}"
    text += _told_sums((counts, sums, squares), weight, form)
    text += "" if f is None else " The threads of the first feature count."
    return Title(k.name("class_statistics accumulate_classes group_moments"), text)


def _samples(
    k: KernelBuilder, level: int, form: str
) -> tuple[AbstractContextManager[Work], Var | None]:
    """A thread for each sample, or for each feature of each: then the index of the feature."""
    if form == "features":
        k.size("features", 3, 4)
        if k.draw.shape.chance(0.7):
            k.size("n", 40, 56)
            i, f = k.thread("n", "features", names=(k.name("i s"), k.name("f j d")))
            return nullcontext(Work(k, level, ("n",), (i,), False)), f
    return work(k, level, "n", _SPAN, "i s", "folds", "list lists"), None


def _told_sums(arrays: tuple[Shared, Shared, Shared | None], weight: Expr | None, form: str) -> str:
    counts, sums, squares = arrays
    place = ("c", "k") if form == "features" else ("c",)
    text = f" times {written(weight)}" if weight is not None else ""
    text += f" to {sums.said(*place)} and "
    text += f"{'1' if weight is None else 'that weight'} to {counts.said('c')}."
    if squares is not None:
        text += f" Add the {'componentwise ' * (form == 'points')}square"
        text += ", weighted alike," if weight is not None else ""
        text += f" to {squares.said(*place)}."
    return text


def _moments(
    k: KernelBuilder,
    load: Expr,
    weight: Expr | None,
    arrays: Sequence[Shared | None],
    place: tuple[Expr, ...],
    real: Scalar,
) -> None:
    sums, squares = arrays
    assert sums is not None
    value = named(k, "v xf value", load, 1.0 if squares is not None else 0.4)
    first = value if weight is None else named(k, "wx weighted", weight * value, 0.5)
    sums.update("add", place, first)
    if squares is not None:
        square = fn("cw_mul", first, value) if isinstance(value.type, Vec) else first * value
        squares.update("add", place, square)


@idiom(depth=4)
def soft_assignments(k: KernelBuilder, level: int) -> Title:
    """Expectation step of a mixture: responsibilities, and the sums that new parameters need."""
    shape = k.draw.shape
    real = k.draw.wide_float_type()
    dim = shape.choice((1, 1, 2, 3))
    type_ = Vec(dim, real) if dim > 1 else real
    k.size("components", 3, 4)
    with work(k, level, "n", (36, 54), "i s", "batch", "list blocks") as w:
        load = w.read("x samples points", type_, -2.0, 2.0)
        point = w.let("p xi point", load, 1.0)
        m = _Mixture(w, point, type_)
        factor = None
        if shape.chance(0.35):
            weight = w.read("sample_weights sample_weight", real, 0.5, 2.0)
            factor = named(k, "ws sample_w", weight, 1.0)
        top = m.largest() if m.bias is not None else None
        total = m.total(top)
        mass = w.shared(m.outs[0], real, ("components",))
        sums = w.shared(m.outs[1], type_, ("components",))
        logs = None
        if top is not None and level > 1 and shape.chance(0.4):
            logs = k.accumulator("log_likelihood loglik", real, "1")
            each = top + log(total)
            k.atomic("add", logs, 0, each if factor is None else factor * each)
        with m.components() as c:
            share: Expr = m.weight(c, top) / total
            if m.bias is None:
                u = k.let("u membership", share)
                share = u * u
            names = "u_sq weight_c" if m.bias is None else "resp r gamma"
            share = k.let(names, share if factor is None else factor * share)
            mass.update("add", (c,), share)
            sums.update("add", (c,), share * point)
    times = "" if factor is None else f", each times {written(weight)}"
    text = _told_shares(m, written(load), (mass.said("c"), sums.said("c")), times)
    if logs is not None:
        text += f" {logs.name}[0] sums the logarithms of the sums of w{times}."
    names = "fuzzy_cmeans_step soft_assign" if m.bias is None else "em_accumulate expectation_step"
    return Title(k.name(names), text)


def _told_shares(m: _Mixture, sample: str, places: tuple[str, str], times: str) -> str:
    about, r, what = "Expectation step of a Gaussian mixture", "r", "the responsibility is r"
    if m.bias is None:
        about, r, what = "Step of fuzzy c-means (fuzzifier 2)", "u^2", "the membership is u"
    text = (
        f"{about}: for each sample p = {sample} and each component c, add {r} to {places[0]} and "
    )
    text += f"{r} * p to {places[1]}{times}. Here {what} = w[c] / (sum of all w) with w[c] = "
    text += m.said()
    return text + (
        "; the largest exponent is subtracted from all of them first."
        if m.bias is not None
        else "."
    )


class _Mixture:
    """Weights of a sample's components."""

    def __init__(self, w: Work, point: Expr, type_: Type) -> None:
        k, real = w.k, scalar_of(point.type)
        self.k, self.point = k, point
        self.scale: Var | None = None
        self.bias: Var | None = None
        self.eps: Var | None = None
        spread = k.draw.shape.choice(("shared", "each", "each", "fuzzy"))
        names = "centers centroids" if spread == "fuzzy" else "means mu"
        self.means = k.array(names, type_, "components", low=-1.5, high=1.5)
        if spread == "each":
            self.scale = k.array("precisions inv_var", real, "components", low=0.4, high=1.6)
        elif spread == "shared":
            self.scale = k.scalar("precision inv_var", real, 0.5, 1.5)
        if spread == "fuzzy":
            self.eps = k.scalar("eps", real, 0.05, 0.2)
        else:
            # Components of unlike spread need the normaliser of their density as well.
            names = "log_priors log_mixing" if spread == "shared" else "log_norms log_coeffs"
            self.bias = k.array(names, real, "components", low=-1.5, high=-0.3)
        self.outs = ("resp_sums n_k", "weighted_sums s_k")
        if self.bias is None:
            self.outs = ("membership_sums mass", "center_sums weighted_sums")
        self.loop, self.gap = w.k.name("c j comp"), w.k.name("d diff")
        self.density: Callable[..., Expr] | None = None
        if self.bias is not None:
            params = {"x": point.type, "mean": point.type, "inv_var": real, "log_norm": real}
            self.density = routine(k, 0.6, "log_density log_weight", params, self._log_density)

    def _log_density(
        self, b: BodyBuilder, x: Expr, mean: Expr, inv_var: Expr, log_norm: Expr
    ) -> Expr:
        """The exponent of a component's weight."""
        b.used.discard(self.gap)
        gap = b.let(self.gap, x - mean)
        square = fn("dot", gap, gap) if isinstance(gap.type, Vec) else gap * gap
        return log_norm - 0.5 * inv_var * square

    def _gap(self, c: Expr) -> Expr:
        self.k.used.discard(self.gap)
        gap = self.k.let(self.gap, self.point - self.means[c])
        return fn("dot", gap, gap) if isinstance(gap.type, Vec) else gap * gap

    @contextmanager
    def components(self) -> Iterator[Var]:
        self.k.used.discard(self.loop)
        with self.k.for_(self.loop, extent(self.means)) as c:
            yield c

    def exponent(self, c: Expr) -> Expr:
        assert self.bias is not None
        assert self.scale is not None
        assert self.density is not None
        each = self.scale[c] if isinstance(self.scale.type, Array) else self.scale
        return self.density(self.point, self.means[c], each, self.bias[c])

    def largest(self) -> Var:
        k = self.k
        top = k.let("top peak max_log", k.lift(-1.0e30, scalar_of(self.point.type)))
        with self.components() as c:
            k.assign(top, most(top, self.exponent(c)))
        return top

    def total(self, top: Var | None) -> Var:
        k = self.k
        total = k.let("total norm denom", k.lift(0.0, scalar_of(self.point.type)))
        with self.components() as c:
            k.augment(total, "add", self.weight(c, top))
        return total

    def weight(self, c: Expr, top: Var | None) -> Expr:
        if top is None:
            assert self.eps is not None
            return 1.0 / (self._gap(c) + self.eps)
        return exp(self.exponent(c) - top)

    def said(self) -> str:
        gap = f"|p - {self.means.name}[c]|^2"
        if self.bias is None or self.scale is None:
            return f"1 / ({gap} + eps)"
        scale = self.scale.name + "[c]" * isinstance(self.scale.type, Array)
        text = f"exp({self.bias.name}[c] - 0.5 * {scale} * {gap})"
        if isinstance(self.scale.type, Array):
            text += f", {self.bias.name}[c] being its log prior plus the log normaliser of its "
            text += "density"
        return text


class _Lagged:
    """A list, another one or the same, and what a pair of their elements adds."""

    def __init__(self, k: KernelBuilder, level: int, lead: tuple[str, ...], real: Scalar) -> None:
        shape = k.draw.shape
        self.k, self.dims = k, (*lead, "n")
        self.form = shape.choice(("product", "square", "cross", "absolute"))
        names = ("x signal", "")
        if self.form == "cross":
            names = k.draw.word.choice((("x", "y"), ("signal", "reference"), ("drive", "response")))
        self.x = k.array(names[0], real, self.dims, low=-2.0, high=2.0)
        self.other = self.x
        if self.form == "cross":
            self.other = k.array(names[1], real, self.dims, low=-2.0, high=2.0)
        self.mean: Var | None = None
        if self.form in ("product", "cross") and shape.chance(0.4):
            self.mean = k.scalar("mean", real, 0.1, 0.6)
        out_dims = (*lead, "lags") if shape.chance(0.7) else ("lags",)
        self.apart = len(out_dims) > len(lead)
        self.sums = k.accumulator(_SUMS[self.form], real, out_dims)
        # What differs from itself by nothing at the lag 0 has sums from 1 on.
        self.least = int(self.form in ("square", "absolute"))

    def _element(self, array: Var, at: tuple[Expr, ...]) -> Expr:
        return array[at] if self.mean is None else array[at] - self.mean

    def own(self, at: tuple[Expr, ...], share: float) -> Expr:
        return named(self.k, "xi near", self._element(self.x, at), share)

    def add(self, own: Expr, at: tuple[Expr, ...], lag: Expr, number: Expr) -> None:
        """A pair so far apart, to the sum of that number."""
        k = self.k
        far = named(k, "xj far", self._element(self.other, (*at[:-1], at[-1] + lag)), 0.5)
        value = own * far
        if self.form in ("square", "absolute"):
            gap = k.let("gap diff", far - own)
            value = gap * gap if self.form == "square" else abs(gap)
        k.atomic("add", self.sums, (*at[:-1], number) if self.apart else (number,), value)

    def number(self, lag: Expr) -> Expr:
        """Which of the sums a lag has."""
        return lag - 1 if self.least else lag

    def said(self, i: str, lead: str) -> str:
        a, b = f"{self.x.name} at {i}", f"{self.other.name} at {i} + lag"
        if self.form in ("square", "absolute"):
            how = "squared" if self.form == "square" else "absolute"
            text = f"the {how} difference of {a} and {b}"
        elif self.mean is not None:
            text = f"the product of {a} and {b}, both less {self.mean.name},"
        else:
            text = f"the product of {a} and {b}"
        place = f"{lead}, " * bool(lead and self.apart) + "lag" + " - 1" * self.least
        text += f" to {self.sums.name}[{place}]"
        return text + (", for all series together." if lead and not self.apart else ".")


@idiom(depth=3)
def lag_sums(k: KernelBuilder, level: int) -> Title:
    """Autocorrelation, structure functions and correlograms: sums over pairs by their lag."""
    shape = k.draw.shape
    k.size("n", 20, 28)
    k.size("lags", 5, 7)
    lead = (k.size("series", 3, 4),) if shape.chance(0.6) else ()
    looped = shape.chance(0.5)
    dims = (*lead, "n") if looped else (*lead, "n", "lags")
    names = [*(k.name("s series_id") for _ in lead), k.name("i t")]
    names += [] if looped else [k.name("d m")]
    threads = k.thread(*dims, names=names)
    at = threads[: len(lead) + 1]
    w = _Lagged(k, level, lead, k.draw.wide_float_type())
    upto = extent(w.x, len(lead))
    own = w.own(at, 0.9) if looped else None
    if own is None:
        lag: Expr = k.let("lag", threads[-1] + 1) if w.least else threads[-1]
        with guarded(k, at[-1] + lag < upto, False):
            w.add(w.own(at, 0.6), at, lag, threads[-1])
    else:
        _along_lags(k, w, at, own, upto)
    i, what = at[-1].name, _LAGGED[w.form][0]
    text = (
        f"{what}: for every {i}{' of every series' * bool(lead)} and every lag from {w.least} on "
    )
    text += f"that {w.sums.name} has a place for, with {i} + lag inside of the series, add "
    return Title(k.name(_LAGGED[w.form][1]), text + w.said(i, at[0].name if lead else ""))


def _along_lags(k: KernelBuilder, w: _Lagged, at: tuple[Var, ...], own: Expr, upto: Expr) -> None:
    """A thread goes along the lags of its element, as far as the series."""
    lags = extent_of(k, "lags")
    lags = lags + 1 if w.least else lags
    short = k.draw.shape.chance(0.5)
    stop = named(k, "last stop", least(lags, upto - at[-1])) if short else lags
    with k.for_("lag d", stop, start=w.least) as lag:
        if not short:
            with k.if_(fn("ge", at[-1] + lag, upto)):
                k.break_()
        w.add(own, at, lag, w.number(lag))


_SUMS = {
    "product": "acf autocorr",
    "cross": "ccf cross_corr",
    "square": "structure squared_diffs",
    "absolute": "madogram abs_diffs",
}
_LAGGED = {
    "product": ("Sums of an autocorrelation", "autocorrelation_sums autocorrelate"),
    "cross": ("Sums of a cross-correlation", "cross_correlation_sums cross_correlate"),
    "square": ("Sums of a structure function", "structure_function variogram_sums"),
    "absolute": ("Sums of a madogram", "madogram_sums absolute_lag_sums"),
}

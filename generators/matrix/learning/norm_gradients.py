"""Gradients of layer norms and RMS norms, written by hand: of the input, of gain and bias."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from generators.build import KernelBuilder, cast
from generators.build.docs import listed
from generators.build.registry import Title, idiom
from generators.kit.functions import sqrt
from generators.kit.text import written
from generators.matrix.learning.backward import lead_axes
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.expr import Expr, Var

_FACTORS = {True: "inv_rms rrms", False: "rstds inv_stds"}
"""What a row was multiplied by: of an RMS norm, of a layer norm."""


@idiom
def norm_backward(k: KernelBuilder, level: int) -> Title:
    """The gradient of a layer norm or an RMS norm with respect to its input, a row a thread."""
    w = work(k, level, flattening=0.25)
    dims, call = lead_axes(w, "num_tokens rows")
    cols = w.size("features", 5, 9, "features")
    rms, whole = w.chance(0.5), (*dims, cols)
    given = w.chance(0.6)
    x, grads = w.tensor("x inputs", whole, -2.0, 2.0), w.tensor("dy grad_out", whole)
    gain = w.tensor("gamma weight gain", (cols,), 0.5, 1.5) if w.chance(0.85) else None
    means = w.exact(w.tensor("means mu", dims, -0.5, 0.5)) if given and not rms else None
    stds = w.exact(w.tensor(_FACTORS[rms], dims, 0.6, 1.4)) if given else None
    at = k.thread(*dims, names=[k.name(c) for c in call])
    mean, factor, made = _statistics(w, at, x, means, stds, rms)
    residual = w.tensor("d_residual skip_grad", whole) if w.chance(0.3, 2) else None
    out = w.out("dx grad_in", whole)
    _norm_passes(w, at, (x, grads, gain, residual, out), mean, factor, rms)
    g = grads.name if gain is None else f"{grads.name} * {gain.name}"
    bare = " without a gain" * (gain is None)
    w.say(
        f"Backward pass of {'an RMS' if rms else 'a layer'} norm{bare} over the last axis of "
        f"{x.name}. "
        f"{made} With g = {g} and means over the row, {out.name} gets "
        f"r * (g{'' if rms else ' - mean(g)'} - u * mean(g * u))"
        f"{'' if residual is None else ' + ' + residual.name}."
    )
    kind = "rms_norm" if rms else "layer_norm"
    return Title(k.name(f"{kind}_backward {kind}_grad", f"{kind}_dx"), w.text())


def _norm_passes(
    w: Work,
    at: tuple[Var, ...],
    of: tuple[Tensor, Tensor, Tensor | None, Tensor | None, Tensor],
    mean: Expr | None,
    factor: Var,
    rms: bool,
) -> None:
    """The means that a row's gradients share, then the gradients."""
    k, (x, grads, gain, residual, out) = w.k, of
    size = cast(w.count("features"), w.type_)

    def parts(c: Var) -> tuple[Var, Var]:
        value = x[index(*at, c)]
        unit = k.let("x_hat normed", (value if mean is None else value - mean) * factor)
        grad = grads[index(*at, c)]
        return unit, k.let(
            "dy_c g" if gain is None else "g wdy", grad if gain is None else grad * gain[c]
        )

    along = w.sum("mean_gu")
    plain = None if rms else w.sum("mean_g")
    before = set(k.used)
    with w.loop("c j", "features") as c:
        unit, grad = parts(c)
        k.augment(along, "add", grad * unit)
        if plain is not None:
            k.augment(plain, "add", grad)
    k.augment(along, "div", size)
    if plain is not None:
        k.augment(plain, "div", size)
    k.again(before, *(p.name for p in k.params))
    with w.loop("c j", "features") as c:
        unit, grad = parts(c)
        less = unit * along if plain is None else plain + unit * along
        value = factor * (grad - less)
        out.store((*at, c), value if residual is None else value + residual[index(*at, c)])


def _statistics(
    w: Work, at: tuple[Var, ...], x: Tensor, means: Tensor | None, stds: Tensor | None, rms: bool
) -> tuple[Expr | None, Var, str]:
    """The mean and the reciprocal deviation, given or computed; what is said of both."""
    k = w.k
    if stds is not None:
        factor = k.let("scale r_row" if rms else "rstd r_std", stds[at])
        if means is None:
            return None, factor, f"With r = {stds.name} of the row, u = {x.name} * r."
        made = f"With r = {stds.name} of the row, u = ({x.name} - {means.name}) * r."
        return k.let("mean mu_row", means[at]), factor, made
    eps: Expr = k.lift(k.draw.value.choice((1.0e-5, 1.0e-6)), w.type_)
    if w.chance(0.6):
        eps = k.scalar("eps epsilon", w.type_, 0.001, 0.01)
    size = cast(w.count("features"), w.type_)
    mean = None
    if not rms:
        mean = w.sum("mean mu_row")
        with w.loop("n f", "features") as n:
            k.augment(mean, "add", x[index(*at, n)])
        k.augment(mean, "div", size)
    squares = w.sum("squares sum_sq" if rms else "sq_dev var_sum")
    with w.loop("q e", "features") as q:
        value = x[index(*at, q)]
        held = k.let("v xv", value) if mean is None else k.let("centred dev", value - mean)
        k.augment(squares, "add", held * held)
    names = "inv_rms rrms" if rms else "rstd inv_std"
    factor = k.let(names, 1.0 / sqrt(squares / size + eps))
    what = f"1 / sqrt(mean({x.name}^2) + {written(eps)}) of the row"
    if not rms:
        what = f"1 / sqrt(variance + {written(eps)}) of the row"
    of = x.name if mean is None else f"({x.name} - its mean)"
    return mean, factor, f"With r = {what}, u = {of} * r."


@idiom
def norm_parameter_gradient(k: KernelBuilder, level: int) -> Title:
    """Gradients of a norm's gain and bias: a thread for each feature sums over all tokens."""
    w = work(k, level, flattening=0.25)
    split = w.chance(0.4)
    lead = [w.size("batch", 2, 3, "batch")] if not split and w.chance(0.4, 2) else []
    dims = (*lead, w.size("tokens", 6, 12, "num_tokens"))
    cols = w.size("features", 8, 14, "features")
    rms, whole = w.chance(0.4), (*dims, cols)
    x, grads = w.tensor("x inputs", whole, -2.0, 2.0), w.tensor("dy grad_out", whole)
    means = None if rms else w.exact(w.tensor("means mu", dims, -0.5, 0.5))
    stds = w.exact(w.tensor(_FACTORS[rms], dims, 0.6, 1.4))
    lead_of = [w.size("groups", 2, 3, "num_parts num_groups")] if split else []
    names = [k.name("part group")] * len(lead_of) + [k.name("c col")]
    (*part, c) = k.thread(*lead_of, cols, names=names)
    called = alike(k, *_GAINS)
    gain = w.sum(called[2])
    bias = None if rms else w.sum(called[3])

    def add(at: tuple[Expr, ...]) -> None:
        grad = k.let("g grad", grads[index(*at, c)])
        value = x[index(*at, c)]
        unit = (value if means is None else value - means[at]) * stds[at]
        k.augment(gain, "add", grad * unit)
        if bias is not None:
            k.augment(bias, "add", grad)

    _over_tokens(w, dims, part, add)
    _gradient_said(w, (x, grads, means, stds), part)
    sums = [gain] if bias is None else [gain, bias]
    stored = [w.out(n, (*lead_of, cols)) for n, _ in zip(called, sums, strict=False)]
    for out, of in zip(stored, sums, strict=True):
        out.store((*part, c), of)
    w.say(f"{listed([t.name for t in stored])} {'get' if len(stored) > 1 else 'gets'} the result.")
    one = called[0].removeprefix("d_").removeprefix("grad_")
    titles = f"{one}_grad {one}_gradient" if rms else "norm_params_backward norm_param_grads"
    return Title(k.name(titles), w.text())


_GAINS = (
    "d_gamma d_beta sum_gamma sum_beta",
    "grad_weight grad_bias dw db",
    "grad_gain grad_bias gain_sum bias_sum",
)
"""Outputs of the gain and the bias, and sums of a thread."""


def _gradient_said(
    w: Work, of: tuple[Tensor, Tensor, Tensor | None, Tensor], part: list[Var]
) -> None:
    """What is summed over which tokens."""
    x, grads, means, stds = of
    u = x.name if means is None else f"({x.name} - {means.name})"
    what = "the gain of an RMS norm" if means is None else "the gain and bias of a layer norm"
    rest = "" if means is None else f", for the bias the sum of {grads.name}"
    term = f"{'' if means is None else 'for the gain '}the sum of {grads.name} * {u} * {stds.name}"
    if not part:
        w.say(f"Gradient of {what} over all tokens: {term}{rest}.")
        return
    p, many = part[0].name, written(w.count("groups"))
    w.say(
        f"Partial sums of the gradient of {what}, which a later pass adds up: {term}{rest}. "
        f"Row {p} of the result has the sum over the tokens {p}, {p} + {many}, {p} + 2 * {many} "
        "and so on."
    )


def _over_tokens(
    w: Work, dims: tuple[str, ...], part: list[Var], add: Callable[[tuple[Expr, ...]], None]
) -> None:
    """Add up all tokens, or every so manieth."""
    k = w.k
    with w.loop("h n", dims[0]) if len(dims) > 1 else nullcontext() as h:
        lead = () if h is None else (h,)
        if not part:
            with w.loop("r t", "tokens") as r:
                add((*lead, r))
        else:
            r = k.let("r t", part[0])
            with k.while_(r < w.count("tokens")):
                add((*lead, r))
                k.augment(r, "add", w.count("groups"))

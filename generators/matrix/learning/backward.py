"""Gradients that are written by hand: of softmax, of attention, of norms."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from generators.build import KernelBuilder, cast, fn
from generators.build.docs import listed
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, sqrt
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.expr import Expr, Var


def _lead(w: Work, names: str, outer: str = "batch") -> tuple[tuple[str, ...], list[str]]:
    """Axes before the one that is normalised: rows, of batches or heads from level 2 on."""
    rows = w.size("rows", 6, 12, names)
    if w.chance(0.5, 2):
        call = "h head" if outer == "heads" else "b item"
        return (w.size(outer, 2, 3, f"{outer} num_{outer}"), rows), [call, "i row"]
    return (rows,), ["i row"]


@idiom
def softmax_backward(k: KernelBuilder, level: int) -> Title:
    """The gradient of a softmax, or of a log-softmax, from its output and the gradient there."""
    w = work(k, level, flattening=0.25)
    dims, call = _lead(w, "num_rows rows", "heads")
    of_log, causal = w.chance(0.3), w.chance(0.3)
    cols = "rows" if causal else w.size("cols", 5, 8, "num_cols cols")
    whole = (*dims, cols)
    names = alike(k, "y dy", "probs grad_probs", "p dp", "y grad_y")
    name, low, high = (f"log_{names[0]}", -3.0, -0.5) if of_log else (names[0], 0.05, 1.0)
    y = w.tensor(name, whole, low, high)
    grads = w.tensor(names[1], whole)
    scale = None
    if not of_log and w.chance(0.4):
        scale = w.number("scale inv_temperature", 0.3, 0.8)
    single = w.chance(0.3)
    kept = None
    if not single and w.chance(0.25, 2):
        kept = w.exact(w.tensor("row_sums grad_sums" if of_log else "dots row_dots", dims))
    at = k.thread(*dims, names=[k.name(c) for c in call])
    dot = _row_dot(w, at, y, grads, of_log, causal) if kept is None else kept[at]
    out = w.out("dx grad_x grad_logits", whole)
    _softmax_said(w, y, grads, out, (of_log, causal), scale, kept)
    with k.for_("j c", w.count(cols)) as j:
        p = exp(y[index(*at, j)]) if of_log else y[index(*at, j)]
        g = grads[index(*at, j)]
        value: Expr = g - p * dot if of_log else p * (g - dot)
        value = value if scale is None else scale * value
        if causal:
            value = fn("where", j <= at[-1], value, 0.0)
        out.store((*at, j), value)
    names_of = (
        "log_softmax_backward log_softmax_grad" if of_log else "softmax_backward softmax_grad"
    )
    if causal:
        names_of = f"causal_{names_of.split()[0]}"
    return Title(k.name(names_of), w.text())


def _row_dot(
    w: Work, at: tuple[Var, ...], y: Tensor, grads: Tensor, of_log: bool, causal: bool
) -> Var:
    """What a row's entries share: the sum of the gradient, weighted by the output or not."""
    k = w.k
    dot = w.sum("dot delta total")
    stop: Expr = at[-1] + 1 if causal else w.count("cols")
    with k.for_("c t q", stop) as c:
        term = grads[index(*at, c)]
        k.augment(dot, "add", term if of_log else term * y[index(*at, c)])
    return dot


def _softmax_said(
    w: Work,
    y: Tensor,
    grads: Tensor,
    out: Tensor,
    told: tuple[bool, bool],
    scale: Expr | None,
    kept: Tensor | None,
) -> None:
    of_log, causal = told
    shared = kept.name if kept is not None else "the row's sum of "
    if kept is None:
        shared += grads.name if of_log else f"{y.name} * {grads.name}"
    inner = f"{y.name} * ({grads.name} - {shared})"
    if of_log:
        shared = shared if kept is not None else f"({shared})"
        inner = f"{grads.name} - exp({y.name}) * {shared}"
    times = "" if scale is None else f"{written(scale)} * "
    kind = "log-softmax" if of_log else "softmax"
    masked = "causally masked " if causal else ""
    ends = " Row i has columns 0 to i; the others get 0." if causal else ""
    if kept is not None:
        sums = grads.name if of_log else f"{y.name} * {grads.name}"
        ends = f" {kept.name} holds the row's sum of {sums}.{ends}"
    w.say(
        f"Backward pass of a {masked}{kind} along the last axis, from its output {y.name} and the "
        f"gradient {grads.name} of that output: {out.name} gets {times}{inner}.{ends}"
    )


@idiom
def norm_backward(k: KernelBuilder, level: int) -> Title:
    """The gradient of a layer norm or an RMS norm with respect to its input, a row a thread."""
    w = work(k, level, flattening=0.25)
    dims, call = _lead(w, "num_tokens rows")
    cols = w.size("features", 5, 9, "features")
    rms, whole = w.chance(0.5), (*dims, cols)
    given = w.chance(0.6)
    x, grads = w.tensor("x inputs", whole, -2.0, 2.0), w.tensor("dy grad_out", whole)
    gain = w.tensor("gamma weight gain", (cols,), 0.5, 1.5) if w.chance(0.75) else None
    means = w.exact(w.tensor("means mu", dims, -0.5, 0.5)) if given and not rms else None
    stds = w.exact(w.tensor("rstds inv_std", dims, 0.6, 1.4)) if given else None
    at = k.thread(*dims, names=[k.name(c) for c in call])
    mean, factor, made = _statistics(w, at, x, means, stds, rms)
    residual = w.tensor("d_residual skip_grad", whole) if w.chance(0.3, 2) else None
    out = w.out("dx grad_in", whole)
    _norm_passes(w, at, (x, grads, gain, residual, out), mean, factor, rms)
    g = grads.name if gain is None else f"{grads.name} * {gain.name}"
    w.say(
        f"Backward pass of {'an RMS' if rms else 'a layer'} norm over the last axis of {x.name}. "
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
        return unit, k.let("g wdy", grad if gain is None else grad * gain[c])

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
        factor = k.let("rstd r_std", stds[at])
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
    squares = w.sum("squares var_sum")
    with w.loop("q e", "features") as q:
        value = x[index(*at, q)]
        held = k.let("v xv", value) if mean is None else k.let("centred dev", value - mean)
        k.augment(squares, "add", held * held)
    factor = k.let("rstd r_std", 1.0 / sqrt(squares / size + eps))
    what = f"1 / sqrt(mean({x.name}^2) + {written(eps)})"
    if not rms:
        what = f"1 / sqrt(variance + {written(eps)}) of the row"
    of = x.name if mean is None else f"({x.name} - its mean)"
    return mean, factor, f"With r = {what}, u = {of} * r."


@idiom
def norm_parameter_gradient(k: KernelBuilder, level: int) -> Title:
    """Gradients of a norm's gain and bias: a thread for each feature sums over all tokens."""
    w = work(k, level, flattening=0.25)
    lead = [w.size("batch", 2, 3, "batch")] if w.chance(0.4, 2) else []
    dims = (*lead, w.size("tokens", 6, 12, "num_tokens"))
    cols = w.size("features", 8, 14, "features")
    rms, whole = w.chance(0.4), (*dims, cols)
    x, grads = w.tensor("x inputs", whole, -2.0, 2.0), w.tensor("dy grad_out", whole)
    means = None if rms else w.exact(w.tensor("means mu", dims, -0.5, 0.5))
    stds = w.exact(w.tensor("rstds inv_stds", dims, 0.6, 1.4))
    lead_of = [w.size("groups", 2, 3, "num_groups")] if w.chance(0.4) else []
    names = [k.name("part group")] * len(lead_of) + [k.name("c col")]
    (*part, c) = k.thread(*lead_of, cols, names=names)
    gain = w.sum("gain_sum dg")
    bias = None if rms else w.sum("bias_sum db")

    def add(at: tuple[Expr, ...]) -> None:
        grad = k.let("g grad", grads[index(*at, c)])
        value = x[index(*at, c)]
        unit = (value if means is None else value - means[at]) * stds[at]
        k.augment(gain, "add", grad * unit)
        if bias is not None:
            k.augment(bias, "add", grad)

    tokens = _over_tokens(w, dims, part, add)
    u = x.name if means is None else f"({x.name} - {means.name})"
    what = "the gain of an RMS norm" if rms else "the gain and bias of a layer norm"
    rest = "" if rms else f", for the bias the sum of {grads.name}"
    w.say(
        f"Gradient of {what} over {tokens}: {'' if rms else 'for the gain '}the sum of "
        f"{grads.name} * {u} * {stds.name}{rest}."
    )
    names = alike(k, "d_gamma d_beta", "grad_gain grad_bias")
    sums = [gain] if bias is None else [gain, bias]
    stored = [w.out(n, (*lead_of, cols)) for n, _ in zip(names, sums, strict=False)]
    for out, of in zip(stored, sums, strict=True):
        out.store((*part, c), of)
    w.say(f"{listed([t.name for t in stored])} {'get' if len(stored) > 1 else 'gets'} the result.")
    titles = "gamma_beta_grad norm_params_backward" if bias is not None else "gain_grad gamma_grad"
    return Title(k.name(titles), w.text())


def _over_tokens(
    w: Work, dims: tuple[str, ...], part: list[Var], add: Callable[[tuple[Expr, ...]], None]
) -> str:
    """Add up all tokens, or every so manieth of each item; which ones, in words."""
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
    if not part:
        return "all tokens"
    rows = "tokens" if len(dims) == 1 else "tokens of every item"
    many = written(w.count("groups"))
    return f"a group of the {rows}: {part[0].name}, {part[0].name} + {many} and so on"

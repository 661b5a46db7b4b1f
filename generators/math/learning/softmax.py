"""Softmax by row: probabilities, their logs, gradients, Gumbel noise, pooled maxima."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, log
from generators.math.learning.tables import (
    LOW,
    Score,
    Table,
    length,
    log_norm,
    normaliser,
    peak,
    table,
    tempered,
)
from generators.program.expr import Expr, Var


def _scaled_down(t: Table, x: Var, out: Var, total: Var) -> None:
    """Divide what the row holds by its sum: by a factor, or term by term."""
    k = t.k
    if k.draw.shape.chance(0.6):
        inv = k.let("inv_total norm", 1.0 / total)
        with t.classes(x) as c:
            k.store(out, t.place(c), out[t.place(c)] * inv)
    else:
        with t.classes(x) as c:
            k.store(out, t.place(c), out[t.place(c)] / total)


@idiom
def softmax_with_temperature(k: KernelBuilder, level: int) -> Title:
    """Softmax or log-softmax of each row, over a temperature, in two passes or three."""
    shape = k.draw.shape
    t = table(k, level)
    x = t.array("logits scores x", -3.0, 3.0)
    score, said = tempered(k, t, x, 0.35 + 0.1 * level)
    logs = shape.chance(0.4)
    kept = not logs and shape.chance(0.4)
    if kept:
        out = t.out("probs softmax_out y")
        top, total = peak(t, x, score), t.zero("total denom sum_exp")
        with t.classes(x) as c:
            e = k.let("e weight", exp(score(c) - top))
            k.store(out, t.place(c), e)
            t.add(total, e)
        _scaled_down(t, x, out, total)
        how = "The exponentials are stored first and divided by their sum after."
    elif logs:
        lse = log_norm(t, x, score, 0.2 + 0.1 * level)
        out = t.out("log_probs logp y")
        with t.classes(x) as c:
            k.store(out, t.place(c), score(c) - lse)
        how = "The largest score is subtracted before exponentials are taken."
    else:
        top, total = normaliser(t, x, score, 0.2 + 0.1 * level)
        out = t.out("probs softmax_out y")
        with t.classes(x) as c:
            k.store(out, t.place(c), exp(score(c) - top) / total)
        how = "The largest score is subtracted first, for stability."
    kind = "Log-softmax" if logs else "Softmax"
    text = f"{kind} of {said} over the {t.size} of each {t.unit}{t.said}. {out.name} gets it. {how}"
    if level > 2 and shape.chance(0.35):
        found = t.put("lse_out log_norms", lse) if logs else t.put("sums_out denominators", total)
        text += f" {found.name} gets the {'log-sum-exp' if logs else 'sum of exponentials'}."
    name = "log_softmax_rows log_softmax" if logs else "softmax_rows row_softmax"
    return Title(k.name(t.called(f"{name} {name.split()[0]}_kernel")), text)


@idiom(depth=3)
def softmax_gradient(k: KernelBuilder, level: int) -> Title:
    """The gradient of scores from that of their softmax or log-softmax."""
    shape = k.draw.shape
    t = table(k, level)
    logs = shape.chance(0.4)
    y = t.array("log_probs logp", -3.0, -0.5) if logs else t.array("probs softmax_out y", 0.02, 0.4)
    dy = t.array("grad_out dy upstream", -1.0, 1.0)
    scale: Expr | None = None
    if shape.chance(0.25 + 0.1 * level):
        scale = k.scalar("inv_temperature inv_tau", t.type, 0.3, 2.0)
    total = t.zero("total acc grad_sum" if logs else "inner dot_sum weighted")
    with t.classes(y) as c:
        g: Expr = dy[t.place(c)]
        t.add(total, g if logs else (g * y[t.place(c)] if t.plain else y[t.place(c)] * g))
    adds = level > 1 and shape.chance(0.3)
    dx = t.array("grad_logits dx", -1.0, 1.0, "inout") if adds else t.out("grad_logits dx")
    with t.classes(y) as c:
        at = t.place(c)
        value = dy[at] - exp(y[at]) * total if logs else y[at] * (dy[at] - total)
        value = value if scale is None else scale * value
        named = shape.chance(0.4)
        k.store(dx, at, k.let("g dz", value) if named else value, "add" if adds else "")
    if logs:
        said = f"{dy.name} - exp({y.name}) * (the {t.unit}'s sum of {dy.name})"
    else:
        said = f"{y.name} * ({dy.name} - the {t.unit}'s sum of {y.name} * {dy.name})"
    said = said if not isinstance(scale, Var) else f"{scale.name} * ({said})"
    verb = "is increased by" if adds else "gets"
    of = "log-softmax" if logs else "softmax"
    heated = " of scores over a temperature" if scale is not None else ""
    text = f"Backward pass of a {of}{heated} over the {t.size} of each {t.unit}{t.said}: {dx.name} "
    text = f"{text}{verb} {said}."
    name = "log_softmax_backward log_softmax_grad" if logs else "softmax_backward softmax_grad"
    return Title(k.name(name), text)


def _two_passes(t: Table, x: Var, first: Score, again: Callable[[Expr], Expr]) -> tuple[Var, Var]:
    """The largest score, as the first pass makes scores, and the sum of exponentials."""
    top = t.k.let(t.peaks, t.k.lift(LOW, t.type))
    with t.classes(x) as c:
        t.raise_to(top, first(c))
    total = t.zero("total denom sum_exp")
    with t.classes(x) as c:
        t.add(total, exp(again(c) - top))
    return top, total


@idiom
def gumbel_softmax(k: KernelBuilder, level: int) -> Title:
    """Relaxed samples: softmax of scores with Gumbel noise made of given uniform numbers."""
    shape = k.draw.shape
    t = table(k, level, "choices", "c j a", {"rows": 5, "columns": 2, "batch": 4})
    x = t.array("logits scores log_alpha", -1.5, 1.5)
    # Half precision rounds numbers close to 1 to 1, where the noise is infinite.
    k.half_inputs = False
    u = t.array("uniforms noise_u u", 0.02, 0.98)
    heat = k.scalar("temperature tau", t.type, 0.5, 1.5)
    inverse = shape.chance(0.35)
    factor = k.let("inv_tau sharp", 1.0 / heat) if inverse else heat
    kept = level > 1 and shape.chance(0.4)
    noisy = t.out("noisy perturbed") if kept else None
    online = noisy is None and shape.chance(0.5)
    out = t.out("samples soft_choice y")
    held = out if noisy is None else noisy

    def score(c: Expr) -> Expr:
        at = t.place(c)
        g = k.let("g gumbel", -log(-log(u[at])))
        value = (x[at] + g) * factor if inverse else (x[at] + g) / factor
        return k.let("z score", value)

    def first(c: Expr) -> Expr:
        z = score(c)
        k.store(held, t.place(c), z)
        return z

    def again(c: Expr) -> Expr:
        return held[t.place(c)]

    if online:
        top, total = normaliser(t, x, first, 1.0)
    else:
        top, total = _two_passes(t, x, first, again)
    with t.classes(x) as c:
        k.store(out, t.place(c), exp(again(c) - top) / total)
    return _gumbel_title(t, (x, u, heat), out, noisy)


def _gumbel_title(t: Table, given: tuple[Var, Var, Var], out: Var, noisy: Var | None) -> Title:
    """What the kernel is called, and what it does in words."""
    k, (x, u, heat) = t.k, given
    text = f"Gumbel-softmax samples of each {t.unit} over its {t.size}{t.said}: the softmax, with "
    text += f"the largest score subtracted first, of ({x.name} + Gumbel noise -log(-log({u.name})))"
    text += f" / {heat.name}, where {u.name} lies within (0, 1). {out.name} gets it."
    if noisy is None:
        text += f" The perturbed scores are kept in {out.name} until they are normalised."
    text += f" {noisy.name} gets the perturbed scores." if noisy is not None else ""
    return Title(k.name("gumbel_softmax sample_gumbel_softmax", "relaxed_choice"), text)


@idiom
def smooth_maximum(k: KernelBuilder, level: int) -> Title:
    """Pooling by the log of a sum or mean of exponentials, or by a softmax-weighted mean."""
    shape = k.draw.shape
    t = table(k, level, "items", "j q", {"rows": 4, "columns": 1, "batch": 3})
    x = t.array("features x responses", -2.0, 2.0)
    sharp = k.scalar("sharpness beta", t.type, 0.5, 3.0)
    way = shape.choice(("sum", "mean", "weighted"))

    def score(c: Expr) -> Expr:
        return sharp * x[t.place(c)]

    if way == "weighted":
        top = peak(t, x, score)
        total, mixed = t.zero("total denom"), t.zero("mixed weighted acc")
        with t.classes(x) as c:
            v = k.let("v x_c", x[t.place(c)])
            w = k.let("w e", exp(sharp * v - top))
            t.add(total, w)
            t.add(mixed, w * v)
        value: Expr = mixed / total
        said = f"the mean of {x.name} weighted by the softmax of {sharp.name} * {x.name}"
    else:
        top, total = normaliser(t, x, score, 0.35)
        inner = log(total / length(t, x)) if way == "mean" else log(total)
        value = (top + inner) / sharp
        over = "mean" if way == "mean" else "sum"
        said = f"log(the {over} of exp({sharp.name} * {x.name})) / {sharp.name}"
    pooled = t.put("pooled" if way == "weighted" else "pooled smooth_max", value)
    kind = "Softmax pooling" if way == "weighted" else "Log-sum-exp pooling"
    text = f"{kind} of each {t.unit} over its {t.size}{t.said}: {pooled.name} gets {said}. The "
    text += "largest is subtracted before exponentials are taken."
    if level > 1 and shape.chance(0.2 + 0.1 * level):
        grads = t.out("weights_out attention_out saliency")
        with t.classes(x) as c:
            k.store(grads, t.place(c), exp(score(c) - top) / total)
        text += f" {grads.name} gets the softmax of {sharp.name} * {x.name}."
    names = "softmax_pool softmax_weighted_mean" if way == "weighted" else "lse_pool logsumexp_pool"
    return Title(k.name(names), text)

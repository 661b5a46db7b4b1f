"""Cross-entropies and divergences of rows of scores, and their gradients."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, log, where
from generators.math.learning.tables import (
    Table,
    alike,
    length,
    log_norm,
    normaliser,
    table,
    tempered,
)
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_MOST_LABEL = 5
"""The largest label where some are negative; rows have at least one class more."""


def _label(t: Table, ignored: bool) -> tuple[Var, str]:
    """A row's label as a local, and the name of the array."""
    k, names = t.k, "labels targets target_ids"
    if ignored:
        labels = k.array(names, INT32, t.dims, low=-2, high=_MOST_LABEL)
        return k.let("label target y_true", labels[t.at]), labels.name
    type_ = Scalar(k.draw.shape.weighted({"int32": 5, "int64": 1}))
    label = cast(t.ids(names, type_), INT32)
    return k.let("label target y_true", label), k.params[-1].name


def _labelled(k: KernelBuilder, level: int) -> tuple[Table, bool]:
    """Rows of scores, and whether some of their labels are negative."""
    ignored = k.draw.shape.chance(0.15 + 0.1 * level)
    minimum = _MOST_LABEL + 1 if ignored else 1
    return table(k, level, span=(6, 10), minimum=minimum), ignored


def _smoothed_text(t: Table, smooth: Var) -> str:
    text = f"(1 - {smooth.name}) * (the label's nll) + {smooth.name} * (the mean nll of all "
    text += f"classes), where the nll of a class is the log-sum-exp of the {t.unit} less the "
    return f"{text}score of that class"


def _weighted_text(weights: Var, told: str, smoothed: bool) -> str:
    lead = f"{weights.name}[label]"
    if not smoothed:
        return f"{lead} times {told}"
    return f"{lead} * ({told.replace('), where', ')), where')}"


@idiom
def smoothed_cross_entropy(k: KernelBuilder, level: int) -> Title:
    """Cross-entropy of labelled rows, with smoothed labels, ignored rows and class weights."""
    shape = k.draw.shape
    t, ignored = _labelled(k, level)
    x = t.array("logits scores x", -3.0, 3.0)
    label, labels = _label(t, ignored)
    score, heated = tempered(k, t, x, 0.08 * level, rows=False)
    losses = k.out("losses loss", t.type, t.dims)
    if ignored:
        with k.if_(label < 0):
            k.store(losses, t.at, 0.0)
            k.return_()
    smooth = None
    if shape.chance(0.2 + 0.12 * level):
        smooth = k.scalar("smoothing label_smoothing eps", t.type, 0.05, 0.3)
    lse = log_norm(t, x, score, 0.25)
    value: Expr = lse - score(label)
    told = f"the log-sum-exp of the {t.unit} less the label's score"
    if smooth is not None:
        hit = k.let("nll label_nll", value)
        total = t.zero("total score_sum acc")
        with t.classes(x) as c:
            t.add(total, score(c))
        spread = k.let("mean_nll", lse - total / length(t, x))
        value = (1.0 - smooth) * hit + smooth * spread
        told = _smoothed_text(t, smooth)
    if level > 1 and shape.chance(0.35):
        weights = k.array("class_weights weight", t.type, t.size, low=0.5, high=2.0)
        value = value * weights[label]
        k.half_inputs = False
        told = _weighted_text(weights, told, smooth is not None)
    k.store(losses, t.at, value)
    kind = "Cross-entropy with smoothed labels" if smooth is not None else "Cross-entropy loss"
    text = f"{kind} of each {t.unit} of {heated} over its {t.size}{t.said}, with the "
    text += f"{t.unit}'s label in {labels}. {losses.name} gets {told}."
    text += f" {t.unit.capitalize()}s with a negative label get 0." if ignored else ""
    plain = "cross_entropy_loss cross_entropy_rows softmax_cross_entropy"
    smoothed = "label_smoothing_loss smoothed_cross_entropy"
    return Title(k.name(t.called(plain) if smooth is None else smoothed), text)


def _factor(t: Table) -> tuple[Expr | None, str]:
    """What a gradient is multiplied with: nothing, a number, or the gradient of the row's loss."""
    way = t.k.draw.shape.weighted({"none": 2, "mean": 3, "row": 2})
    if way == "none":
        return None, ""
    if way == "mean":
        scale = t.k.scalar("inv_count grad_scale", t.type, 0.05, 0.5)
        return scale, f", times {scale.name}"
    upstream = t.k.let("upstream g", t.each("grad_losses grad_out", -1.0, 1.0))
    return upstream, f", times the {t.unit}'s {t.k.params[-1].name}"


@idiom
def cross_entropy_gradient(k: KernelBuilder, level: int) -> Title:
    """Softmax less the one-hot label: the gradient of cross-entropy for each row's scores."""
    shape = k.draw.shape
    t, ignored = _labelled(k, level)
    x = t.array("logits scores x", -3.0, 3.0)
    label, labels = _label(t, ignored)
    grads = t.out("grad_logits dlogits dx")
    if ignored:
        with k.if_(label < 0):
            with t.classes(x) as c:
                k.store(grads, t.place(c), 0.0)
            k.return_()
    top, total = normaliser(t, x, lambda c: x[t.place(c)], 0.1 + 0.08 * level)
    scale, told = _factor(t)
    smooth = None
    if level > 1 and shape.chance(0.35):
        smooth = k.scalar("smoothing eps", t.type, 0.05, 0.3)
        off = k.let("off_value low_target", smooth / length(t, x))
    with t.classes(x) as c:
        p = k.let("p prob", exp(x[t.place(c)] - top) / total)
        mine = fn("eq", c, label)
        value: Expr = p
        if smooth is not None:
            value = p - k.let("target_p q", off + where(mine, 1.0 - smooth, 0.0))
        elif shape.chance(0.5):
            with k.if_(mine):
                k.augment(p, "sub", 1.0)
        else:
            value = p - where(mine, k.lift(1.0, t.type), 0.0)
        k.store(grads, t.place(c), value if scale is None else scale * value)
    hot = "the one-hot label"
    if smooth is not None:
        hot = f"the smoothed label, {smooth.name} / {t.size} for each class and 1 - {smooth.name} "
        hot += "more for the label"
    text = f"Gradient of the softmax cross-entropy of each {t.unit} of {x.name} over its {t.size}"
    text += f"{t.said}, with the {t.unit}'s label in {labels}. {grads.name} gets "
    text += f"the softmax less {hot}"
    text += f"{told}."
    text += f" {t.unit.capitalize()}s with a negative label get 0." if ignored else ""
    return Title(k.name("cross_entropy_backward xent_grad softmax_xent_backward"), text)


@idiom
def softmax_focal_loss(k: KernelBuilder, level: int) -> Title:
    """The focal loss of labelled rows (Lin et al., "Focal loss for dense object detection")."""
    shape = k.draw.shape
    t = table(k, level, minimum=2)
    x = t.array("logits scores x", -2.5, 2.5)
    label, labels = _label(t, ignored=False)
    gamma = k.scalar("gamma focusing", t.type, 1.0, 3.0)
    lse = log_norm(t, x, lambda c: x[t.place(c)], 0.25)
    logp = k.let("log_p logpt", x[t.place(label)] - lse)
    p = k.let("p pt prob", exp(logp))
    focus = k.let("focus modulator", (1.0 - p) ** gamma)
    value: Expr = -(focus * logp) if shape.chance(0.5) else -focus * logp
    told = f"-(1 - p)^{gamma.name} * log(p)"
    if shape.chance(0.3 + 0.1 * level):
        alphas = k.array("alpha class_alpha", t.type, t.size, low=0.2, high=1.5)
        value = alphas[label] * value
        k.half_inputs = False
        told = f"-{alphas.name}[label] * (1 - p)^{gamma.name} * log(p)"
    if level > 2 and shape.chance(0.5):
        eps = k.scalar("epsilon poly_eps", t.type, 0.5, 2.0)
        value = value + eps * focus * (1.0 - p)
        told += f", plus {eps.name} * (1 - p)^({gamma.name} + 1), as in PolyLoss"
    losses = t.put("losses focal loss", value)
    text = f"Focal loss of each {t.unit} of {x.name} over its {t.size}{t.said}. With p the softmax "
    text += f"at the {t.unit}'s label in {labels}, {losses.name} gets {told}."
    if level > 1 and shape.chance(0.35):
        probs = t.put("label_probs confidence", p)
        text += f" {probs.name} gets p."
    return Title(k.name("focal_loss multiclass_focal_loss focal_cross_entropy"), text)


def _divergence(t: Table, way: str, x: Var, y: Var, heat: Expr | None) -> tuple[Expr, str]:
    """The divergence of two softmaxed rows, and what it is called."""
    k = t.k

    online, first = float(k.draw.shape.chance(0.3)), float(k.draw.shape.chance(0.4))

    def score(z: Var, c: Expr) -> Expr:
        return z[t.place(c)] if heat is None else z[t.place(c)] / heat

    def of(z: Var, tag: str) -> Var:
        t.tag = tag
        return log_norm(t, z, lambda c: score(z, c), online, first)

    one, two = of(x, "p"), of(y, "q")
    total = t.zero("js div" if way == "js" else "total" if way == "both" else "kl div")
    logs, probs = alike(k, "log_p lp", "log_q lq"), alike(k, "p prob_p", "q prob_q")
    with t.classes(x) as c:
        at = t.place(c)
        a = k.let(logs[0], (x[at] if heat is None else x[at] / heat) - one)
        b = k.let(logs[1], (y[at] if heat is None else y[at] / heat) - two)
        if way == "js":
            p, q = k.let(probs[0], exp(a)), k.let(probs[1], exp(b))
            mid = k.let("log_m lm", log(0.5 * (p + q)))
            t.add(total, 0.5 * (p * (a - mid) + q * (b - mid)))
        elif way == "both":
            t.add(total, (exp(a) - exp(b)) * (a - b))
        elif way == "reverse":
            t.add(total, exp(b) * (b - a))
        else:
            t.add(total, exp(a) * (a - b))
    names = {
        "kl": "KL(p || q)",
        "reverse": "KL(q || p)",
        "both": "(KL(p || q) + KL(q || p))",
        "js": "(KL(p || m) + KL(q || m)) / 2 with m = (p + q) / 2",
    }
    return total, names[way]


@idiom
def row_divergence(k: KernelBuilder, level: int) -> Title:
    """KL and Jensen-Shannon divergences of two softmaxed rows, as in distillation."""
    shape = k.draw.shape
    t = table(k, level)
    names = alike(k, "teacher_logits logits_p teacher", "student_logits logits_q student")
    x, y = (t.array(name, -2.0, 2.0) for name in names)
    heat = None
    if shape.chance(0.25 + 0.1 * level):
        heat = k.scalar("temperature tau", t.type, 1.0, 4.0)
    way = shape.weighted({"kl": 4, "reverse": 2, "both": 1, "js": 1 + (level > 2)})
    value, what = _divergence(t, way, x, y, heat)
    if heat is not None and shape.chance(0.6):
        value = value * heat * heat
        what = f"{heat.name}^2 * {what}"
    out = t.put("divergences losses", value)
    over = "" if heat is None else f" / {heat.name}"
    lead = {"js": "Jensen-Shannon divergence", "both": "Symmetric divergence"}
    text = f"{lead.get(way, 'Kullback-Leibler divergence')} of two softmax distributions "
    text += f"{'at' if t.unit == 'pixel' else 'in'} each {t.unit}, as in distillation. With p "
    text += f"and q the softmaxes of {x.name}{over} and {y.name}{over} over the "
    text += f"{t.size}{t.said}, {out.name} gets {what}."
    called = {"js": "jensen_shannon_rows js_divergence", "both": "symmetric_kl_rows jeffreys_rows"}
    return Title(k.name(t.called(called.get(way, "distillation_kl softmax_kl_div kl_rows"))), text)

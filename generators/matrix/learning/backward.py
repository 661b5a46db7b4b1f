"""Gradients that are written by hand: of softmax, of attention."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.expr import Expr, Var


def lead_axes(
    w: Work, names: str, outer: str = "batch", always: bool = False
) -> tuple[tuple[str, ...], list[str]]:
    """Axes before the one that is normalised: rows, of batches or heads from level 2 on."""
    rows = w.size("rows", 6, 12, names)
    if always or w.chance(0.5, 2):
        call = "h head" if outer == "heads" else "b item"
        return (w.size(outer, 2, 3, f"{outer} num_{outer}"), rows), [call, "i row"]
    return (rows,), ["i row"]


_PROBS = ("y dy", "probs grad_probs", "p dp", "y grad_y")
_LOG_PROBS = ("log_y d_log_y", "log_probs grad_log_probs", "log_p d_log_p", "y dy")
"""Outputs of a softmax, or of a log-softmax, and their gradients."""


@idiom
def softmax_backward(k: KernelBuilder, level: int) -> Title:
    """The gradient of a softmax, or of a log-softmax, from its output and the gradient there."""
    w = work(k, level, flattening=0.25)
    of_log = w.chance(0.3)
    causal = not of_log and w.chance(0.35)
    dims, call = lead_axes(w, "num_rows rows", "heads", causal)
    cols = "rows" if causal else w.size("cols", 5, 8, "num_cols cols")
    whole = (*dims, cols)
    families = _LOG_PROBS if of_log else _PROBS
    names, (low, high) = alike(k, *families), (-3.0, -0.5) if of_log else (0.05, 1.0)
    y = w.tensor(names[0], whole, low, high)
    grads = w.tensor(names[1], whole)
    scaled = not of_log and w.chance(0.4)
    scale = w.number("scale inv_temperature", 0.3, 0.8) if scaled else None
    kept = None
    if not causal and w.chance(0.2, 2):
        kept = w.exact(w.tensor("row_sums grad_sums" if of_log else "dots row_dots", dims))

    def entry(at: tuple[Var, ...], j: Var, dot: Expr) -> Expr:
        p = exp(y[index(*at, j)]) if of_log else y[index(*at, j)]
        g = grads[index(*at, j)]
        value: Expr = g - p * dot if of_log else p * (g - dot)
        value = value if scale is None else scale * value
        return fn("where", j <= at[-1], value, 0.0) if causal else value

    if kept is not None:
        # With the sums at hand no entry needs another.
        every = k.thread(*whole, names=[*(k.name(c) for c in call), k.name("j c")])
        at, j = every[:-1], every[-1]
        out = w.out("dx grad_x", whole)
        out.store(every, entry(at, j, kept[at]))
    else:
        at = k.thread(*dims, names=[k.name(c) for c in call])
        dot = _row_dot(w, at, y, grads, of_log, causal)
        out = w.out("dx grad_x", whole)
        with k.for_("j c", w.count(cols)) as j:
            out.store((*at, j), entry(at, j, dot))
    _softmax_said(w, y, grads, out, (of_log, causal), scale, kept)
    kind = "log_softmax" if of_log else f"{'causal_' * causal}softmax"
    return Title(k.name(f"{kind}_backward {kind}_grad"), w.text())


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
    of = "" if scale is None else f" of {written(scale)} * x"
    masked = "causally masked " if causal else ""
    ends = " Row i has columns 0 to i; the others get 0." if causal else ""
    if kept is not None:
        sums = grads.name if of_log else f"{y.name} * {grads.name}"
        ends = f" {kept.name} holds the row's sum of {sums}.{ends}"
    w.say(
        f"Backward pass of a {masked}{kind}{of} along the last axis, from its output {y.name} and "
        f"the gradient {grads.name} of that output: {out.name} gets {times}{inner}.{ends}"
    )

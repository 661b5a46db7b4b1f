"""Gradients that are written by hand: of softmax, of attention."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import Expr, Operand, Var


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


@idiom
def attention_gradient(k: KernelBuilder, level: int) -> Title:
    """Pieces of the backward pass of attention: row sums, gradients of scores, queries, keys."""
    w = work(k, level, flattening=0.2)
    w.type_ = FLOAT32
    vec = Vec(k.draw.shape.choice((32, 64)), FLOAT32)
    lead = (w.size("heads", 2, 3, "heads num_heads"),)
    causal = w.chance(0.35)
    rows = "tokens" if causal else "queries"
    w.size(rows, 5, 8, "seq_len" if causal else "num_queries q_len")
    cols = rows if causal else w.size("keys", 5, 8, "num_keys k_len")
    form = k.draw.shape.choice(("scores", "queries", "keys", "values"))
    names = alike(k, "q k v", "queries keys values")
    q, keys = (
        w.tensor(n, (*lead, d), type_=vec) for n, d in zip(names, (rows, cols), strict=False)
    )
    grads = w.tensor("d_out grad_out", (*lead, rows), type_=vec)
    lse = w.tensor("lse log_sum_exp", (*lead, rows), 1.0, 2.0)
    values = delta = None
    if form != "values":
        values = w.tensor(names[2], (*lead, cols), type_=vec)
        delta = w.tensor("delta row_dots", (*lead, rows))
    scale = w.number("scale sm_scale", 0.15, 0.4)
    f = _Piece(w, q, keys, grads, lse, values, delta, scale, causal, cols, rows)
    f.write(form, lead, vec)
    w.say(f"{lse.name} holds the log of a query's sum of exponentials.")
    if delta is not None:
        w.told[-1] = w.told[-1][:-1] + f", {delta.name} its dot product of {grads.name} and output."
    return Title(k.name(f"attention_grad_{form} attention_backward_{form}"), w.text())


@dataclass(frozen=True)
class _Piece:
    """The arrays of the backward pass of attention."""

    w: Work
    q: Tensor
    keys: Tensor
    grads: Tensor
    lse: Tensor
    values: Tensor | None
    delta: Tensor | None
    scale: Expr
    causal: bool
    cols: str
    rows: str

    def weight(self, row: tuple[Expr, ...], col: tuple[Expr, ...]) -> Var:
        score = self.scale * fn("dot", self.q[row], self.keys[col])
        return self.w.k.let("p prob", exp(score - self.lse[row]))

    def change(self, row: tuple[Expr, ...], col: tuple[Expr, ...]) -> Expr:
        """The gradient of a score."""
        assert self.values is not None
        assert self.delta is not None
        p = self.weight(row, col)
        dp = self.w.k.let("dp d_prob", fn("dot", self.grads[row], self.values[col]))
        return p * (dp - self.delta[row])

    def write(self, form: str, lead: tuple[str, ...], vec: Vec) -> None:
        w, k = self.w, self.w.k
        by_key = form in ("keys", "values")
        dims = (*lead, self.cols if by_key else self.rows)
        names = [k.name("h head")] * len(lead) + [k.name("j key" if by_key else "i row")]
        at = k.thread(*dims, names=names)
        if form == "scores":
            out = w.out("d_scores ds", (*lead, self.rows, self.cols))
            with k.for_("j t", at[-1] + 1 if self.causal else w.count(self.cols)) as j:
                out.store((*at, j), self.scale * self.change(at, (*at[:-1], j)))
            if self.causal:
                with k.for_("n t", w.count(self.cols), start=at[-1] + 1) as n:
                    out.store((*at, n), 0.0)
        else:
            acc = k.let("acc total", make(vec, k.lift(0.0, FLOAT32)))
            stop = at[-1] + 1 if self.causal and not by_key else None
            other = self.rows if by_key else self.cols
            start: Operand = at[-1] if self.causal and by_key else 0
            with k.for_(
                "i t" if by_key else "j t", w.count(other) if stop is None else stop, start=start
            ) as n:
                there = (*at[:-1], n)
                row, col = (there, at) if by_key else (at, there)
                term = {
                    "queries": lambda: self.change(row, col) * self.keys[col],
                    "keys": lambda: self.change(row, col) * self.q[row],
                    "values": lambda: self.weight(row, col) * self.grads[row],
                }[form]()
                k.augment(acc, "add", term)
            out = w.out(
                {"queries": "dq d_query", "keys": "dk d_key", "values": "dv d_value"}[form],
                dims,
                type_=vec,
            )
            out.store(at, acc if form == "values" else self.scale * acc)
        self.say(form, out)

    def say(self, form: str, out: Tensor) -> None:
        causal = "causal " if self.causal else ""
        seen = " Query i attends to keys 0 to i." if self.causal else ""
        scale, q, key = written(self.scale), self.q.name, self.keys.name
        text = (
            f"Backward pass of {causal}attention, gradient of the {form}. The attention weight is "
            f"recomputed as p = exp({scale} * dot({q}, {key}) - {self.lse.name}).{seen} "
        )
        if self.values is not None and self.delta is not None:
            text += (
                f"The gradient of a scaled score is g = p * (dot({self.grads.name}, "
                f"{self.values.name}) - {self.delta.name}). "
            )
        text += {
            "scores": f"{out.name} gets {scale} * g{', 0 for masked keys' * self.causal}.",
            "queries": f"{out.name} gets {scale} times the sum of g * {key} over the keys.",
            "keys": f"{out.name} gets {scale} times the sum of g * {q} over the queries.",
            "values": f"{out.name} gets the sum of p * {self.grads.name} over the queries.",
        }[form]
        self.w.say(text)

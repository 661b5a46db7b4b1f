"""The backward pass of attention in pieces: gradients of scores, queries, keys and values."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import Expr, Operand, Var


@idiom
def attention_gradient(k: KernelBuilder, level: int) -> Title:
    """Pieces of the backward pass of attention: row sums, gradients of scores, queries, keys."""
    w = work(k, level, flattening=0.2)
    w.type_ = FLOAT32
    vec = Vec(k.draw.shape.choice((32, 64)), FLOAT32)
    form = k.draw.shape.choice(("scores", "queries", "keys", "values"))
    causal = form != "scores" and w.chance(0.35)
    lead = (w.size("heads", 2, 3, "heads num_heads"),)
    rows = "tokens" if causal else "queries"
    w.size(rows, 5, 8, "seq_len" if causal else "num_queries q_len")
    cols = rows if causal else w.size("keys", 5, 8, "num_keys k_len")
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

    def scores(self, lead: tuple[str, ...]) -> Tensor:
        """The gradient of every score, a thread for each."""
        w, k = self.w, self.w.k
        dims = (*lead, self.rows, self.cols)
        names = [k.name("h head")] * len(lead) + [k.name("i row"), k.name("j t")]
        *head, i, j = k.thread(*dims, names=names)
        out = w.out("d_scores ds", dims)
        out.store((*head, i, j), self.scale * self.change((*head, i), (*head, j)))
        return out

    def write(self, form: str, lead: tuple[str, ...], vec: Vec) -> None:
        w, k = self.w, self.w.k
        if form == "scores":
            self.say(form, self.scores(lead))
            return
        by_key = form in ("keys", "values")
        dims = (*lead, self.cols if by_key else self.rows)
        names = [k.name("h head")] * len(lead) + [k.name("j key" if by_key else "i row")]
        at = k.thread(*dims, names=names)
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
            f"Backward pass of {causal}attention of each head, gradient of the {form}. The "
            f"attention weight is recomputed as p = exp({scale} * dot({q}, {key}) - "
            f"{self.lse.name}).{seen} "
        )
        if self.values is not None and self.delta is not None:
            text += (
                f"The gradient of a scaled score is g = p * (dot({self.grads.name}, "
                f"{self.values.name}) - {self.delta.name}). "
            )
        text += {
            "scores": f"{out.name} gets {scale} * g.",
            "queries": f"{out.name} gets {scale} times the sum of g * {key} over the keys.",
            "keys": f"{out.name} gets {scale} times the sum of g * {q} over the queries.",
            "values": f"{out.name} gets the sum of p * {self.grads.name} over the queries.",
        }[form]
        self.w.say(text)

"""States of linear attention: decayed, updated by outer products or the delta rule, read."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.expr import Expr, Var


@idiom
def linear_attention_state(k: KernelBuilder, level: int) -> Title:
    """The state of linear attention, a matrix a head: decayed, updated, read by the query."""
    w = work(k, level, flattening=0.25)
    w.size("heads", 3, 4, "heads num_heads")
    w.size("kdim", 3, 5, "key_dim dk")
    w.size("vdim", 4, 6, "value_dim dv")
    over_time = w.chance(0.4, 2)
    lead = (w.size("tokens", 3, 5, "seq_len"),) if over_time else ()
    names = alike(k, "q k v", "query key value", "queries keys values")
    q, keys = (w.tensor(n, (*lead, "heads", "kdim")) for n in names[:2])
    values = w.tensor(names[2], (*lead, "heads", "vdim"))
    state = w.tensor("state kv_state", ("heads", "kdim", "vdim"), role="inout")
    way = k.draw.shape.choice(("none", "scalar", "head", "key"))
    dims = {"head": (*lead, "heads"), "key": (*lead, "heads", "kdim")}
    decay = w.tensor("decay gates", dims[way], 0.5, 0.98) if way in dims else None
    rate = w.number("decay gamma", 0.6, 0.95) if way == "scalar" else None
    delta = w.chance(0.4, 2)
    beta = w.tensor("beta betas", (*lead, "heads"), 0.2, 0.8) if delta and w.chance(0.7) else None
    h, j = k.thread("heads", "vdim", names=(k.name("h head"), k.name("j col")))
    out = w.out("out o", (*lead, "heads", "vdim"))
    m = _Memory(w, q, keys, values, state, out, decay, rate, delta, beta, (h, j))
    if over_time:
        with w.loop("t step", "tokens") as at:
            m.step((at,))
    else:
        m.step(())
    m.say()
    titles = (
        "delta_rule_update delta_net_step" if delta else "linear_attention_step kv_state_update"
    )
    if way in ("scalar", "head") and not delta:
        titles += " retention_step"
    return Title(k.name(titles), w.text())


@dataclass(frozen=True)
class _Memory:
    """The state of linear attention, what goes in and what is read."""

    w: Work
    q: Tensor
    keys: Tensor
    values: Tensor
    state: Tensor
    out: Tensor
    decay: Tensor | None
    rate: Expr | None
    delta: bool
    beta: Tensor | None
    at: tuple[Var, Var]

    def faded(self, t: tuple[Expr, ...], i: Expr) -> Expr:
        """An entry of the state after it has decayed."""
        (h, j), decay = self.at, self.decay
        if self.rate is not None:
            return self.rate * self.state[h, i, j]
        if decay is None:
            return self.state[h, i, j]
        by_key = "kdim" in decay.dims
        return decay[index(*t, h, i) if by_key else index(*t, h)] * self.state[h, i, j]

    def step(self, t: tuple[Expr, ...]) -> None:
        w, k, (h, j) = self.w, self.w.k, self.at
        value: Expr = self.values[index(*t, h, j)]
        if self.delta:
            seen = k.let("pred recalled", zero(w.type_))
            with w.loop("n c", "kdim") as n:
                k.augment(seen, "add", self.faded(t, n) * self.keys[index(*t, h, n)])
            value = value - seen
            value = value if self.beta is None else self.beta[index(*t, h)] * value
        value = k.let("v_new change" if self.delta else "vj value_j", value)
        acc = k.let("acc total", zero(w.type_))
        with w.loop("i d", "kdim") as i:
            new = k.let("s_new updated", self.faded(t, i) + self.keys[index(*t, h, i)] * value)
            self.state.store((h, i, j), new)
            k.augment(acc, "add", self.q[index(*t, h, i)] * new)
        self.out.store((*t, h, j), acc)

    def say(self) -> None:
        w, rate = self.w, self.rate
        fade = written(rate) if rate is not None else self.decay.name if self.decay else ""
        each_of = ""
        if self.decay is not None:
            each_of = "row of the state" if "kdim" in self.decay.dims else "head"
            each_of += " and each step" * ("tokens" in w.words)
        tensors = (self.q, self.keys, self.values, self.state, self.out)
        _state_said(w, tensors, fade, each_of, self.delta, self.beta)


def _state_said(
    w: Work, of: tuple[Tensor, ...], fade: str, each_of: str, delta: bool, beta: Tensor | None
) -> None:
    q, keys, values, state, out = (t.name for t in of)
    steps = "tokens" in w.words
    each = "over all steps in turn" if steps else "for one step"
    at = "At each step the" if steps else "The"
    old = f"{fade} * {state}" if fade else state
    value = values
    if delta:
        value = f"({values} - transpose(S) * {keys})"
        value = value if beta is None else f"{beta.name} * {value}"
        w.say(f"Delta-rule linear attention {each}: the state of each head is a matrix in {state}.")
        w.say(f"{at} state is updated to S + outer({keys}, {value}) with S = {old}.")
    else:
        w.say(f"Linear attention {each}: the state of each head is a matrix in {state}.")
        w.say(f"{at} state is updated to {old} + outer({keys}, {value}).")
    w.say(f"The output is the new state, transposed, times {q}; {out} gets it.")
    if each_of:
        w.say(f"{fade} holds a factor for each {each_of}.")

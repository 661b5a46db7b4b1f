"""Hidden Markov models: one step of the Viterbi or of the forward recurrence."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, extent
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, log, most
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var

_CLOCKS = ("t", "frame", "step")
"""Names of the step's number."""


@dataclass(frozen=True)
class _Step:
    """A thread for each state, of each sequence where there are several."""

    k: KernelBuilder
    lead: tuple[Var, ...]
    dims: tuple[str, ...]
    state: Var
    before: Var
    moves: Var
    into_first: bool

    def clock(self) -> Var:
        """The number of the step, declared once."""
        found = [p for p in self.k.params if p.name in _CLOCKS]
        if found:
            return Var(found[0].name, INT32)
        return self.k.scalar(_CLOCKS, INT32, 3, 4)

    def came(self, p: Expr | int) -> Expr:
        """The score of coming from state ``p``."""
        move = self.moves[(self.state, p) if self.into_first else (p, self.state)]
        return self.before[self.lead + (p,)] + move


def _step(k: KernelBuilder, level: int, before_names: str) -> _Step:
    shape = k.draw.shape
    batched = shape.chance(0.85)
    dims: tuple[str, ...] = (k.size("batch", 12, 18, minimum=8),) if batched else ()
    k.size("states", 5, 9, minimum=3)
    names = [k.name("b seq n")] if batched else []
    at = k.thread(*dims, "states", names=[*names, k.name("s state j")])
    type_ = k.draw.wide_float_type()
    before = k.array(before_names, type_, (*dims, "states"), low=-4.0, high=0.0)
    moves = k.array("log_trans transitions", type_, ("states", "states"), low=-3.0, high=0.0)
    return _Step(k, at[:-1], dims, at[-1], before, moves, shape.chance(0.4))


def _emission(s: _Step, level: int) -> tuple[Expr, str]:
    """The score of what is observed: given for each state, or looked up by symbol."""
    k, type_ = s.k, s.moves.type.element  # type: ignore[union-attr]
    way = k.draw.shape.choice(("given", "given", "symbol", "frame"))
    if way == "given":
        x = k.array("log_emit frame_scores", type_, (*s.dims, "states"), low=-3.0, high=0.0)
        return x[s.lead + (s.state,)], f"{x.name} of the state"
    if way == "frame":
        k.size("frames", 6, 9, minimum=5)
        x = k.array("log_probs emissions", type_, (*s.dims, "frames", "states"), low=-3.0, high=0.0)
        t = s.clock()
        return x[s.lead + (t, s.state)], f"{x.name} of the state in frame {t.name}"
    k.size("symbols", 5, 8, minimum=5)
    x = k.array("log_emit emission_table", type_, ("states", "symbols"), low=-3.0, high=0.0)
    if not s.dims:
        seen = k.scalar("symbol observed", INT32, 0, 4)
        return x[s.state, seen], f"{x.name} of the state and of {seen.name}"
    ids = k.array("observed symbols_now", INT32, s.dims, init="index_of:symbols")
    return x[
        s.state, k.let("symbol sym o", ids[s.lead])
    ], f"{x.name} of the state and of the sequence's {ids.name}"


def _ended(s: _Step, out: Var, back: Var | None) -> str:
    """Sequences that have ended keep their scores."""
    k = s.k
    steps = k.array("lengths seq_lens", INT32, s.dims, low=1, high=9)
    now = s.clock()
    with k.if_(now >= steps[s.lead]):
        k.store(out, (*s.lead, s.state), s.before[s.lead + (s.state,)])
        if back is not None:
            k.store(back, (*s.lead, s.state), s.state)
        k.return_()
    own = f", and {back.name} the state itself" if back is not None else ""
    return f" Where {now.name} is not below {steps.name}, {out.name} gets {s.before.name}{own}."


def _count(s: _Step) -> Expr:
    k = s.k
    if k.draw.shape.chance(0.4):
        return k.size_param("num_states n_states", "states")
    return extent(s.moves, 0) if k.draw.shape.chance(0.5) else extent(s.before, len(s.dims))


@idiom
def viterbi_step(k: KernelBuilder, level: int) -> Title:
    """The best way into each state, and from which state it comes (Viterbi, 1967)."""
    shape = k.draw.shape
    names = k.draw.word.choice(
        (("prev_scores", "next_scores"), ("delta_prev", "delta"), ("prev_best", "next_best"))
    )
    s = _step(k, level, names[0])
    out = k.out(names[1], s.moves.type.element, (*s.dims, "states"))  # type: ignore[union-attr]
    back = None
    if shape.chance(0.75):
        back = k.out("back_pointers came_from psi", INT32, (*s.dims, "states"))
    told = _ended(s, out, back) if s.dims and shape.chance(0.15 + 0.07 * level) else ""
    n = _count(s)
    first = shape.chance(0.6)
    best = k.let("best score_max", s.came(0) if first else k.lift(-1.0e30, s.before.type.element))  # type: ignore[union-attr]
    source = k.let("source arg best_prev", k.lift(0, INT32)) if back is not None else None
    with k.for_("p prev i", n, start=1 if first else 0) as p:
        if source is None and shape.chance(0.6):
            k.assign(best, most(best, s.came(p)))
        else:
            score = k.let("score cand", s.came(p))
            with k.if_(score > best):
                k.assign(best, score)
                if source is not None:
                    k.assign(source, p)
    seen, said = _emission(s, level)
    k.store(out, (*s.lead, s.state), best + seen)
    text = f"A Viterbi step in the log domain: for each state, {out.name} gets the largest, over "
    text += f"previous states p, of {s.before.name}[p] + {s.moves.name}"
    text += f"{'[state, p]' if s.into_first else '[p, state]'}, plus {said}."
    if back is not None and source is not None:
        k.store(back, (*s.lead, s.state), source)
        text += f" {back.name} gets the first p with the largest."
    return Title(k.name("viterbi_step best_path_step"), text + told)


@idiom
def forward_step(k: KernelBuilder, level: int) -> Title:
    """The log probability of each state by log-sum-exp over the states before (Rabiner, 1989)."""
    shape = k.draw.shape
    names = k.draw.word.choice(
        (("alpha_prev", "alpha"), ("log_alpha", "next_log_alpha"), ("prev_alpha", "next_alpha"))
    )
    s = _step(k, level, names[0])
    type_ = s.moves.type.element  # type: ignore[union-attr]
    out = k.out(names[1], type_, (*s.dims, "states"))
    told = _ended(s, out, None) if s.dims and shape.chance(0.15 + 0.07 * level) else ""
    n = _count(s)
    top = k.let("top peak m", s.came(0))
    if shape.chance(0.35):
        total = k.let("total acc", k.lift(1.0, type_))
        with k.for_("p prev i", n, start=1) as p:
            score = k.let("score term", s.came(p))
            with k.if_(score > top):
                k.assign(total, total * exp(top - score) + 1.0)
                k.assign(top, score)
            with k.else_():
                k.augment(total, "add", exp(score - top))
    else:
        with k.for_("p prev i", n, start=1) as p:
            k.assign(top, most(top, s.came(p)))
        total = k.let("total acc", k.lift(0.0, type_))
        with k.for_("q src", n) as q:
            k.augment(total, "add", exp(s.came(q) - top))
    seen, said = _emission(s, level)
    k.store(out, (*s.lead, s.state), top + log(total) + seen)
    text = (
        f"A step of the forward algorithm in the log domain: for each state, {out.name} gets the "
    )
    text += f"log-sum-exp, over previous states p, of {s.before.name}[p] + {s.moves.name}"
    text += (
        f"{'[state, p]' if s.into_first else '[p, state]'}, plus {said}. All inputs are finite: "
    )
    text += "the logarithm of zero is a large negative number."
    return Title(k.name("forward_step hmm_forward"), text + told)

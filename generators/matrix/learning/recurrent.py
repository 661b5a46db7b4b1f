"""Recurrences: gates of cells, scans over state spaces, states of linear attention."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, log, most, tanh
from generators.kit.naming import routine
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var


def _sigmoid(w: Work) -> Callable[..., Expr]:
    """The logistic function, more often than not as a helper."""

    def build(body: BodyBuilder, x: Expr) -> Expr:
        return 1.0 / (1.0 + exp(-x))

    return routine(w.k, 0.6, "sigmoid logistic", {"x": w.type_}, build)


class _Gates:
    """Pre-activations of gates, as they lie: side by side in a row, an array each, or two sums."""

    def __init__(self, w: Work, letters: str) -> None:
        self.w, self.letters = w, letters
        self.way = w.k.draw.shape.choice(("joined", "axis", "apart"))
        self.bias: Tensor | None = None
        many = len(letters)
        if self.way == "apart":
            # Arrays of their own have no order but the usual one.
            self.letters = "ifgo"
            self.arrays = [w.tensor(f"{c}_pre", ("batch", "hidden")) for c in self.letters]
            return
        joined = self.way == "joined"
        dims = ("batch", f"{many}*hidden") if joined else ("batch", str(many), "hidden")
        names = alike(w.k, "x_gates h_gates", "input_part state_part", "wx uh")
        count = 2 if w.chance(0.5) else 1
        self.arrays = [
            w.tensor(n if count == 2 else "gates pre_acts", dims, fixed=True) for n in names[:count]
        ]
        if w.chance(0.4):
            self.bias = w.tensor("bias gate_bias", dims[1:], fixed=True)

    def part(self, of: Tensor, g: int, b: Expr, j: Expr) -> Expr:
        if self.way == "axis":
            return of[b, g, j]
        return of[b, _column(self.w, g, j)]

    def pre(self, g: int, b: Expr, j: Expr) -> Expr:
        """The pre-activation of a gate."""
        if self.way == "apart":
            return self.arrays[g][b, j]
        value = self.part(self.arrays[0], g, b, j)
        for other in self.arrays[1:]:
            value = value + self.part(other, g, b, j)
        return value + self.biased(g, j) if self.bias is not None else value

    def biased(self, g: int, j: Expr) -> Expr:
        assert self.bias is not None
        return self.bias[(g, j) if self.way == "axis" else _column(self.w, g, j)]

    def said(self) -> str:
        names = " + ".join(a.name for a in self.arrays)
        if self.way == "apart":
            return ", ".join(a.name for a in self.arrays)
        bias = f" + {self.bias.name}" if self.bias is not None else ""
        order = ", ".join(self.letters)
        how = "one after the other in a row" if self.way == "joined" else "along the middle axis"
        return f"{names}{bias} (gates in the order {order}, {how})"


@idiom
def lstm_cell(k: KernelBuilder, level: int) -> Title:
    """One step of an LSTM from the pre-activations of its four gates."""
    w = work(k, level, flattening=0.2)
    w.size("batch", 5, 8, "batch batch_size")
    w.size("hidden", 5, 9, "hidden hidden_size")
    order = k.draw.shape.choice(("ifgo", "ifog", "iofg"))
    gates = _Gates(w, order)
    # Beside gates of several axes nothing lies flat.
    w.flattening *= gates.way == "apart"
    dims = ("batch", "hidden")
    c_in = w.exact(w.tensor("c_prev cell", dims))
    peep = w.tensor("peephole w_peep", ("3", "hidden"), fixed=True) if w.chance(0.25, 3) else None
    forget = w.number("forget_bias", 0.5, 1.5) if w.chance(0.25, 2) else None
    clip = w.number("cell_clip clip", 0.5, 0.9) if w.chance(0.25, 3) else None
    lengths = (
        k.array("lengths seq_lens", INT32, "batch", low=1, high=3) if w.chance(0.12, 2) else None
    )
    sigmoid = _sigmoid(w)
    with w.each(dims, ("b row", "j unit")) as (b, j):
        old = k.let("c_old c0", c_in[b, j])
        raw = {x: gates.pre(gates.letters.index(x), b, j) for x in order}
        if forget is not None:
            raw["f"] = raw["f"] + forget
        if peep is not None:
            raw["i"], raw["f"] = raw["i"] + peep[0, j] * old, raw["f"] + peep[1, j] * old
        i, f = k.let("i_gate", sigmoid(raw["i"])), k.let("f_gate", sigmoid(raw["f"]))
        g = k.let("cand g_gate", tanh(raw["g"]))
        new = k.let("c_new", f * old + i * g)
        if clip is not None:
            k.assign(new, fn("clamp", new, -clip, clip))
        o = k.let("o_gate", sigmoid(raw["o"] if peep is None else raw["o"] + peep[2, j] * new))
        hidden = k.let("h_new", o * tanh(new))
        _lstm_said(w, gates, c_in, peep, forget, clip)
        _cell_stored(w, (b, j), lengths, new, hidden, old)
    return Title(k.name("lstm_cell lstm_step", "lstm_pointwise"), w.text())


def _lstm_said(
    w: Work,
    gates: _Gates,
    c_in: Tensor,
    peep: Tensor | None,
    forget: Expr | None,
    clip: Expr | None,
) -> None:
    w.say(
        f"One step of an LSTM cell from the gates' pre-activations {gates.said()}: "
        f"c = sigmoid(f) * {c_in.name} + sigmoid(i) * tanh(g), h = sigmoid(o) * tanh(c)."
    )
    if forget is not None:
        w.say(f"{written(forget)} is added to f first.")
    if peep is not None:
        w.say(
            f"Peepholes: rows 0 and 1 of {peep.name} times the old cell are added to i and f, "
            f"row 2 times the new cell to o."
        )
    if clip is not None:
        w.say(f"c is clamped between -{written(clip)} and {written(clip)}.")


def _cell_stored(
    w: Work, at: tuple[Var, Var], lengths: Var | None, new: Var, hidden: Var, old: Var
) -> None:
    """Store cell and hidden state; sequences that have ended keep the old ones."""
    k, dims = w.k, ("batch", "hidden")
    c_out, h_out = w.out("c_next c_out", dims), w.out("h_next h_out", dims)
    if lengths is None:
        c_out.store(at, new)
        h_out.store(at, hidden)
        w.say(f"{c_out.name} gets c and {h_out.name} gets h.")
        return
    step = k.scalar("step t_step", INT32, 1, 2)
    h_in = w.exact(w.tensor("h_prev state", dims))
    live = k.let("live active", step < lengths[at[0]])
    c_out.store(at, fn("where", live, new, old))
    h_out.store(at, fn("where", live, hidden, h_in[at]))
    w.say(
        f"{c_out.name} gets c and {h_out.name} gets h; a sequence with {lengths.name} <= "
        f"{step.name} has ended and keeps the old cell and {h_in.name}."
    )


@idiom
def gru_cell(k: KernelBuilder, level: int) -> Title:
    """One step of a GRU from the input's and the state's parts of its three gates."""
    w = work(k, level)
    w.size("batch", 5, 8, "batch batch_size")
    w.size("hidden", 5, 9, "hidden hidden_size")
    order, joined = k.draw.shape.choice(("rzn", "zrn")), w.chance(0.6)
    dims = ("batch", "3*hidden") if joined else ("batch", "3", "hidden")
    parts = [w.tensor(n, dims, fixed=True) for n in alike(k, "x_gates h_gates", "gi gh", "wx uh")]
    names = alike(k, "bias_x bias_h", "b_ih b_hh") if w.chance(0.4) else ()
    biases = [w.tensor(n, dims[1:], fixed=True) for n in names]
    h_in = w.exact(w.tensor("h_prev state", ("batch", "hidden")))
    sigmoid, way = _sigmoid(w), k.draw.shape.choice(("mix", "lerp", "toward"))
    with w.each(("batch", "hidden"), ("b row", "j unit")) as (b, j):

        def part(n: int, c: str) -> Expr:
            column = _column(w, order.index(c), j)
            value = parts[n][(b, column) if joined else (b, order.index(c), j)]
            if not biases:
                return value
            return value + biases[n][column if joined else (order.index(c), j)]

        r = k.let("r_gate reset", sigmoid(part(0, "r") + part(1, "r")))
        z = k.let("z_gate update", sigmoid(part(0, "z") + part(1, "z")))
        fresh = k.let("cand n_state", tanh(part(0, "n") + r * part(1, "n")))
        old = k.let("h_old h0", h_in[b, j])
        new = {
            "mix": (1.0 - z) * fresh + z * old,
            "lerp": fresh + z * (old - fresh),
            "toward": (1.0 - z) * old + z * fresh,
        }[way]
        x, u = (" + ".join(t.name for t in (parts[n], *biases[n : n + 1])) for n in range(2))
        w.say(
            f"One step of a GRU cell from the old state h = {h_in.name}. The pre-activations x = "
            f"{x} of the input and u = {u} of the state hold the gates "
            f"{', '.join(order)}, {'one after the other in a row' if joined else 'along axis 1'}: "
            f"r = sigmoid(x_r + u_r), z = sigmoid(x_z + u_z), n = tanh(x_n + r * u_n)."
        )
        mixed = "(1 - z) * h + z * n" if way == "toward" else "(1 - z) * n + z * h"
        _gru_stored(w, (b, j), new, old, mixed)
    return Title(k.name("gru_cell gru_step", "gru_pointwise"), w.text())


def _gru_stored(w: Work, at: tuple[Var, Var], new: Expr, old: Var, mixed: str) -> None:
    """Store the state; with a mask, rows keep some of the old one."""
    mask = w.exact(w.tensor("mask", ("batch",), 0.0, 1.0)) if w.chance(0.3, 2) else None
    out = w.out("h_next h_out", ("batch", "hidden"))
    w.say(f"The new state is {mixed}.")
    if mask is not None:
        held, share = w.k.let("h_new h1", new), w.k.let("keep_new m", mask[at[0]])
        new = share * held + (1.0 - share) * old
    out.store(at, new)
    kept = "" if mask is None else f"m * new + (1 - m) * h with m = {mask.name} of the row"
    w.say(f"{out.name} gets {kept or 'the new state'}.")


def _column(w: Work, g: int, j: Expr) -> Expr:
    """Where a unit's gate stands in a row that holds all gates, one after the other."""
    if g == 0:
        return j
    hidden = w.count("hidden")
    return hidden + j if g == 1 else g * hidden + j


@idiom
def selective_scan(k: KernelBuilder, level: int) -> Title:
    """State-space layers whose step depends on the input: a thread for each channel, over time."""
    w = work(k, level, flattening=0.15)
    w.size("batch", 2, 3, "batch num_batches")
    w.size("hidden", 4, 6, "inner_dim num_channels")
    w.size("tokens", 5, 8, "seq_len")
    vec = Vec(k.draw.shape.choice((8, 16)), w.type_)
    first, second = alike(k, "b_in c_in", "b_proj c_proj", "b_vecs c_vecs")
    line = ("batch", "tokens", "hidden") if w.chance(0.6) else ("batch", "hidden", "tokens")
    x, dt = w.tensor("x u", line), w.tensor("dt delta", line, 0.05, 0.6)
    rates = w.tensor("decay_rates a_log", ("hidden",), 0.2, 1.2, type_=vec)
    into = w.tensor(first, ("batch", "tokens"), type_=vec)
    read = w.tensor(second, ("batch", "tokens"), type_=vec)
    soft = w.tensor("dt_bias delta_bias", ("hidden",)) if w.chance(0.4, 2) else None
    skip = w.tensor("d_skip skip_weight", ("hidden",)) if w.chance(0.5) else None
    gate = w.tensor("z gate", line) if w.chance(0.35, 3) else None
    start = w.tensor("h0 init_state", ("batch", "hidden"), type_=vec) if w.chance(0.35) else None
    b, c = k.thread("batch", "hidden", names=(k.name("b item"), k.name("c ch")))
    rate = _rate(k, rates, c)
    h = k.let("h state_vec", make(vec, k.lift(0.0, w.type_)) if start is None else start[b, c])
    out = w.out("y out", line)
    with w.loop("t step", "tokens") as t:
        own = (b, t, c) if line[1] == "tokens" else (b, c, t)
        value = _scanned(w, own, (x, dt, soft), (into[b, t], rate, h))
        y: Expr = fn("dot", read[b, t], h)
        y = y if skip is None else y + skip[c] * value
        if gate is not None:
            y, z = k.let("y_t", y), k.let("z_t", gate[own])
            y = y * z / (1.0 + exp(-z))
        out.store(own, y)
    rate_said = f"exp({rates.name})" if rates.name == "a_log" else rates.name
    dt_said = dt.name if soft is None else f"softplus({dt.name} + {soft.name})"
    _scan_said(w, (x, into, read), dt_said, rate_said, start, (skip, gate), out)
    if w.chance(0.35, 2):
        last = w.out("last_state h_final", ("batch", "hidden"), type_=vec)
        last.store((b, c), h)
        w.say(f"{last.name} gets the state after the last step.")
    return Title(k.name("selective_scan mamba_scan ssm_scan"), w.text())


def _rate(k: KernelBuilder, rates: Tensor, c: Expr) -> Var:
    """The decay rates of a channel, which are stored as they are or as logarithms."""
    rate = k.let("a decay_a", rates[c])
    if rates.name == "a_log":
        assert isinstance(rate.type, Vec)
        with k.for_("n s", rate.type.size) as n:
            k.set(rate, n, exp(rate[n]))
        k.used.discard(n.name)
    return rate


def _scanned(
    w: Work,
    own: tuple[Expr, ...],
    of: tuple[Tensor, Tensor, Tensor | None],
    state: tuple[Expr, Var, Var],
) -> Var:
    """One step of a state; gives the input."""
    k, (x, dt, soft), (into, rate, h) = w.k, of, state
    channel = own[x.dims.index("hidden")]
    raw = dt[own] if soft is None else dt[own] + soft[channel]
    step = k.let("step_dt d_t", raw)
    if soft is not None:
        # Softplus as it never overflows.
        k.assign(step, most(step, 0.0) + log(1.0 + exp(-abs(step))))
    value = k.let(f"{x.name}_t", x[own])
    weights = k.let("b_t", into)
    assert isinstance(h.type, Vec)
    with k.for_("n s", h.type.size) as n:
        k.set(h, n, exp(-(step * rate[n])) * h[n] + step * value * weights[n])
    return value


def _scan_said(
    w: Work,
    of: tuple[Tensor, Tensor, Tensor],
    dt: str,
    rate: str,
    start: Tensor | None,
    more: tuple[Tensor | None, Tensor | None],
    out: Tensor,
) -> None:
    x, into, read = of
    skip, gate = more
    begin = "zero" if start is None else start.name
    extra = "" if skip is None else f" + {skip.name} * {x.name}"
    w.say(
        f"Selective state-space scan, a thread for each channel. The state h starts as {begin}; "
        f"at each step, with d = {dt}, h becomes exp(-d * {rate}) * h + d * {x.name} * {into.name} "
        f"componentwise, and {out.name} gets dot({read.name}, h){extra}"
        f"{f', all multiplied by SiLU of {gate.name}' if gate is not None else ''}."
    )

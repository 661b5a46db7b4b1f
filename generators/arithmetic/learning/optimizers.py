"""Optimiser steps: parameters, their gradients, and the running statistics of both."""

from __future__ import annotations

import re
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import most, sqrt
from generators.kit.naming import maybe, maybe_all
from generators.kit.sites import Site, launch
from generators.kit.text import written
from generators.program.dtypes import FLOAT16, FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class _Step:
    """A thread's parameter, its gradient as it is read, and what the description says."""

    s: Site
    level: int
    type: Scalar
    weights: Var
    grad: Expr
    told: list[str]
    called: dict[str, str]
    """What a description calls g and lr, where that is one parameter."""

    @property
    def k(self) -> KernelBuilder:
        return self.s.k

    def decayed(self, lam: Expr, g: Expr) -> Expr:
        """The gradient with an L2 penalty's."""
        self.called.pop("g", None)
        weights = self.weights.name
        self.told[0] = f"{self.told[0][:-1]} plus {lam.name} * {weights} (L2 decay)."  # type: ignore[attr-defined]
        return self.k.let("g_wd decayed", g + lam * self.weights[self.s.at])

    def setting(self, names: str, low: float, high: float) -> Var:
        return self.k.scalar(names, self.type, low, high)

    def state(self, names: str, low: float, high: float) -> Var:
        """A running statistic of each parameter."""
        return self.s.array(names, self.type, low, high, role="inout")

    def rate(self) -> Expr:
        """The learning rate: of the launch, or of the parameter's group or row."""
        k, shape = self.k, self.k.draw.shape
        # Groups of parameters are of a flat list of them; a matrix is in one.
        grouped = self.level // 2 if self.s.rank == 1 else 0
        way = shape.weighted({"one": 5, "group": grouped})
        if way == "one":
            lr = self.setting("lr learning_rate step_size", 0.01, 0.1)
            self.called["lr"] = lr.name
            return lr
        k.size("groups", 3, 4)
        ids = self.s.array("group_ids param_group", INT32, init="index_of:groups")
        k.half_inputs = False
        rates = k.array("group_lrs lrs", self.type, "groups", low=0.01, high=0.1)
        self.told.append(f"lr is the entry of {rates.name} for the group that {ids.name} gives.")
        return k.let("lr rate", rates[ids[self.s.at]])


def _step(k: KernelBuilder, level: int) -> _Step:
    """Parameters in a list or a matrix, and a gradient that may be narrow, scaled or clipped."""
    shape, told = k.draw.shape, list[str]()
    s = launch(k, list=5, grid=6, indices="i tid idx")
    type_ = k.draw.wide_float_type()
    weights = s.array("params weights w p", type_, -1.0, 1.0, role="inout")
    half = type_ == FLOAT32 and shape.chance(0.12)
    grads = s.array("grads grad dw", FLOAT16 if half else type_, -1.0, 1.0)
    g: Expr = cast(grads[s.at], type_)
    told.append(f"Here g is {grads.name}")
    if half:
        told[-1] += " in float32"
    way = shape.weighted({"none": 5, "scale": level, "clip": level // 2})
    if way == "scale":
        factor = k.scalar("inv_scale grad_scale", type_, 0.25, 0.75)
        g = g * factor
        told[-1] += f" times {factor.name}"
    elif way == "clip":
        bound = k.scalar("clip_value max_grad", type_, 0.4, 0.8)
        g = fn("clamp", g, -bound, bound)
        told[-1] += f" clipped to +-{bound.name}"
    told[-1] += "."
    called = {"g": grads.name} if told[-1] == f"Here g is {grads.name}." else {}
    return _Step(s, level, type_, weights, k.let("g grad_i gi", g), told, called)


def _finish(o: _Step, value: Expr, formula: str, name: str) -> Title:
    """Store the new weight; often a running mean of weights with it."""
    k, s = o.k, o.s
    if "g" in o.called:
        o.told.pop(0)
    text = " ".join([f"{formula}", *o.told])
    for word, called in o.called.items():
        text = re.sub(rf"\b{word}\b", called, text)
    if o.level > 2 and k.draw.shape.chance(0.2):
        value = k.let("updated new_w", value)
        k.store(o.weights, s.at, value)
        mean = o.state("ema_weights shadow", -1.0, 1.0)
        rate = o.setting("ema_decay", 0.8, 0.99)
        k.store(mean, s.at, rate * mean[s.at] + (1.0 - rate) * value)
        text += f" {mean.name}, a moving average of {o.weights.name} with the factor {rate.name}, "
        text += "follows."
    elif k.draw.shape.chance(0.3) and o.weights.name not in formula.split("gets")[0]:
        value = k.let("updated new_w", value)
        k.store(o.weights, s.at, value)
    else:
        k.store(o.weights, s.at, value)
    return Title(k.name(name), text)


def _moving(o: _Step, state: Var, rate: Expr, value: Expr, names: str) -> Var:
    """A moving average, stored and kept in a local."""
    k, at = o.k, o.s.at
    way = k.draw.stream("moving averages").weighted({"sum": 6, "lerp": 2, "step": 2})
    if way == "sum":
        new = k.let(names, rate * state[at] + (1.0 - rate) * value)
    elif way == "lerp":
        new = k.let(names, fn("lerp", value, state[at], rate))
    else:
        new = k.let(names, state[at] + (1.0 - rate) * (value - state[at]))
    k.store(state, at, new)
    return new


@idiom
def adam_step(k: KernelBuilder, level: int) -> Title:
    """Adam, AdamW and AMSGrad (Kingma and Ba, ICLR 2015; Loshchilov and Hutter, ICLR 2019)."""
    shape = k.draw.shape
    o = _step(k, level)
    at, w = o.s.at, o.weights
    lr = o.rate()
    b1, b2 = o.setting("beta1", 0.8, 0.9), o.setting("beta2", 0.9, 0.99)
    eps = o.setting("eps epsilon", 1e-3, 1e-2) if shape.chance(0.8) else k.lift(1e-8, o.type)
    g = o.grad
    decay = shape.weighted({"none": 3, "decoupled": 3, "l2": 2})
    lam = None if decay == "none" else o.setting("weight_decay wd", 0.01, 0.1)
    if decay == "l2" and lam is not None:
        g = o.decayed(lam, g)
    called = k.draw.word.choice(("exp_avg exp_avg_sq", "moment1 moment2", "m v")).split()
    m_state = o.state(called[0], -0.5, 0.5)
    v_state = o.state(called[1], 0.01, 0.5)
    m = _moving(o, m_state, b1, g, "m_new m_t mean_g")
    v = _moving(o, v_state, b2, g * g, "v_new v_t mean_sq")
    if level > 2 and shape.chance(0.25):
        v = _largest_moment(o, v)
    m_hat, v_hat = _corrected(o, m, v, b1, b2)
    update: Expr = m_hat / (sqrt(v_hat) + eps)
    value: Expr
    if decay == "decoupled" and lam is not None:
        if shape.chance(0.5):
            value = w[at] - lr * (update + lam * w[at])
        else:
            value = w[at] * (1.0 - lr * lam) - lr * update
        o.told.append(f"Decoupled decay: {w.name} also loses lr * {lam.name} times itself.")
    else:
        value = w[at] - lr * maybe(k, "update delta", update, 0.5)
    text = (
        f"Adam step: {m_state.name} and {v_state.name}, moving averages of g and g^2 with the "
        f"factors {b1.name} and {b2.name}, are updated, then {w.name} moves by -lr * m_hat / "
        f"(sqrt(v_hat) + {written(eps)})."
    )
    name = "adamw_step adamw_update" if decay == "decoupled" else "adam_step adam_update"
    return _finish(o, value, text, name)


def _largest_moment(o: _Step, v: Var) -> Var:
    """The largest second moment so far (AMSGrad: Reddi, Kale and Kumar, ICLR 2018)."""
    peak = o.state("max_exp_avg_sq v_max", 0.05, 0.5)
    v = o.k.let("v_peak v_top", most(peak[o.s.at], v))
    o.k.store(peak, o.s.at, v)
    o.told.append(
        f"{peak.name} keeps the largest second moments so far, of which v_hat is made instead."
    )
    return v


def _corrected(o: _Step, m: Var, v: Var, b1: Var, b2: Var) -> tuple[Expr, Expr]:
    """Moments without the bias of their zero start: by given factors, by powers, or not at all."""
    k, way = o.k, o.k.draw.shape.weighted({"given": 3, "power": 3, "none": 1})
    if way == "none":
        o.told.append("The averages are used as they are (no bias correction).")
        return m, v
    if way == "given":
        called = k.draw.word.choice(("bias_correction", "correction"))
        c1 = o.setting(f"{called}1", 0.2, 0.9)
        c2 = o.setting(f"{called}2", 0.1, 0.9)
        o.told.append(f"m_hat and v_hat are the averages over {c1.name} and {c2.name}.")
    else:
        step = k.scalar("step t_step", INT32, 1, 20)
        power = k.let("t step_f", cast(step, o.type))
        c1 = k.let("bias1", 1.0 - b1**power)
        c2 = k.let("bias2", 1.0 - b2**power)
        o.told.append(
            f"m_hat and v_hat are the averages over 1 - {b1.name}^t and 1 - {b2.name}^t, t being "
            f"{step.name}, the number of the step."
        )
    m_hat, v_hat = maybe_all(k, {"m_hat": m / c1, "v_hat": v / c2}, 0.7)
    return m_hat, v_hat


@idiom
def lion_step(k: KernelBuilder, level: int) -> Title:
    """Steps by sign: Lion (Chen et al. 2023) and signSGD with momentum."""
    shape = k.draw.shape
    o = _step(k, level)
    at, w = o.s.at, o.weights
    lr = o.rate()
    m_state = o.state("exp_avg m", -0.5, 0.5)
    lion = shape.chance(0.65)
    b1 = o.setting("beta1" if lion else "momentum_decay beta", 0.5, 0.9)
    if lion:
        mixed = k.let("c mixed interp", b1 * m_state[at] + (1.0 - b1) * o.grad)
    else:
        mixed = _moving(o, m_state, b1, o.grad, "m_new buf")
    move: Expr = k.let("direction step_dir", fn("sign", mixed))
    value = w[at] - lr * move
    if shape.chance(0.5):
        lam = o.setting("weight_decay wd", 0.01, 0.2)
        value = w[at] - lr * (move + lam * w[at])
        o.told.append(f"Decoupled decay: {lam.name} * {w.name} is added to the sign.")
    if lion:
        b2 = o.setting("beta2", 0.9, 0.99)
        told = (
            f"Lion step: {w.name} moves by -lr times the sign of {b1.name} * {m_state.name} + (1 - "
        )
        told += f"{b1.name}) * g; then {m_state.name} becomes {b2.name} * {m_state.name} + "
        told += f"(1 - {b2.name}) * g."
        title = _finish(o, value, told, "lion_step lion_update")
        _moving(o, m_state, b2, o.grad, "m_new m_next")
        return title
    told = f"Signum step, descent by the sign of a momentum: {m_state.name} becomes {b1.name} * "
    told += f"{m_state.name} + (1 - {b1.name}) * g, and {w.name} moves by -lr * its sign."
    return _finish(o, value, told, "sign_sgd_step signum_update")


@idiom
def momentum_step(k: KernelBuilder, level: int) -> Title:
    """Stochastic gradient descent with momentum: heavy ball, dampened or Nesterov's."""
    shape = k.draw.shape
    o = _step(k, level)
    at, w = o.s.at, o.weights
    lr = o.rate()
    mu = o.setting("momentum mu", 0.7, 0.95)
    velocity = o.state("velocity momentum_buf buf", -0.5, 0.5)
    g = o.grad
    if shape.chance(0.45):
        lam = o.setting("weight_decay l2 wd", 0.01, 0.1)
        g = o.decayed(lam, g)
    way = shape.weighted({"ball": 3, "dampened": 2, "nesterov": 3, "inside": 2})
    if way == "inside":
        v = k.let("v v_new", mu * velocity[at] - lr * g)
        k.store(velocity, at, v)
        look = shape.chance(0.5)
        value: Expr = w[at] + mu * v - lr * g if look else w[at] + v
        by = f"{mu.name} * {velocity.name} - lr * g" if look else velocity.name
        told = f"SGD with momentum: {velocity.name} becomes {mu.name} * {velocity.name} - lr * g, "
        told += f"then {w.name} is moved by {by}."
        return _finish(o, value, told, "sgd_momentum_step momentum_update")
    if way == "dampened":
        damp = o.setting("dampening damp", 0.1, 0.6)
        v = k.let("v v_new", mu * velocity[at] + (1.0 - damp) * g)
        new = f"{mu.name} * {velocity.name} + (1 - {damp.name}) * g"
    else:
        v = k.let("v v_new", mu * velocity[at] + g)
        new = f"{mu.name} * {velocity.name} + g"
    k.store(velocity, at, v)
    ahead = way == "nesterov"
    move = maybe(k, "d lookahead", g + mu * v) if ahead else v
    told = f"SGD with momentum: {velocity.name} becomes {new}, then {w.name} moves by -lr * "
    nesterov = f"(g + {mu.name} * {velocity.name}), which is Nesterov's look-ahead."
    told += nesterov if ahead else f"{velocity.name}."
    name = "nesterov_step nesterov_update" if ahead else "sgd_momentum_step momentum_update"
    return _finish(o, w[at] - lr * move, told, name)


@idiom
def adaptive_rate_step(k: KernelBuilder, level: int) -> Title:
    """Steps over a root of past squares: Adagrad, RMSProp, centred RMSProp, Adadelta."""
    shape = k.draw.shape
    o = _step(k, level)
    at, w, g = o.s.at, o.weights, o.grad
    eps = o.setting("eps epsilon", 1e-3, 1e-2)
    way = shape.weighted({"adagrad": 2, "rmsprop": 3, "centred": 2, "adadelta": 2})
    squares = o.state("sum_sq accum" if way == "adagrad" else "square_avg sq_avg", 0.05, 0.6)
    if way == "adagrad":
        total = k.let("acc_sq s_new", squares[at] + g * g)
        k.store(squares, at, total)
        told = f"Adagrad: g^2 is added to {squares.name}; {w.name} moves by -lr * g / "
        told += f"(sqrt({squares.name}) + {eps.name})."
        value = w[at] - o.rate() * g / (sqrt(total) + eps)
        return _finish(o, value, told, "adagrad_step adagrad_update")
    rho = o.setting("alpha rho decay", 0.8, 0.95)
    mean = _moving(o, squares, rho, g * g, "sq_new mean_sq")
    if way == "adadelta":
        return _adadelta(o, squares, mean, rho, eps)
    return _rms(o, squares, mean, rho, eps, way == "centred")


def _adadelta(o: _Step, squares: Var, mean: Var, rho: Var, eps: Var) -> Title:
    """Moves over a root of past moves (M. D. Zeiler, 2012)."""
    k, at, w, g = o.k, o.s.at, o.weights, o.grad
    moves = o.state("delta_avg sq_delta_avg", 0.05, 0.5)
    delta = k.let("delta update", sqrt(moves[at] + eps) / sqrt(mean + eps) * g)
    _moving(o, moves, rho, delta * delta, "moved_sq d_new")
    told = f"Adadelta: {squares.name} and {moves.name} average g^2 and the squared moves by "
    told += f"{rho.name}; a move is sqrt({moves.name} + {eps.name}) / sqrt({squares.name} + "
    told += f"{eps.name}) * g, by the old {moves.name}, times -lr."
    return _finish(o, w[at] - o.rate() * delta, told, "adadelta_step adadelta_update")


def _rms(o: _Step, squares: Var, mean: Var, rho: Var, eps: Var, centred: bool) -> Title:
    """Gradients over the root of their mean square, or of their variance."""
    k, shape, at, w, g = o.k, o.k.draw.shape, o.s.at, o.weights, o.grad
    spread: Expr = mean
    told = f"RMSProp: {squares.name} becomes {rho.name} * {squares.name} + (1 - {rho.name}) * g^2"
    under_text = squares.name
    if centred:
        means = o.state("grad_avg mean_grads", -0.2, 0.2)
        centre = _moving(o, means, rho, g, "avg_new g_mean")
        spread = k.let("variance var", mean - centre * centre)
        told += f", and {means.name} the same average of g"
        under_text = f"{squares.name} - {means.name}^2"
    # Rounding may leave a variance a little below 0: there eps goes under the root.
    inside = centred or shape.chance(0.4)
    under = sqrt(spread + eps) if inside else sqrt(spread) + eps
    move = k.let("scaled direction", g / under)
    rooted = f"sqrt({under_text} + {eps.name})" if inside else f"(sqrt({under_text}) + {eps.name})"
    told += f", both new values below. d = g / {rooted}" if centred else f". d = g / {rooted}"
    moved = "d"
    if shape.chance(0.4):
        mu = o.setting("momentum mu", 0.5, 0.9)
        buf = o.state("momentum_buf velocity", -0.5, 0.5)
        move = k.let("v v_new", mu * buf[at] + move)
        k.store(buf, at, move)
        told += f", and {buf.name} becomes {mu.name} * {buf.name} + d"
        moved = buf.name
    told += f"; {w.name} moves by -lr * {moved}."
    return _finish(o, w[at] - o.rate() * move, told, "rmsprop_step rmsprop_update")

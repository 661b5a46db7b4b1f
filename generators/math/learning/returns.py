"""Reinforcement learning: advantages and returns by reverse scans, clipped policy losses."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, exp, least, where
from generators.math.learning.tables import Table, log_norm, table
from generators.program.dtypes import BOOL, INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class _Episode:
    """A thread's sequence of steps: how arrays of it lie, how long they are, where it ends."""

    k: KernelBuilder
    at: Var
    first: bool
    """Whether time is the first axis."""
    type: Scalar
    steps: Expr | None
    step: Var | None
    """A thread's own step, where a thread has but one."""

    @property
    def dims(self) -> tuple[str, ...]:
        return ("steps", "envs") if self.first else ("envs", "steps")

    def array(self, names: str, low: float, high: float) -> Var:
        return self.k.array(names, self.type, self.dims, low=low, high=high)

    def out(self, names: str) -> Var:
        return self.k.out(names, self.type, self.dims)

    def place(self, t: Expr) -> tuple[Expr, ...]:
        return (t, self.at) if self.first else (self.at, t)

    def count(self, x: Var) -> Expr:
        return extent(x, 0 if self.first else 1) if self.steps is None else self.steps


def _episode(k: KernelBuilder, by_step: bool = False) -> _Episode:
    shape = k.draw.shape
    k.size("envs", 10, 16)
    k.size("steps", 8, 12)
    type_ = k.draw.wide_float_type()
    first = shape.chance(0.5)
    names = {"envs": k.name("e env b")} | ({"steps": k.name("t step")} if by_step else {})
    dims = sorted(names, reverse=first)
    at = dict(zip(dims, k.thread(*dims, names=[names[d] for d in dims]), strict=True))
    steps = k.size_param("num_steps horizon", "steps") if shape.chance(0.4) else None
    return _Episode(k, at["envs"], first, type_, steps, at.get("steps"))


def _alive(p: _Episode) -> tuple[Var, str]:
    """The array that says where episodes end, of some type."""
    k = p.k
    way = k.draw.shape.choice(("float", "int", "bool"))
    if way == "float":
        found = k.array("not_done masks", p.type, p.dims, low=0, high=1, init="integers")
        return found, f"Alive is {found.name}, 0 where an episode ends."
    type_ = BOOL if way == "bool" else Scalar(k.draw.shape.choice(("int32", "uint8")))
    if way == "bool":
        found = k.array("dones terminated", BOOL, p.dims)
        return found, f"Alive is 0 where {found.name} is true (an episode ends), else 1."
    found = k.array("dones terminated", type_, p.dims, low=0, high=1)
    return found, f"Alive is 1 where {found.name} is 0, else 0 (an episode ends)."


def _going(p: _Episode, ends: Var, t: Expr) -> Expr:
    """1 where an episode goes on after a step, else 0."""
    flag = ends[p.place(t)]
    if flag.type == p.type:
        return p.k.let("alive going", flag)
    test = flag if flag.type == BOOL else fn("ne", flag, 0)
    return p.k.let("alive going", where(test, p.k.lift(0.0, p.type), 1.0))


@idiom
def advantage_scan(k: KernelBuilder, level: int) -> Title:
    """Generalised advantages (Schulman et al. 2016) or V-trace targets, backwards in time."""
    shape = k.draw.shape
    k.half_inputs = False
    p = _episode(k)
    rewards, values = (
        p.array("rewards step_rewards", -1.0, 1.0),
        p.array("values v_pred", -1.0, 1.0),
    )
    last = k.array("last_values bootstrap", p.type, "envs", low=-1.0, high=1.0)
    ends, told = _alive(p)
    gamma = k.scalar("gamma discount", p.type, 0.8, 0.99)
    trace = level > 1 and shape.chance(0.4)
    lam = None
    ratios = p.array("rhos ratios", 0.3, 2.0) if trace else None
    if not trace or shape.chance(0.4):
        lam = k.scalar("lam trace_decay", p.type, 0.7, 0.97)
    outs = [p.out("vtrace targets" if trace else "advantages adv")]
    more = shape.chance(0.4)
    if more:
        outs.append(p.out("pg_advantages policy_adv" if trace else "returns value_targets"))
    scan = _Scan(p, (rewards, values, last, gamma), lam, ratios, outs)
    scan.run(ends)
    text = _scanned(p, (rewards, values, last, gamma), lam, ratios, outs)
    name = "vtrace_scan vtrace_targets" if trace else "gae_scan compute_gae advantage_scan"
    return Title(k.name(name), f"{text} {told}")


@dataclass(frozen=True)
class _Scan:
    """A scan of advantages backwards in time: rewards, values, the last value, the discount."""

    p: _Episode
    given: tuple[Var, ...]
    lam: Var | None
    ratios: Var | None
    outs: list[Var]

    def run(self, ends: Var) -> None:
        k, p, (rewards, values, last, gamma) = self.p.k, self.p, self.given
        count, more = p.count(rewards), len(self.outs) > 1
        ahead = k.let("next_value v_next", last[p.at])
        carried = k.let("acc running", k.lift(0.0, p.type))
        after = None
        if self.ratios is not None and more:
            after = k.let("next_target vs_next", ahead)
        with k.for_("s back", count) as s:
            t = k.let("t step", count - 1 - s)
            at = p.place(t)
            alive = _going(p, ends, t)
            v = k.let("v_t value", values[at])
            fade: Expr = gamma * alive
            fade = k.let("disc fade", fade) if k.draw.shape.chance(0.5) else fade
            delta, weight, rho = self._step(rewards[at] + fade * ahead - v, at)
            k.assign(carried, delta + fade * weight * carried)
            k.store(self.outs[0], at, carried if rho is None else carried + v)
            if after is not None and rho is not None:
                k.store(self.outs[1], at, rho * (rewards[at] + fade * after - v))
                k.assign(after, carried + v)
            elif more:
                k.store(self.outs[1], at, carried + v)
            k.assign(ahead, v)

    def _step(self, delta: Expr, at: tuple[Expr, ...]) -> tuple[Expr, Expr, Var | None]:
        """The step's own part, what the carried sum is weighted with, and the clipped ratio."""
        k, rho = self.p.k, None
        weight: Expr | None = self.lam
        if self.ratios is not None:
            rho = k.let("rho clipped_rho", least(self.ratios[at], 1.0))
            delta = rho * delta
            weight = rho if self.lam is None else self.lam * rho
        assert weight is not None
        delta = k.let("delta td", delta) if k.draw.shape.chance(0.6) else delta
        return delta, weight, rho


def _scanned(
    p: _Episode,
    given: tuple[Var, ...],
    lam: Var | None,
    ratios: Var | None,
    outs: list[Var],
) -> str:
    rewards, values, last, gamma = (v.name for v in given)
    delta = f"{rewards} + {gamma} * alive * next value - {values}, the next value being that of "
    delta += f"{values} at the next step or, after the last, {last}"
    if ratios is None and lam is not None:
        text = (
            "Generalised advantage estimation (GAE) backwards in time: the advantage of a step is "
        )
        text += f"delta + {gamma} * alive * {lam.name} * the advantage of the next step (0 after "
        text += f"the last), with delta = {delta}. {outs[0].name} gets the advantage of each step"
        text += f" and {outs[1].name} the same plus {values}." if len(outs) > 1 else "."
        return text
    assert ratios is not None
    weight = "rho" if lam is None else f"{lam.name} * rho"
    text = f"V-trace targets backwards in time. With rho = min({ratios.name}, 1), a correction is "
    text += f"rho * delta + {gamma} * alive * {weight} * the correction of the next step (0 after "
    text += f"the last), where delta = {delta}. {outs[0].name} gets the correction plus {values}."
    if len(outs) > 1:
        text += f" {outs[1].name} gets rho * ({rewards} + {gamma} * alive * the next step's target "
        text += f"({last} after the last) - {values})."
    return text


@idiom
def discounted_returns(k: KernelBuilder, level: int) -> Title:
    """Rewards to go, returns over n steps with a bootstrap, or lambda returns."""
    shape = k.draw.shape
    k.half_inputs = False
    way = shape.choice(("to_go", "n_step", "lambda"))
    p = _episode(k, way == "n_step")
    rewards = p.array("rewards step_rewards", -1.0, 1.0)
    ends, told = _alive(p)
    gamma = k.scalar("gamma discount", p.type, 0.8, 0.99)
    out = p.out("returns targets")
    count = p.count(rewards)
    if way == "n_step":
        text = _n_steps(p, rewards, ends, gamma, out, count)
        return Title(k.name("n_step_returns n_step_targets"), f"{text} {told}")
    values = p.array("next_values v_next", -1.0, 1.0) if way == "lambda" else None
    start: Expr = k.lift(0.0, p.type)
    said = "0"
    if way == "lambda" or shape.chance(0.5):
        last = k.array("last_values bootstrap", p.type, "envs", low=-1.0, high=1.0)
        start, said = last[p.at], last.name
    carried = k.let("ret acc g_t", start)
    lam = k.scalar("lam mix", p.type, 0.6, 0.95) if way == "lambda" else None
    with k.for_("s back", count) as s:
        t = k.let("t step", count - 1 - s)
        at = p.place(t)
        ahead: Expr = carried
        if values is not None and lam is not None:
            ahead = (1.0 - lam) * values[at] + lam * carried
            ahead = k.let("mixed ahead", ahead) if shape.chance(0.5) else ahead
        k.assign(carried, rewards[at] + gamma * _going(p, ends, t) * ahead)
        k.store(out, at, carried)
    inner, kind = "the return of the next step", "Discounted rewards to go"
    names = "rewards_to_go discounted_returns"
    if values is not None and lam is not None:
        inner = f"((1 - {lam.name}) * {values.name} + {lam.name} * {inner})"
        kind, names = "Lambda returns", "lambda_returns td_lambda_returns"
    text = f"{kind} backwards in time: {out.name} gets {rewards.name} + {gamma.name} * alive * "
    text += f"{inner}, which is {said} after the last step."
    return Title(k.name(names), f"{text} {told}")


def _n_steps(p: _Episode, rewards: Var, ends: Var, gamma: Var, out: Var, count: Expr) -> str:
    """A step sums the n rewards from its own on, up to an end, and adds a discounted value."""
    k, t = p.k, p.step
    assert t is not None
    values = p.array("values v_pred", -1.0, 1.0)
    n = k.scalar("n_step num_ahead", INT32, 2, 4)
    total = k.let("total ret", k.lift(0.0, p.type))
    weight = k.let("weight disc", k.lift(1.0, p.type))
    stop = k.let("stop limit", least(t + n, count))
    with k.for_("q u", stop, start=t) as q:
        k.augment(total, "add", weight * rewards[p.place(q)])
        fade = gamma * _going(p, ends, q)
        if k.draw.shape.chance(0.5):
            k.augment(weight, "mul", fade)
        else:
            k.assign(weight, weight * fade)
    with k.if_(stop < count):
        k.augment(total, "add", weight * values[p.place(stop)])
    k.store(out, p.place(t), total)
    text = f"N-step returns: {out.name} gets, for each step, the sum of w * {rewards.name} over "
    text += f"{n.name} steps from it on, or as many as there are, plus w * {values.name} of the "
    text += "step after them where there is one. w is 1 at first and is multiplied by "
    return f"{text}{gamma.name} * alive after each step."


@idiom
def clipped_policy_loss(k: KernelBuilder, level: int) -> Title:
    """PPO's clipped objective from logits: ratio, advantage, entropy, values, or its gradient."""
    shape = k.draw.shape
    k.half_inputs = False
    t = table(k, level, "actions", "a j c", {"rows": 5, "columns": 1, "batch": 3})
    x = t.array("logits policy_logits", -0.8, 0.8)
    taken = k.let("action act", cast(t.ids("actions_taken chosen_ids", INT32), INT32))
    actions = k.params[-1].name
    old = t.each("old_log_probs old_logp", -2.5, -1.6)
    old_name = k.params[-1].name
    adv = k.let("adv a_t", t.each("advantages adv_in", -1.0, 1.0))
    adv_name = k.params[-1].name
    way = shape.weighted({"loss": 4, "entropy": 4, "gradient": 3 * (level > 1)})
    eps = k.scalar("clip_eps epsilon", t.type, 0.1, 0.6 if way == "gradient" else 0.3)
    lse = log_norm(t, x, lambda c: x[t.place(c)], 0.3)
    logp = k.let("log_p logp", x[t.place(taken)] - lse)
    ratio = k.let("ratio rho", exp(logp - old))
    base = f"With log_p the log-softmax of {x.name} over the {t.size} of each {t.unit}{t.said}, "
    base += f"taken at {actions}, and ratio = exp(log_p - {old_name})"
    if way == "gradient":
        return _policy_gradient(t, x, lse, taken, (ratio, adv, eps), f"{base}, ", adv_name)
    value: Expr = -least(ratio * adv, clamp(ratio, 1.0 - eps, 1.0 + eps) * adv)
    told = f"-min(ratio * A, clip(ratio, 1 - {eps.name}, 1 + {eps.name}) * A)"
    if way == "entropy":
        entropy = t.zero("entropy ent")
        with t.classes(x) as c:
            lp = k.let("lp log_q", x[t.place(c)] - lse)
            t.add(entropy, -(exp(lp) * lp))
        bonus = k.scalar("entropy_coef ent_weight", t.type, 0.1, 0.5)
        value = value - bonus * entropy
        told += f" - {bonus.name} * the entropy of the softmax"
    losses = t.put("losses policy_loss", value)
    text = f"PPO's clipped policy loss. {base}, {losses.name} gets {told}, A being {adv_name}."
    if shape.chance(0.35):
        ratios = t.put("ratios importance", ratio)
        text += f" {ratios.name} gets the ratio."
    return Title(k.name("ppo_policy_loss clipped_surrogate ppo_loss"), text)


def _policy_gradient(
    t: Table, x: Var, lse: Var, taken: Var, terms: tuple[Var, Var, Var], base: str, adv_name: str
) -> Title:
    """The gradient of the clipped objective for each score: none where clipping holds."""
    k, (ratio, adv, eps) = t.k, terms
    over = fn("and", adv > 0.0, ratio > 1.0 + eps)
    under = fn("and", adv < 0.0, ratio < 1.0 - eps)
    clipped = fn("or", over, under)
    if k.draw.shape.chance(0.5):
        clipped = k.let("clipped saturated", clipped)
        g = k.let("g coef", where(clipped, 0.0, -(ratio * adv)))
    else:
        g = k.let("g coef", -(ratio * adv))
        with k.if_(clipped):
            k.assign(g, 0.0)
    grads = t.out("grad_logits dlogits")
    with t.classes(x) as c:
        prob = k.let("p prob", exp(x[t.place(c)] - lse))
        hot = where(fn("eq", c, taken), k.lift(1.0, t.type), 0.0)
        k.store(grads, t.place(c), g * (hot - prob))
    text = f"Gradient of PPO's clipped policy loss. {base}{grads.name} gets the "
    text += "gradient of -min(ratio * A, clip(ratio, 1 - "
    text += f"{eps.name}, 1 + {eps.name}) * A) by each score, A being {adv_name}: 0 where "
    text += f"A is above 0 and ratio above 1 + {eps.name}, or A below 0 and ratio below 1 - "
    text += f"{eps.name}."
    return Title(k.name("ppo_policy_grad clipped_policy_backward"), text)

"""Environments of reinforcement learning, many at once: steps, ends, resets, grids, rollouts."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.dynamics.control_tasks import TASKS, Rooms, Task
from generators.control_flow.dynamics.grid_worlds import grid_rollout, grid_step
from generators.control_flow.kit import some
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp, where
from generators.kit.masks import as_flag, one_if
from generators.kit.sites import Site, over
from generators.program.dtypes import BOOL, FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT8 = Scalar("uint8")


def _envs(k: KernelBuilder, number: tuple[int, int] = (300, 360)) -> Site:
    """A thread for each environment."""
    return over(k, "envs", (k.draw.word.choice(("e", "env", "i")),), (number,))


def _rooms(k: KernelBuilder, s: Site) -> Rooms:
    way = k.draw.shape.weighted({"placed": 5, "moved": 2, "struct": 2})
    return Rooms(k, s, way)


def _action(k: KernelBuilder, s: Site, t: Task) -> tuple[Expr, str]:
    """The action of an environment: its number, or a number that may be clipped."""
    if t.discrete:
        array = s.array("actions acts", INT32, 0, t.discrete - 1)
        return k.let("action act", array[s.at]), array.name
    clips = k.draw.shape.chance(0.5)
    high = 1.4 if clips else 1.0
    array = s.array("actions acts", FLOAT32, -high, high)
    if not clips:
        return k.let("action act", array[s.at]), array.name
    return k.let("action act", clamp(array[s.at], -1.0, 1.0)), f"{array.name} clipped to [-1, 1]"


def _flags(k: KernelBuilder, names: str) -> tuple[Var, Scalar]:
    kind = k.draw.shape.choice((BOOL, UINT8, INT32))
    return k.out(names, kind, "envs"), kind


def _begun(k: KernelBuilder, ends: bool) -> tuple[Site, Rooms, Task, Expr, str]:
    """What each step of an environment has: its state, its task, its action, and words for it."""
    s = _envs(k)
    rooms = _rooms(k, s)
    t = k.draw.shape.choice(TASKS)(k, rooms.read, ends, False)
    action, told = _action(k, s, t)
    text = f"A step of the {t.title} in many environments, with the actions in {told}: "
    return s, rooms, t, action, f"{text}{t.step_said}"


def _step(k: KernelBuilder, level: int) -> Title:
    """One step of each environment: state and reward, from level 2 on whether it ended."""
    s, rooms, t, action, text = _begun(k, level > 1)
    t.step(action)
    ended = None
    if level > 1 and t.done is not None:
        ended = k.let("done ended", t.done())
        out, kind = _flags(k, "dones terminated")
        k.store(out, s.at, as_flag(ended, kind))
        text += f". {out.name} gets 1 where {t.done_said}, else 0"
    rewards = k.out("rewards reward_out", FLOAT32, "envs")
    k.store(rewards, s.at, t.reward(action, ended))
    text += f". The reward is {t.reward_said}: {rewards.name} gets it"
    rooms.write(rooms.state)
    return Title(k.name(f"{t.short}_step step_{t.short}"), f"{text}. {rooms.said()}.")


def _restarting(k: KernelBuilder, level: int) -> Title:
    """A step with a limit of time, after which an environment begins again at random."""
    s, rooms, t, action, text = _begun(k, True)
    skips = level > 3
    rewards = k.out("rewards reward_out", FLOAT32, "envs")
    if skips:
        text += _skipped(k, s, t, action, rewards)
    else:
        t.step(action)
    count = s.array("steps_done ep_len", INT32, 0, 20, role="inout")
    limit = k.scalar("max_steps time_limit", INT32, 14, 18)
    taken = k.let("steps_now t_now", count[s.at] + 1)
    late = taken >= limit
    reached = None if t.done is None else k.let(t.done_names, t.done())
    ended = k.let("done ended", late if reached is None else some(reached, late))
    out, kind = _flags(k, "dones resets")
    k.store(out, s.at, as_flag(ended, kind))
    ends = f"{count.name} + 1 is at least {limit.name}"
    ends = ends if t.done is None else f"{t.done_said}, or {ends}"
    text += f". {out.name} gets 1 where {ends}, else 0"
    if not skips:
        k.store(rewards, s.at, t.reward(action, reached))
        text += f". The reward is {t.reward_said}: {rewards.name} gets it"
    text += _restart(k, s, rooms, t, ended)
    k.store(count, s.at, where(ended, k.lift(0, INT32), taken))
    text += f"; {count.name} rises by 1, or becomes 0 where it ended"
    return Title(k.name(f"{t.short}_step_reset {t.short}_env_step"), f"{text}. {rooms.said()}.")


def _skipped(k: KernelBuilder, s: Site, t: Task, action: Expr, rewards: Var) -> str:
    """The same action for several steps, whose rewards are added up, until one ends."""
    skip = k.scalar("frame_skip repeats", INT32, 3, 5)
    total = k.let("total reward_sum", k.lift(0.0, FLOAT32))
    with k.for_("n sub", skip):
        t.step(action)
        over_now = None if t.done is None else k.let(f"over {t.done_names}", t.done())
        k.augment(total, "add", t.reward(action, over_now))
        if over_now is not None:
            with k.if_(over_now):
                k.break_()
    k.store(rewards, s.at, total)
    until = "" if t.done is None else f", or until {t.done_said}"
    text = f". That is done {skip.name} times{until}. The reward is the sum over these of "
    return f"{text}{t.reward_said}: {rewards.name} gets it"


def _restart(k: KernelBuilder, s: Site, rooms: Rooms, t: Task, ended: Var) -> str:
    """Begin again where an episode ended, at a state drawn by a counter or read."""
    state = rooms.state
    (e,) = s.at
    assert isinstance(e, Var)
    if k.draw.shape.chance(0.65):
        seed, now = k.scalar("seed", INT32, 1, 9999), k.scalar("global_step tick", INT32, 0, 500)
        count = k.size_param("num_envs n_envs", "envs")
        with k.if_(ended):
            source = k.random_state("rng state", seed, now * count + e)
            for key, (low, high) in t.starts.items():
                k.assign(state[key], k.sample(f"{key}_0", "randf", source, low, high))
        spans = ", ".join(f"{key} in [{a}, {b}]" for key, (a, b) in t.starts.items())
        said = f"drawn by randf of the state of rand_init({seed.name}, {now.name} * {count.name} + "
        said += f"{e.name}): {spans}"
    else:
        arrays = {}
        for key, (low, high) in t.starts.items():
            arrays[key] = s.array(f"{key}_init {key}_start", FLOAT32, low, high)
        with k.if_(ended):
            for key, array in arrays.items():
                k.assign(state[key], array[s.at])
        said = "read from " + ", ".join(a.name for a in arrays.values())
    rooms.write(state)
    return f". Where it ended the state begins anew, {said}"


def _rollout(k: KernelBuilder, level: int) -> Title:
    """A thread for each environment: an episode, by given actions or by a linear policy."""
    s = _envs(k, (90, 110))
    (e,) = s.at
    assert isinstance(e, Var)
    rooms = Rooms(k, s, "moved")
    t = k.draw.shape.choice(TASKS)(k, rooms.read, True, True)
    k.size("horizon", 9, 13)
    steps = k.size_param("horizon num_steps", "horizon")
    act, told = _policy(k, s, rooms, t)
    gamma = k.scalar("gamma discount", FLOAT32, 0.9, 0.99) if k.draw.shape.chance(0.6) else None
    total = k.let("total ret", k.lift(0.0, FLOAT32))
    weight = None if gamma is None else k.let("weight df", k.lift(1.0, FLOAT32))
    lives = k.let("steps_alive length", k.lift(0, INT32)) if t.done is not None else None
    with k.for_("t step", steps) as n:
        action = act(n)
        t.step(action)
        ended = None if t.done is None else k.let(f"done {t.done_names}", t.done())
        pay = t.reward(action, ended)
        k.augment(total, "add", pay if weight is None else weight * pay)
        if weight is not None and gamma is not None:
            k.augment(weight, "mul", gamma)
        if ended is not None and lives is not None:
            k.augment(lives, "add", 1)
            with k.if_(ended):
                k.break_()
    out = k.out("returns ep_returns", FLOAT32, "envs")
    k.store(out, s.at, total)
    text = f"Rollouts of the {t.title}, a thread for each environment, of {steps.name} steps"
    text += f"{'' if t.done is None else f' or until {t.done_said}'}: {told}; in a step "
    text += f"{t.step_said}. The return is the sum of the rewards, each {t.reward_said}"
    text += "" if gamma is None else f", times {gamma.name} to the power of the steps before"
    text += f": {out.name} gets it"
    if lives is not None and k.draw.shape.chance(0.5):
        length = k.out("lengths ep_lengths", INT32, "envs")
        k.store(length, s.at, lives)
        text += f". {length.name} gets the number of steps"
    text += f". Episodes begin at {', '.join(f'{q} in {a.name}' for q, a in rooms.arrays.items())}"
    return Title(k.name(f"{t.short}_rollout rollout_{t.short} evaluate_{t.short}"), f"{text}.")


def _policy(k: KernelBuilder, s: Site, rooms: Rooms, t: Task) -> tuple[Callable[[Var], Expr], str]:
    """The action of a step: given for all steps, or of the state by weights."""
    if k.draw.shape.chance(0.4):
        kind, low, high = (INT32, 0, t.discrete - 1) if t.discrete else (FLOAT32, -1.0, 1.0)
        flip = k.draw.shape.chance(0.5)
        dims = ("horizon", "envs") if flip else ("envs", "horizon")
        plans = k.array("plans action_seq", kind, dims, low=low, high=high)
        at = lambda n: plans[n, s.at[0]] if flip else plans[s.at[0], n]  # noqa: E731
        return (lambda n: k.let("action act", at(n))), f"actions are those of {plans.name}"
    keys = list(t.spans)
    shared = k.draw.shape.chance(0.4)
    sides = ("envs", str(len(keys) + 1))[int(shared) :]
    weights = k.array("policy_w weights", FLOAT32, sides, low=-1.5, high=1.5)

    def at_weight(n: int) -> Expr:
        return weights[n] if shared else weights[s.at[0], n]

    def act(n: Var) -> Expr:
        score = at_weight(len(keys))
        for m, key in enumerate(keys):
            score = score + at_weight(m) * rooms.state[key]
        score = k.let("score logit", score)
        if t.discrete == 2:
            return k.let("action act", _cases(k, score, 0.0, None))
        if t.discrete == 3:
            return k.let("action act", _cases(k, score, -0.3, 0.3))
        return k.let("action act", fn("tanh", score))

    said = f"the score is the sum of {weights.name} times ({', '.join(keys)}, 1), the action "
    rule = {0: "tanh of it", 2: "1 where it is positive, else 0"}
    return act, said + rule.get(t.discrete, "2 above 0.3, 0 below -0.3, else 1")


def _cases(k: KernelBuilder, score: Expr, low: float, high: float | None) -> Expr:
    if high is None:
        return one_if(score > low)
    middle = where(score < low, k.lift(0, INT32), k.lift(1, INT32))
    return where(score > high, k.lift(2, INT32), middle)


Form = Callable[[KernelBuilder, int], Title]
_FORMS: dict[int, tuple[Form, ...]] = {
    1: (_step, _step, grid_step),
    2: (_step, _step, grid_step),
    3: (_restarting, _restarting, grid_step),
    4: (_restarting, _restarting, grid_step),
    5: (_rollout, _rollout, grid_rollout),
}


@idiom
@with_struct
def environment_step(k: KernelBuilder, level: int) -> Title:
    """Environments: cart and pole, pendulum, car in a valley, grid worlds; resets and rollouts."""
    return k.draw.shape.choice(_FORMS[level])(k, level)

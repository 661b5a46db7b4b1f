"""Control tasks of reinforcement learning: cart and pole, pendulum, car in a valley, their rewards.

A. Barto, R. Sutton, C. Anderson, IEEE Trans. Syst. Man Cybern. 13 (1983); A. Moore, PhD thesis,
Cambridge, 1990.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from generators.build import KernelBuilder, cast, fn
from generators.build import field as part_of
from generators.control_flow.kit import both, minus, same, some
from generators.kit.functions import clamp, cos, sin, where, wrapped_angle
from generators.kit.sites import Site
from generators.kit.words import say
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit

State = dict[str, Var]
Span = tuple[float, float]
Read = Callable[[Mapping[str, Span]], State]


@dataclass
class Task:
    """A task: its state, a step of it, what it pays, when it ends; words for all of that."""

    title: str
    short: str
    spans: Mapping[str, Span]
    """Between which values a state may be at the start of a step."""
    starts: Mapping[str, Span]
    """Where an episode begins."""
    discrete: int
    """How many actions there are, 0 where they are numbers in [-1, 1]."""
    step: Callable[[Expr], None]
    step_said: str
    reward: Callable[[Expr, Expr | None], Expr]
    reward_said: str
    done: Callable[[], Expr] | None = None
    done_said: str = ""
    done_names: str = ""


@dataclass
class Rooms:
    """Where the states of environments are kept: an array a part, in place or not, or structs."""

    k: KernelBuilder
    s: Site
    way: str
    arrays: dict[str, Var] = field(default_factory=dict)
    outs: dict[str, Var] = field(default_factory=dict)
    state: State = field(default_factory=State)
    whole: Var | None = None
    struct: Var | None = None

    def read(self, spans: Mapping[str, Span]) -> State:
        """Locals with the parts of a state."""
        k, found = self.k, self.state
        if self.way == "struct":
            kind = k.struct(k.name("EnvState", "State"), *((key, FLOAT32) for key in spans))
            inits = [
                FieldInit(key, FLOAT32, "uniform", str(a), str(b)) for key, (a, b) in spans.items()
            ]
            self.struct = k.array(
                "env_states states", kind, self.s.dims, role="inout", fields=inits
            )
            self.whole = k.let("state st", self.struct[self.s.at])
            found.update({key: k.let(key, part_of(self.whole, key)) for key in spans})
            return found
        for key, (low, high) in spans.items():
            role = "inout" if self.way == "placed" else "in"
            names = f"{key}_state {key}_buf"
            self.arrays[key] = self.s.array(names, FLOAT32, low, high, role=role)
            found[key] = k.let(key, self.arrays[key][self.s.at])
        return found

    def write(self, state: Mapping[str, Expr]) -> None:
        """Store the new parts."""
        k = self.k
        if self.whole is not None and self.struct is not None:
            for key, value in state.items():
                k.set_field(self.whole, key, value)
            k.store(self.struct, self.s.at, self.whole)
            return
        for key, value in state.items():
            out = self.arrays[key]
            if self.way != "placed":
                out = self.outs[key] = k.out(f"new_{key} {key}_next", FLOAT32, self.s.dims)
            k.store(out, self.s.at, value)

    def said(self) -> str:
        """Where the state is."""
        if self.struct is not None:
            return f"The state is in the fields of {self.struct.name}, in place"
        parts = [f"{key} in {a.name}" for key, a in self.arrays.items()]
        if self.outs:
            new = ", ".join(out.name for out in self.outs.values())
            return f"The state is {', '.join(parts)}; the new one goes to {new}"
        return f"The state is {', '.join(parts)}, in place"


def _number(k: KernelBuilder, names: str, usual: float, low: float, high: float) -> Expr:
    """A constant of a task: what everyone takes, or a parameter."""
    if k.draw.shape.chance(0.4):
        return k.lift(usual, FLOAT32)
    return k.scalar(names, FLOAT32, low, high)


_POLE_SPANS = {
    "x": (-2.6, 2.6),
    "x_dot": (-2.0, 2.0),
    "theta": (-0.25, 0.25),
    "theta_dot": (-2.0, 2.0),
}


def cart_pole(k: KernelBuilder, read: Read, ends: bool, dense: bool) -> Task:
    """A cart that is pushed left or right, with a pole on it."""
    v = read(_POLE_SPANS)
    push, tau = _number(k, "force_mag", 10.0, 8.0, 12.0), _number(k, "tau dt", 0.02, 0.01, 0.03)
    mass, length = _number(k, "total_mass", 1.1, 0.9, 1.4), _number(k, "half_length", 0.5, 0.4, 0.8)
    pole = _number(k, "pole_mass", 0.1, 0.08, 0.15)
    moment, moment_said = _moment(k, pole, length)
    discrete = 2 if k.draw.shape.chance(0.75) else 0
    implicit = k.draw.shape.chance(0.4)

    def step(action: Expr) -> None:
        f = where(same(action, 1), push, minus(push)) if discrete else push * action
        force = k.let("force f_cart", f)
        c, s = k.let("cos_t ct", cos(v["theta"])), k.let("sin_t st", sin(v["theta"]))
        temp = k.let("temp h_acc", (force + moment * v["theta_dot"] * v["theta_dot"] * s) / mass)
        below = length * (1.3333333 - pole * c * c / mass)
        turn = k.let("theta_acc alpha", (9.8 * s - c * temp) / below)
        push_acc = k.let("x_acc acc", temp - moment * turn * c / mass)
        for rate, acc in (("x_dot", push_acc), ("theta_dot", turn)):
            at = rate.removesuffix("_dot")
            if not implicit:
                k.augment(v[at], "add", tau * v[rate])
            k.augment(v[rate], "add", tau * acc)
            if implicit:
                k.augment(v[at], "add", tau * v[rate])

    said = _pole_said([say(k, n) for n in (push, mass, length, pole, tau)], moment_said, discrete)
    said += "speeds move first, then places" if implicit else "places move first, then speeds"
    reward, told = _pole_reward(k, v, ends, dense)
    starts = dict.fromkeys(_POLE_SPANS, (-0.05, 0.05))
    task = Task(
        "cart and pole", "cartpole", _POLE_SPANS, starts, discrete, step, said, reward, told
    )
    if ends:
        far = _number(k, "x_limit", 2.4, 2.0, 2.3)
        tilt = _number(k, "theta_limit", 0.2095, 0.15, 0.2)
        task.done = lambda: some(abs(v["x"]) > far, abs(v["theta"]) > tilt)
        task.done_said = f"|x| exceeds {say(k, far)} or |theta| {say(k, tilt)}"
        task.done_names = "fell failed"
    return task


def _moment(k: KernelBuilder, pole: Expr, length: Expr) -> tuple[Expr, str]:
    """Mass times half the length of a pole, a number where both are."""
    if not isinstance(pole, Var) and not isinstance(length, Var):
        return k.lift(0.05, FLOAT32), "0.05"
    return k.let("pole_moment mass_len", pole * length), f"{say(k, pole)} * {say(k, length)}"


def _pole_said(names: list[str], moment: str, discrete: int) -> str:
    push, mass, length, pole, tau = names
    force = f"+{push} for action 1 and -{push} for 0" if discrete else f"{push} times the action"
    said = f"the force f is {force}; with h = (f + {moment} * theta_dot^2 * sin(theta)) / {mass} "
    said += f"the pole's acceleration is (9.8 * sin(theta) - cos(theta) * h) / ({length} * "
    said += f"(1.3333333 - {pole} * cos(theta)^2 / {mass})) and the cart's h - {moment} * that * "
    return f"{said}cos(theta) / {mass}; in steps of {tau} "


def _pole_reward(
    k: KernelBuilder, v: State, ends: bool, dense: bool
) -> tuple[Callable[[Expr, Expr | None], Expr], str]:
    way = k.draw.shape.choice(
        ("alive", "upright", "cost") if ends and not dense else ("upright", "cost")
    )
    if way == "upright":
        near = lambda a, end: cos(v["theta"]) - abs(v["x"]) / 2.4  # noqa: E731
        return near, "cos(theta) - |x| / 2.4"
    if way == "cost":
        weight = k.scalar("x_weight w_pos", FLOAT32, 0.05, 0.2)
        cost = lambda a, end: -(v["theta"] * v["theta"] + weight * v["x"] * v["x"])  # noqa: E731
        return cost, f"-(theta^2 + {weight.name} * x^2)"
    return (lambda a, end: where(end, 0.0, _one(k))), "1, or 0 where it fell or left the track"


def _one(k: KernelBuilder) -> Expr:
    return k.lift(1.0, FLOAT32)


def pendulum(k: KernelBuilder, read: Read, ends: bool, dense: bool) -> Task:
    """A pendulum that is swung up by a bounded torque."""
    spans = {"theta": (-5.0, 5.0), "theta_dot": (-7.5, 7.5)}
    v = read(spans)
    top, speed = _number(k, "max_torque", 2.0, 1.5, 3.0), _number(k, "max_speed", 8.0, 6.0, 8.0)
    dt, grav = (
        _number(k, "dt", 0.05, 0.02, 0.1),
        _number(k, "gravity_gain k_grav", 15.0, 12.0, 18.0),
    )
    gain = _number(k, "torque_gain", 3.0, 2.0, 4.0)
    discrete = 3 if k.draw.shape.chance(0.3) else 0
    costs = {}

    def step(action: Expr) -> None:
        share = cast(action - 1, FLOAT32) if discrete else action
        u = k.let("torque u", top * share)
        angle = k.let("angle th_norm", wrapped_angle(v["theta"]))
        costs["now"] = k.let(
            "cost c_now", angle * angle + 0.1 * v["theta_dot"] * v["theta_dot"] + 0.001 * u * u
        )
        rate = v["theta_dot"] + (grav * sin(v["theta"]) + gain * u) * dt
        k.assign(v["theta_dot"], clamp(rate, minus(speed), speed))
        k.augment(v["theta"], "add", v["theta_dot"] * dt)

    force = "the action - 1" if discrete else "the action"
    said = f"the torque u is {say(k, top)} times {force}; theta_dot rises by ({say(k, grav)} * "
    said += (
        f"sin(theta) + {say(k, gain)} * u) * {say(k, dt)}, within +-{say(k, speed)}, then theta "
    )
    said += f"by theta_dot * {say(k, dt)}"
    told = "-(theta^2 + 0.1 * theta_dot^2 + 0.001 * u^2) of the state before, theta taken into "
    starts = {"theta": (-3.0, 3.0), "theta_dot": (-1.0, 1.0)}
    pay: Callable[[Expr, Expr | None], Expr] = lambda a, end: -costs["now"]  # noqa: E731
    about = ("pendulum", "pendulum", spans, starts, discrete)
    return Task(*about, step, said, pay, f"{told}[-pi, pi)")


def valley_car(k: KernelBuilder, read: Read, ends: bool, dense: bool) -> Task:
    """A weak car in a valley, which has to swing itself up (mountain car)."""
    spans = {"pos": (-1.2, 0.58), "vel": (-0.07, 0.07)}
    v = read(spans)
    power, grav = (
        _number(k, "power force", 0.0015, 0.001, 0.002),
        _number(k, "slope_pull", 0.0025, 0.002, 0.003),
    )
    discrete = 3 if k.draw.shape.chance(0.6) else 0
    held = k.draw.shape.chance(0.5)

    def step(action: Expr) -> None:
        share = cast(action - 1, FLOAT32) if discrete else action
        speed = v["vel"] + power * share - grav * cos(3.0 * v["pos"])
        k.assign(v["vel"], clamp(speed, -0.07, 0.07))
        k.assign(v["pos"], clamp(v["pos"] + v["vel"], -1.2, 0.6))
        wall = v["pos"] <= -1.2
        if held:
            with k.if_(both(wall, v["vel"] < 0.0)):
                k.assign(v["vel"], k.lift(0.0, FLOAT32))
        else:
            k.assign(v["vel"], where(wall, fn("max", v["vel"], 0.0), v["vel"]))

    force = "the action - 1" if discrete else "the action"
    said = (
        f"vel rises by {say(k, power)} times {force}, less {say(k, grav)} * cos(3 * pos), within "
    )
    said += "+-0.07, and pos by vel, within [-1.2, 0.6]; at -1.2 a negative vel becomes 0"
    reward, told = _car_reward(k, v, discrete, ends and not dense)
    starts = {"pos": (-0.6, -0.4), "vel": (-0.01, 0.01)}
    task = Task(
        "car in a valley", "mountain_car", spans, starts, discrete, step, said, reward, told
    )
    if ends:
        goal = k.scalar("goal_pos", FLOAT32, 0.05 if dense else 0.2, 0.3 if dense else 0.4)
        task.done = lambda: v["pos"] >= goal
        task.done_said = f"pos is at least {goal.name}"
        task.done_names = "at_goal reached"
    return task


def _car_reward(
    k: KernelBuilder, v: State, discrete: int, sparse: bool
) -> tuple[Callable[[Expr, Expr | None], Expr], str]:
    """What is paid: less for time and force until the goal is reached, or for height."""
    if sparse and discrete:
        return (lambda a, end: where(end, 0.0, -_one(k))), "-1, or 0 at the goal"
    if sparse:
        bonus = k.scalar("goal_bonus", FLOAT32, 10.0, 100.0)
        told = f"-0.1 * the action squared, plus {bonus.name} at the goal"
        return (lambda a, end: where(end, bonus, 0.0) - 0.1 * a * a), told
    gain = k.scalar("speed_gain v_gain", FLOAT32, 50.0, 200.0)
    high = lambda a, end: sin(3.0 * v["pos"]) + gain * v["vel"] * v["vel"]  # noqa: E731
    return high, f"sin(3 * pos) + {gain.name} * vel^2"


TASKS = (cart_pole, pendulum, valley_car)

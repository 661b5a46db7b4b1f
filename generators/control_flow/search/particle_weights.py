"""Particles moved by their models and weighed by measurements; weights over their sums."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title
from generators.control_flow.search.resampling import VEC2, VEC3, Cloud, cloud
from generators.kit.functions import exp, log
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var


def likelihood(k: KernelBuilder, level: int) -> Title:
    """Weights after a measurement: of a beacon's range, a bearing, a position or a level."""
    c = cloud(k)
    way = k.draw.shape.choice(("position", "range", "signal", "student", "laplace"))
    sigma = _spread(c)
    logs = k.draw.shape.chance(0.5)
    if way in ("position", "range"):
        states = k.array("states positions", VEC2, c.dims, low=-3.0, high=3.0)
        x = k.let("x pos", states[c.s.at])
        known = "beacon landmark" if way == "range" else "z observed"
        z: Expr = k.scalar(known, VEC2, -2.0, 2.0)
        miss, said = k.let("diff d", x - z), f"|{states.name} - {say(k, z)}|"
        if way == "range":
            heard = k.scalar("range measured", FLOAT32, 1.0, 3.0)
            err = k.let("err residual", fn("length", miss) - heard)
            square: Expr = err * err
            said = f"({said} - {heard.name})^2"
        else:
            square, said = fn("dot", miss, miss), f"{said}^2"
    else:
        states = c.array("states levels", -3.0, 3.0)
        z = _reading(c)
        err = k.let("err residual", states[c.s.at] - z)
        square, said = err * err, f"({states.name} - {say(k, z)})^2"
    if way == "student":
        dof = k.scalar("dof nu", FLOAT32, 3.0, 6.0)
        score = -0.5 * (dof + 1.0) * log(1.0 + square / (dof * sigma * sigma))
        told = f"-({dof.name} + 1) / 2 * log(1 + {said} / ({dof.name} * {say(k, sigma)}^2))"
    elif way == "laplace":
        score = -abs(err) / sigma
        told = f"-|{states.name} - {say(k, z)}| / {say(k, sigma)}"
    else:
        score = -0.5 * square / (sigma * sigma)
        told = f"-{said} / (2 * {say(k, sigma)}^2)"
    names = "log_weights log_w" if logs else "weights w"
    data = c.array(names, -3.0 if logs else 0.2, 0.0 if logs else 1.0, role="inout")
    rule = _weighed(c, data, score, told, logs)
    text = f"Weights of particles by the likelihood of a measurement: {rule}."
    return Title(k.name("update_weights particle_likelihood weigh_particles"), text)


def moved(k: KernelBuilder, level: int) -> Title:
    """Particles moved by a model and noise, drawn before or by counters."""
    c = cloud(k, 0.3)
    way = k.draw.shape.choice(("walk", "reverting", "unicycle", "velocity"))
    noise, told = _noise(c, 2 if way in ("unicycle", "velocity") else 1)
    dt = k.scalar("dt", FLOAT32, 0.1, 0.5)
    place = c.s.at
    if way in ("walk", "reverting"):
        x = c.array("states levels", -2.0, 2.0, role="inout")
        std = k.scalar("process_std q_std", FLOAT32, 0.2, 0.8)
        keep = k.scalar("phi persistence", FLOAT32, 0.8, 0.95) if way == "reverting" else None
        old = x[place] if keep is None else keep * x[place]
        k.store(x, place, old + std * fn("sqrt", dt) * noise[0])
        rule = f"{x.name} becomes {'' if keep is None else f'{keep.name} * '}{x.name} + {std.name} "
        rule += f"* sqrt({dt.name}) * e"
    elif way == "velocity":
        x, v = (
            c.array("pos p_x", -5.0, 5.0, role="inout"),
            c.array("vel v_x", -1.0, 1.0, role="inout"),
        )
        std = k.scalar("accel_std a_std", FLOAT32, 0.2, 0.8)
        jitter = k.scalar("pos_std x_std", FLOAT32, 0.05, 0.2)
        k.store(x, place, x[place] + v[place] * dt + jitter * noise[1])
        k.store(v, place, v[place] + std * dt * noise[0])
        rule = f"{x.name} rises by {v.name} * {dt.name} + {jitter.name} * e2, then {v.name} by "
        rule += f"{std.name} * {dt.name} * e1"
    else:
        rule = _unicycle(c, dt, noise)
    return Title(
        k.name("propagate_particles predict_particles move_particles"),
        f"Prediction of particles: {rule}, {told}.",
    )


def _unicycle(c: Cloud, dt: Expr, noise: list[Expr]) -> str:
    """A pose that goes on by noisy odometry."""
    k, place = c.k, c.s.at
    poses = k.array("poses states", VEC3, c.dims, role="inout", low=-3.0, high=3.0)
    speed, turn = (
        k.scalar("speed v", FLOAT32, 0.5, 1.5),
        k.scalar("yaw_rate omega", FLOAT32, -0.8, 0.8),
    )
    v_std, w_std = k.scalar("v_std", FLOAT32, 0.05, 0.2), k.scalar("w_std", FLOAT32, 0.05, 0.2)
    pose = k.let("pose p_old", poses[place])
    heading = k.let("heading yaw", pose[2])
    path = k.let("dist step_len", (speed + v_std * noise[0]) * dt)
    new_heading = heading + (turn + w_std * noise[1]) * dt
    parts = (pose[0] + path * fn("cos", heading), pose[1] + path * fn("sin", heading), new_heading)
    k.store(poses, place, make(VEC3, *parts))
    return (
        f"the pose (x, y, heading) in {poses.name} goes on along its heading by ({speed.name} + "
        f"{v_std.name} * e1) * {say(k, dt)}, and its heading turns by ({turn.name} + "
        f"{w_std.name} * e2) * {say(k, dt)}"
    )


def _noise(c: Cloud, count: int) -> tuple[list[Expr], str]:
    """Normal numbers of a particle, with words for them."""
    k = c.k
    names = ["e"] if count == 1 else [f"e{n + 1}" for n in range(count)]
    if k.draw.shape.chance(0.5):
        found = [
            k.array(f"noise{n[1:]} normals{n[1:]}", FLOAT32, c.dims, low=-2.0, high=2.0)
            for n in names
        ]
        said = ", ".join(f"{n} being {a.name}" for n, a in zip(names, found, strict=True))
        return [a[c.s.at] for a in found], said
    seed = k.scalar("seed", INT32, 1, 9999)
    where, own = c.number()
    state = k.random_state("state rng", seed, where)
    drawn: list[Expr] = [k.sample(f"{n} eps{n[1:]}", "randn", state) for n in names]
    what = " and ".join(names)
    return drawn, f"{what} being drawn by randn of the state of rand_init({seed.name}, {own})"


def _spread(c: Cloud) -> Expr:
    """The spread of a sensor: one number, or one of each filter or reading."""
    names, k = "sigma noise_std", c.k
    if c.lead and k.draw.shape.chance(0.4):
        return k.let(
            names, k.array("sigmas noise_stds", FLOAT32, "filters", low=0.5, high=1.5)[c.lead]
        )
    return k.scalar(names, FLOAT32, 0.5, 1.5)


def _weighed(c: Cloud, data: Var, score: Expr, told: str, logs: bool) -> str:
    """Take a log likelihood into weights, or into their logarithms."""
    old = data[c.s.at]
    c.k.store(data, c.s.at, score if logs else old * exp(score), op="add" if logs else "")
    return (
        f"{told} is added to {data.name}" if logs else f"{data.name} is multiplied by exp({told})"
    )


def _reading(c: Cloud) -> Expr:
    """What was measured: one number, or one of each filter."""
    if c.lead:
        return c.k.array("measured readings", FLOAT32, "filters", low=-2.0, high=2.0)[c.lead]
    return c.k.scalar("measured z", FLOAT32, -2.0, 2.0)


def normalised(k: KernelBuilder, level: int) -> Title:
    """Weights over their sum, with the largest logarithm taken out, or counts of copies."""
    c = cloud(k, 0.6)
    way = k.draw.shape.choice(("sum", "logs", "lse", "copies"))

    def total(names: str, low: float, high: float) -> tuple[Expr, str]:
        if c.lead:
            found = k.array(names, FLOAT32, "filters", low=low, high=high)
            return found[c.lead], f"{found.name}[f]"
        one = k.scalar(names, FLOAT32, low, high)
        return one, one.name

    if way in ("sum", "copies"):
        data = c.array("weights w", 0.01, 1.0)
        whole, said = total("weight_sum w_total", 8.0, 12.0)
        share: Expr = data[c.s.at] / whole
        if way == "copies":
            return _copies(c, share, f"{data.name} / {said}")
        text = f"{data.name} / {said}"
    else:
        data = c.array("log_weights log_w", -6.0, 0.0 if way == "lse" else -0.5)
        if way == "lse":
            whole, said = total("log_sum lse", 1.0, 3.0)
            share, text = exp(data[c.s.at] - whole), f"exp({data.name} - {said})"
        else:
            top, said = total("max_log log_max", -0.5, 0.0)
            whole, other = total("exp_sum w_total", 8.0, 12.0)
            share = exp(data[c.s.at] - top) / whole
            text = f"exp({data.name} - {said}) / {other}"
    out = k.out("norm_weights w_norm", FLOAT32, c.s.dims)
    k.store(out, c.s.at, share)
    text = f"Normalised weights of particles: {out.name} gets {text}."
    return Title(k.name("normalize_weights normalise_particles weights_from_logs"), text)


def _copies(c: Cloud, share: Expr, said: str) -> Title:
    """How often a particle is copied for sure, and the weight that is left."""
    k = c.k
    count = c.count()
    expected = k.let("expected n_w", cast(count, FLOAT32) * share)
    whole = k.let("whole copies", fn("floor", expected))
    outs = [k.out("copies n_copies", INT32, c.s.dims)]
    k.store(outs[0], c.s.at, cast(whole, INT32))
    text = f"Residual resampling: {outs[0].name} gets floor({count.name} * {said})"
    if k.draw.shape.chance(0.6):
        outs.append(k.out("residuals rest", FLOAT32, c.s.dims))
        k.store(outs[1], c.s.at, expected - whole)
        text += f", and {outs[1].name} what is left of that product"
    return Title(k.name("residual_counts residual_copies"), f"{text}.")

"""Filters with memory: biquads, envelopes, compressors, delay lines, Goertzel's recurrence."""

from __future__ import annotations

from generators.build import KernelBuilder, extent, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, log2, most, sqrt, tanh, where
from generators.kit.naming import maybe
from generators.math.audio.channels import Channels, channels
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var


@idiom
def biquad_filter(k: KernelBuilder, level: int) -> Title:
    """Second-order sections in direct form I, II or transposed II, alone or in cascade."""
    shape = k.draw.shape
    ch = channels(k, level)
    form = shape.choice(("direct", "canonical", "transposed"))
    cascade = level > 2 and form != "direct" and shape.chance(0.4)
    in_place = cascade or shape.chance(0.25)
    x = ch.array("x samples signal", "samples", role="inout" if in_place else "in")
    y = x if in_place else ch.array("y filtered out", "samples", role="out")
    kept = level > 1 and not cascade and form != "direct" and shape.chance(0.4)
    state = (
        k.array("state memory", Vec(2, ch.type), ch.dims, role="inout", low=-0.5, high=0.5)
        if kept
        else None
    )
    count = ch.count(x, "samples")
    if cascade:
        k.size("sections", 2, 3)
        table = k.array("sos sections_coeffs", Vec(5, ch.type), "sections", low=-0.6, high=0.6)
        with k.for_("s section", extent(table, 0)) as s:
            c = k.let("c coeffs", table[s])
            _run(ch, form, [c[n] for n in range(5)], x, y, count, None)
        told = f"the sections {table.name} one after another, each with (b0, b1, b2, a1, a2)"
    else:
        coefficients, told = _coefficients(k, ch)
        _run(ch, form, coefficients, x, y, count, state)
    what = {
        "direct": "direct form I",
        "canonical": "direct form II",
        "transposed": "transposed direct form II",
    }[form]
    return _biquad_filter_title(what, told, x, state, in_place, y, k, cascade, ch)


def _biquad_filter_title(
    what: str,
    told: str,
    x: Var,
    state: Var | None,
    in_place: bool,
    y: Var,
    k: KernelBuilder,
    cascade: bool,
    ch: Channels,
) -> Title:
    """What the kernel is called, and what it does in words."""
    text = f"Filter each channel of {x.name} by a biquad in {what} with {told}: y[t] = b0 * x[t] + "
    text += "b1 * x[t-1] + b2 * x[t-2] - a1 * y[t-1] - a2 * y[t-2]"
    text += (
        f", its two delays kept in {state.name} from call to call"
        if state is not None
        else ", from rest"
    )
    text += f"; {y.name} is changed in place." if in_place else f". {y.name} gets it."
    return Title(
        k.name("biquad_filter biquad_cascade" if cascade else "biquad_filter iir_biquad"),
        text + ch.said(),
    )


def _coefficients(k: KernelBuilder, ch: Channels) -> tuple[list[Expr], str]:
    """b0, b1, b2, a1, a2: a vector of each channel, one for all, or five parameters."""
    way = k.draw.shape.choice(("vectors", "arrays", "shared", "numbers"))
    vec = Vec(5, ch.type)
    if way == "vectors":
        array = k.array("coeffs biquads", vec, ch.dims, low=-0.6, high=0.6)
        c = k.let("c bq", array[ch.at])
        return [
            c[n] for n in range(5)
        ], f"the coefficients {array.name} = (b0, b1, b2, a1, a2) of the channel"
    if way == "arrays":
        dims = ("5", *ch.dims) if k.draw.shape.chance(0.5) else (*ch.dims, "5")
        table = k.array("coeffs coefficients", ch.type, dims, low=-0.6, high=0.6)
        place = lambda n: (n, *ch.at) if dims[0] == "5" else (*ch.at, n)  # noqa: E731
        found: list[Expr] = [
            k.let(name, table[place(n)]) for n, name in enumerate(("b0", "b1", "b2", "a1", "a2"))
        ]
        return found, f"the coefficients {table.name} (b0, b1, b2, a1, a2) of the channel"
    if way == "shared":
        c = k.scalar("coeffs bq", vec, -0.6, 0.6)
        return [c[n] for n in range(5)], f"the coefficients {c.name} = (b0, b1, b2, a1, a2)"
    return [
        k.scalar(n, ch.type, -0.6, 0.6) for n in ("b0", "b1", "b2", "a1", "a2")
    ], "its five coefficients"


def _run(
    ch: Channels, form: str, c: list[Expr], x: Var, y: Var, count: Expr, state: Var | None
) -> None:
    """The loop in time with the delays in locals."""
    k, zero = ch.k, ch.k.lift(0.0, ch.type)
    b0, b1, b2, a1, a2 = c
    if form == "direct":
        x1, x2, y1, y2 = (k.let(n, zero) for n in ("x1", "x2", "y1", "y2"))
    elif state is None:
        z1, z2 = (k.let(n, zero) for n in (("z1 w1", "z2 w2")))
    else:
        kept = k.let("z0 kept", state[ch.at])
        z1, z2 = k.let("z1", kept[0]), k.let("z2", kept[1])
    with k.for_("t n", count) as t:
        place = ch.place(t)
        now = k.let("x0 xin", x[place])
        if form == "direct":
            out = k.let("y0 yn", b0 * now + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2)
            for var, value in ((x2, x1), (x1, now), (y2, y1), (y1, out)):
                k.assign(var, value)
        elif form == "canonical":
            w = k.let("w wn", now - a1 * z1 - a2 * z2)
            out = k.let("y0 yn", b0 * w + b1 * z1 + b2 * z2)
            k.assign(z2, z1)
            k.assign(z1, w)
        else:
            out = k.let("y0 yn", b0 * now + z1)
            k.assign(z1, b1 * now - a1 * out + z2)
            k.assign(z2, b2 * now - a2 * out)
        k.store(y, place, out)
    if state is not None:
        k.store(state, ch.at, make(Vec(2, ch.type), z1, z2))


@idiom
def envelope_follower(k: KernelBuilder, level: int) -> Title:
    """Levels that rise and fall at different rates, alone, as a compressor's gain or a gate's."""
    shape = k.draw.shape
    ch = channels(k, level)
    x = ch.array("x samples audio", "samples")
    use = shape.weighted(
        {"level": 3, "compressor": 1 + level, "expander": level, "limiter": 1 + level // 2}
    )
    detector = shape.choice(("peak", "power"))
    chain = use != "level" and level > 1 and shape.chance(0.3)
    side = ch.array("sidechain key_signal", "samples") if chain else x
    attack, attack_name = ch.own("attack rise", 0.3, 0.9, 0.4)
    release, release_name = ch.own("release fall", 0.02, 0.2, 0.4)
    out = ch.array(
        "envelope level_out" if use == "level" else "y out processed", "samples", role="out"
    )
    settings = _dynamics(k, ch, use)
    count = ch.count(x, "samples")
    env = k.let("env level_now follower", k.lift(0.0, ch.type))
    with k.for_("t n", count) as t:
        place = ch.place(t)
        s = k.let("s sample", side[place])
        size = k.let(
            "size rect" if detector == "peak" else "power sq",
            abs(s) if detector == "peak" else s * s,
        )
        if shape.chance(0.5):
            rate = k.let("rate coeff", where(size > env, attack, release))
            k.augment(env, "add", rate * (size - env))
        else:
            with k.if_(size > env):
                k.augment(env, "add", attack * (size - env))
            with k.else_():
                k.augment(env, "add", release * (size - env))
        level_now: Expr = env if detector == "peak" else maybe(k, "rms amp", sqrt(env + 1.0e-6))
        k.store(out, place, _shaped(k, use, level_now, x[place], settings))
    measure = "|x|" if detector == "peak" else "x^2"
    return _envelope_follower_title(
        measure, side, attack_name, release_name, detector, out, use, settings, x, k, ch
    )


def _envelope_follower_title(
    measure: str,
    side: Var,
    attack_name: str,
    release_name: str,
    detector: str,
    out: Var,
    use: str,
    settings: tuple[Expr, Expr] | tuple[()],
    x: Var,
    k: KernelBuilder,
    ch: Channels,
) -> Title:
    """What the kernel is called, and what it does in words."""
    text = f"Follow the envelope of {side.name}: from 0 it moves towards {measure} by the share "
    text += f"{attack_name} where that is higher, {release_name} where it is not"
    text += (
        "; the level is the square root of it + 1e-6"
        if detector == "power"
        else "; it is the level"
    )
    text += f". {out.name} gets {_told(use, x.name, settings)}."
    name = {
        "level": "envelope_follower",
        "compressor": "compress_dynamics",
        "expander": "noise_gate",
        "limiter": "limit_peaks",
    }[use]
    return Title(k.name(name, "dynamics_" + use), text + ch.said())


def _dynamics(k: KernelBuilder, ch: Channels, use: str) -> tuple[Expr, Expr] | tuple[()]:
    """The threshold and the slope of what is done with a level."""
    if use == "level":
        return ()
    bounds = (0.35, 0.6) if use == "expander" else (0.12, 0.25)
    threshold = k.scalar("threshold knee", ch.type, *bounds)
    if use == "limiter":
        return (threshold, threshold)
    return (threshold, k.scalar("slope amount", ch.type, 0.3, 0.8))


def _shaped(
    k: KernelBuilder, use: str, level: Expr, sample: Expr, settings: tuple[Expr, ...]
) -> Expr:
    if use == "level":
        return level
    threshold, slope = settings
    if not isinstance(level, Var):
        level = k.let("amp loudness", level)
    if use == "limiter":
        return sample * k.let("gain g", threshold / most(level, threshold))
    if use == "compressor":
        over = k.let("over_db over", log2(most(level, threshold) / threshold))
        return k.let("gain g", exp(-slope * over)) * sample
    under = k.let("ratio under", least(level / threshold, 1.0))
    return sample * (1.0 - slope + slope * under)


def _told(use: str, x: str, settings: tuple[Expr, ...]) -> str:
    if use == "level":
        return "it"
    threshold, slope = (s.name for s in settings)  # type: ignore[attr-defined]
    if use == "limiter":
        return f"{x} times {threshold} / max(level, {threshold})"
    if use == "compressor":
        return f"{x} times exp(-{slope} * log2(max(level, {threshold}) / {threshold}))"
    return f"{x} times 1 - {slope} + {slope} * min(level / {threshold}, 1)"


@idiom
def delay_line(k: KernelBuilder, level: int) -> Title:
    """Echoes: a comb or an all-pass filter with a delay of each channel, damped or saturated."""
    shape = k.draw.shape
    ch = channels(k, level)
    x = ch.array("x dry signal", "samples")
    y = ch.array("y wet out", "samples", role="out")
    per_channel = shape.chance(0.5)
    if per_channel:
        delays = k.array("delays delay_samples", INT32, ch.dims, low=1, high=5)
        delay: Var = k.let("delay lag", delays[ch.at])
        lag = delays.name
    else:
        delay = k.scalar("delay lag", INT32, 1, 5)
        lag = delay.name
    feedback, feedback_name = ch.own("feedback fb", 0.2, 0.8, 0.3)
    way = shape.weighted(
        {"comb": 3, "feedforward": 2, "allpass": 2, "damped": 1 + level, "saturated": level}
    )
    damping = k.scalar("damping lowpass", ch.type, 0.2, 0.7) if way == "damped" else None
    mix = (
        k.scalar("mix wet_level", ch.type, 0.2, 0.8)
        if way == "feedforward" and shape.chance(0.5)
        else None
    )
    count = ch.count(x, "samples")
    memory = k.let("filtered store lp", k.lift(0.0, ch.type)) if way == "damped" else None
    with k.for_("t n", count) as t:
        echo = k.let("echo delayed", k.lift(0.0, ch.type))
        with k.if_(t >= delay):
            k.assign(
                echo, y[ch.place(t - delay)] if way != "feedforward" else x[ch.place(t - delay)]
            )
        if memory is not None and damping is not None:
            k.augment(memory, "add", (1.0 - damping) * (echo - memory))
        now = maybe(k, "dry_now x0", x[ch.place(t)], 0.5)
        value = _echoed(k, way, now, echo, memory, feedback, ch, t, delay, x)
        k.store(y, ch.place(t), value if mix is None else _mixed(k, mix, now, value))
    return _delay_line_title(way, feedback_name, x, lag, damping, mix, y, k, ch)


def _delay_line_title(
    way: str,
    feedback_name: str,
    x: Var,
    lag: str,
    damping: Var | None,
    mix: Var | None,
    y: Var,
    k: KernelBuilder,
    ch: Channels,
) -> Title:
    """What the kernel is called, and what it does in words."""
    told = {
        "comb": f"y[t] = x[t] + {feedback_name} * y[t - d]",
        "feedforward": f"y[t] = x[t] + {feedback_name} * x[t - d]",
        "allpass": f"y[t] = x[t - d] - {feedback_name} * x[t] + {feedback_name} * y[t - d]",
        "damped": f"y[t] = x[t] + {feedback_name} * s, where s starts at 0 and moves by "
        "(1 - the damping) towards y[t - d]",
        "saturated": f"y[t] = x[t] + tanh({feedback_name} * y[t - d])",
    }[way]
    text = f"A delay line along each channel of {x.name}, d being "
    text += f"{lag}: {told}; samples before the first count "
    text += "as 0"
    text += f", with the damping {damping.name}" if damping is not None else ""
    text += f". {y.name} gets x + {mix.name} * (y - x)" if mix is not None else f". {y.name} gets y"
    names = {
        "allpass": "allpass_delay schroeder_allpass",
        "feedforward": "echo_once feedforward_comb",
    }
    return Title(
        k.name(names.get(way, "feedback_comb delay_line echo_line")), f"{text}.{ch.said()}"
    )


def _mixed(k: KernelBuilder, mix: Expr, now: Expr, value: Expr) -> Expr:
    wet = k.let("wet_now y0", value)
    return now + mix * (wet - now)


def _echoed(
    k: KernelBuilder,
    way: str,
    now: Expr,
    echo: Var,
    memory: Var | None,
    feedback: Expr,
    ch: Channels,
    t: Var,
    delay: Var,
    x: Var,
) -> Expr:
    if way == "damped":
        assert memory is not None
        return now + feedback * memory
    if way == "saturated":
        return now + tanh(feedback * echo)
    if way == "allpass":
        past = k.let("past x_past", k.lift(0.0, ch.type))
        with k.if_(t >= delay):
            k.assign(past, x[ch.place(t - delay)])
        return past - feedback * now + feedback * echo
    return now + feedback * echo

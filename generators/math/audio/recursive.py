"""Filters with memory: biquads, envelopes, compressors, delay lines, Goertzel's recurrence."""

from __future__ import annotations

from generators.build import KernelBuilder, extent, make
from generators.build.registry import Title, idiom
from generators.kit.functions import least, log10, most, sqrt, tanh, where
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
    text = (
        f"Biquad filter of each {ch.each} of {x.name} in {what}, with {told}: y[t] = b0 * x[t] + "
    )
    text += "b1 * x[t-1] + b2 * x[t-2] - a1 * y[t-1] - a2 * y[t-2]"
    text += (
        f", its two delays kept in {state.name} from call to call"
        if state is not None
        else ", from rest"
    )
    text += (
        f"; {y.name} is changed in place." if in_place else f". {y.name} gets the filtered samples."
    )
    return Title(
        k.name("biquad_cascade sos_filter" if cascade else "biquad_filter iir_biquad"),
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
        ], f"the coefficients {array.name} = (b0, b1, b2, a1, a2) of the {ch.each}"
    if way == "arrays":
        dims = ("5", *ch.dims) if k.draw.shape.chance(0.5) else (*ch.dims, "5")
        table = k.array("coeffs coefficients", ch.type, dims, low=-0.6, high=0.6)
        place = lambda n: (n, *ch.at) if dims[0] == "5" else (*ch.at, n)  # noqa: E731
        found: list[Expr] = [
            k.let(name, table[place(n)]) for n, name in enumerate(("b0", "b1", "b2", "a1", "a2"))
        ]
        return found, f"the coefficients {table.name} (b0, b1, b2, a1, a2) of the {ch.each}"
    if way == "shared":
        c = k.scalar("coeffs bq", vec, -0.6, 0.6)
        return [c[n] for n in range(5)], f"the coefficients {c.name} = (b0, b1, b2, a1, a2)"
    return [
        k.scalar(n, ch.type, -0.6, 0.6) for n in ("b0", "b1", "b2", "a1", "a2")
    ], "five coefficients"


def _run(
    ch: Channels, form: str, c: list[Expr], x: Var, y: Var, count: Expr, state: Var | None
) -> None:
    """The loop in time with the delays in locals."""
    k, zero = ch.k, ch.k.lift(0.0, ch.type)
    b0, b1, b2, a1, a2 = c
    if form == "direct":
        x1, x2, y1, y2 = (k.let(n, zero) for n in ("x1", "x2", "y1", "y2"))
    elif state is None:
        z1, z2 = (k.let(n, zero) for n in k.draw.word.choice((("z1", "z2"), ("w1", "w2"))))
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
    end = k.draw.word.choice(("", "_coeff"))
    attack, attack_name = ch.own(f"attack{end}", 0.3, 0.9, 0.2)
    release, release_name = ch.own(f"release{end}", 0.02, 0.2, 0.2)
    out = ch.array(
        "envelope level_out" if use == "level" else "y out processed", "samples", role="out"
    )
    settings = _dynamics(k, ch, use)
    count = ch.count(x, "samples")
    env = k.let("env envelope_now follower", k.lift(0.0, ch.type))
    with k.for_("t n", count) as t:
        place = ch.place(t)
        s = k.let("s sample", side[place])
        size = k.let(
            "rectified abs_s" if detector == "peak" else "power sq",
            abs(s) if detector == "peak" else s * s,
        )
        _follow(k, env, size, attack, release)
        level_now: Expr = env if detector == "peak" else maybe(k, "rms amp", sqrt(env + 1.0e-6))
        heard = s if side is x else x[place]
        k.store(out, place, _shaped(k, use, level_now, heard, settings))
    measure = "the absolute value" if detector == "peak" else "the square"
    return _envelope_follower_title(
        measure, side, attack_name, release_name, detector, out, use, settings, x, k, ch
    )


def _follow(k: KernelBuilder, env: Var, size: Expr, attack: Expr, release: Expr) -> None:
    """Move an envelope towards a size, at one rate up and at another down."""
    if k.draw.shape.chance(0.5):
        rate = k.let("rate coeff", where(size > env, attack, release))
        k.augment(env, "add", rate * (size - env))
        return
    with k.if_(size > env):
        k.augment(env, "add", attack * (size - env))
    with k.else_():
        k.augment(env, "add", release * (size - env))


_DYNAMICS = {
    "level": "Envelope follower",
    "compressor": "Compressor of dynamics",
    "expander": "Noise gate",
    "limiter": "Limiter of peaks",
}


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
    lead = f"{_DYNAMICS[use]} for each {ch.each} of {x.name}. "
    text = f"{lead}An envelope starts at 0 and moves towards "
    text += f"{measure} of {side.name} by the share {attack_name} where that is larger, by the "
    text += f"share {release_name} elsewhere"
    if use == "level":
        text += f". {out.name} gets it" if detector == "peak" else ""
        text += f". {out.name} gets sqrt(envelope + 1e-6)" if detector == "power" else ""
        text += "."
    else:
        text += (
            "; the level is the envelope"
            if detector == "peak"
            else ("; the level is sqrt(envelope + 1e-6)")
        )
        text += f". {out.name} gets {_told(use, x.name, settings)}."
    name = {
        "level": "envelope_follower follow_envelope",
        "compressor": "compress_dynamics compressor",
        "expander": "noise_gate gate_signal",
        "limiter": "limit_peaks peak_limiter",
    }[use]
    return Title(k.name(name), text + ch.said())


def _dynamics(k: KernelBuilder, ch: Channels, use: str) -> tuple[Expr, Expr] | tuple[()]:
    """The threshold and the slope of what is done with a level."""
    if use == "level":
        return ()
    bounds = (0.35, 0.6) if use == "expander" else (0.12, 0.25)
    threshold = k.scalar("threshold", ch.type, *bounds)
    if use == "limiter":
        return (threshold, threshold)
    names = "slope" if use == "compressor" else "depth amount"
    return (threshold, k.scalar(names, ch.type, 0.3, 0.8))


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
        over = k.let("over_db", 20.0 * log10(most(level, threshold) / threshold))
        return k.let("gain g", 10.0 ** (-0.05 * slope * over)) * sample
    under = k.let("ratio under", least(level / threshold, 1.0))
    return sample * (1.0 - slope + slope * under)


def _told(use: str, x: str, settings: tuple[Expr, ...]) -> str:
    if use == "level":
        return "it"
    threshold, slope = (s.name for s in settings)  # type: ignore[attr-defined]
    if use == "limiter":
        return f"{x} * {threshold} / max(level, {threshold})"
    if use == "compressor":
        return f"{x} with a gain of -{slope} dB for each dB of the level above {threshold}"
    return f"{x} * (1 - {slope} + {slope} * min(level / {threshold}, 1))"


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
    way = shape.weighted(
        {"comb": 3, "feedforward": 3 if level < 3 else 0, "allpass": 2, "damped": 1 + level}
        | {"saturated": level}
    )
    feedback, feedback_name = ch.own("gain" if way == "feedforward" else "feedback", 0.2, 0.8, 0.3)
    damping = k.scalar("damping lowpass", ch.type, 0.2, 0.7) if way == "damped" else None
    mix = (
        k.scalar("mix wet_level", ch.type, 0.2, 0.8)
        if way == "feedforward" and shape.chance(0.5)
        else None
    )
    count = ch.count(x, "samples")
    memory = k.let("filtered store lp", k.lift(0.0, ch.type)) if way == "damped" else None
    with k.for_("t n", count) as t:
        echo, past = _delayed(ch, way, t, delay, (x, y))
        if memory is not None and damping is not None:
            k.augment(memory, "add", (1.0 - damping) * (echo - memory))
        now = maybe(k, "dry_now x0", x[ch.place(t)], 0.5)
        value = _echoed(way, now, echo, past, memory, feedback)
        k.store(y, ch.place(t), value if mix is None else _mixed(k, mix, now, value))
    return _delay_line_title(way, feedback_name, x, lag, damping, mix, y, k, ch)


def _delayed(
    ch: Channels, way: str, t: Var, delay: Var, signals: tuple[Var, Var]
) -> tuple[Var, Var | None]:
    """What came out (of a single echo: in) a delay before, and for an all-pass what came in."""
    k, (x, y) = ch.k, signals
    names = "x_past dry_past" if way == "feedforward" else "echo y_past"
    echo = k.let(names, k.lift(0.0, ch.type))
    past = k.let("x_past dry_past", k.lift(0.0, ch.type)) if way == "allpass" else None
    with k.if_(t >= delay):
        before = ch.place(t - delay)
        k.assign(echo, x[before] if way == "feedforward" else y[before])
        if past is not None:
            k.assign(past, x[before])
    return echo, past


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
    lead, told = {
        "comb": ("Feedback comb filter", f"y[t] = x[t] + {feedback_name} * y[t - d]"),
        "feedforward": ("Single echo", f"y[t] = x[t] + {feedback_name} * x[t - d]"),
        "allpass": (
            "Schroeder all-pass",
            f"y[t] = x[t - d] - {feedback_name} * x[t] + {feedback_name} * y[t - d]",
        ),
        "damped": (
            "Damped feedback comb filter",
            f"y[t] = x[t] + {feedback_name} * s, where s starts at 0 and each step adds (1 - "
            f"{'' if damping is None else damping.name}) * (y[t - d] - s) to it",
        ),
        "saturated": (
            "Feedback delay with saturation",
            f"y[t] = x[t] + tanh({feedback_name} * y[t - d])",
        ),
    }[way]
    text = f"{lead} along each {ch.each} of {x.name}: {told}, with d = {lag}, at least 1; "
    text += "samples before the first count as 0"
    text += f". {y.name} gets x + {mix.name} * (y - x)" if mix is not None else f". {y.name} gets y"
    names = {
        "allpass": "allpass_delay schroeder_allpass",
        "feedforward": "echo_once feedforward_comb",
    }
    return Title(k.name(names.get(way, "feedback_comb delay_line")), f"{text}.{ch.said()}")


def _mixed(k: KernelBuilder, mix: Expr, now: Expr, value: Expr) -> Expr:
    wet = k.let("wet_now y0", value)
    return now + mix * (wet - now)


def _echoed(
    way: str, now: Expr, echo: Var, past: Var | None, memory: Var | None, feedback: Expr
) -> Expr:
    """The output at a sample from what is heard now and from what came out or in before."""
    if way == "damped":
        assert memory is not None
        return now + feedback * memory
    if way == "saturated":
        return now + tanh(feedback * echo)
    if past is not None:
        return past - feedback * now + feedback * echo
    return now + feedback * echo

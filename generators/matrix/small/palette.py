"""Loops for colours and maps: exposures merged, palettes searched, matches counted."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.kit.pieces import zero
from generators.matrix.small.grid import Grid, say
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var


def merged_exposures(k: KernelBuilder, g: Grid, vec: Vec) -> tuple[Var, str]:
    """Radiance out of several exposures, the middle tones counting most."""
    k.size("m", 2, 4)
    count = k.trip_count(("num_frames", "frame_count"), "m")
    shots = k.array(("brackets", "exposures_in"), vec, (*g.dims, "m"), low=0.05, high=0.95)
    times = k.array(("shutter", "times"), vec.scalar, "m", low=0.4, high=2.5)
    total = k.let(("merged", "acc"), zero(vec))
    norm = k.let(("norm", "w_sum"), zero(vec.scalar))
    tent = k.draw.shape.chance(0.5)
    with k.for_(("f", "shot"), count) as f:
        s = k.let(("s", "sample"), shots[g.at(f)])
        mean = k.let(("mid", "level_f"), (s[0] + s[1] + s[2]) / 3.0)
        if tent:
            w = k.let(("w", "trust"), 1.05 - fn("abs", 2.0 * mean - 1.0))
        else:
            w = k.let(("w", "trust"), 4.0 * mean * (1.0 - mean) + 0.05)
        k.augment(total, "add", w * s / times[f])
        k.augment(norm, "add", w)
    c = k.let(("c", "radiance"), total / norm)
    weight = "1.05 - |2 m - 1|" if tent else "4 m (1 - m) + 0.05"
    text = f"c = the mean of {shots.name} / {times.name} over the frames with weights {weight}"
    return c, f"{text}, m the mean of a frame's channels,"


def nearest_in_palette(k: KernelBuilder, g: Grid, q: Expr, vec: Vec) -> str:
    """The nearest colour of a palette, by a weighted or plain distance."""
    k.size("c", 3, 5)
    count = k.trip_count(("palette_size", "num_colors"), "c")
    palette = k.array(("palette", "swatches"), vec, "c", low=0.0, high=1.0)
    weighted = k.draw.shape.chance(0.5)
    weights = None
    if weighted:
        weights = k.scalar(("channel_weights", "eye"), vec, 0.3, 1.2)
    best = k.let(("best", "chosen"), k.lift(0, INT32))
    least = k.let(("least", "best_d"), k.lift(1000.0, vec.scalar))
    with k.for_(("entry", "q_id"), count) as entry:
        d = k.let(("d_p", "diff"), q - palette[entry])
        value = fn("dot", d, d)
        if weights is not None:
            value = fn("dot", weights, fn("cw_mul", d, d))
        size = k.let(("size_p", "dist"), value)
        with k.if_(size < least):
            k.assign(least, size)
            k.assign(best, entry)
    target = g.write(("indices", "palette_ids"), best)
    measure = "dot(d, d)" if weights is None else f"dot({say(weights)}, cw_mul(d, d))"
    text = f" {target.name} gets the first entry of {palette.name} with the least {measure}"
    text += ", d = q - entry"
    if k.draw.shape.chance(0.5):
        error = g.write(("quantization", "palette_error"), least)
        return f"{text}; {error.name} gets that."
    return f"{text}."


def voted(k: KernelBuilder, g: Grid, linear: Expr, shift: Expr, vec: Vec) -> str:
    """Matches that a linear map explains: how many, and how well."""
    k.size("m", 3, 5)
    count = k.trip_count(("num_matches", "match_count"), "m")
    sources = k.array(("match_src", "sources"), vec, "m", low=-1.0, high=1.0)
    goals = k.array(("match_dst", "destinations"), vec, "m", low=-1.0, high=1.0)
    limit = g.supply(("inlier_sq", "threshold"), ("thresholds",), vec.scalar, 0.5, 2.5)
    inliers = k.let(("inliers", "votes"), k.lift(0, INT32))
    cost = k.let(("cost", "msac"), zero(vec.scalar))
    with k.for_(("match", "q_m"), count) as j:
        e = k.let(("e_m", "off"), linear * sources[j] + shift - goals[j])
        err = k.let(("err", "sq_m"), fn("dot", e, e))
        with k.if_(err < limit):
            k.augment(inliers, "add", 1)
            k.augment(cost, "add", err)
        with k.else_():
            k.augment(cost, "add", limit)
    first = g.write(("votes_out", "support"), inliers)
    second = g.write(("msac_costs", "fit_cost"), cost)
    return (
        f" Over the matches, with e = the same map of {sources.name} minus {goals.name}:"
        f" {first.name} gets how often dot(e, e) < {say(limit)}, {second.name} the sum of"
        f" min(dot(e, e), {say(limit)})."
    )

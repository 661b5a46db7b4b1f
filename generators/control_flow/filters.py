"""Recursive filters along rows of samples, which branch on what came before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    Also,
    branch,
    minus,
    move,
    rows_of,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp, most
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site
from generators.kit.sources import zero
from generators.kit.words import say, words
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class Filter:
    """A state y and a best or total, which each sample v changes; numbers a and b."""

    text: str
    cases: Callable[..., Sequence[tuple[Expr | None, Operand]]]
    """New states of y by condition, of y, v, a and b; the first is that of a rising sample."""
    kept: Callable[..., Expr] | None = None
    """The best or total after a sample, of itself, y, v, a and b; without it y is the result."""
    first: Callable[..., Expr] | None = None
    """What y becomes before that, of y, v and a."""


_FILTERS: dict[str, Filter] = {
    "drawdown": Filter(
        "the largest fall from an earlier maximum",
        lambda y, v, a, b: [(v > y, v)],
        lambda best, y, v, a, b: most(best, y - v),
    ),
    "max_subarray": Filter(
        "the largest sum of consecutive entries (Kadane), 0 where no sum is above 0",
        lambda y, v, a, b: [(y > 0.0, y + v), (None, v)],
        lambda best, y, v, a, b: most(best, y),
    ),
    "envelope": Filter(
        "the last value of an envelope follower, which begins at the first sample and moves "
        "towards each sample by {a} of the gap where that is larger, else by {b} of it",
        lambda y, v, a, b: [(v > y, y + a * (v - y)), (None, y + b * (v - y))],
    ),
    "limiter": Filter(
        "the last level of a slew limiter, which follows the samples by at most {a} upward and {b} "
        "downward",
        lambda y, v, a, b: [(v - y > a, y + a), (v - y < minus(b), y - b), (None, v)],
    ),
    "cusum": Filter(
        "the largest of the upward sums of CUSUM, {y} = max(0, {y} + {v} - {a}) for each sample "
        "{v}, from {y} = 0 on",
        lambda y, v, a, b: [(y < 0.0, 0.0)],
        lambda best, y, v, a, b: most(best, y),
        lambda y, v, a: y + v - a,
    ),
    "peak_decay": Filter(
        "the last value of a peak meter, which begins at the first sample and with each further "
        "one becomes the larger of that and {a} times its own value",
        lambda y, v, a, b: [(v > y, v)],
        first=lambda y, v, a: a * y,
    ),
    "decay": Filter(
        "the last value of a leaky integrator, which begins at the first sample: with each further "
        "sample {v}, {y} = {a} * {y} + {v}, clamped to [-{b}, {b}]",
        lambda y, v, a, b: [(y > b, b), (y < minus(b), minus(b))],
        first=lambda y, v, a: a * y + v,
    ),
    "deadband": Filter(
        "the last value that a deadband lets through: a sample is taken over where it is more than "
        "{a} away from the last one that was, the first sample being taken over",
        lambda y, v, a, b: [(abs(v - y) > a, v)],
    ),
    "holt": Filter(
        "the forecast one step ahead by Holt's double exponential smoothing: {y} begins at the "
        "first sample and {p} at 0; with each further sample {v}, new_{y} = {a} * {v} + (1 - {a}) "
        "* ({y} + {p}), then {p} = {b} * (new_{y} - {y}) + (1 - {b}) * {p}; the forecast is "
        "{y} + {p}",
        lambda y, v, a, b: [],
    ),
    "kalman": Filter(
        "the last estimate of a scalar Kalman filter for a random walk: {y} begins at the first "
        "sample and {p} at 1; with each further sample {v}, {p} grows by {a}, the gain is g = {p} "
        "/ ({p} + {b}), {y} moves by g * ({v} - {y}), and {p} becomes (1 - g) * {p}",
        lambda y, v, a, b: [],
    ),
    "pid": Filter(
        "the last output of a PI controller, {a} * {v} + {b} * {y}, {y} being the sum of errors "
        "from 0 on, clamped to [-{c}, {c}] with each",
        lambda y, v, a, b: [],
    ),
}


_SECOND = {
    "pid": "k_i",
    "limiter": "max_fall down_rate",
    "holt": "beta trend_gain",
    "kalman": "measurement_var r_noise",
}
_RATES = {
    "cusum": "slack drift",
    "peak_decay": "decay release",
    "pid": "k_p",
    "decay": "leak retain",
    "limiter": "max_rise up_rate",
    "deadband": "deadband min_change",
    "holt": "alpha level_gain",
    "kalman": "process_var q_noise",
}
"""Names of a filter's first number."""


_INPUTS = {
    "drawdown": "equity log_prices",
    "max_subarray": "gains scores",
    "envelope": "magnitudes rectified",
    "limiter": "commands setpoints",
    "cusum": "residuals measurements",
    "peak_decay": "magnitudes loudness",
    "decay": "inputs signal",
    "pid": "errors control_error",
    "deadband": "readings measurements",
    "holt": "demand series_in",
    "kalman": "measurements observations",
}
_RESULTS = {
    "drawdown": "max_drawdown largest_fall",
    "max_subarray": "best_sums max_sums",
    "envelope": "last_envelope envelope_end",
    "limiter": "last_level limited",
    "cusum": "max_cusum largest_sums",
    "peak_decay": "meter_levels last_peak",
    "decay": "integrated leaky_sums",
    "pid": "last_output control_out",
    "deadband": "last_held held_values",
    "holt": "forecasts next_values",
    "kalman": "estimates last_estimate",
}
_TITLES = {
    "drawdown": "max_drawdown drawdown_per_row",
    "max_subarray": "max_subarray kadane_rows",
    "envelope": "follow_envelope envelope_follower",
    "limiter": "slew_limiter limit_slew_rate",
    "cusum": "cusum_rows upper_cusum",
    "peak_decay": "peak_meter decaying_peak",
    "decay": "leaky_integrator leaky_integrate_rows",
    "pid": "pi_controller run_pi_control",
    "deadband": "deadband_filter send_on_delta",
    "holt": "holt_forecast double_smoothing",
    "kalman": "kalman_rows scalar_kalman",
}
"""Names of what a filter reads, of its result, and of its kernel."""


_STATE_NAMES = {
    "drawdown": "peak running_max",
    "max_subarray": "run_sum ending_here",
    "envelope": "envelope env",
    "limiter": "level y",
    "cusum": "upper_sum s_pos",
    "peak_decay": "meter peak",
    "decay": "y state",
    "pid": "integral error_sum",
    "deadband": "held last_sent",
    "holt": "level",
    "kalman": "estimate x_hat",
}
"""Names of a filter's state."""
_SECONDS = {
    "holt": ("trend slope", 0.0),
    "kalman": ("variance p_var", 1.0),
    "pid": ("control output", 0.0),
}
"""Names of a second state, and where it begins."""


@idiom
@with_struct
def row_filter(k: KernelBuilder, level: int) -> Title:
    """Recursions along each row of samples that branch on what came before."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_FILTERS))
    text = _FILTERS[form].text
    s, table, count = rows_of(k, _INPUTS.get(form, "signal samples"), type_, -1.0, 2.0)
    a, b, c = _numbers(k, form, type_)
    out = s.out(_RESULTS[form], type_)
    trace = Also(s, 0.0 if level < 2 else 0.6, "trace history", type_, "cols")
    reading, how = _reading(s, form, table, type_)
    first = reading(k.lift(0, s.at[0].type))
    begins = {"cusum": most(first - a, 0.0), "pid": zero(type_)}
    y = k.let(_STATE_NAMES[form], begins.get(form, first))
    names, start = _SECONDS.get(form, ("best largest", 0.0))
    begun = {"max_subarray": most(y, 0.0), "cusum": y}
    best = k.let(names, begun.get(form, k.lift(start, type_)))
    followed = _followed(k, level, form, type_)
    if form != "pid":
        trace.put(y, 0)
    v_names = "error" if form == "pid" else "v x sample"
    with k.for_("j t col", count, start=0 if form == "pid" else 1) as j:
        v = k.let(v_names, reading(j))
        if form == "pid":
            k.assign(y, clamp(y + v, minus(c), c))
            k.assign(best, a * v + b * y)
        elif form in _SECONDS:
            (_smoothed if form == "holt" else _updated)(k, best, y, v, a, b)
        else:
            _moved(k, _FILTERS[form], (best, y, v, a, b), followed)
        trace.put(y, j)
    kept = _FILTERS[form].kept is not None or form == "pid"
    k.store(out, s.at, best if kept else y + best if form == "holt" else y)
    locals_ = {"y": y.name, "v": v.name, "p": best.name}
    text = text.format(a=say(k, a), b=say(k, b), c=say(k, c), **locals_)
    done = f"For each row of {table.name}{how}, {out.name} gets {text}."
    done += trace.said(f"{_STATES.get(form, 'this value')} after each sample")
    return Title(k.name(*words(_TITLES[form])), done)


def _numbers(k: KernelBuilder, form: str, type_: Scalar) -> tuple[Expr, Expr, Expr]:
    """The numbers that a filter's text names, zeros where it has fewer."""
    text = _FILTERS[form].text
    a = b = c = zero(type_)
    pick = k.draw.word.integer(0, 1)  # Of each number the same, as names of two belong together.
    if "{a}" in text:
        a = k.scalar(_nth(_RATES.get(form, "attack rise"), pick), type_, 0.35, 0.6)
    if "{c}" in text:
        c = k.scalar("integral_max windup_limit", type_, 1.0, 1.4)
    if "{b}" in text:
        bounds = ("bound cap", 1.0, 1.4) if form == "decay" else ("release fall", 0.15, 0.3)
        b = k.scalar(_nth(_SECOND.get(form, bounds[0]), pick), type_, *bounds[1:])
    return a, b, c


def _nth(names: str, pick: int) -> str:
    """One of two names, or the only one."""
    return words(names)[min(pick, len(words(names)) - 1)]


def _smoothed(k: KernelBuilder, trend: Var, y: Var, v: Expr, a: Expr, b: Expr) -> None:
    """A sample of Holt's double exponential smoothing."""
    before = k.let("before y_prev", y)
    k.assign(y, a * v + (1.0 - a) * (y + trend))
    k.assign(trend, b * (y - before) + (1.0 - b) * trend)


def _updated(k: KernelBuilder, p: Var, y: Var, v: Expr, a: Expr, b: Expr) -> None:
    """A sample of a scalar Kalman filter."""
    k.augment(p, "add", a)
    gain = k.let("gain k_gain", p / (p + b))
    k.augment(y, "add", gain * (v - y))
    k.assign(p, (1.0 - gain) * p)


def _moved(
    k: KernelBuilder,
    rule: Filter,
    state: tuple[Var, Var, Var, Expr, Expr],
    followed: Callable[..., Expr] | None,
) -> None:
    """One sample: the state by branches or a formula, then the best or total."""
    best, y, v, a, b = state
    if followed is not None:
        k.assign(y, followed(y, v, a, b))
    else:
        if rule.first is not None:
            move(k, y, rule.first(y, v, a))
        branch(k, *((test, (y, value)) for test, value in rule.cases(y, v, a, b)))
    if rule.kept is not None:
        move(k, best, rule.kept(best, y, v, a, b))


def _reading(s: Site, form: str, table: Var, type_: Scalar) -> tuple[Callable[[Expr], Expr], str]:
    """Samples as they are, or less an offset of their row; and that in words."""
    if form not in _RAW or s.k.draw.shape.chance(0.7):
        return lambda j: table[s.index(j)], ""
    offset = s.read("sensor_offsets zero_readings", type_, -0.1, 0.1)
    return lambda j: table[s.index(j)] - offset, f" (samples less {say(s.k, offset)})"


def _follow_envelope(b: BodyBuilder, y: Expr, v: Expr, up: Expr, down: Expr) -> Expr:
    rate = b.let("rate share", down)
    with b.if_(v > y):
        b.assign(rate, up)
    return y + rate * (v - y)


_RAW = frozenset({"decay", "kalman", "deadband"})
"""Filters of what a sensor reads, which may be off by a number of its own."""
_STATES = {
    "drawdown": "the maximum so far",
    "max_subarray": "the largest sum that ends there",
    "cusum": "the sum",
    "pid": "the sum of errors",
    "holt": "the level",
    "kalman": "the estimate",
    "deadband": "the value let through last",
}
"""What a trace holds, where it is not what the result is the last of."""


_FOLLOWS: dict[str, Callable[..., Expr]] = {
    "envelope": _follow_envelope,
    "limiter": lambda b, y, v, up, down: y + clamp(v - y, minus(down), up),
    "decay": lambda b, y, v, share, bound: clamp(share * y + v, minus(bound), bound),
}
"""Forms whose next state is a formula of the state, the sample and two numbers."""
_FOLLOWED_NAMES = {
    "envelope": "envelope sample attack release",
    "limiter": "level target max_rise max_fall",
    "decay": "state sample leak bound",
}
"""What a helper function calls these."""


def _followed(k: KernelBuilder, level: int, form: str, type_: Scalar) -> Callable[..., Expr] | None:
    """The next state as a formula, where it is one."""
    if form not in _FOLLOWS or level < 3:
        return None
    params = dict.fromkeys(_FOLLOWED_NAMES[form].split(), type_)
    return routine(k, BY_LEVEL[level], f"follow next_level {form}_step", params, _FOLLOWS[form])

"""Subjects of accumulation: statistics, losses, mechanics, markets, rain, energy."""

from __future__ import annotations

from generators.atomic.accumulate import accumulate
from generators.atomic.kit import Amount, Input, Ledger
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.expr import Expr

_MOMENTS = Ledger(
    {
        "x": Input("samples values readings x", -2.0, 2.0),
        "m": Input("means centers baseline", -0.5, 0.5),
    },
    (
        Amount("value", "{x}", "x", lambda b, x: x),
        Amount("square", "{x} * {x}", "x", lambda b, x: x * x),
        Amount("deviation", "{x} - {m}", "x m", lambda b, x, m: x - m),
        Amount("squared_deviation", "({x} - {m})^2", "x m", lambda b, x, m: (x - m) * (x - m)),
        Amount("cube", "{x}^3", "x", lambda b, x: x * x * x),
        Amount("magnitude", "|{x}|", "x", lambda b, x: fn("abs", x)),
        Amount("log_square", "log(1 + {x} * {x})", "x", lambda b, x: fn("log", 1.0 + x * x)),
    ),
    "sums totals",
    "labels group_ids cluster",
    "sum_samples accumulate_samples",
)


@idiom
def moments(k: KernelBuilder, level: int) -> Title:
    """Sums of powers and deviations, in all, by group, by row or by block."""
    return accumulate(k, level, _MOMENTS)


def _huber(b: BodyBuilder, p: Expr, t: Expr) -> Expr:
    e = b.let(("e", "err", "residual"), fn("abs", p - t))
    return fn("where", e < 1.0, 0.5 * e * e, e - 0.5)


def _log_cosh(b: BodyBuilder, p: Expr, t: Expr) -> Expr:
    d = b.let(("d", "diff"), p - t)
    return fn("log", fn("cosh", d))


_LOSSES = Ledger(
    {
        "p": Input("pred predictions outputs y_hat", -1.5, 1.5),
        "t": Input("target truth labels_y y", -1.5, 1.5),
    },
    (
        Amount("squared_error", "({p} - {t})^2", "p t", lambda b, p, t: (p - t) * (p - t)),
        Amount("absolute_error", "|{p} - {t}|", "p t", lambda b, p, t: fn("abs", p - t)),
        Amount(
            "huber_loss",
            "the Huber loss of {p} - {t} (0.5 e * e where e = |{p} - {t}| < 1, else e - 0.5)",
            "p t",
            _huber,
        ),
        Amount("log_cosh", "log(cosh({p} - {t}))", "p t", _log_cosh),
        Amount(
            "hinge", "max(0, 1 - {p} * {t})", "p t", lambda b, p, t: fn("max", 1.0 - p * t, 0.0)
        ),
        Amount("signed_error", "{p} - {t}", "p t", lambda b, p, t: p - t),
        Amount("agreement", "{p} * {t}", "p t", lambda b, p, t: p * t),
    ),
    "totals batch_totals",
    "batch_ids task domain",
    "evaluate_predictions score_predictions batch_totals_kernel",
    record="Prediction",
)


@idiom
def loss_totals(k: KernelBuilder, level: int) -> Title:
    """Losses of predictions, summed over a batch, tasks or blocks."""
    return accumulate(k, level, _LOSSES)


_MECHANICS = Ledger(
    {
        "m": Input("mass masses m", 0.5, 2.0),
        "v": Input("speed velocity vel v", -2.0, 2.0),
        "h": Input("height altitude z", 0.2, 3.0),
        "f": Input("force load thrust", -1.5, 1.5),
    },
    (
        Amount("kinetic_energy", "0.5 * {m} * {v} * {v}", "m v", lambda b, m, v: 0.5 * m * v * v),
        Amount("momentum", "{m} * {v}", "m v", lambda b, m, v: m * v),
        Amount("potential_energy", "9.81 * {m} * {h}", "m h", lambda b, m, h: 9.81 * m * h),
        Amount("power", "{f} * {v}", "f v", lambda b, f, v: f * v),
        Amount("impulse", "{f} / {m}", "f m", lambda b, f, m: f / m),
        Amount("torque", "{f} * {h}", "f h", lambda b, f, h: f * h),
        Amount(
            "total_energy",
            "0.5 * {m} * {v}^2 + 9.81 * {m} * {h}",
            "m v h",
            lambda b, m, v, h: 0.5 * m * v * v + 9.81 * m * h,
        ),
    ),
    "totals budget",
    "body material part",
    "sum_mechanics body_totals accumulate_bodies",
    record="Particle",
)


@idiom
def mechanics_totals(k: KernelBuilder, level: int) -> Title:
    """Energy, momentum and power of particles, by body or material."""
    return accumulate(k, level, _MECHANICS)


_TRADES = Ledger(
    {
        "q": Input("quantity qty shares", -40, 60),
        "p": Input("price_cents price ticks", 5, 90),
        "f": Input("fee fees commission", 1, 9),
    },
    (
        Amount("notional", "{q} * {p}", "q p", lambda b, q, p: q * p),
        Amount("net_value", "{q} * {p} - {f}", "q p f", lambda b, q, p, f: q * p - f),
        Amount("turnover", "|{q}| * {p}", "q p", lambda b, q, p: fn("abs", q) * p),
        Amount("position", "{q}", "q", lambda b, q: q),
        Amount("costs", "2 * {f}", "f", lambda b, f: 2 * f),
        Amount("buys", "max({q}, 0)", "q", lambda b, q: fn("max", q, 0)),
        Amount("sells", "max(-{q}, 0)", "q", lambda b, q: fn("max", -q, 0)),
    ),
    "balance positions volume ledger",
    "account symbol_id desk",
    "book_trades update_positions settle_trades accumulate_volume",
    kinds=("add", "add", "sub"),
    whole=True,
    record="Trade",
    limit=None,
)


@idiom
def trade_ledger(k: KernelBuilder, level: int) -> Title:
    """Positions, notional and fees of trades in whole numbers, by account."""
    return accumulate(k, level, _TRADES)


_WEATHER = Ledger(
    {
        "r": Input("rain precipitation rainfall", 0.1, 12.0),
        "t": Input("temperature temp_c air_temp", -8.0, 30.0),
        "a": Input("area cell_area footprint", 0.5, 3.0),
    },
    (
        Amount("rain_volume", "{r} * {a}", "r a", lambda b, r, a: r * a),
        Amount("runoff", "max({r} - 2.5, 0)", "r", lambda b, r: fn("max", r - 2.5, 0.0)),
        Amount("degree_hours", "max({t} - 10, 0)", "t", lambda b, t: fn("max", t - 10.0, 0.0)),
        Amount("chill_hours", "max(7 - {t}, 0)", "t", lambda b, t: fn("max", 7.0 - t, 0.0)),
        Amount("depth", "{r}", "r", lambda b, r: r),
        Amount("heat", "{t} * {a}", "t a", lambda b, t, a: t * a),
    ),
    "basin_total station_sum",
    "station basin_id region",
    "rain_gauge_totals catchment_sums station_totals accumulate_weather",
    record="Observation",
    limit=None,
)


@idiom
def weather_totals(k: KernelBuilder, level: int) -> Title:
    """Rain volumes, runoff and degree hours by station or basin."""
    return accumulate(k, level, _WEATHER)


_PEAKS = Ledger(
    {
        "x": Input("signal samples level", -3.0, 3.0),
        "g": Input("gain scale_factors sensitivity", 0.5, 1.5),
        "b": Input("offset baseline dark", -0.5, 0.5),
    },
    (
        Amount("sample", "{x}", "x", lambda b, x: x),
        Amount("amplitude", "|{x}|", "x", lambda b, x: fn("abs", x)),
        Amount("scaled", "{g} * {x}", "x g", lambda b, x, g: g * x),
        Amount("corrected", "{x} - {b}", "x b", lambda bb, x, b: x - b),
        Amount("power", "{x} * {x}", "x", lambda b, x: x * x),
        Amount("calibrated", "{g} * ({x} - {b})", "x b g", lambda bb, x, b, g: g * (x - b)),
    ),
    "",
    "channel band sensor",
    "channel_extremes track_extremes",
    kinds=("max", "min"),
)


@idiom
def peak_hold(k: KernelBuilder, level: int) -> Title:
    """Largest and smallest calibrated samples by channel, row or block."""
    return accumulate(k, level, _PEAKS)


_RANGES = Ledger(
    {
        "t": Input("timestamps start_time t_ms", 0, 900),
        "d": Input("duration elapsed dur", 1, 60),
        "p": Input("priority weight rank", 1, 9),
    },
    (
        Amount("finish", "{t} + {d}", "t d", lambda b, t, d: t + d),
        Amount("start", "{t}", "t", lambda b, t: t),
        Amount("length", "{d}", "d", lambda b, d: d),
        Amount("urgency", "{p} * {d}", "p d", lambda b, p, d: p * d),
        Amount("key", "16 * {t} + {p}", "t p", lambda b, t, p: 16 * t + p),
        Amount("minute", "{t} // 60", "t", lambda b, t: t // 60),
    ),
    "",
    "worker queue_id job",
    "job_bounds queue_extremes schedule_bounds",
    kinds=("max", "min"),
    whole=True,
    record="Job",
    limit=None,
)


@idiom
def schedule_bounds(k: KernelBuilder, level: int) -> Title:
    """Earliest starts and latest ends of jobs by worker or queue."""
    return accumulate(k, level, _RANGES)


_SENSORS = Ledger(
    {
        "u": Input("voltage volts v_in", 0.5, 4.5),
        "c": Input("current amps i_out", 0.1, 2.5),
        "d": Input("dt interval step_s", 0.05, 0.4),
    },
    (
        Amount("energy", "{u} * {c} * {d}", "u c d", lambda b, u, c, d: u * c * d),
        Amount("charge", "{c} * {d}", "c d", lambda b, c, d: c * d),
        Amount("power", "{u} * {c}", "u c", lambda b, u, c: u * c),
        Amount("resistance", "{u} / {c}", "u c", lambda b, u, c: u / c),
        Amount("loss", "0.05 * {c} * {c}", "c", lambda b, c: 0.05 * c * c),
        Amount("overvoltage", "max({u} - 3.3, 0)", "u", lambda b, u: fn("max", u - 3.3, 0.0)),
    ),
    "meter totals",
    "circuit meter_id phase_id",
    "circuit_totals meter_readings accumulate_circuits",
    kinds=("add", "add", "add", "max"),
    limit=None,
    record="Reading",
)


@idiom
def energy_meter(k: KernelBuilder, level: int) -> Title:
    """Energy, charge and losses of circuits, by meter."""
    return accumulate(k, level, _SENSORS)

"""Subjects of accumulation: statistics, losses, mechanics, markets, rain, energy."""

from __future__ import annotations

from generators.atomic.accumulate import Ledger, accumulate
from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.formulas import formulas
from generators.kit.functions import cosh, exp, log, most, where
from generators.program.expr import Expr

_MOMENTS = Ledger(
    {
        "x": ("samples values readings x", -2.0, 2.0),
        "m": ("expected reference baseline", -0.5, 0.5),
    },
    formulas(
        value=lambda x: x,
        square=lambda x: x * x,
        squared_deviation=lambda x, m: (x - m) * (x - m),
        magnitude=lambda x: abs(x),
        absolute_deviation=lambda x, m: abs(x - m),
    ),
    "",
    "labels group_ids cluster",
    "sum_samples accumulate_samples",
    limit=(0.2, 1.0),
    second="fold split",
    squares=True,
)


@idiom(depth=2)
def moments(k: KernelBuilder, level: int) -> Title:
    """Sums of powers and deviations, in all, by group, by row or by block."""
    return accumulate(k, level, _MOMENTS)


def _huber(body: BodyBuilder, p: Expr, t: Expr) -> Expr:
    e = body.let("e err residual", abs(p - t))
    return where(e < 1.0, 0.5 * e * e, e - 0.5)


def _log_cosh(body: BodyBuilder, p: Expr, t: Expr) -> Expr:
    d = body.let("d diff", p - t)
    return log(cosh(d))


_LOSSES = Ledger(
    {
        "p": ("pred predictions outputs", -1.5, 1.5),
        "t": ("target truth expected", -1.5, 1.5),
    },
    formulas(
        squared_error=lambda p, t: (p - t) * (p - t),
        absolute_error=lambda p, t: abs(p - t),
        huber_loss=_huber,
        log_cosh=_log_cosh,
        hinge=lambda p, t: most(1.0 - p * t, 0.0),
        signed_error=lambda p, t: p - t,
        relative_error=lambda p, t: abs(p - t) / (1.0 + abs(t)),
        logistic_loss=lambda p, t: log(1.0 + exp(-(p * t))),
    ),
    "",
    "batch_ids task domain",
    "evaluate_predictions score_predictions batch_totals_kernel",
    record="Prediction",
    limit=(0.2, 1.0),
    second="split language",
    squares=True,
)


@idiom(depth=2)
def loss_totals(k: KernelBuilder, level: int) -> Title:
    """Losses of predictions, summed over a batch, tasks or blocks."""
    return accumulate(k, level, _LOSSES)


_MECHANICS = Ledger(
    {
        "m": ("mass masses m", 0.5, 2.0),
        "v": ("speed velocity vel v", -2.0, 2.0),
        "h": ("height altitude z", -0.5, 0.8),
        "f": ("force load thrust", -1.5, 1.5),
    },
    formulas(
        kinetic_energy=lambda m, v: 0.5 * m * v * v,
        momentum=lambda m, v: m * v,
        potential_energy=lambda m, h: 9.81 * m * h,
        power=lambda f, v: f * v,
        mass=lambda m: m,
        weight=lambda m: 9.81 * m,
        total_energy=lambda m, v, h: 0.5 * m * v * v + 9.81 * m * h,
    ),
    "",
    "body material part",
    "sum_mechanics body_totals accumulate_bodies",
    record="Particle",
    limit=(0.5, 2.0),
    second="region zone",
)


@idiom(depth=2)
def mechanics_totals(k: KernelBuilder, level: int) -> Title:
    """Energy, momentum and power of particles, by body or material."""
    return accumulate(k, level, _MECHANICS)


_TRADES = Ledger(
    {
        "q": ("quantity qty shares", -12, 20),
        "p": ("price_cents price ticks", 5, 30),
        "f": ("fee fees commission", 1, 9),
    },
    formulas(
        notional=lambda q, p: q * p,
        net_value=lambda q, p, f: q * p - f,
        turnover=lambda q, p: abs(q) * p,
        position=lambda q: q,
        fees_paid=lambda f: f,
        buys=lambda q: most(q, 0),
        sells=lambda q: most(-q, 0),
    ),
    "",
    "account symbol_id desk",
    "book_trades update_positions settle_trades accumulate_volume",
    whole=True,
    record="Trade",
    second="day session",
)


@idiom(depth=2)
def trade_ledger(k: KernelBuilder, level: int) -> Title:
    """Positions, notional and fees of trades in whole numbers, by account."""
    return accumulate(k, level, _TRADES)


_WEATHER = Ledger(
    {
        "r": ("rain precipitation rainfall", 0.1, 12.0),
        "t": ("temperature temp_c air_temp", -8.0, 30.0),
        "a": ("area cell_area footprint", 0.5, 3.0),
    },
    formulas(
        rain_volume=lambda r, a: r * a,
        degree_hours=lambda t: most(t - 10.0, 0.0),
        chill_hours=lambda t: most(7.0 - t, 0.0),
        rain=lambda r: r,
        rain_on_warm_ground=lambda r, t: where(t > 0.0, r, 0.0),
        snow=lambda r, t: where(t <= 0.0, r, 0.0),
    ),
    "",
    "station basin_id region",
    "rain_gauge_totals catchment_sums station_totals accumulate_weather",
    record="Observation",
    second="month season",
)


@idiom(depth=2)
def weather_totals(k: KernelBuilder, level: int) -> Title:
    """Rain volumes, runoff and degree hours by station or basin."""
    return accumulate(k, level, _WEATHER)


_PEAKS = Ledger(
    {
        "x": ("signal samples level", -3.0, 3.0),
        "g": ("gain scale_factors sensitivity", 0.5, 1.5),
        "b": ("offset baseline dark", -0.5, 0.5),
    },
    formulas(
        sample=lambda x: x,
        amplitude=lambda x: abs(x),
        scaled=lambda x, g: g * x,
        corrected=lambda x, b: x - b,
        power=lambda x: x * x,
        calibrated=lambda x, b, g: g * (x - b),
    ),
    "",
    "channel band sensor",
    "channel_extremes track_extremes",
    kinds=("max", "min"),
    limit=(0.3, 1.8),
    second="run trial",
)


@idiom(depth=2)
def peak_hold(k: KernelBuilder, level: int) -> Title:
    """Largest and smallest calibrated samples by channel, row or block."""
    return accumulate(k, level, _PEAKS)


_RANGES = Ledger(
    {
        "t": ("timestamps start_time t_ms", 0, 900),
        "d": ("duration elapsed dur", 1, 60),
    },
    formulas(
        finish=lambda t, d: t + d,
        start=lambda t: t,
        length=lambda d: d,
    ),
    "",
    "worker queue_id job",
    "job_bounds queue_extremes schedule_bounds",
    kinds=("max", "min"),
    whole=True,
    record="Job",
    second="day shift",
)


@idiom(depth=1)
def schedule_bounds(k: KernelBuilder, level: int) -> Title:
    """Earliest starts and latest ends of jobs by worker or queue."""
    return accumulate(k, level, _RANGES)


_SENSORS = Ledger(
    {
        "u": ("voltage volts v_in", 0.5, 4.5),
        "c": ("current amps i_out", 0.1, 2.5),
        "r": ("resistance ohms", 0.05, 0.5),
        "d": ("dt interval step_s", 0.05, 0.4),
    },
    formulas(
        energy=lambda u, c, d: u * c * d,
        charge=lambda c, d: c * d,
        power=lambda u, c: u * c,
        line_loss=lambda c, r: r * c * c,
        voltage_drop=lambda c, r: r * c,
    ),
    "",
    "circuit meter_id phase_id",
    "circuit_totals meter_readings accumulate_circuits",
    kinds=("add", "add", "add", "max"),
    record="Reading",
    second="hour tariff_zone",
)


@idiom(depth=2)
def energy_meter(k: KernelBuilder, level: int) -> Title:
    """Energy, charge and losses of circuits, by meter."""
    return accumulate(k, level, _SENSORS)

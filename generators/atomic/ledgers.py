"""Subjects of accumulation: statistics, losses, mechanics, markets, rain, energy."""

from __future__ import annotations

from generators.atomic.accumulate import accumulate
from generators.atomic.entries import Ledger
from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.formulas import formulas
from generators.kit.functions import exp, log, most, where
from generators.program.expr import Expr

_MOMENTS = Ledger(
    {
        "x": ("samples values readings", -2.0, 2.0),
        "m": ("expected reference baseline", -0.5, 0.5),
    },
    formulas(
        value=lambda x: x,
        squared_value=lambda x: x * x,
        cubed_value=lambda x: x * x * x,
        squared_deviation=lambda x, m: (x - m) * (x - m),
        magnitude=lambda x: abs(x),
        absolute_deviation=lambda x, m: abs(x - m),
    ),
    entry="sample",
    group="clusters labels cluster_ids",
    second="trials trial trial_ids",
    each="signals samples",
    parent="folds fold_of fold_ids",
    lined=True,
)


@idiom
def moments(k: KernelBuilder, level: int) -> Title:
    """Sums of powers and deviations, in all, by group, by series or by chunk."""
    return accumulate(k, level, _MOMENTS)


def _huber(body: BodyBuilder, p: Expr, t: Expr) -> Expr:
    e = body.let("err residual", abs(p - t))
    return where(e < 1.0, 0.5 * e * e, e - 0.5)


def _log_cosh(body: BodyBuilder, p: Expr, t: Expr) -> Expr:
    d = body.let("size abs_diff", abs(p - t))
    return d + log(1.0 + exp(-2.0 * d)) - 0.69314718


_LOSSES = Ledger(
    {
        "p": ("predictions outputs", -1.5, 1.5),
        "t": ("targets truth", -1.5, 1.5),
    },
    formulas(
        squared_error=lambda p, t: (p - t) * (p - t),
        absolute_error=lambda p, t: abs(p - t),
        huber_loss=_huber,
        log_cosh_loss=_log_cosh,
        signed_error=lambda p, t: p - t,
    ),
    entry="prediction",
    group="tasks task_ids task_of",
    second="languages language_ids language",
    each="samples outputs",
    parent="tasks task_of task_ids",
    record="Prediction",
)


@idiom
def loss_totals(k: KernelBuilder, level: int) -> Title:
    """Losses of predictions, summed over a batch, tasks or chunks."""
    return accumulate(k, level, _LOSSES)


_MECHANICS = Ledger(
    {
        "m": ("mass masses", 0.5, 2.0),
        "v": ("speed speeds", 0.1, 2.0),
        "h": ("height altitude", 0.0, 2.0),
    },
    formulas(
        kinetic_energy=lambda m, v: 0.5 * m * v * v,
        momentum=lambda m, v: m * v,
        potential_energy=lambda m, h: 9.81 * m * h,
        mass=lambda m: m,
        weight=lambda m: 9.81 * m,
        mechanical_energy=lambda m, v, h: 0.5 * m * v * v + 9.81 * m * h,
    ),
    entry="particle",
    group="bodies body_ids body",
    second="zones zone_ids zone",
    each="bodies particles",
    parent="assemblies assembly_of assembly_ids",
    record="Particle",
)


@idiom
def mechanics_totals(k: KernelBuilder, level: int) -> Title:
    """Energy, momentum and mass of particles, by body."""
    return accumulate(k, level, _MECHANICS)


_TRADES = Ledger(
    {
        "q": ("quantity quantities", -12, 20),
        "p": ("price_cents prices", 5, 30),
        "f": ("fees fee_cents", 1, 9),
    },
    formulas(
        notional=lambda q, p: q * p,
        net_value=lambda q, p, f: q * p - f,
        turnover=lambda q, p: abs(q) * p,
        position=lambda q: q,
        fee=lambda f: f,
        bought_quantity=lambda q: most(q, 0),
        sold_quantity=lambda q: most(-q, 0),
    ),
    entry="trade",
    group="accounts account account_ids",
    second="sessions session session_ids",
    each="accounts trades",
    parent="desks desk_of desk_ids",
    whole=True,
    record="Trade",
)


@idiom
def trade_ledger(k: KernelBuilder, level: int) -> Title:
    """Positions, notional and fees of trades in whole numbers, by account."""
    return accumulate(k, level, _TRADES)


_WEATHER = Ledger(
    {
        "r": ("rain_mm rainfall_mm", 0.1, 12.0),
        "t": ("temp_c air_temp_c", -8.0, 30.0),
        "a": ("area_m2 cell_area", 0.5, 3.0),
    },
    formulas(
        rain_volume=lambda r, a: r * a,
        growing_degrees=lambda t: most(t - 10.0, 0.0),
        chill_degrees=lambda t: most(7.0 - t, 0.0),
        rain=lambda r: r,
        liquid_rain=lambda r, t: where(t > 0.0, r, 0.0),
        snow_water=lambda r, t: where(t <= 0.0, r, 0.0),
    ),
    entry="observation",
    group="stations station station_ids",
    second="months month month_ids",
    each="stations hours",
    parent="basins basin_of basin_ids",
    lined=True,
    record="Observation",
)


@idiom
def weather_totals(k: KernelBuilder, level: int) -> Title:
    """Rain volumes, snow and degree sums by station."""
    return accumulate(k, level, _WEATHER)


_PEAKS = Ledger(
    {
        "x": ("signal readings", -3.0, 3.0),
        "g": ("gains sensitivity", 0.5, 1.5),
        "b": ("dark_levels baselines", -0.5, 0.5),
    },
    formulas(
        sample=lambda x: x,
        amplitude=lambda x: abs(x),
        scaled_sample=lambda x, g: g * x,
        corrected_sample=lambda x, b: x - b,
        power=lambda x: x * x,
        calibrated_sample=lambda x, b, g: g * (x - b),
    ),
    entry="sample",
    group="channels channel channel_ids",
    second="trials trial trial_ids",
    each="channels samples",
    parent="devices device_of device_ids",
    lined=True,
    kinds=("max", "min"),
)


@idiom(depth=4)
def peak_hold(k: KernelBuilder, level: int) -> Title:
    """Largest and smallest calibrated samples by channel, line or chunk."""
    return accumulate(k, level, _PEAKS)


_RANGES = Ledger(
    {
        "t": ("start_ms start_times", 0, 900),
        "d": ("duration_ms durations", 1, 60),
    },
    formulas(
        finish_time=lambda t, d: t + d,
        start_time=lambda t: t,
        duration=lambda d: d,
    ),
    entry="job",
    group="workers worker worker_ids",
    second="shifts shift shift_ids",
    each="workers jobs",
    parent="teams team_of team_ids",
    kinds=("max", "min"),
    whole=True,
    record="Job",
)


@idiom(depth=4)
def schedule_bounds(k: KernelBuilder, level: int) -> Title:
    """Earliest starts and latest ends of jobs by worker."""
    return accumulate(k, level, _RANGES)


_SENSORS = Ledger(
    {
        "u": ("voltage voltages", 0.5, 4.5),
        "c": ("current currents", 0.1, 2.5),
        "r": ("resistance resistances", 0.05, 0.5),
        "d": ("dt interval_s", 0.05, 0.4),
    },
    formulas(
        energy=lambda u, c, d: u * c * d,
        charge=lambda c, d: c * d,
        power=lambda u, c: u * c,
        line_loss=lambda c, r: r * c * c,
    ),
    entry="reading",
    group="meters meter meter_ids",
    second="tariff_zones tariff_zone zone_ids",
    each="meters readings",
    parent="feeders feeder_of feeder_ids",
    lined=True,
    record="Reading",
)


@idiom
def energy_meter(k: KernelBuilder, level: int) -> Title:
    """Energy, charge and losses of circuits, by meter."""
    return accumulate(k, level, _SENSORS)

"""Subjects of accumulation: statistics, losses, mechanics, markets, rain, energy."""

from __future__ import annotations

from generators.atomic.entries import Ledger
from generators.atomic.totals import accumulate
from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.formulas import formulas
from generators.kit.functions import exp, log, most, where
from generators.program.expr import Expr

_MOMENTS = Ledger(
    {
        "x": ("value values", -2.0, 2.0),
        "m": ("baseline baselines", -0.5, 0.5),
    },
    formulas(
        value=lambda x: x,
        squared_value=lambda x: x * x,
        cubed_value=lambda x: x * x * x,
        squared_deviation=lambda x, m: (x - m) * (x - m),
        magnitude=lambda x: abs(x),
        absolute_deviation=lambda x, m: abs(x - m),
    ),
    pairs={
        "sum_moments accumulate_moments": ("value", "squared_value"),
        "sum_three_moments": ("value", "squared_value", "cubed_value"),
    },
    settings=frozenset("m"),
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


def _huber(body: BodyBuilder, p: Expr, t: Expr, d: Expr) -> Expr:
    e = body.let("err residual", abs(p - t))
    return where(e < d, 0.5 * e * e, d * (e - 0.5 * d))


def _log_cosh(body: BodyBuilder, p: Expr, t: Expr) -> Expr:
    d = body.let("size abs_diff", abs(p - t))
    return d + log(1.0 + exp(-2.0 * d)) - 0.69314718


_LOSSES = Ledger(
    {
        "p": ("prediction predictions", -1.5, 1.5),
        "t": ("target targets", -1.5, 1.5),
    },
    formulas(
        squared_error=lambda p, t: (p - t) * (p - t),
        absolute_error=lambda p, t: abs(p - t),
        huber_loss=_huber,
        log_cosh_loss=_log_cosh,
        signed_error=lambda p, t: p - t,
    ),
    params={"d": ("delta huber_delta", 0.5, 1.0)},
    pairs={"sum_errors error_totals": ("absolute_error", "squared_error")},
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
        "h": ("height heights", 0.0, 2.0),
        "r": ("axis_distance axis_distances", 0.1, 1.5),
        "w": ("angular_speed angular_speeds", -1.5, 1.5),
    },
    formulas(
        kinetic_energy=lambda m, v: 0.5 * m * v * v,
        moment_of_inertia=lambda m, r: m * r * r,
        angular_momentum=lambda m, r, w: m * r * r * w,
        potential_energy=lambda m, h, g: m * g * h,
        mass=lambda m: m,
        mechanical_energy=lambda m, v, h, g: 0.5 * m * v * v + m * g * h,
    ),
    params={"g": ("g gravity", 9.7, 9.9)},
    pairs={
        "sum_energies energy_totals": ("kinetic_energy", "potential_energy"),
        "sum_mass_and_inertia": ("mass", "moment_of_inertia"),
    },
    entry="particle",
    group="bodies body_ids body",
    second="zones zone_ids zone",
    each="bodies particles",
    parent="assemblies assembly_of assembly_ids",
    record="Particle",
)


@idiom
def mechanics_totals(k: KernelBuilder, level: int) -> Title:
    """Energy, angular momentum, inertia and mass of particles, by body."""
    return accumulate(k, level, _MECHANICS)


_TRADES = Ledger(
    {
        "q": ("quantity quantities", -12, 20),
        "p": ("price_cents prices_cents", 5, 30),
        "f": ("fee_cents fees_cents", 1, 9),
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
    pairs={
        "sum_quantities bought_and_sold": ("bought_quantity", "sold_quantity"),
        "update_positions book_trades": ("position", "net_value"),
        "sum_turnover_and_fees": ("turnover", "fee"),
    },
    whole=True,
    record="Trade",
)


@idiom
def trade_ledger(k: KernelBuilder, level: int) -> Title:
    """Positions, notional and fees of trades in whole numbers, by account."""
    return accumulate(k, level, _TRADES)


_WEATHER = Ledger(
    {
        "r": ("rain_mm precipitation_mm", 0.1, 12.0),
        "t": ("temp_c air_temp_c", -8.0, 30.0),
        "a": ("area_m2 areas_m2", 0.5, 3.0),
    },
    formulas(
        collected_litres=lambda r, a: r * a,
        growing_degrees=lambda t, b: most(t - b, 0.0),
        heating_degrees=lambda t, b: most(b - t, 0.0),
        rain=lambda r: r,
        liquid_rain=lambda r, t: where(t > 0.0, r, 0.0),
        snow_water=lambda r, t: where(t <= 0.0, r, 0.0),
    ),
    params={"b": ("base_c base_temp_c", 4.0, 12.0)},
    settings=frozenset("a"),
    pairs={
        "sum_rain_and_snow": ("liquid_rain", "snow_water"),
        "sum_degrees": ("heating_degrees", "growing_degrees"),
    },
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
    """Rain, snow, collected litres and degree sums by station."""
    return accumulate(k, level, _WEATHER)


_PEAKS = Ledger(
    {
        "x": ("signal signals", -3.0, 3.0),
        "g": ("gain gains", 0.5, 1.5),
        "b": ("offset offsets", -0.5, 0.5),
    },
    formulas(
        signal=lambda x: x,
        amplitude=lambda x: abs(x),
        scaled_value=lambda x, g: g * x,
        corrected_value=lambda x, b: x - b,
        deviation=lambda x, b: abs(x - b),
        calibrated_value=lambda x, b, g: g * (x - b),
    ),
    settings=frozenset("gb"),
    entry="sample",
    group="channels channel channel_ids",
    second="trials trial trial_ids",
    each="channels samples",
    parent="devices device_of device_ids",
    few="channels channel channel_ids",
    lined=True,
    kinds=("max", "min"),
    pairs={
        "signal_range hold_extremes": ("min:signal", "max:signal"),
        "calibrated_range": ("min:calibrated_value", "max:calibrated_value"),
        "corrected_range": ("min:corrected_value", "max:corrected_value"),
    },
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
    pairs={
        "schedule_bounds busy_spans": ("min:start_time", "max:finish_time"),
        "duration_range": ("min:duration", "max:duration"),
    },
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
        line_loss=lambda c, r, d: r * c * c * d,
        metered_time=lambda d: d,
    ),
    settings=frozenset("r"),
    pairs={
        "sum_energy_and_charge meter_totals": ("energy", "charge"),
        "sum_energy_and_loss": ("energy", "line_loss"),
    },
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

"""Updates of vectors and grids as linear algebra libraries and time steppers have them."""

from __future__ import annotations

from generators.arithmetic.tasks import EITHER, ONE, Input, Task, perform
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import either, sqrt
from generators.kit.sites import launch
from generators.program.expr import Expr

_A = Input("alpha a", 0.4, 1.6, ONE)
_B = Input("beta b", 0.2, 1.8, ONE)
_X = Input("x", -2.0, 2.0, local="xi x_val")
_Y = Input("y", -2.0, 2.0, local="yi y_val")
_DT = Input("dt", 0.01, 0.1, ONE)


def _into(names: str, local: str = "") -> Input:
    return Input(names, -2.0, 2.0, updated=True, local=local)


def _averaged(body: BodyBuilder, mean: Expr, x: Expr, a: Expr) -> Expr:
    return either(body, mean + a * (x - mean), (1.0 - a) * mean + a * x)


_TASKS = (
    Task(
        "axpy saxpy",
        {"a": _A, "x": _X, "y": _into("y", "yi")},
        {"=y": lambda a, x, y: a * x + y},
        "BLAS axpy: {y} becomes {a} * {x} + {y}, in place.",
    ),
    Task(
        "axpby scale_and_add",
        {"a": _A, "x": _X, "b": _B, "y": _into("y", "yi")},
        {"=y": lambda a, x, b, y: a * x + b * y},
        "Scale and add two vectors in place: {y} becomes {a} * {x} + {b} * {y}.",
    ),
    Task(
        "xpay scale_and_add",
        {"x": _X, "b": _B, "y": _into("y", "yi")},
        {"=y": lambda x, b, y: x + b * y},
        "Add a vector to a scaled one in place: {y} becomes {x} + {b} * {y}.",
    ),
    Task(
        "waxpby linear_combination",
        {"a": _A, "x": _X, "b": _B, "y": _Y},
        {"w": lambda a, x, b, y: a * x + b * y},
        "Linear combination of two vectors: set {out0} to {a} * {x} + {b} * {y}.",
    ),
    Task(
        "stream_triad triad",
        {
            "x": Input("b", -2.0, 2.0),
            "a": Input("scalar q", 0.4, 1.6, ONE),
            "y": Input("c", -2.0, 2.0),
        },
        {"a": lambda x, a, y: x + a * y},
        "The triad of the STREAM benchmark: set {out0} to {x} + {a} * {y}.",
    ),
    Task(
        "plane_rotation givens_rotate drot",
        {
            "c": Input("c cos_t", 0.6, 0.9, ONE),
            "sn": Input("s sin_t", 0.3, 0.7, ONE),
            "x": _into("x", "xi"),
            "y": _into("y", "yi"),
        },
        {"=x": lambda c, sn, x, y: c * x + sn * y, "=y": lambda c, sn, x, y: c * y - sn * x},
        "Apply a plane rotation to two vectors in place: {x} becomes {c} * {x} + {sn} * {y}, and "
        "{y} becomes {c} * {y} - {sn} * {x}, both from the old values.",
    ),
    Task(
        "multiply_add hadamard_axpy elementwise_fma",
        {"x": _X, "y": _Y, "z": _into("acc total", "acc_i")},
        {"=z": lambda x, y, z: z + x * y},
        "Add the elementwise product of {x} and {y} to {z}, in place.",
    ),
    Task(
        "compute_residual residual_vector defect",
        {
            "b": Input("b rhs", -2.0, 2.0, local="b_i"),
            "ax": Input("ax a_times_x", -2.0, 2.0, local="ax_i"),
        },
        {"r residual": lambda b, ax: b - ax},
        "Residual of a linear system, given the product {ax} of its matrix with the iterate: set "
        "{out0} to {b} - {ax}.",
    ),
    Task(
        "jacobi_update damped_jacobi",
        {
            "r": Input("r residual", -2.0, 2.0, local="r_i"),
            "d": Input("diag diagonal", 1.0, 4.0, local="d_i"),
            "w": Input("omega damping", 0.5, 0.9, ONE),
            "x": _into("x solution", "xi"),
        },
        {"=x": lambda r, d, w, x: x + w * r / d},
        "Damped Jacobi update, given the residual {r}: raise {x} by {w} * {r} / {d}, {d} being "
        "the diagonal of the matrix.",
    ),
    Task(
        "richardson_step richardson_update",
        {
            "b": Input("b rhs", -2.0, 2.0, local="b_i"),
            "ax": Input("ax a_times_x", -2.0, 2.0, local="ax_i"),
            "w": Input("omega relaxation", 0.2, 0.9, ONE),
            "x": _into("x solution", "xi"),
        },
        {"=x": lambda b, ax, w, x: x + w * (b - ax)},
        "Richardson iteration, given the product {ax} of the matrix with the iterate {x}: {x} is "
        "raised by {w} * ({b} - {ax}).",
    ),
    Task(
        "over_relax relax_update under_relax",
        {
            "old": Input("u_old previous", -2.0, 2.0, local="old prev"),
            "new": Input("u_new candidate", -2.0, 2.0, local="new proposed"),
            "w": Input("omega relaxation", 0.4, 1.6, ONE),
        },
        {"relaxed": lambda old, new, w: old + w * (new - old)},
        "Relax an iteration: set {out0} to {old} + {w} * ({new} - {old}).",
    ),
    Task(
        "running_average ema_update polyak_average",
        {
            "x": Input("samples params", -2.0, 2.0),
            "a": Input("rate smoothing", 0.01, 0.2, ONE),
            "mean": _into("averages running_mean", "avg"),
        },
        {"=mean": _averaged},
        "Exponential moving average: {mean} moves toward {x} by the share {a}, in place.",
    ),
    Task(
        "nesterov_extrapolate extrapolate",
        {
            "x": Input("x iterate", -2.0, 2.0, local="xi now"),
            "old": Input("x_prev last_iterate", -2.0, 2.0, local="prev before"),
            "b": Input("beta momentum", 0.3, 0.9, ONE),
        },
        {"y search_point": lambda x, old, b: x + b * (x - old)},
        "Extrapolation of an accelerated gradient method: set {out0} to {x} + {b} * ({x} - {old}).",
    ),
    Task(
        "forward_euler euler_step",
        {
            "rate": Input("rhs dudt", -2.0, 2.0, local="slope"),
            "dt": _DT,
            "u": _into("u state", "ui"),
        },
        {"=u": lambda rate, dt, u: u + dt * rate},
        "Forward Euler step: raise {u} by {dt} times its time derivative {rate}, in place.",
    ),
    Task(
        "adams_bashforth2 ab2_step",
        {
            "f": Input("rhs dudt", -2.0, 2.0, local="slope"),
            "old": Input("rhs_old dudt_prev", -2.0, 2.0, local="slope_old"),
            "dt": _DT,
            "u": _into("u state", "ui"),
        },
        {"=u": lambda f, old, dt, u: u + dt * (1.5 * f - 0.5 * old)},
        "Second-order Adams-Bashforth step: raise {u} by {dt} * (1.5 * {f} - 0.5 * {old}), the "
        "time derivatives now and one step ago.",
    ),
    Task(
        "ssp_rk3_stage tvd_rk3_stage2",
        {
            "u0": Input("u_start u0", -2.0, 2.0, local="start"),
            "u1": Input("u_stage u1", -2.0, 2.0, local="stage"),
            "f": Input("rhs dudt", -2.0, 2.0, local="slope"),
            "dt": _DT,
        },
        {"u_next u2": lambda u0, u1, f, dt: 0.75 * u0 + 0.25 * (u1 + dt * f)},
        "Second stage of the three-stage SSP Runge-Kutta method: set {out0} to 3/4 of {u0}, plus "
        "1/4 of {u1} + {dt} * {f}.",
    ),
    Task(
        "rk4_combine runge_kutta4_update",
        {
            "k1": Input("k1", -2.0, 2.0),
            "k2": Input("k2", -2.0, 2.0),
            "k3": Input("k3", -2.0, 2.0),
            "k4": Input("k4", -2.0, 2.0),
            "dt": _DT,
            "u": _into("u state", "ui"),
        },
        {"=u": lambda k1, k2, k3, k4, dt, u: u + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)},
        "Last step of the classical Runge-Kutta method: raise {u} by {dt} / 6 times "
        "{k1} + 2 * {k2} + 2 * {k3} + {k4}.",
    ),
    Task(
        "leapfrog_update central_time_step",
        {
            "old": Input("u_old u_before", -2.0, 2.0, local="old"),
            "f": Input("rhs dudt", -2.0, 2.0, local="slope"),
            "dt": _DT,
        },
        {"u_new u_next": lambda old, f, dt: old + 2.0 * dt * f},
        "Leapfrog time step: set {out0} to {old}, the state one step ago, plus 2 * {dt} times the "
        "time derivative {f} of now.",
    ),
    Task(
        "symplectic_euler kick_drift",
        {
            "acc": Input("accelerations accel", -2.0, 2.0, local="acc"),
            "dt": _DT,
            "v": _into("velocities vel", "vi"),
            "x": _into("positions pos", "xi"),
        },
        {
            "=v": lambda acc, dt, v: v + dt * acc,
            "=x": lambda acc, dt, v, x: x + dt * (v + dt * acc),
        },
        "Symplectic Euler step in place: raise {v} by {dt} * {acc}, then {x} by {dt} times the "
        "new velocity.",
    ),
    Task(
        "blend_states relaxed_mix lerp_fields",
        {
            "x": Input("field_a", -2.0, 2.0, local="a"),
            "y": Input("field_b", -2.0, 2.0, local="b"),
            "t": Input("t weight", 0.1, 0.9, EITHER, many="weights"),
        },
        {
            "blended mixed": lambda body, x, y, t: either(
                body, (1.0 - t) * x + t * y, fn("lerp", x, y, t)
            )
        },
        "Blend two fields: set {out0} to (1 - {t}) * {x} + {t} * {y}.",
    ),
    Task(
        "scale_rows apply_preconditioner jacobi_precondition",
        {
            "r": Input("r residual", -2.0, 2.0, local="r_i"),
            "d": Input("diag diagonal", 1.0, 4.0, local="d_i"),
        },
        {"z": lambda r, d: r / d},
        "Jacobi preconditioner: set {out0} to {r} over the diagonal {d} of the matrix.",
    ),
    Task(
        "normalize_by_norm scale_to_unit",
        {"x": _X, "n2": Input("norm_sq squared_norm", 1.0, 9.0, ONE)},
        {"unit normalized": lambda x, n2: x / sqrt(n2)},
        "Normalise a vector whose squared norm is {n2}: set {out0} to {x} / sqrt({n2}).",
    ),
)


@idiom(depth=1)
def vector_update(k: KernelBuilder, level: int) -> Title:
    """Updates of vectors by scalars: axpy and its relatives, steps of solvers and of time."""
    f = k.draw.wide_float_type()
    s = launch(k, list=4, grid=1)
    return perform(s, k.draw.shape.choice(_TASKS), f)

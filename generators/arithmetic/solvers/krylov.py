"""Updates of Krylov methods: scalars lie in device arrays, so that no step waits for the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.solvers.cells import spot
from generators.build import KernelBuilder, cast, extent, make
from generators.build.registry import Title, idiom
from generators.kit.naming import maybe
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var, op

_WIDE = Scalar("float64")


@dataclass(frozen=True)
class _Run:
    """The entry of a thread in the vectors of one system, or of several that run at a time."""

    k: KernelBuilder
    type: Scalar
    element: Scalar | Vec
    scalar_type: Scalar
    dims: tuple[str, ...]
    at: tuple[Var, ...]

    @property
    def several(self) -> bool:
        return len(self.dims) > 1

    @property
    def slot(self) -> Expr:
        return self.at[0] if self.several else self.k.lift(0, INT32)

    def vector(self, names: str, role: str = "in") -> Var:
        if role == "out":
            return self.k.out(names, self.element, self.dims)
        return self.k.array(names, self.element, self.dims, role=role, low=-1.0, high=1.0)

    def scalar(self, names: str, low: float, high: float) -> tuple[Var, Expr]:
        """An array of one scalar for each system, and this system's."""
        dims = self.dims[:-1] if self.several else ("1",)
        array = self.k.array(names, self.scalar_type, dims, low=low, high=high)
        return array, array[self.slot]

    def ratio(self, names: str, above: Expr, below: Expr) -> Expr:
        """A quotient of two such scalars."""
        return maybe(self.k, names, cast(above / below, self.type), 0.7)

    def entry(self, array: Var, names: str) -> Expr:
        """This thread's entry, under a name or not."""
        return maybe(self.k, names, array[self.at], 0.35)


def _run(k: KernelBuilder, level: int) -> _Run:
    shape = k.draw.shape
    type_ = k.draw.wide_float_type()
    wide = type_ == FLOAT32 and shape.chance(0.25)
    element: Scalar | Vec = Vec(3, type_) if shape.chance(0.12 + 0.04 * level) else type_
    several = shape.chance(0.15 + 0.08 * level)
    if several:
        k.size("systems", 3, 4)
    k.size("n", *((10, 16) if several else (40, 64)))
    dims = ("systems", "n") if several else ("n",)
    names = (k.name("s b"), k.name("i row")) if several else (k.name("i tid row"),)
    at = k.thread(*dims, names=names)
    return _Run(k, type_, element, _WIDE if wide else type_, dims, at)


def _stop_early(run: _Run, level: int) -> str:
    """Often, of several systems: those that have converged are left alone; the sentence on it."""
    k = run.k
    if not run.several or not k.draw.shape.chance(0.5):
        return ""
    flags = k.array("converged is_done", INT32, run.dims[:-1], low=0, high=1)
    test = op("ne", flags[run.slot], k.lift(0, INT32))
    with k.if_(test):
        k.return_()
    return f" Systems whose {flags.name} is not 0 are left alone."


def _raise(run: _Run, x: Var, change: Expr) -> None:
    """Add to a vector: in one statement, or by reading it first."""
    k = run.k
    if k.draw.shape.chance(0.6):
        k.store(x, run.at, change, "add")
    else:
        k.store(x, run.at, run.entry(x, "xi x_old") + change)


def _solution(run: _Run, level: int) -> tuple[str, str]:
    """x += alpha p, r -= alpha A p; perhaps the preconditioned residual of the next step."""
    k, shape = run.k, run.k.draw.shape
    x, r = run.vector("x solution", "inout"), run.vector("r residual", "inout")
    p, q = run.vector("p direction"), run.vector("ap q a_p")
    preconditioned = shape.chance(0.4)
    rz, above = run.scalar("rz rho" if preconditioned else "rr rs_old", 0.2, 2.0)
    pap, below = run.scalar("pap p_ap p_dot_ap", 0.5, 2.0)
    said = _stop_early(run, level)
    alpha = run.ratio("alpha step", above, below)
    _raise(run, x, alpha * run.entry(p, "pi p_here"))
    text = (
        f"The update of conjugate gradients: alpha = {rz.name} / {pap.name}, {x.name} is raised by "
    )
    text += f"alpha * {p.name}, {r.name} lowered by alpha * {q.name}, both in place."
    if preconditioned:
        inverse = k.array("inv_diag jacobi_inv", run.type, run.dims, low=0.2, high=1.0)
        z = run.vector("z precond", "out")
        left = k.let("r_new ri", r[run.at] - alpha * q[run.at])
        k.store(r, run.at, left)
        k.store(z, run.at, inverse[run.at] * left)
        text += f" {z.name} gets {inverse.name} times the new residual."
    else:
        k.store(r, run.at, alpha * q[run.at], "sub")
    return text + said, "cg_update_x_r cg_step"


def _direction(run: _Run, level: int) -> tuple[str, str]:
    """p = z + beta p, by Fletcher and Reeves or Polak and Ribiere."""
    k, shape = run.k, run.k.draw.shape
    preconditioned = shape.chance(0.5)
    pair = "rz" if preconditioned else "rr"
    z = run.vector("z precond_residual" if preconditioned else "r residual")
    p = run.vector("p direction", "inout")
    new, above = run.scalar(f"{pair}_new", 0.2, 2.0)
    old, below = run.scalar(f"{pair}_old", 0.5, 2.0)
    said = _stop_early(run, level)
    what, meant = f"{new.name} / {old.name}", ""
    if shape.chance(0.3):
        mixed, cross = run.scalar(f"{pair}_mixed {pair}_cross", 0.0, 0.5)
        above, what = above - cross, f"({new.name} - {mixed.name}) / {old.name}"
        meant = f" (Polak and Ribiere: {mixed.name} is the dot product of {z.name} with the "
        meant += "residual of the step before)"
    beta = run.ratio("beta", above, below)
    k.store(p, run.at, run.entry(z, "zi" if preconditioned else "ri") + beta * run.entry(p, "pi"))
    kind = "preconditioned conjugate gradients" if preconditioned else "conjugate gradients"
    text = f"The next search direction of {kind}, in place: beta = {what}{meant}, and "
    return f"{text}{p.name} becomes {z.name} + beta * {p.name}.{said}", "cg_update_p next_direction"


def _stabilised_direction(run: _Run, level: int) -> tuple[str, str]:
    """The direction of BiCGStab."""
    k = run.k
    r, v = run.vector("r residual"), run.vector("v ap")
    p = run.vector("p direction", "inout")
    rho, rho_new = run.scalar("rho_new rho", 0.3, 2.0)
    old, rho_old = run.scalar("rho_old rho_prev", 0.5, 2.0)
    step, alpha = run.scalar("alpha", 0.3, 1.5)
    damp, omega = run.scalar("omega omega_prev", 0.5, 1.5)
    said = _stop_early(run, level)
    w = k.let("w om", omega)
    beta = k.let("beta", cast((rho_new / rho_old) * (alpha / w), run.type))
    k.store(p, run.at, r[run.at] + beta * (p[run.at] - cast(w, run.type) * v[run.at]))
    text = f"The search direction of BiCGStab, in place: beta = {rho.name} / {old.name} * "
    text += f"{step.name} / {damp.name}; {p.name} becomes {r.name} + beta * ({p.name} - "
    text += f"{damp.name} * {v.name}).{said}"
    return text, "bicgstab_direction bicgstab_update_p"


def _stabilised_solution(run: _Run, level: int) -> tuple[str, str]:
    """The solution and residual of BiCGStab."""
    k = run.k
    p, s, t = run.vector("p direction"), run.vector("s half_residual"), run.vector("t a_s")
    x, r = run.vector("x solution", "inout"), run.vector("r residual", "out")
    step, alpha = run.scalar("alpha", 0.3, 1.5)
    above, ts = run.scalar("ts t_dot_s", 0.2, 1.5)
    below, tt = run.scalar("tt t_dot_t", 0.5, 2.0)
    omega = k.let("omega w", cast(ts / tt, run.type))
    a = maybe(k, "a step", cast(alpha, run.type))
    half = maybe(k, "si half", s[run.at], 0.6)
    k.store(x, run.at, a * p[run.at] + omega * half, "add")
    k.store(r, run.at, half - omega * t[run.at])
    text = f"The last update of a BiCGStab step: omega = {above.name} / {below.name}; {x.name} is "
    text += f"raised by {step.name} * {p.name} + omega * {s.name}, and {r.name} gets {s.name} - "
    text += f"omega * {t.name}."
    return text, "bicgstab_update bicgstab_solution"


def _basis(run: _Run, level: int) -> tuple[str, str]:
    """A combination of the basis vectors of GMRES, or a vector made orthogonal to them."""
    k = run.k
    k.size("m", 4, 6)
    lead = run.dims[:-1]
    last = k.draw.shape.chance(0.4)
    dims = (*lead, run.dims[-1], "m") if last else (*lead, "m", run.dims[-1])
    basis = k.array("basis v_basis krylov", run.element, dims, low=-1.0, high=1.0)
    coefficients = k.array("y coeffs h", run.type, (*lead, "m"), low=-1.0, high=1.0)
    away = k.draw.shape.chance(0.5)
    x = run.vector("w vec" if away else "x solution", "inout")
    counted = k.draw.shape.chance(0.5)
    count: Expr = extent(coefficients, len(lead))
    if counted:
        count = k.size_param("num_vectors m", "m")
    head, own = run.at[:-1], run.at[-1]
    total = k.let("acc correction total", _zero(run))
    with k.for_("j q", count) as j:
        place = (*head, own, j) if last else (*head, j, own)
        k.augment(total, "add", coefficients[spot(*head, j)] * basis[place])
    k.store(x, run.at, total, "sub" if away else "add")
    text = (
        f"Combine the vectors j of {basis.name} with the weights {coefficients.name}[j]; the sum "
    )
    text += f"is {'taken from' if away else 'added to'} {x.name}, in place."
    return text, "orthogonalize arnoldi_update" if away else "gmres_update combine_basis"


def _zero(run: _Run) -> Expr:
    zero = run.k.lift(0.0, run.type)
    return zero if isinstance(run.element, Scalar) else make(run.element, zero)


def _chebyshev(run: _Run, level: int) -> tuple[str, str]:
    """One step of the Chebyshev iteration on the interval of eigenvalues."""
    k = run.k
    r, d = run.vector("r residual"), run.vector("d correction", "inout")
    x = run.vector("x solution", "inout")
    rho, new = run.scalar("rho_new rho", 0.3, 0.9)
    old, before = run.scalar("rho_old rho_prev", 0.3, 0.9)
    delta = k.scalar("delta half_width", run.type, 0.5, 1.5)
    a = k.let("c1 momentum", cast(new * before, run.type))
    c = k.let("c2 gain", 2.0 * cast(new, run.type) / delta)
    value: Expr = r[run.at]
    said = r.name
    if k.draw.shape.chance(0.5):
        inverse = k.array("inv_diag jacobi_inv", run.type, run.dims, low=0.2, high=1.0)
        value, said = inverse[run.at] * value, f"{inverse.name} * {r.name}"
    change = k.let("d_new di", a * d[run.at] + c * value)
    k.store(d, run.at, change)
    _raise(run, x, change)
    text = f"One step of the Chebyshev iteration: {d.name} becomes {rho.name} * {old.name} * "
    text += f"{d.name} + 2 * {rho.name} / {delta.name} * {said}, and {x.name} is raised by it, "
    text += "both in place."
    return text, "chebyshev_step chebyshev_smooth"


_UPDATES: dict[str, Callable[[_Run, int], tuple[str, str]]] = {
    "solution": _solution,
    "direction": _direction,
    "stabilised_direction": _stabilised_direction,
    "stabilised_solution": _stabilised_solution,
    "basis": _basis,
    "chebyshev": _chebyshev,
}


@idiom
def krylov_update(k: KernelBuilder, level: int) -> Title:
    """Vector updates of CG, BiCGStab, GMRES and Chebyshev with scalars that lie on the device."""
    weights = {"solution": 3, "direction": 2, "stabilised_direction": 2}
    weights |= {"stabilised_solution": 2, "basis": 2 + (level > 1), "chebyshev": 2}
    run = _run(k, level)
    way = k.draw.shape.weighted(weights)
    text, names = _UPDATES[way](run, level)
    if run.several:
        text += " Each system has scalars of its own."
    if k.can_run_rows() and k.draw.shape.chance(0.2):
        k.along_row()
        text += f" One thread goes along {run.at[-1].name}."
    return Title(k.name(names), text)

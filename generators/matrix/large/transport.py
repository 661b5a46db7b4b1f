"""Entropic optimal transport: Sinkhorn's scalings of a kernel, as they are and by logarithms."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, log, most
from generators.kit.sources import zero
from generators.matrix.parts import index
from generators.program.dtypes import Scalar, Vec
from generators.program.expr import Expr, Var

_LOWEST = -1.0e30
"""Where a largest exponent begins."""


@dataclass
class _Plan:
    """Masses at sources that go to targets; a thread updates one side, a loop runs over the other.

    ``own`` and ``far`` are the sizes of these sides; ``by_rows`` says that ``own`` are the rows.
    """

    k: KernelBuilder
    level: int
    type: Scalar
    lead: tuple[str, ...]
    at: tuple[Var, ...]
    by_rows: bool
    own: str
    far: str
    cost: Var | None = None
    points: tuple[Var, Var] | None = None
    half: bool = False

    @property
    def here(self) -> Var:
        return self.at[-1]

    def pair(self, j: Expr) -> tuple[Expr, ...]:
        ends = (self.here, j) if self.by_rows else (j, self.here)
        return (*self.at[:-1], *ends)

    def other(self, j: Expr) -> tuple[Expr, ...]:
        return (*self.at[:-1], j)

    def mine(self, names: str, low: float, high: float, role: str = "in") -> Var:
        """A value for each of the side that is updated."""
        span = (low, high) if role != "out" else (None, None)
        dims = (*self.lead, self.own)
        return self.k.array(names, self.type, dims, role=role, low=span[0], high=span[1])

    def theirs(self, names: str, low: float, high: float) -> Var:
        return self.k.array(names, self.type, (*self.lead, self.far), low=low, high=high)

    def count(self, far: Var) -> Expr:
        """How long the loop over the other side is."""
        if self.k.draw.layout.chance(0.5):
            return extent(far, len(self.lead))
        return self.k.size_param(f"num_{self.far}", self.far)


def _plan(k: KernelBuilder, level: int, columns: float = 0.4) -> _Plan:
    shape = k.draw.shape
    type_ = k.draw.wide_float_type()
    by_rows = not shape.chance(columns)
    rows, cols = "sources", "targets"
    lead = ("batch",) if shape.chance(0.15 + 0.05 * level) else ()
    for size in lead:
        k.size(size, 3, 4)
    k.size(rows, *((6, 8) if lead else (20, 28)))
    k.size(cols, *((5, 7) if lead else (18, 26)))
    own, far = (rows, cols) if by_rows else (cols, rows)
    names = [*(k.name("b") for _ in lead), k.name("i" if by_rows else "j")]
    at = k.thread(*lead, own, names=names)
    return _Plan(k, level, type_, lead, at, by_rows, own, far)


def _costed(p: _Plan, points: float) -> str:
    """Costs of all pairs: a matrix, or what follows from points; the cost in words."""
    k, shape = p.k, p.k.draw.shape
    x, y = ("x", "y") if p.by_rows else ("y", "x")
    if not shape.chance(points):
        dims = (p.own, p.far) if p.by_rows else (p.far, p.own)
        p.cost = k.array("cost costs cost_matrix", p.type, (*p.lead, *dims), low=0.0, high=2.0)
        return f"{p.cost.name}[i, j]"
    vec = Vec(shape.choice((2, 3)), p.type)
    own = k.array(x, vec, (*p.lead, p.own), low=-0.8, high=0.8)
    far = k.array(y, vec, (*p.lead, p.far), low=-0.8, high=0.8)
    p.points, p.half = (own, far), shape.chance(0.5)
    return "|x_i - y_j|^2" + " / 2" * p.half


def _place(p: _Plan) -> Var | None:
    """The point of this thread."""
    return p.k.let("p here", p.points[0][p.at]) if p.points else None


def _price(p: _Plan, place: Var | None, j: Expr) -> Expr:
    """The cost of a pair."""
    if p.cost is not None:
        return p.cost[p.pair(j)]
    assert p.points is not None
    assert place is not None
    gap = p.k.let("gap d", place - p.points[1][p.other(j)])
    return 0.5 * dot(gap, gap) if p.half else dot(gap, gap)


def _mass(p: _Plan) -> tuple[Expr, str]:
    """The mass that this thread's row or column is to have, and how it is called."""
    k, way = p.k, p.k.draw.shape.choice(("array", "array", "even"))
    if way == "even":
        share = k.scalar("mass marginal share", p.type, 0.02, 0.1)
        return share, share.name
    masses = p.mine("a mu" if p.by_rows else "b nu", 0.02, 0.2)
    return masses[p.at], f"{masses.name}_{'i' if p.by_rows else 'j'}"


@idiom
def sinkhorn_scaling(k: KernelBuilder, level: int) -> Title:
    """Half a step of Sinkhorn's iteration, by scalings or by potentials in the log domain.

    M. Cuturi, NIPS 2013; log domain, damping of unbalanced masses: L. Chizat, G. Peyre,
    B. Schmitzer, F.-X. Vialard, Math. Comp. 87 (2018); averaged steps: J. Feydy et al. (2019).
    """
    if level < 3 and k.draw.shape.chance(1.0 if level == 1 else 0.5):
        return _scaled(k, level)
    p = _plan(k, level)
    shape = k.draw.shape
    said = _costed(p, 0.25 + 0.1 * level)
    eps = k.scalar("eps epsilon blur_eps", p.type, 0.2, 0.6)
    far = p.theirs("g" if p.by_rows else "f", -0.5, 0.5)
    weighted = None
    if shape.chance(0.3):
        weighted = p.theirs("log_b" if p.by_rows else "log_a", -3.0, -1.5)
    mass, called = _mass(p) if weighted is None else (k.lift(1.0, p.type), "")
    count = p.count(far)
    place = _place(p)

    def exponent(j: Expr) -> Expr:
        value = (far[p.other(j)] - _price(p, place, j)) / eps
        return value if weighted is None else weighted[p.other(j)] + value

    total = _log_sum(p, count, exponent)
    rule, new = _rule(p, (eps, mass, called), (weighted, said), total)
    f, i = ("f", "i") if p.by_rows else ("g", "j")
    value = k.let(f"{f}_new potential", new)
    kept, text = _damped(p, value, eps, f)
    out_text = _delivered(p, kept, (f, i), level)
    side = "rows" if p.by_rows else "columns"
    head = f"Half a step of Sinkhorn's iteration in the log domain, for the {side}: "
    text = (
        f"{head}{f}_{i} = {rule}{text}. {out_text} Take the exponentials relative to the largest "
    )
    text += "exponent, so that none overflows."
    return Title(k.name("sinkhorn_log_step sinkhorn_potentials", f"update_{f}_potential"), text)


def _rule(
    p: _Plan, of: tuple[Var, Expr, str], far: tuple[Var | None, str], total: Expr
) -> tuple[str, Expr]:
    """The new potential, in words and as a value."""
    (eps, mass, called), (weighted, said) = of, far
    g, j = ("g", "j") if p.by_rows else ("f", "i")
    inner = f"({g}_{j} - {said}) / {eps.name}"
    if weighted is not None:
        inner = f"{weighted.name}_{j} + {inner}"
        new: Expr = -eps * total
        rule = f"-{eps.name} * log(sum over {j} of exp({inner}))"
    else:
        new = eps * (log(mass) - total)
        rule = f"{eps.name} * (log({called}) - log(sum over {j} of exp({inner})))"
    return rule, new


def _log_sum(p: _Plan, count: Expr, exponent: object) -> Expr:
    """The logarithm of a sum of exponentials: in two passes, or in one with a running maximum."""
    k = p.k
    assert callable(exponent)
    top = k.let("top max_exp", k.lift(_LOWEST, p.type))
    word = "j" if p.by_rows else "i"
    if p.level > 2 and k.draw.shape.chance(0.5):
        total = k.let("total acc", zero(p.type))
        with k.for_(word, count) as j:
            z = k.let("z exponent", exponent(j))
            with k.if_(z > top):
                k.assign(total, total * exp(top - z) + 1.0)
                k.assign(top, z)
            with k.else_():
                k.augment(total, "add", exp(z - top))
        return top + log(total)
    before = {*k.used}
    with k.for_(word, count) as j:
        k.assign(top, most(top, exponent(j)))
    k.again(before)
    total = k.let("total acc", zero(p.type))
    with k.for_(word, count) as j:
        k.augment(total, "add", exp(exponent(j) - top))
    return top + log(total)


def _damped(p: _Plan, value: Var, eps: Var, f: str) -> tuple[Expr, str]:
    """A potential where masses need not be met, or averaged with what it was."""
    k, way = p.k, p.k.draw.shape.choice(("plain", "plain", "soft", "mean"))
    if way == "soft":
        rho = k.scalar("rho reach marginal_penalty", p.type, 0.5, 3.0)
        return rho / (rho + eps) * value, (
            f", times {rho.name} / ({rho.name} + {eps.name}) as the masses are met softly (a "
            f"Kullback-Leibler penalty of weight {rho.name})"
        )
    if way == "mean":
        old = p.mine(f"{f}_old prev_{f}", -0.5, 0.5)
        return 0.5 * (old[p.at] + value), f", averaged with {old.name}"
    return value, ""


def _delivered(p: _Plan, value: Expr, called: tuple[str, str], level: int) -> str:
    """Store a potential; maybe how far it moved, as a maximum over all threads."""
    k, (f, i) = p.k, called
    moved = level > 2 and k.draw.shape.chance(0.4)
    role = "inout" if moved else "out"
    out = p.mine(f if moved else f"{f}_out new_{f}", -0.5, 0.5, role)
    if not moved:
        k.store(out, p.at, value)
        return f"{out.name} gets {f}_{i}."
    new = value if isinstance(value, Var) else k.let("new_value updated", value)
    change = k.accumulator("max_change err", p.type, p.lead or ("1",))
    k.atomic("max", change, index(*p.at[:-1]) if p.lead else 0, abs(new - out[p.at]))
    k.store(out, p.at, new)
    each = " of the batch entry" if p.lead else "[0]"
    return (
        f"{out.name} becomes {f}_{i}; {change.name}{each} is raised atomically to the absolute "
        f"change of any entry."
    )


def _scaled(k: KernelBuilder, level: int) -> Title:
    """The scaling of a row or column of exp(-cost / eps) that gives it its mass."""
    p = _plan(k, level)
    shape = k.draw.shape
    rows, cols = (p.own, p.far) if p.by_rows else (p.far, p.own)
    stored = shape.chance(0.6)
    span = (0.1, 1.0) if stored else (0.0, 1.5)
    names = "kernel K gibbs" if stored else "cost costs"
    table = k.array(names, p.type, (*p.lead, rows, cols), low=span[0], high=span[1])
    eps = None if stored else k.scalar("eps epsilon", p.type, 0.4, 0.8)
    u, v, i, j = ("u", "v", "i", "j") if p.by_rows else ("v", "u", "j", "i")
    far = p.theirs(v, 0.2, 1.5)
    mass, called = _mass(p)
    total = k.let("total acc marginal", zero(p.type))
    with k.for_(j, p.count(far)) as other:
        entry = table[p.pair(other)]
        weight = entry if eps is None else exp(-entry / eps)
        k.augment(total, "add", weight * far[p.other(other)])
    kind = f"{table.name}[i, j]" if eps is None else f"exp(-{table.name}[i, j] / {eps.name})"
    rule = f"{called} / (sum over {j} of {kind} * {v}_{j})"
    value: Expr = mass / total
    if shape.chance(0.3):
        power = k.scalar("fi power tau", p.type, 0.6, 0.95)
        value = fn("pow", value, power)
        rule = f"({rule})^{power.name}"
        soft = f" The power {power.name} below 1 lets masses be met softly (unbalanced transport)."
    else:
        soft = ""
    out = k.out(f"{u} {u}_out", p.type, (*p.lead, p.own))
    k.store(out, p.at, value)
    side = "rows" if p.by_rows else "columns"
    of = " of each matrix of a batch" if p.lead else ""
    text = f"Half a step of Sinkhorn's iteration for the {side}{of}: {out.name} gets "
    text += f"{u}_{i} = {rule}.{soft}"
    return Title(k.name("sinkhorn_step sinkhorn_scale", f"scale_{side}"), text)


@idiom(depth=3)
def transport_plan(k: KernelBuilder, level: int) -> Title:
    """What potentials of entropic transport say of a row: its mass, cost, mean target or entropy.

    The plan is exp((f_i + g_j - C_ij) / eps), G. Peyre, M. Cuturi, Computational Optimal
    Transport (2019), section 4.4.
    """
    p, shape = _plan(k, level, columns=0.0), k.draw.shape
    way = shape.choice(("mass", "cost", "mean", "mean", "moved") if level > 1 else ("mass", "cost"))
    said = _costed(p, 1.0 if way in ("mean", "moved") else 0.3 + 0.1 * level)
    return _reported(p, way, said)


def _reported(p: _Plan, way: str, said: str) -> Title:
    k = p.k
    eps = k.scalar("eps epsilon", p.type, 0.3, 0.7)
    drawn = way in ("mean", "moved")
    # A projection divides by the mass of the row, and its potential with it.
    f, weight = None if drawn else p.mine("f", -0.5, 0.2), None
    g = p.theirs("g", -0.5, 0.2)
    if k.draw.shape.chance(0.4):
        weight = p.theirs("b nu weights_y", 0.05, 0.3)
    count = p.count(g)
    place = _place(p)
    mass = k.let("mass row_mass", zero(p.type))
    vec = place.type if drawn and place is not None else p.type
    extra = k.let("center_sum pulled" if drawn else "cost_sum spent", zero(vec))
    own = None if f is None else k.let("fi f_i", f[p.at])
    with k.for_("j", count) as j:
        cost = _price(p, place, j)
        cost = k.let("c cij", cost) if way == "cost" else cost
        far = g[p.other(j)] - cost if own is None else own + g[p.other(j)] - cost
        share: Expr = exp(far / eps)
        share = k.let("pij w", share if weight is None else weight[p.other(j)] * share)
        k.augment(mass, "add", share)
        if way == "cost":
            k.augment(extra, "add", share * cost)
        elif p.points and way != "mass":
            k.augment(extra, "add", share * p.points[1][p.other(j)])
    return _told(p, way, said, (eps, mass, extra, place, weight))


def _told(p: _Plan, way: str, said: str, of: tuple[Var, Var, Var, Var | None, Var | None]) -> Title:
    k, (eps, mass, extra, place, weight) = p.k, of
    lead = f"{weight.name}_j * " if weight is not None else ""
    own = "" if way in ("mean", "moved") else "f_i + "
    kind = "up to a factor for each i, " if not own else ""
    text = "The plan of entropic transport is, " if kind else "The plan of entropic transport is "
    text += f"{kind}P_ij = {lead}exp(({own}g_j - {said}) / {eps.name}). "
    if way in ("mean", "moved"):
        assert p.points is not None
        assert place is not None
        mean = extra / mass
        vec = extra.type
        names = "mapped projected" if way == "mean" else "shift displacement"
        out = k.out(names, vec, (*p.lead, p.own))
        k.store(out, p.at, mean if way == "mean" else mean - place)
        minus = f" - {p.points[0].name}_i" * (way == "moved")
        text += f"{out.name} gets the barycentric projection of each source, (sum over j of P_ij * "
        text += f"{p.points[1].name}_j) / (sum over j of P_ij){minus}."
        return Title(k.name("barycentric_projection transport_map"), text)
    if way == "cost":
        out = k.out("row_cost source_costs", p.type, (*p.lead, p.own))
        k.store(out, p.at, extra)
        text += f"{out.name} gets the sum over j of P_ij * {said}."
        return Title(k.name("transport_cost plan_cost"), text)
    goal = p.mine("a mu", 0.5, 2.0)
    out = k.out("row_error violation", p.type, (*p.lead, p.own))
    k.store(out, p.at, abs(mass - goal[p.at]))
    text += f"{out.name} gets |(sum over j of P_ij) - {goal.name}_i|."
    return Title(k.name("marginal_error plan_violation"), text)

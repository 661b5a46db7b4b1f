"""Spins on a lattice: half sweeps of a checkerboard by Metropolis, Glauber and heat-bath rules."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, where
from generators.kit.masks import one_if
from generators.kit.naming import routine
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT8, UINT32 = Scalar("uint8"), Scalar("uint32")


def _pcg(b: BodyBuilder, key: Expr) -> Expr:
    """The PCG hash of Jarzynski and Olano, JCGT 9(3), 2020."""
    state = b.let("state", key * b.lift(747796405, UINT32) + b.lift(2891336453, UINT32))
    shift = (state >> b.lift(28, UINT32)) + b.lift(4, UINT32)
    word = b.let("word", ((state >> shift) ^ state) * b.lift(277803737, UINT32))
    return (word >> b.lift(22, UINT32)) ^ word


class _Lattice:
    """A lattice with periodic edges of which a launch changes the sites of one colour in place.

    Either every site has a thread and those of the other colour end, or the sites of a colour lie
    by themselves, two columns of the lattice to one of the array.
    """

    def __init__(self, k: KernelBuilder, level: int, top: int, fresh: bool = False) -> None:
        shape = k.draw.shape
        type_ = shape.choice((UINT8, INT32))
        self.k, self.type = k, type_
        ways = {"plane": 4, "solid": 2 * (level > 2), "packed": 3 * (level > 1)}
        self.way = shape.weighted({w: n for w, n in ways.items() if n})
        self.several = self.way != "solid" and level > 3 and shape.chance(0.5)
        lead = [k.size("replicas", 2, 3)] if self.several else []
        names = ["nz", "ny", "nx"] if self.way == "solid" else ["rows", "cols"]
        if self.way == "packed":
            names[1] = "half_cols"
        span = (6, 8) if len(names) + self.several > 2 else (14, 18)
        for name in names:
            even = 1 if name == "half_cols" else 2
            k.size(name, *span, minimum=even, multiple_of=even)
        at = {"solid": ("iz", "iy", "ix")}.get(self.way, k.draw.word.choice(("ij", "rc", "yx")))
        self.dims = (*lead, *names)
        taken = k.thread(*self.dims, names=(*["rep"] * self.several, *at))
        self.lead, self.at = taken[: len(lead)], taken[len(lead) :]
        if fresh and self.way == "packed":
            self.spins = k.out("spins lattice", type_, self.dims)
        else:
            self.spins = k.array("spins lattice", type_, self.dims, role="inout", low=0, high=top)
        self.other = self.spins
        if self.way == "packed":
            self.other = k.array("other_spins opposite", type_, self.dims, low=0, high=top)
        self.colour = k.scalar("color parity", INT32, 0, 1)
        self.place = (*self.lead, *self.at)
        self.around = self._around()

    def _around(self) -> list[tuple[Expr, ...]]:
        """End the threads of the other colour; the places of the neighbours."""
        k, at = self.k, self.at
        found: list[tuple[Expr, ...]] = []
        if self.way == "packed":
            i, j = at
            above, below = self._near(0, "up above", -1), self._near(0, "down below", 1)
            odd = k.let("odd shifted", (i + self.colour) & 1)
            width = extent(self.spins, len(self.lead) + 1)
            side = k.let("side j_side", (j + where(fn("eq", odd, 1), 1, width - 1)) % width)
            places = [(above, j), (below, j), (i, j), (i, side)]
            return [(*self.lead, *place) for place in places]
        total: Expr = at[0]
        for index in at[1:]:
            total = total + index
        with k.if_(fn("ne", total % 2, self.colour)):
            k.return_()
        words = [("up", "down"), ("left", "right")]
        words = [("back", "front"), *words] if self.way == "solid" else words
        for axis, pair in enumerate(words):
            for name, by in zip(pair, (-1, 1), strict=True):
                place: list[Expr] = list(at)
                place[axis] = self._near(axis, name, by)
                found.append((*self.lead, *place))
        return found

    def _near(self, axis: int, names: str, by: int) -> Expr:
        """The index of a neighbour along an axis, with wrap-around."""
        count = extent(self.spins, len(self.lead) + axis)
        step = 1 if by > 0 else count - 1
        return self.k.let(names, (self.at[axis] + step) % count)

    def load(self, n: int) -> Expr:
        return cast(self.other[self.around[n]], INT32)

    def put(self, value: Expr) -> None:
        self.k.store(self.spins, self.place, cast(value, self.type))

    def beta(self) -> tuple[Expr, str]:
        """The inverse temperature, of all or of each replica."""
        k = self.k
        if self.several:
            many = k.array("betas inv_temps", FLOAT32, "replicas", low=0.1, high=1.2)
            return k.let("beta", many[self.lead]), f"{many.name}[rep]"
        one = k.scalar("beta inv_temp", FLOAT32, 0.1, 1.2)
        return one, one.name

    @property
    def said(self) -> str:
        name, colour = self.spins.name, self.colour.name
        if self.way == "packed":
            text = f"{name} holds the sites of one colour of a checkerboard and {self.other.name} "
            text += "those of the other, so that a row has half of its columns in each. The "
            text += "neighbours of site (i, j) lie at (i - 1, j), (i + 1, j), (i, j) and, where "
            text += f"i + {colour} is odd, (i, j + 1), else (i, j - 1)"
        else:
            text = f"Only sites of {name} whose indices add up to {colour} modulo 2 change; the "
            text += f"{len(self.around)} nearest sites are neighbours"
        text += ", all with wrap-around (sides along which colours alternate are even)."
        return text + (" rep is the replica." if self.several else "")


class _Chance:
    """Uniform numbers in [0, 1) of a site: given, from Warp's generator, or from a hash."""

    def __init__(self, t: _Lattice, level: int, count: int) -> None:
        k = self.k = t.k
        self.t, self.count = t, count
        ways = {"given": 3, "state": 4 * (level > 1), "hash": 3 * (level > 2)}
        self.way = k.draw.shape.weighted({w: n for w, n in ways.items() if n})
        if self.way == "given":
            names = ("uniforms", "proposals")[:count]
            self.arrays = [k.array(n, FLOAT32, t.dims, low=0.0, high=0.99) for n in names]
            self.said = f" u is {self.arrays[0].name} of the site."
            return
        site = self._site()
        seed = k.scalar("seed", INT32, 1, 9999)
        if self.way == "state":
            self.state = k.random_state("rng state", seed, site)
            self.said = f" The random state is rand_init({seed.name}, number of the site), "
            self.said += f"{seed.name} being another in each half sweep"
            self.said += "; u is its first randf()." if count == 1 else "; u is its second randf()."
            return
        step = k.scalar("sweep step", INT32, 0, 500)
        hash_of = routine(k, 1.0, "pcg_hash hash_u32", {"key": UINT32}, _pcg)
        # Packed sites of the two colours have the same numbers: they must not share theirs.
        packed = t.way == "packed"
        half: Expr = 2 * step + t.colour if packed else step
        inner = cast(half, UINT32) + hash_of(cast(seed, UINT32))
        self.word = k.let("bits", hash_of(cast(site, UINT32) + hash_of(inner)))
        self.hash_of = hash_of
        count_of = f"2 * {step.name} + {t.colour.name}" if packed else step.name
        self.said = f" u is the top 24 bits of hash(site + hash({count_of} + hash({seed.name})))"
        self.said += ", site being the number of the site," if count == 1 else ", hashed once more,"
        self.said += " times 2^-24; hash is the 32-bit PCG hash (RXS-M-XS)."

    def _site(self) -> Expr:
        """The number of the site in row-major order."""
        whole: Expr = self.t.place[0]
        for axis, index in enumerate(self.t.place[1:], 1):
            whole = whole * extent(self.t.spins, axis) + index
        return self.k.let("site", whole)

    def draw(self, n: int, names: str) -> Expr:
        """The n-th number of a site."""
        k = self.k
        if self.way == "given":
            return k.let(names, self.arrays[self.count - 1 - n][self.t.place])
        if self.way == "state":
            return k.sample(names, "randf", self.state)
        word = self.word if n == 0 else self.hash_of(self.word)
        return k.let(names, cast(word >> k.lift(8, UINT32), FLOAT32) * 5.9604645e-8)


def _outer_field(t: _Lattice, level: int) -> tuple[Expr | None, str]:
    """An outer field, of all sites or of each."""
    k = t.k
    if level < 2 or k.draw.shape.chance(0.5):
        return None, ""
    if level > 2 and k.draw.shape.chance(0.4):
        fields = k.array("fields local_field", FLOAT32, t.dims, low=-1.5, high=1.5)
        return fields[t.place], f" + {fields.name}"
    field = k.scalar("ext_field h_field", FLOAT32, -1.5, 1.5)
    return field, f" + {field.name}"


def _pull(t: _Lattice, level: int) -> tuple[Expr, str]:
    """What acts on a site: the sum of its neighbours' spins, times a coupling, plus a field."""
    k = t.k
    if t.way == "plane" and level > 3 and k.draw.shape.chance(0.6):
        return _glass(t)
    total = t.load(0)
    for n in range(1, len(t.around)):
        total = total + t.load(n)
    up = k.let("num_up up_count", total)
    value: Expr = cast(2 * up - len(t.around), FLOAT32)
    text = "the sum of the spins of its neighbours"
    field, more = _outer_field(t, level)
    if field is None:
        return k.let("spin_sum local_h", value), text
    coupling = k.scalar("coupling j_coupling", FLOAT32, 0.2, 1.6)
    return k.let("local_h", coupling * value + field), f"{coupling.name} * ({text}){more}"


def _glass(t: _Lattice) -> tuple[Expr, str]:
    """Couplings of each bond, as of a spin glass: to the right and down."""
    k = t.k
    down, right = (
        k.array(f"j_{n}", FLOAT32, t.dims, low=-1.0, high=1.0) for n in ("down", "right")
    )
    bonds = (down[t.around[0]], down[t.place], right[t.around[2]], right[t.place])
    value: Expr | None = None
    for n, bond in enumerate(bonds):
        term = bond * cast(2 * t.load(n) - 1, FLOAT32)
        value = term if value is None else value + term
    assert value is not None
    text = f"the sum over neighbours of their spins times the coupling of the bond ({down.name}"
    text += f"[i, j] is that to (i + 1, j), {right.name}[i, j] that to (i, j + 1))"
    return k.let("local_h", value), text


def _decide(t: _Lattice, rule: str, pull: Expr, beta: Expr, beta_said: str, chance: _Chance) -> str:
    """Set the spin of a site by a rule; the rule in words."""
    k = t.k
    if rule == "bath":
        p_up = k.let("p_up", 1.0 / (1.0 + exp(-2.0 * beta * pull)))
        t.put(one_if(chance.draw(0, "u") < p_up))
        return f"the site becomes 1 where u < 1 / (1 + exp(-2 * {beta_said} * F)), else 0"
    own = k.let("spin b", cast(t.spins[t.place], INT32))
    cost = k.let("delta_e d_energy", cast(4 * own - 2, FLOAT32) * pull)
    if rule == "glauber":
        test: Expr = chance.draw(0, "u") < 1.0 / (1.0 + exp(beta * cost))
        how = f"1 / (1 + exp({beta_said} * dE))"
    else:
        test = chance.draw(0, "u") < exp(-beta * cost)
        if k.draw.shape.chance(0.4):
            test = fn("or", cost <= 0.0, test)
        how = f"exp(-{beta_said} * dE)"
    with k.if_(test):
        t.put(1 - own)
    return f"the site flips where u < {how} with dE = 2 * s * F, s being its own spin"


@idiom
def ising_half_sweep(k: KernelBuilder, level: int) -> Title:
    """One colour of a checkerboard sweep of the Ising model, or of a spin glass.

    N. Metropolis et al., J. Chem. Phys. 21 (1953); R. J. Glauber, J. Math. Phys. 4 (1963).
    """
    shape = k.draw.shape
    rules = {"metropolis": 4, "bath": 3, "glauber": 1 + (level > 1), "table": 2 * (level < 4)}
    rule = shape.weighted({r: n for r, n in rules.items() if n})
    t = _Lattice(k, level, 1, rule == "bath")
    if rule == "table":
        return _by_table(t, level)
    pull, said = _pull(t, level)
    beta, beta_said = t.beta()
    chance = _Chance(t, level, 1)
    how = _decide(t, rule, pull, beta, beta_said, chance)
    name = {"bath": "Heat-bath", "glauber": "Glauber", "metropolis": "Metropolis"}[rule]
    text = f"{name} half sweep of Ising spins s = 2 * b - 1, of which b (0 or 1) is stored: with F "
    text += f"= {said}, {how}. {t.said}{chance.said}"
    first = {
        "bath": "heat_bath_sweep",
        "glauber": "glauber_sweep",
        "metropolis": "metropolis_sweep",
    }
    return Title(k.name(f"ising_half_sweep ising_{first[rule]}"), text)


def _by_table(t: _Lattice, level: int) -> Title:
    """Metropolis with the few chances that there are in a table."""
    k = t.k
    sides = len(t.around)
    table = k.array("accept_prob boltzmann", FLOAT32, ("2", str(sides + 1)), low=0.05, high=1.0)
    total = t.load(0)
    for n in range(1, sides):
        total = total + t.load(n)
    up = k.let("num_up up_count", total)
    own = k.let("spin b", cast(t.spins[t.place], INT32))
    chance = _Chance(t, level, 1)
    with k.if_(chance.draw(0, "u") < table[(own, up)]):
        t.put(1 - own)
    text = "Metropolis half sweep of Ising spins, stored as 0 or 1, with tabulated chances: a site "
    text += f"b flips where u < {table.name}[b, m], m being how many of its neighbours are 1. "
    return Title(k.name("ising_table_sweep metropolis_table"), f"{text}{t.said}{chance.said}")


@idiom
def potts_half_sweep(k: KernelBuilder, level: int) -> Title:
    """One colour of a checkerboard sweep of the Potts model, by Metropolis or heat bath.

    F. Y. Wu, Rev. Mod. Phys. 54 (1982).
    """
    shape = k.draw.shape
    bath = shape.chance(0.3 + 0.1 * level)
    t = _Lattice(k, level, 2, bath)
    beta, said = t.beta()
    states = k.scalar("num_states q", INT32, 3, 6)
    sides = range(len(t.around))
    names = ("n0", "n1", "n2", "n3", "n4", "n5")
    around = [k.let(names[n], t.load(n)) for n in sides]

    def alike(state: Expr) -> Expr:
        found: Expr | None = None
        for near in around:
            one = one_if(fn("eq", near, state))
            found = one if found is None else found + one
        assert found is not None
        return found

    form = _potts_bath if bath else _potts_metropolis
    text, closing = form(t, level, (beta, states), alike, said)
    kind = "Heat-bath" if bath else "Metropolis"
    text = f"{kind} half sweep of the Potts model with states 0 to {states.name} - 1: {text}. "
    name = "potts_heat_bath" if bath else "potts_metropolis"
    return Title(k.name(f"{name} potts_half_sweep"), f"{text}{t.said}{closing}")


def _potts_metropolis(
    t: _Lattice,
    level: int,
    given: tuple[Expr, Var],
    alike: Callable[[Expr], Expr],
    said: str,
) -> tuple[str, str]:
    """Another state is proposed, and taken by what it costs."""
    k, (beta, states) = t.k, given
    own = k.let("state old_state", cast(t.spins[t.place], INT32))
    chance = _Chance(t, level, 2)
    pick = chance.draw(0, "v")
    jump = k.let("jump", cast(pick * cast(states - 1, FLOAT32), INT32))
    new = k.let("proposed new_state", (own + 1 + jump) % states)
    gain = k.let("gain", alike(new) - alike(own))
    with k.if_(chance.draw(1, "u") < exp(beta * cast(gain, FLOAT32))):
        t.put(new)
    first = {"given": "proposals of the site", "state": "the state's first randf()"}
    v = first.get(chance.way, "made in the same way without that last hash")
    text = f"the new state (old + 1 + int(v * ({states.name} - 1))) % {states.name} is taken where "
    text += f"u < exp({said} * gain), the gain being how many more neighbours "
    text += "are in the new state than in the old one"
    return text, f"{chance.said} v is {v}."


def _potts_bath(
    t: _Lattice,
    level: int,
    given: tuple[Expr, Var],
    alike: Callable[[Expr], Expr],
    said: str,
) -> tuple[str, str]:
    """A state is drawn by the weights of all, which do not depend on the old one."""
    k, (beta, states) = t.k, given
    chance = _Chance(t, level, 1)
    total = k.let("total z_sum", k.lift(0.0, FLOAT32))
    with k.for_("q_id s", states) as q:
        k.augment(total, "add", exp(beta * cast(alike(q), FLOAT32)))
    goal = k.let("target", chance.draw(0, "u") * total)
    running = k.let("running cdf", k.lift(0.0, FLOAT32))
    chosen = k.let("chosen", states - 1)
    with k.for_("c cand", states) as c:
        k.augment(running, "add", exp(beta * cast(alike(c), FLOAT32)))
        with k.if_(goal < running):
            k.assign(chosen, c)
            k.break_()
    t.put(chosen)
    text = f"each state has the weight exp({said} * m), m being how many "
    text += "neighbours are in it; the site gets the first state at which the running sum of the "
    text += "weights exceeds u times their total (the last one if none does)"
    return text, chance.said

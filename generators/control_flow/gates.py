"""Truth values: votes, masks, filters, latches, interlocks and alarms."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, both, branch, leave, same, some
from generators.control_flow.params import with_struct
from generators.kit.formulas import Build, Formula, keys_of
from generators.kit.masks import as_flag, flag_type, is_set
from generators.kit.masks import opposite as off
from generators.kit.naming import BY_LEVEL, evaluated
from generators.kit.sites import Site, launch, over
from generators.kit.words import listed, say
from generators.program.dtypes import BOOL, Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Circuit:
    """What outputs get of truth values; the first reads all inputs that are read at all."""

    title: str
    outputs: list[Formula]
    often: bool
    """Whether its outputs are set often enough to be switched off now and then."""
    held: str = ""
    """The input that is the first output of the step before, where there is one."""

    @property
    def what(self) -> str:
        """What it is, as a description calls it."""
        return _SPOKEN.get(self.title, self.title.replace("_", " "))


_SPOKEN = {
    "two_of_three": "two-out-of-three voting",
    "latch": "set-reset latch",
    "alarm": "burglar alarm",
    "interlock": "motor interlock",
    "pump": "pump control by two level switches",
    "arbiter": "fixed-priority arbiter",
    "collision_mask": "simulation mask of bodies",
    "culling": "visibility of objects after frustum and occlusion culling",
    "refinement": "marking of grid cells for refinement",
    "quality": "quality mask of satellite pixels",
    "packet_filter": "decision of a stateful packet filter",
    "trading_halt": "check of orders during trading halts",
}


def _circuit(title: str, often: bool = True, held: str = "", **outputs: Build) -> Circuit:
    """Outputs by name; all that their formulas read are truth values."""
    found = []
    for name, code in outputs.items():
        keys = Formula(name, name, code).keys
        found.append(Formula(f"{name}_of", name, code, types=(BOOL,) * len(keys)))
    return Circuit(title, found, often, held)


def _majority(a: Expr, b: Expr, c: Expr) -> Expr:
    return some(both(a, b), both(b, c), both(a, c))


def _differ(a: Expr, b: Expr) -> Expr:
    return fn("ne", a, b)


CIRCUITS: tuple[Circuit, ...] = (
    _circuit(
        "two_of_three",
        agreed=lambda vote_a, vote_b, vote_c: _majority(vote_a, vote_b, vote_c),
        unanimous=lambda vote_a, vote_b, vote_c: both(same(vote_a, vote_b), same(vote_b, vote_c)),
    ),
    _circuit(
        "culling",
        drawn=lambda in_frustum, occluded, enabled: both(in_frustum, enabled, off(occluded)),
        hidden=lambda in_frustum, occluded: both(in_frustum, occluded),
    ),
    _circuit(
        "refinement",
        refine=lambda flagged, neighbor_refined, at_finest: both(
            some(flagged, neighbor_refined), off(at_finest)
        ),
        coarsen=lambda flagged, neighbor_refined: both(off(flagged), off(neighbor_refined)),
    ),
    _circuit(
        "quality",
        usable=lambda in_range, cloudy, saturated: both(in_range, off(some(cloudy, saturated))),
        suspect=lambda in_range, saturated: both(in_range, saturated),
    ),
    _circuit(
        "packet_filter",
        accepted=lambda established, opens, port_allowed, blocked: both(
            some(established, both(opens, port_allowed)), off(blocked)
        ),
        logged=lambda opens, blocked: both(opens, blocked),
    ),
    _circuit(
        "trading_halt",
        order_allowed=lambda market_open, halted, reduces_position: both(
            market_open, some(off(halted), reduces_position)
        ),
    ),
    _circuit(
        "latch",
        held="stored",
        next_stored=lambda set_in, reset_in, stored: some(set_in, both(stored, off(reset_in))),
        conflict=lambda set_in, reset_in: both(set_in, reset_in),
    ),
    _circuit(
        "alarm",
        often=False,
        siren=lambda armed, door, motion, bypass: both(armed, some(door, motion), off(bypass)),
        warning=lambda door, motion: some(door, motion),
    ),
    _circuit(
        "interlock",
        often=False,
        held="running",
        motor_on=lambda start, door_closed, fault, running: both(
            some(start, running), door_closed, off(fault)
        ),
        blocked=lambda start, door_closed, fault: both(start, some(off(door_closed), fault)),
    ),
    _circuit(
        "pump",
        often=False,
        held="pumping",
        pump_on=lambda low_level, high_level, dry, pumping: both(
            off(dry), off(high_level), some(low_level, pumping)
        ),
        sensor_error=lambda low_level, high_level: both(low_level, high_level),
    ),
    _circuit(
        "arbiter",
        often=False,
        grant_low=lambda request_high, request_mid, request_low: both(
            request_low, off(request_high), off(request_mid)
        ),
        grant_mid=lambda request_high, request_mid: both(request_mid, off(request_high)),
    ),
    _circuit(
        "collision_mask",
        often=False,
        simulated=lambda moving, visible, frozen: both(moving, visible, off(frozen)),
        asleep=lambda moving, frozen: some(frozen, off(moving)),
    ),
)


@idiom(depth=3)
@with_struct
def logic_gates(k: KernelBuilder, level: int) -> Title:
    """Truth values: votes, masks, filters, latches, interlocks and alarms."""
    shape = k.draw.shape
    if level >= 3 and shape.chance((0.3, 0.6, 0.8)[level - 3]):
        return _sequence(k, level)
    circuit, type_ = shape.choice(CIRCUITS), flag_type(k)
    s = launch(k, list=2, grid=1)
    wanted = circuit.outputs
    if level == 1 or (level == 2 and shape.chance(0.4)):
        wanted = wanted[:1]
    arrays = {key: s.array(key, type_, 0, 1) for key in keys_of(wanted)}
    outs = [s.out(formula.outs, type_) for formula in wanted]
    edge = Also(s, 0.15 * level if circuit.held or circuit.title == "alarm" else 0.0, "edge change")
    note = ""
    if level >= 2 and circuit.often and shape.chance(0.1):
        enable = s.read("enable powered", type_, 0, 1)
        none = [(out, False if type_ == BOOL else 0) for out in outs]
        leave(s, off(is_set(enable)), *none, (edge, 0))
        note = f" Where {say(k, enable)} is not set, all outputs are zero."
    bits = {key: is_set(array[s.at]) for key, array in arrays.items()}
    if level >= 2 or shape.chance(0.5):
        called = k.draw.word.choice(("is_{}", "{}_on", "{}_bit"))
        bits = {key: k.let(called.format(key), bit) for key, bit in bits.items()}
    done, values = [], []
    branched = shape.chance(0.35)
    for formula, out in zip(wanted, outs, strict=True):
        value = evaluated(k, 0.8 * BY_LEVEL[level], formula, bits)
        value = k.let(f"{formula.outs}_now", value) if edge else value
        _put(s, out, value, type_, branched)
        values.append(value)
        done.append(f"{out.name} is {formula.said({key: key for key in formula.keys})}")
    note += _events(s, edge, values[0], outs[0].name)
    name = circuit.title
    title = k.name(f"{name}_logic evaluate_{name} {name}_flags")
    numbers = "" if type_ == BOOL else " (flags are 0 or 1)"
    done_text = "; ".join(done)
    return Title(
        title, f"Evaluate the {circuit.what} for each element{numbers}: {done_text}.{note}"
    )


def _sequence(k: KernelBuilder, level: int) -> Title:
    """A circuit that holds a state, stepped along the rows of its inputs."""
    shape = k.draw.shape
    circuit, type_ = shape.choice([c for c in CIRCUITS if c.held]), flag_type(k)
    rule, *others = circuit.outputs
    s = over(k, "units", (k.draw.word.choice(("i", "unit", "u")),), ((24, 36),))
    k.size("steps", 8, 14)
    keys = [key for key in rule.keys if key != circuit.held]
    arrays = {key: s.array(key, type_, 0, 1, more="steps") for key in keys}
    count = k.size_param("num_steps num_samples", "steps")
    trace = s.array(f"{circuit.held}_trace", type_, more="steps", role="out")
    starts = Also(s, 0.5, "num_starts switch_ons")
    faults = Also(s, 0.4 + 0.1 * level, f"{others[0].outs}_count")
    starts.start("started ons")
    faults.start("hits tally")
    first = s.read(f"initial_{circuit.held}", type_, 0, 1) if shape.chance(0.5) else None
    state = k.let(circuit.held, k.lift(False, BOOL) if first is None else is_set(first))
    said = {key: key for key in rule.keys}
    with k.for_("t step", count) as t:
        bits: dict[str, Expr] = {key: is_set(a[s.index(t)]) for key, a in arrays.items()}
        bits = {key: k.let(f"{key}_now", bit) for key, bit in bits.items()}
        if faults:
            with k.if_(evaluated(k, 0.3 * BY_LEVEL[level], others[0], bits)):
                faults.add()
        bits[circuit.held] = state
        after = k.let("after next_state", evaluated(k, 0.8 * BY_LEVEL[level], rule, bits))
        if starts:
            with k.if_(both(after, off(state))):
                starts.add()
        k.assign(state, after)
        k.store(trace, s.index(t), as_flag(state, type_))
    begin = "unset" if first is None else say(k, first)
    done = f"Step the {circuit.what} along each row of {listed(list(arrays))}: {circuit.held} "
    done += f"begins {begin}, becomes {rule.said(said)} at each step, and is stored in "
    done += f"{trace.name} there."
    done += starts.told(f"how often {circuit.held} became set")
    text = others[0].said({key: key for key in others[0].keys})
    done += faults.told(f"the number of steps with {text}")
    name = circuit.title
    return Title(k.name(f"run_{name} {name}_steps simulate_{name}"), done)


def _put(s: Site, out: Var, value: Expr, type_: Scalar, branched: bool) -> None:
    """Store a truth value: as it is, or as a number, converted or by a branch."""
    if type_ == BOOL or not branched:
        s.k.store(out, s.at, as_flag(value, type_))
        return
    with s.k.if_(value):
        s.k.store(out, s.at, 1)
    with s.k.else_():
        s.k.store(out, s.at, 0)


def _events(s: Site, edge: Also, value: Expr, name: str) -> str:
    """Whether an output has changed."""
    k, done = s.k, ""
    if edge:
        previous = s.read("previous last_state", edge.type, 0, 1)
        was = k.let("was before", fn("ne", previous, 0))
        edge.start("rise change")
        fell = (both(was, off(value)), (edge.value, -1))
        branch(k, (both(value, off(was)), (edge.value, 1)), fell)
        text = f"1 where {name} is set and {say(k, previous)} was not, -1 in the opposite case"
        done += edge.told(f"{text}, else 0")
    return done

"""Truth values: votes, adders, multiplexers, latches, interlocks and alarms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import as_flag, flag_type, function_of, is_set
from generators.control_flow.params import with_struct
from generators.program.dtypes import BOOL, INT32, Array, Scalar
from generators.program.expr import Expr, Op, Var, op

Gate = Callable[..., Expr]


@dataclass(frozen=True)
class Circuit:
    """Inputs, and what outputs get of them: their name, in words, and as a formula."""

    title: str
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, str, Gate], ...]
    """The first reads all inputs, and so does each whose text names them together."""

    @property
    def often(self) -> bool:
        """Whether its outputs are set often enough to be switched off now and then."""
        return len(self.inputs) < 4 and self.title not in ("arbiter", "collision_mask")


def both(*parts: Expr) -> Expr:
    value = parts[0]
    for part in parts[1:]:
        value = op("and", value, part)
    return value


def _or(*parts: Expr) -> Expr:
    value = parts[0]
    for part in parts[1:]:
        value = op("or", value, part)
    return value


def inverted(value: Expr) -> Expr:
    """A truth value inverted, a comparison with zero turned round."""
    if isinstance(value, Op) and value.op == "ne":
        return op("eq", *value.args)
    return op("not", value)


def _majority(a: Expr, b: Expr, c: Expr) -> Expr:
    return _or(both(a, b), both(b, c), both(a, c))


def _parity(*parts: Expr) -> Expr:
    value = parts[0]
    for part in parts[1:]:
        value = fn("ne", value, part)
    return value


CIRCUITS: tuple[Circuit, ...] = (
    Circuit(
        "two_of_three",
        ("vote_a", "vote_b", "vote_c"),
        (
            ("agreed", "whether at least two of {} are set", _majority),
            (
                "unanimous",
                "whether {} are all equal",
                lambda a, b, c: both(fn("eq", a, b), fn("eq", b, c)),
            ),
        ),
    ),
    Circuit(
        "full_adder",
        ("bit_a", "bit_b", "carry_in"),
        (
            ("sum_bit", "whether an odd number of {} is set", _parity),
            ("carry_out", "whether at least two of {} are set", _majority),
        ),
    ),
    Circuit(
        "half_adder",
        ("bit_a", "bit_b"),
        (
            ("sum_bit", "whether exactly one of {} is set", _parity),
            ("carry_out", "whether both of {} are set", both),
        ),
    ),
    Circuit(
        "multiplexer",
        ("choose", "first", "second"),
        (
            (
                "chosen",
                "{1} where {0} is set, else {2}",
                lambda s, a, b: _or(both(s, a), both(inverted(s), b)),
            ),
            ("differ", "whether {1} and {2} differ", lambda s, a, b: fn("ne", a, b)),
        ),
    ),
    Circuit(
        "latch",
        ("set_in", "reset_in", "stored"),
        (
            (
                "next_stored",
                "whether {0} is set, or {2} is and {1} is not",
                lambda s, r, q: _or(s, both(q, inverted(r))),
            ),
            ("conflict", "whether {0} and {1} are both set", lambda s, r, q: both(s, r)),
        ),
    ),
    Circuit(
        "alarm",
        ("armed", "door", "motion", "bypass"),
        (
            (
                "siren",
                "whether {0} is set, {1} or {2} is, and {3} is not",
                lambda a, d, m, b: both(a, _or(d, m), inverted(b)),
            ),
            ("warning", "whether {1} or {2} is set", lambda a, d, m, b: _or(d, m)),
        ),
    ),
    Circuit(
        "interlock",
        ("start", "door_closed", "fault", "running"),
        (
            (
                "motor_on",
                "whether {0} or {3} is set, {1} is, and {2} is not",
                lambda s, d, f, r: both(_or(s, r), d, inverted(f)),
            ),
            (
                "blocked",
                "whether {0} is set, but {1} is not or {2} is",
                lambda s, d, f, r: both(s, _or(inverted(d), f)),
            ),
        ),
    ),
    Circuit(
        "pump",
        ("low_level", "high_level", "dry", "pumping"),
        (
            (
                "pump_on",
                "whether {2} is not set, {1} is not, and {0} or {3} is",
                lambda lo, hi, d, p: both(inverted(d), inverted(hi), _or(lo, p)),
            ),
            ("sensor_error", "whether {0} and {1} are both set", lambda lo, hi, d, p: both(lo, hi)),
        ),
    ),
    Circuit(
        "arbiter",
        ("request_a", "request_b", "request_c"),
        (
            (
                "grant_c",
                "whether {2} is set and neither {0} nor {1} is",
                lambda a, b, c: both(c, inverted(a), inverted(b)),
            ),
            ("grant_b", "whether {1} is set and {0} is not", lambda a, b, c: both(b, inverted(a))),
        ),
    ),
    Circuit(
        "collision_mask",
        ("moving", "visible", "frozen"),
        (
            (
                "simulated",
                "whether {0} and {1} are set and {2} is not",
                lambda m, v, f: both(m, v, inverted(f)),
            ),
            ("asleep", "whether {2} is set or {0} is not", lambda m, v, f: _or(f, inverted(m))),
        ),
    ),
)


@idiom
@with_struct
def logic_gates(k: KernelBuilder, level: int) -> Title:
    """Truth values: votes, adders, multiplexers, latches, interlocks and alarms."""
    shape = k.draw.shape
    circuit, type_ = shape.choice(CIRCUITS), flag_type(k)
    two = shape.chance(0.35)
    dims = (k.size("banks", 6, 8), k.size("lines", 8, 10)) if two else (k.size("n", 64, 90),)
    arrays = {n: k.array(n, type_, dims, low=0, high=1) for n in circuit.inputs}
    wanted = list(circuit.outputs)
    if level == 1 or (level == 2 and shape.chance(0.4)):
        wanted = [shape.choice([o for o in wanted if o is wanted[0] or "{}" in o[1]])]
    outs = [k.out(name, type_, dims) for name, _, _ in wanted]
    enabled = level >= 2 and circuit.often and shape.chance(0.25 + 0.1 * level)
    enable = k.array(("enable", "powered"), type_, dims, low=0, high=1) if enabled else None
    events = _Events(k, level, dims)
    place = k.thread(*dims, names=("i", "j") if two else (k.name("i", "tid"),))
    note = ""
    if enable is not None:
        with k.if_(inverted(is_set(enable[place]))):
            for out in (*outs, *events.outs):
                k.store(out, place, 0 if type_ != BOOL or out in events.outs else False)
            k.return_()
        note = f" Where {enable.name} is not set, all outputs are zero."
    bits = _bits(k, level, arrays, place)
    done, values = [], []
    for (name, text, gate), out in zip(wanted, outs, strict=True):
        value = _gate(k, level, name, gate, bits)
        if events.outs:
            value = k.let((f"{name}_now", "state"), value)
        _put(k, out, place, value)
        values.append(value)
        done.append(f"{out.name} gets {_filled(text, circuit.inputs)}")
    done += events.stored(place, bits, values[0], outs[0].name)
    title = k.name(f"{circuit.title}_gate", f"{circuit.title}_logic", f"evaluate_{circuit.title}")
    return Title(title, f"Truth values per element: {'; '.join(done)}.{note}")


def _filled(text: str, names: tuple[str, ...]) -> str:
    """A text with the inputs' names, one by one or all together."""
    if "{}" in text:
        return text.format(f"{', '.join(names[:-1])} and {names[-1]}")
    return text.format(*names)


def _bits(
    k: KernelBuilder, level: int, arrays: dict[str, Var], place: tuple[Var, ...]
) -> list[Expr]:
    named = level >= 2 or k.draw.shape.chance(0.5)
    bits = []
    for name, array in arrays.items():
        bit = is_set(array[place])
        bits.append(k.let((f"is_{name}", f"{name}_on"), bit) if named else bit)
    return bits


def _gate(k: KernelBuilder, level: int, name: str, gate: Gate, bits: list[Expr]) -> Expr:
    """A formula, in a function or written out."""
    params = [(letter, BOOL) for letter in "pqrs"[: len(bits)]]

    def build(_: BodyBuilder, *values: Expr) -> Expr:
        return gate(*values)

    return function_of(k, level, (f"{name}_of", f"is_{name}"), params, build, 0.5)(*bits)


def _put(k: KernelBuilder, out: Var, place: tuple[Var, ...], value: Expr) -> None:
    """Store a truth value: converted, or by a branch."""
    assert isinstance(out.type, Array)
    type_ = out.type.element
    assert isinstance(type_, Scalar)
    if k.draw.shape.chance(0.65):
        k.store(out, place, as_flag(value, type_))
        return
    with k.if_(value):
        k.store(out, place, True if type_ == BOOL else 1)
    with k.else_():
        k.store(out, place, False if type_ == BOOL else 0)


class _Events:
    """At higher levels: how many inputs are set, and whether an output has changed."""

    def __init__(self, k: KernelBuilder, level: int, dims: tuple[str, ...]) -> None:
        shape = k.draw.shape
        self.k, self.count, self.changed = k, None, None
        if level >= 4 or (level == 3 and shape.chance(0.4)):
            self.count = k.out(("num_set", "active_inputs"), INT32, dims)
        if level == 5 or (level == 4 and shape.chance(0.5)):
            self.before = k.array(("previous", "last_state"), INT32, dims, low=0, high=1)
            self.changed = k.out(("edge", "transition"), INT32, dims)

    @property
    def outs(self) -> list[Var]:
        return [out for out in (self.count, self.changed) if out is not None]

    def stored(self, place: tuple[Var, ...], bits: list[Expr], value: Expr, name: str) -> list[str]:
        k, done = self.k, []
        if self.count is not None:
            total = k.let(("total", "set_count"), k.lift(0, INT32))
            for bit in bits:
                with k.if_(bit):
                    k.augment(total, "add", 1)
            k.store(self.count, place, total)
            done.append(f"{self.count.name} gets how many inputs are set")
        if self.changed is not None:
            was = k.let(("was", "before"), fn("ne", self.before[place], 0))
            edge = k.let(("rise", "change"), k.lift(0, INT32))
            with k.if_(both(value, op("not", was))):
                k.assign(edge, 1)
            with k.elif_(both(was, op("not", value))):
                k.assign(edge, -1)
            k.store(self.changed, place, edge)
            done.append(
                f"{self.changed.name} gets 1 where {name} is set and {self.before.name} was not, "
                "-1 in the opposite case, else 0"
            )
        return done

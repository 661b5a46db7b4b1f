"""Circuits of truth values: what they read, and what their outputs are of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import fn
from generators.program.expr import Expr, Op, op

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

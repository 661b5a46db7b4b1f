"""Quantum gates on state vectors: pairs and quadruples of amplitudes found by bits of an index."""

from __future__ import annotations

from generators.arithmetic.common import ROOT_HALF
from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, sin
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var

Value = tuple[Expr, Expr]
VEC2 = Vec(2, FLOAT32)
_THREADS = {1: "num_amps", 2: "num_pairs", 4: "num_quads"}


def times(a: Value, b: Value) -> Value:
    """A complex product."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


class State:
    """Amplitudes as two arrays or as pairs, one state or a batch, of which a thread has ``per``."""

    def __init__(self, k: KernelBuilder, level: int, per: int, in_place: bool = True) -> None:
        shape = k.draw.shape
        self.k = k
        several = level > 2 and shape.chance(0.2 * level - 0.3)
        dims = (k.size("batch", 2, 3),) if several else ()
        self.qubits = 3 if several and per == 1 else 4
        """As many at least; the sizes are multiples, so that gates act within whole groups."""
        step = 2**self.qubits // per
        span = (16, 16) if several else (32 // per, 96 // per)
        size = k.size(_THREADS[per], *span, step, step)
        names = (k.name("b state_id"),) if several else ()
        *lead, self.thread = k.thread(
            *dims, size, names=(*names, k.name("i idx" if per == 1 else "p t tid"))
        )
        self.lead = tuple(lead)
        self.batch = dims
        self.pairs = shape.chance(0.45)
        self.whole = (*dims, size if per == 1 else f"{per}*{size}")
        stem = k.draw.word.choice(("psi", "state", "amps"))
        self.source = self._arrays(stem, "inout" if in_place else "in")
        self.target = self.source if in_place else self._arrays(f"{stem}_out", "out")

    def _arrays(self, stem: str, role: str) -> tuple[Var, ...]:
        low, high = (None, None) if role == "out" else (-1.0, 1.0)
        if self.pairs:
            names, element = (stem,), VEC2
            return tuple(
                self.k.array(n, element, self.whole, role=role, low=low, high=high) for n in names
            )
        return tuple(
            self.k.array(f"{stem}_{part}", FLOAT32, self.whole, role=role, low=low, high=high)
            for part in ("re", "im")
        )

    @property
    def name(self) -> str:
        return " and ".join(a.name for a in self.source)

    @property
    def stored(self) -> str:
        """What a description ends with: the layout, and where the result goes."""
        said = "holds them as (re, im)" if self.pairs else "hold their real and imaginary parts"
        text = f" Bit q of an amplitude's index is qubit q; {self.name} {said}"
        if self.target is self.source:
            return f"{text} and {'is' if self.pairs else 'are'} changed in place."
        return f"{text}. Store the new state in {' and '.join(a.name for a in self.target)}."

    def read(self, at: Expr, name: str) -> Value:
        k = self.k
        if self.pairs:
            value = k.let(name, self.source[0][self.lead + (at,)])
            return value[0], value[1]
        return (
            k.let(f"{name}_re", self.source[0][self.lead + (at,)]),
            k.let(f"{name}_im", self.source[1][self.lead + (at,)]),
        )

    def put(self, at: Expr, value: Value) -> None:
        if self.pairs:
            self.k.store(self.target[0], (*self.lead, at), make(VEC2, *value))
            return
        for array, part in zip(self.target, value, strict=True):
            self.k.store(array, (*self.lead, at), part)

    def angle(self, names: str) -> tuple[Expr, str]:
        """An angle of all states, or of each state of a batch; in words."""
        k = self.k
        if self.batch and k.draw.shape.chance(0.6):
            many = k.array(f"{names.split()[0]}s", FLOAT32, self.batch, low=0.3, high=2.8)
            return k.let(names, many[self.lead]), f"{many.name}[{self.lead[0].name}]"
        one = k.scalar(names, FLOAT32, 0.3, 2.8)
        return one, one.name

    def halves(self, names: str = "theta") -> tuple[Expr, Expr, str]:
        """Cosine and sine of half an angle; the angle in words."""
        theta, said = self.angle(names)
        half = self.k.let("half_angle half_theta", 0.5 * theta)
        return self.k.let("c cos_half", cos(half)), self.k.let("s sin_half", sin(half)), said


def spread(k: KernelBuilder, index: Expr, bit: Expr, names: str) -> Expr:
    """An index with a zero put in at a bit: what lies above moves up by one."""
    if k.draw.shape.chance(0.5):
        low = k.let("low low_bits", index & ((k.lift(1, INT32) << bit) - 1))
        return k.let(names, ((index - low) << k.lift(1, INT32)) + low)
    high = k.let("high high_bits", index >> bit)
    return k.let(names, (high << (bit + 1)) | (index & ((k.lift(1, INT32) << bit) - 1)))


_ONE = {
    "x": ("Pauli X gate", "(a1, a0)"),
    "h": ("Hadamard gate", "((a0 + a1) / sqrt(2), (a0 - a1) / sqrt(2))"),
    "z": ("phase gate", "(a0, exp(i {0}) * a1)"),
    "rx": ("rotation exp(-i * {0} * X / 2)", "(c * a0 - i * s * a1, c * a1 - i * s * a0)"),
    "ry": ("rotation exp(-i * {0} * Y / 2)", "(c * a0 - s * a1, s * a0 + c * a1)"),
    "rz": ("rotation exp(-i * {0} * Z / 2)", "((c - i * s) * a0, (c + i * s) * a1)"),
    "u": ("2x2 gate u", "(u00 * a0 + u01 * a1, u10 * a0 + u11 * a1)"),
}
"""Of each gate its name, and what becomes of a pair of amplitudes."""


def _gate(s: State, kind: str, places: tuple[Expr, Expr]) -> tuple[str, str]:
    """Apply a gate to the amplitudes at two places; its name, and what it does in words."""
    k, said, more = s.k, "", ""
    name, pair = _ONE[kind]
    if kind == "z":
        phi, said = s.angle("phi phase")
        turn = (k.let("c cos_phi", cos(phi)), k.let("sn sin_phi", sin(phi)))
        s.put(places[1], times(s.read(places[1], "a1"), turn))
        return name, pair.format(said)
    if kind == "u":
        new, more = _by_matrix(s, places)
    elif kind[0] == "r":
        c, sn, said = s.halves()
        more = f", c and s being the cosine and sine of {said} / 2"
        new = turned(kind, (c, sn), s.read(places[0], "a0"), s.read(places[1], "a1"))
    else:
        (ar, ai), (br, bi) = s.read(places[0], "a0"), s.read(places[1], "a1")
        r = k.lift(ROOT_HALF, FLOAT32)
        new = ((br, bi), (ar, ai))
        if kind == "h":
            new = ((r * (ar + br), r * (ai + bi)), (r * (ar - br), r * (ai - bi)))
    for place, value in zip(places, new, strict=True):
        s.put(place, value)
    return name.format(said), f"{pair}{more}"


def turned(kind: str, by: Value, a: Value, b: Value) -> tuple[Value, Value]:
    """A pair after a rotation about an axis by an angle; ``by`` is (cos, sin) of half of it."""
    (c, s), (ar, ai), (br, bi) = by, a, b
    if kind == "rx":
        return (c * ar + s * bi, c * ai - s * br), (c * br + s * ai, c * bi - s * ar)
    if kind == "ry":
        return (c * ar - s * br, c * ai - s * bi), (s * ar + c * br, s * ai + c * bi)
    return (c * ar + s * ai, c * ai - s * ar), (c * br - s * bi, c * bi + s * br)


def _by_matrix(s: State, places: tuple[Expr, Expr]) -> tuple[tuple[Value, Value], str]:
    """A pair times a complex matrix, one for all states or one for each of a batch."""
    k = s.k
    many = bool(s.batch) and k.draw.shape.chance(0.5)
    table = k.array(
        "gates" if many else "gate", VEC2, (*s.batch, "4") if many else "4", low=-1.0, high=1.0
    )
    lead = s.lead if many else ()
    a, b = s.read(places[0], "a0"), s.read(places[1], "a1")
    u = [k.let(f"u{n // 2}{n % 2}", table[lead + (k.lift(n, INT32),)]) for n in range(4)]
    new = []
    for n in (0, 2):
        (pr, pi), (qr, qi) = (
            times((u[n + m][0], u[n + m][1]), value) for m, value in enumerate((a, b))
        )
        new.append((pr + qr, pi + qi))
    row = f"{table.name}[{s.lead[0].name}]" if many else table.name
    return (new[0], new[1]), f", {row} holding u00, u01, u10 and u11 as (re, im)"


def _pair_of(s: State, target: Var, control: str, ranges: tuple[int, int]) -> tuple[Expr, str]:
    """The index of a thread's amplitude whose target bit is 0; the condition of the controls."""
    k = s.k
    if control == "none":
        return spread(k, s.thread, target, "i0 idx0"), ""
    if control == "mask":
        mask = k.scalar("ctrl_mask control_mask", INT32, 1, 3)
        first = spread(k, s.thread, target, "i0 idx0")
        with k.if_(fn("ne", first & mask, mask)):
            k.return_()
        return first, f" where all bits of {mask.name} (which lacks that of {target.name}) are set"
    c = k.scalar("control control_qubit", INT32, *ranges)
    if control == "test":
        first = spread(k, s.thread, target, "i0 idx0")
        with k.if_(fn("eq", (first >> c) & 1, 0)):
            k.return_()
        return first, f" where bit {c.name} (not the same as {target.name}) is set"
    near, far = (c, target) if ranges == (0, 1) else (target, c)
    wide = spread(k, spread(k, s.thread, near, "mid_index"), far, "base")
    first = k.let("i0 idx0", wide | (k.lift(1, INT32) << c))
    said = f" where bit {c.name} ({'below' if near is c else 'above'} {target.name}) is set"
    return first, f"{said}, one such pair a thread,"


@idiom(depth=4)
def one_qubit_gate(k: KernelBuilder, level: int) -> Title:
    """A gate on one qubit of a state vector, from level 3 on with control qubits."""
    shape = k.draw.shape
    simple = {"x": 2, "h": 3, "z": 2, "ry": 2}
    kind = shape.weighted(simple if level == 1 else {**simple, "x": 1, "rx": 3, "rz": 2, "u": 4})
    control = "none"
    if level > 2:
        control = shape.weighted({"none": 4 - level, "test": 2, "insert": 3, "mask": level - 2})
    s = State(k, level, 4 if control == "insert" else 2)
    low, high = (0, 1), (2, 3)
    if control != "mask" and shape.chance(0.5):
        low, high = high, low
    target = k.scalar("target target_qubit", INT32, *((0, 3) if control == "none" else high))
    first, who = _pair_of(s, target, control, low)
    second = k.let("i1 idx1", first | (k.lift(1, INT32) << target))
    name, what = _gate(s, kind, (first, second))
    text = f"Apply the {name}{' under control' if who else ''} to qubit {target.name}: replace "
    text += f"each pair (a0, a1) of amplitudes whose indices differ in bit {target.name} alone{who}"
    text += f" by {what}.{s.stored}"
    names = "controlled_gate apply_controlled" if who else "apply_gate one_qubit_gate"
    return Title(k.name(names), text)

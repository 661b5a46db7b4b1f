"""Steps of parallel scans: Hillis and Steele, Blelloch, offsets of blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, extent, make
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, where
from generators.kit.naming import maybe
from generators.program.dtypes import INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Operand, Var, op


@dataclass(frozen=True)
class Monoid:
    """What is scanned: the type of an element, how two of them join, and the neutral element."""

    key: str
    type: Type
    join: Callable[[Expr, Expr], Expr]
    neutral: Callable[[KernelBuilder], Expr]
    low: float
    high: float
    said: str


def _affine(first: Expr, then: Expr) -> Expr:
    """The map a x + b of two maps, one after the other."""
    vec = first.type
    return make(vec, then[0] * first[0], then[0] * first[1] + then[1])


def monoid(k: KernelBuilder, level: int, exclusive: bool = False) -> Monoid:
    """A sum, an extreme, a product, bits, composed maps: harder ones at higher levels."""
    weights = {
        "sum": 4,
        "count": 3,
        "max": 2 * (not exclusive),
        "min": 1 * (not exclusive),
        "bits": level > 1,
    }
    weights |= {"affine": 2 * (level > 2), "product": 1, "vector": level > 1}
    return _described(k, weights)


def _described(k: KernelBuilder, weights: dict[str, int]) -> Monoid:
    """The one drawn of these, by weight."""
    way = k.draw.shape.weighted({w: int(n) for w, n in weights.items() if n})
    real = k.draw.wide_float_type()
    pair = Vec(2, real)
    number = lambda type_, value: lambda b: b.lift(value, type_)  # noqa: E731
    add = lambda a, b: a + b  # noqa: E731
    unsigned = Scalar("uint32")
    found = {
        "sum": (real, add, number(real, 0.0), -1.0, 1.0, "sums"),
        "count": (INT32, add, number(INT32, 0), 0, 9, "sums"),
        "max": (real, most, number(real, -1.0e30), -5.0, 5.0, "maxima"),
        "min": (real, least, number(real, 1.0e30), -5.0, 5.0, "minima"),
        "product": (real, lambda a, b: a * b, number(real, 1.0), 0.8, 1.2, "products"),
        "bits": (unsigned, lambda a, b: a | b, number(unsigned, 0), 0, 2**16, "bitwise ors"),
        "vector": (
            Vec(3, real),
            add,
            lambda b: make(Vec(3, real), b.lift(0.0, real)),
            -1.0,
            1.0,
            "sums",
        ),
        "affine": (
            pair,
            _affine,
            lambda b: make(pair, b.lift(1.0, real), b.lift(0.0, real)),
            0.3,
            1.1,
            "compositions of the maps x -> a * x + b, given as (a, b) with the earlier map first,",
        ),
    }[way]
    return Monoid(way, *found)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Lines:
    """One line of elements, or several; ``at`` of a place gives the index of it."""

    k: KernelBuilder
    lead: tuple[Var, ...]
    dims: tuple[str, ...]
    last: bool
    """Whether the place is the last index."""

    def shape(self, length: str) -> tuple[str, ...]:
        return (*self.dims, length) if self.last else (length, *self.dims)

    def at(self, place: Operand) -> tuple[Operand, ...]:
        return (*self.lead, place) if self.last else (place, *self.lead)

    @property
    def axis(self) -> int:
        return len(self.dims) if self.last else 0


def _lines(k: KernelBuilder, level: int, length: str, share: float) -> tuple[_Lines, Var]:
    """A launch with a thread for each of ``length`` places of each line, and its place."""
    shape = k.draw.shape
    several = shape.chance(share)
    place = k.name("i tid idx")
    if not several:
        (i,) = k.thread(length, names=(place,))
        return _Lines(k, (), (), True), i
    k.size("rows", 3, 5)
    last = shape.chance(0.7)
    row = k.name("row r line")
    if last:
        r, i = k.thread("rows", length, names=(row, place))
    else:
        i, r = k.thread(length, "rows", names=(place, row))
    return _Lines(k, (r,), ("rows",), last), i


def _stride(k: KernelBuilder, shortest: int, longest: int) -> tuple[Expr, str]:
    """The distance of a step: a parameter, or a power of two of the number of the step."""
    if k.draw.shape.chance(0.6):
        stride = k.scalar("stride offset dist", INT32, shortest, longest)
        return stride, stride.name
    step = k.scalar(
        "level step pass_index", INT32, shortest.bit_length() - 1, longest.bit_length() - 1
    )
    return k.let("stride offset dist", k.lift(1, INT32) << step), f"2^{step.name}"


@idiom
def hillis_steele_step(k: KernelBuilder, level: int) -> Title:
    """One pass of an inclusive scan: each element joined with the one a stride before it."""
    shape = k.draw.shape
    m = monoid(k, level)
    k.size("n", *((24, 40) if level > 1 else (32, 60)))
    lines, i = _lines(k, level, "n", 0.15 + 0.08 * level)
    segmented = level > 1 and shape.chance(0.2 + 0.1 * level)
    source = k.array("src values scan_in", m.type, lines.shape("n"), low=m.low, high=m.high)
    flags = flags_out = None
    if segmented:
        flags = k.array("heads flags starts", INT32, lines.shape("n"), low=0, high=1)
    stride, far = _stride(k, 1, 8)
    out = k.out("dst scan_out values_next", m.type, lines.shape("n"))
    if flags is not None:
        flags_out = k.out("heads_out flags_next starts_next", INT32, lines.shape("n"))
    here, before = lines.at(i), lines.at(i - stride)
    backward = not segmented and m.key != "affine" and shape.chance(0.2)
    count: Expr = extent(source, lines.axis)
    if backward:
        count = count if shape.chance(0.5) else k.size_param("n num_elements", "n")
        before = lines.at(i + stride)
        inside = i + stride < count
    else:
        inside = i >= stride
    name = k.let("value x acc", source[here]) if shape.chance(0.7) else None
    if flags is None:
        _join_pass(k, m, source, out, here, before, inside, name)
    else:
        _join_segment(k, m, (source, flags), (out, flags_out), here, before, inside, name)  # type: ignore[arg-type]
    beside = "behind" if backward else "before"
    text = f"One pass of a {'suffix' if backward else 'Hillis-Steele'} scan "
    text += f"of {m.said.rstrip(',')}: each element of {source.name} is joined with the one {far} "
    text += f"places {beside} it, where there is one, into {out.name}."
    if flags is not None and flags_out is not None:
        text += f" Segments: {flags.name} is 1 where one begins, else 0; such an element is not "
        text += f"joined, and {flags_out.name} gets 1 where either place's {flags.name} is 1."
    return Title(k.name("hillis_steele_step scan_pass", "inclusive_scan_step"), text)


def _join_pass(
    k: KernelBuilder,
    m: Monoid,
    source: Var,
    out: Var,
    here: tuple[Operand, ...],
    before: tuple[Operand, ...],
    inside: Expr,
    name: Var | None,
) -> None:
    value: Expr = source[here] if name is None else name
    way = k.draw.shape.choice(("if", "else", "early"))
    if way == "if" and name is not None:
        with k.if_(inside):
            k.assign(name, m.join(source[before], name))
        k.store(out, here, name)
    elif way == "early":
        with k.if_(_not(inside)):
            k.store(out, here, value)
            k.return_()
        k.store(out, here, m.join(source[before], value))
    else:
        with k.if_(inside):
            k.store(out, here, m.join(source[before], value))
        with k.else_():
            k.store(out, here, value)


def _not(test: Expr) -> Expr:
    """The opposite of a comparison."""
    assert hasattr(test, "op")
    opposite = {"ge": "lt", "lt": "ge", "gt": "le", "le": "gt"}[test.op]
    return op(opposite, *test.args)  # type: ignore[attr-defined]


def _join_segment(
    k: KernelBuilder,
    m: Monoid,
    given: tuple[Var, Var],
    outs: tuple[Var, Var],
    here: tuple[Operand, ...],
    before: tuple[Operand, ...],
    inside: Expr,
    name: Var | None,
) -> None:
    source, flags = given
    value = k.let("value x acc", source[here]) if name is None else name
    head = k.let("head flag f", flags[here])
    with k.if_(inside):
        if k.draw.shape.chance(0.5):
            with k.if_(op("eq", head, k.lift(0, INT32))):
                k.assign(value, m.join(source[before], value))
        else:
            joined = m.join(source[before], value)
            k.assign(value, where(op("eq", head, k.lift(0, INT32)), joined, value))
        k.assign(
            head, head | flags[before] if k.draw.shape.chance(0.5) else most(head, flags[before])
        )
    k.store(outs[0], here, value)
    k.store(outs[1], here, head)


@idiom
def blelloch_sweep(k: KernelBuilder, level: int) -> Title:
    """One step of the up-sweep or the down-sweep of a work-efficient scan, in place."""
    shape = k.draw.shape
    m = monoid(k, level, exclusive=True)
    k.size("pairs", 8, 12)
    lines, i = _lines(k, level, "pairs", 0.2 + 0.1 * level)
    guarded = shape.chance(0.6)
    stride, far = _stride(k, 2, 4) if guarded else _stride(k, 1, 2)
    # Without a test 4 leaves a thread have room for strides of 1 and 2.
    length = "2*pairs" if guarded else "4*pairs"
    shape_of = lines.shape(length)
    data = k.array("data tree buf", m.type, shape_of, role="inout", low=m.low, high=m.high)
    width = k.let("span width step2", 2 * stride) if shape.chance(0.6) else 2 * stride
    first = k.let("base start left_start", width * i) if shape.chance(0.4) else width * i
    low, high = k.draw.word.choice((("left", "right"), ("lo", "hi"), ("ai", "bi")))
    left = k.let(low, first + stride - 1)
    right = k.let(high, left + stride if shape.chance(0.5) else first + width - 1)
    down = shape.chance(0.5)
    if guarded:
        count = (
            extent(data, lines.axis) if shape.chance(0.5) else k.size_param("n num_leaves", length)
        )
        with k.if_(right >= count):
            k.return_()
    a, b = lines.at(left), lines.at(right)
    return _blelloch_sweep_stored(down, k, data, a, b, m, shape, far, guarded)


def _blelloch_sweep_stored(
    down: bool,
    k: KernelBuilder,
    data: Var,
    a: tuple[Expr | bool | int | float, ...],
    b: tuple[Expr | bool | int | float, ...],
    m: Monoid,
    shape: Stream,
    far: str,
    guarded: bool,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    if not down:
        if m.key in ("sum", "count", "vector") and shape.chance(0.6):
            k.store(data, b, data[a], "add")
        else:
            k.store(data, b, m.join(data[a], data[b]))
        text = f"element b of {data.name} becomes the join of elements a and b"
    else:
        kept = k.let("t tmp left_value", data[a])
        passed = maybe(k, "carried parent", data[b])
        k.store(data, a, passed)
        k.store(data, b, m.join(passed, kept))
        text = f"element a of {data.name} becomes element b, b the join of itself and the old a"
    which = "down-sweep" if down else "up-sweep"
    told = (
        f"One step of the {which} of a Blelloch scan of {m.said}, in place: {text}, where thread "
    )
    told += f"i has a = 2 * {far} * i + {far} - 1 and b = a + {far}"
    told += ". Pairs beyond the end are left alone." if guarded else "."
    return Title(k.name(f"blelloch_{which.replace('-', '_')} scan_{which.replace('-', '')}"), told)

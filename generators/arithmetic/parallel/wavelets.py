"""Wavelets by pairs or by lifting, and permutations by reversed bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.common import ROOT_HALF
from generators.build import BodyBuilder, KernelBuilder, cast, extent
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.kit.naming import helper, maybe
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Operand, Var

_UNSIGNED = Scalar("uint32")


@dataclass(frozen=True)
class _Pairs:
    """Lines of 2 * ``half`` samples; a thread has a pair of them, or one coefficient each way."""

    k: KernelBuilder
    type: Scalar
    lead: tuple[Var, ...]
    dims: tuple[str, ...]
    i: Var
    last: bool

    def shape(self, length: str) -> tuple[str, ...]:
        return (*self.dims, length) if self.last else (length, *self.dims)

    def at(self, place: Operand) -> tuple[Operand, ...]:
        return (*self.lead, place) if self.last else (place, *self.lead)

    @property
    def axis(self) -> int:
        return len(self.dims) if self.last else 0

    def array(self, names: str, length: str, role: str = "in") -> Var:
        if role == "out":
            return self.k.out(names, self.type, self.shape(length))
        bounds = {"low": 0, "high": 255} if self.type.is_int else {"low": -1.0, "high": 1.0}
        return self.k.array(names, self.type, self.shape(length), role=role, **bounds)


def _pairs(k: KernelBuilder, level: int, type_: Scalar) -> _Pairs:
    shape = k.draw.shape
    k.size("half", 10, 16)
    lines = shape.weighted({"one": 3, "rows": 2 + level, "columns": 1 + level})
    place = k.name("i tid p")
    if lines == "one":
        (i,) = k.thread("half", names=(place,))
        return _Pairs(k, type_, (), (), i, True)
    k.size("lines", 4, 6)
    line = k.name("row r" if lines == "rows" else "col c")
    if lines == "rows":
        r, i = k.thread("lines", "half", names=(line, place))
        return _Pairs(k, type_, (r,), ("lines",), i, True)
    i, r = k.thread("half", "lines", names=(place, line))
    return _Pairs(k, type_, (r,), ("lines",), i, False)


@idiom
def haar_step(k: KernelBuilder, level: int) -> Title:
    """One level of a Haar or four-tap Daubechies transform, or of its inverse."""
    shape = k.draw.shape
    p = _pairs(k, level, k.draw.wide_float_type())
    back = shape.chance(0.35)
    taps = "haar" if back or level < 2 or shape.chance(0.5) else "daubechies"
    norm = shape.choice(("orthonormal", "mean")) if taps == "haar" else "orthonormal"
    split = shape.chance(0.5)
    if back:
        return _haar_back(k, p, norm, split)
    x = p.array("x signal samples", "2*half")
    low, high = _haar_taps(k, p, x, norm) if taps == "haar" else _four_taps(k, p, x)
    shrunk = ""
    if level > 2 and shape.chance(0.35):
        limit = k.scalar("threshold shrink", p.type, 0.1, 0.5)
        high = k.let("d detail_raw", high)
        high = most(high - limit, 0.0) + least(high + limit, 0.0)
        shrunk = f"; details are soft-thresholded by {limit.name}"
    if split:
        a = p.array("approx low coarse", "half", "out")
        d = p.array("detail high", "half", "out")
        k.store(a, p.at(p.i), low)
        k.store(d, p.at(p.i), high)
        where = f"{a.name} gets the smooth half, {d.name} the details"
    else:
        out = p.array("coeffs out transformed", "2*half", "out")
        half: Expr = k.size_param("half half_len", "half")
        k.store(out, p.at(p.i), low)
        k.store(out, p.at(half + p.i), high)
        where = f"{out.name} gets the smooth half first, then the details"
    text = f"One level of a {taps.capitalize()} wavelet transform{_transformed(x, taps, norm)}"
    names = f"{taps}_step {taps}_analysis"
    return Title(k.name(names, "wavelet_level"), f"{text}{shrunk}. {where}.")


def _transformed(x: Var, taps: str, norm: str) -> str:
    """Of what a transform is, and what it makes of it."""
    if taps == "haar":
        under = "sqrt(2)" if norm == "orthonormal" else "2"
        return f" of the pairs (a, b) of {x.name}: (a + b) / {under} and (a - b) / {under}"
    return (
        f" (4 taps) of {x.name}: the sums of 4 samples from every second one on (the line is "
        f"periodic), with the weights {_listed(_TAPS)} and {_listed(_HIGH_TAPS)}"
    )


def _haar_taps(k: KernelBuilder, p: _Pairs, x: Var, norm: str) -> tuple[Expr, Expr]:
    """Sum and difference of a pair."""
    first: Expr = 2 * p.i
    if k.draw.shape.chance(0.5):
        first = k.let("even left", first)
    a = k.let("a first x0", x[p.at(first)])
    b = k.let("b second x1", x[p.at(first + 1)])
    factor = ROOT_HALF if norm == "orthonormal" else 0.5
    low, high = factor * (a + b), factor * (a - b)
    if norm == "mean" and k.draw.shape.chance(0.4):
        mean = k.let("mean avg", low)
        return mean, (a - mean)
    return maybe(k, "s smooth", low), maybe(k, "d detail_value", high)


_TAPS = (0.4829629131445341, 0.8365163037378079, 0.2241438680420134, -0.1294095225512604)
_HIGH_TAPS = (_TAPS[3], -_TAPS[2], _TAPS[1], -_TAPS[0])


def _listed(taps: tuple[float, ...]) -> str:
    """Weights in brackets, shortened."""
    return f"({', '.join(f'{tap:.7g}' for tap in taps)})"


def _four_taps(k: KernelBuilder, p: _Pairs, x: Var) -> tuple[Expr, Expr]:
    """The filters of Daubechies with two vanishing moments (Daubechies, 1988)."""
    count: Expr = (
        extent(x, p.axis) if k.draw.shape.chance(0.5) else k.size_param("n num_samples", "2*half")
    )
    first = k.let("even left start", 2 * p.i)
    samples = [k.let("x0 s0", x[p.at(first)]), k.let("x1 s1", x[p.at(first + 1)])]
    for n in (2, 3):
        samples.append(k.let(f"x{n} s{n}", x[p.at((first + n) % count)]))
    low: Expr = _TAPS[0] * samples[0]
    for tap, sample in zip(_TAPS[1:], samples[1:], strict=True):
        low = low - -tap * sample if tap < 0 else low + tap * sample
    high: Expr = _TAPS[3] * samples[0]
    for sign, tap, sample in zip((-1, 1, -1), _TAPS[2::-1], samples[1:], strict=True):
        high = high + tap * sample if sign > 0 else high - tap * sample
    return low, high


def _haar_back(k: KernelBuilder, p: _Pairs, norm: str, split: bool) -> Title:
    """Pairs from their sum and difference."""
    if split:
        low, high = p.array("approx low coarse", "half"), p.array("detail high", "half")
        s, d = low[p.at(p.i)], high[p.at(p.i)]
        given = f"{low.name} and {high.name}"
    else:
        both = p.array("coeffs transformed", "2*half")
        half = k.size_param("half half_len", "half")
        s, d = both[p.at(p.i)], both[p.at(half + p.i)]
        given = f"the first and second half of {both.name}"
    short = k.draw.shape.chance(0.5)
    a, b = k.let(["s" if short else "smooth"], s), k.let(["d" if short else "detail_value"], d)
    out = p.array("x signal restored", "2*half", "out")
    first: Expr = 2 * p.i
    if k.draw.shape.chance(0.5):
        first = k.let("even left", first)
    pair: tuple[Expr, Expr] = (a + b, a - b)
    if norm == "orthonormal":
        pair = (ROOT_HALF * (a + b), ROOT_HALF * (a - b))
    if k.draw.shape.chance(0.4):
        pair = (k.let("left_value x0", pair[0]), k.let("right_value x1", pair[1]))
    k.store(out, p.at(first), pair[0])
    k.store(out, p.at(first + 1), pair[1])
    how = ", both over sqrt(2)" if norm == "orthonormal" else ""
    text = f"One level of an inverse Haar transform: the pairs of {out.name} are the sum s + d and "
    text += f"the difference s - d{how}, s and d being the elements of {given}."
    return Title(k.name("inverse_haar_step haar_synthesis"), text)


@idiom
def lifting_step(k: KernelBuilder, level: int) -> Title:
    """A predict or update step of a lifting wavelet: one half of the samples from the other."""
    shape = k.draw.shape
    predict = shape.chance(0.55)
    whole = predict and shape.chance(0.5)
    type_ = INT32 if whole else k.draw.wide_float_type()
    p = _pairs(k, level, type_)
    i = p.i
    layout = shape.choice(("in_place", "halves"))
    count: Expr
    if layout == "in_place":
        data = p.array("x data signal", "2*half", "inout")
        count = (
            extent(data, p.axis) if shape.chance(0.5) else k.size_param("n num_samples", "2*half")
        )
        if predict:
            place: Expr = k.let("odd at", 2 * i + 1)
            low: Expr = place - 1
            high: Expr = k.let("right next_even", _mirrored(place + 1, count))
        else:
            place = k.let("even at", 2 * i)
            low, high = k.let("left prev_odd", _bounced(place)), place + 1
        target = data
        a: Expr = data[p.at(low)]
        b: Expr = data[p.at(high)]
        near = "beside it, with indices mirrored at the ends"
    else:
        moved = p.array("odd details" if predict else "even smooth", "half", "inout")
        other = p.array("even smooth" if predict else "odd details", "half")
        count = extent(other, p.axis) if shape.chance(0.5) else k.size_param("half count", "half")
        place = i
        beside = k.let(
            "next_i right" if predict else "prev_i left",
            least(i + 1, count - 1) if predict else most(i - 1, 0),
        )
        a, b = other[p.at(i)], other[p.at(beside)]
        target = moved
        side = "next" if predict else "previous"
        near = f"of {other.name} at its place and the {side} one, with indices clamped"
    return _lifting_step_stored(k, p, (a, b), predict, level, target, place, layout, near)


def _lifting_step_stored(
    k: KernelBuilder,
    p: _Pairs,
    pair: tuple[Expr, Expr],
    predict: bool,
    level: int,
    target: Var,
    place: Expr,
    layout: str,
    near: str,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    shape, (a, b) = k.draw.shape, pair
    if shape.chance(0.5):
        a, b = k.let("a left_value", a), k.let("b right_value", b)
    change, said = _lifted(k, p, a, b, predict, level)
    inverse = shape.chance(0.35)
    k.store(target, p.at(place), change, "sub" if predict != inverse else "add")
    verb = "lowered" if predict != inverse else "raised"
    what = f"{'predict' if predict else 'update'} step of a lifting wavelet"
    parity = "odd" if predict else "even"
    which = f"each {parity} sample" if layout == "in_place" else "each element"
    text = (
        f"{'The inverse of one ' if inverse else 'One '}{what} in place: {which} of {target.name} "
    )
    text += f"is {verb} by {said} of the two elements {near}."
    return Title(k.name(f"lifting_{'predict' if predict else 'update'} lift_step"), text)


def _mirrored(place: Expr, count: Expr) -> Expr:
    """One place after the last even one is mirrored to it."""
    return least(place, count - 2)


def _bounced(place: Expr) -> Expr:
    """The odd place before an even one; before the first there is the first."""
    return most(place - 1, 1)


_CDF_97 = (1.586134342059924, 0.052980118572961, 0.882911075530934, 0.443506852043971)
"""Factors of the lifting steps of the 9/7 transform of JPEG 2000, without their signs."""


def _lifted(
    k: KernelBuilder, p: _Pairs, a: Expr, b: Expr, predict: bool, level: int
) -> tuple[Expr, str]:
    """What a step adds: half the sum, a quarter of it, or a factor of the 9/7 transform."""
    if p.type.is_int:
        half = (a + b) >> 1 if k.draw.shape.chance(0.6) else (a + b) // 2
        return half, "half the sum, rounded down,"
    way = k.draw.shape.choice(("plain", "jpeg", "shared"))
    if way == "shared":
        factor = k.scalar("coeff alpha lift", p.type, 0.1, 0.9)
        return factor * (a + b), f"{factor.name} times the sum"
    if way == "jpeg":
        number = k.draw.value.choice(_CDF_97)
        return number * (a + b), f"{number} times the sum"
    share = 0.5 if predict else 0.25
    return share * (a + b), f"{share} times the sum"


def _reversed_bits(body: BodyBuilder, word: Expr) -> Expr:
    """All 32 bits of a word in the other order (Warren, Hacker's Delight, 7-1)."""
    found = body.let("v r", word)
    for mask, by in ((0x55555555, 1), (0x33333333, 2), (0x0F0F0F0F, 4), (0x00FF00FF, 8)):
        body.assign(found, ((found >> by) & mask) | ((found & mask) << by))
    return (found >> 16) | (found << 16)


@dataclass(frozen=True)
class _Lines:
    """Lines whose elements trade places, a thread for each line."""

    k: KernelBuilder
    sources: list[Var]
    at: Callable[[Operand], tuple[Operand, ...]]
    in_place: bool
    level: int

    def permute(self, dims: tuple[str, ...], bits: int) -> str:
        """Write the loop over the places; how the elements move, in words."""
        k, shape = self.k, self.k.draw.shape
        several = len(self.sources) > 1
        names = [f"{x.name}_out" for x in self.sources] if several else ["y out permuted"]
        element = self.sources[0][self.at(0)].type
        outs = [] if self.in_place else [k.out(name, element, dims) for name in names]
        reversal = _Reversal(k, bits, self.level)
        scatter = shape.chance(0.4)
        with k.for_("i q", 2**bits) as i:
            j = reversal.of(i)
            if self.in_place:
                self._swap(i, j)
            to, source = (j, i) if scatter else (i, j)
            for x, out in zip(self.sources, outs, strict=False):
                value: Expr = x[self.at(source)]
                k.store(out, self.at(to), value)
        if self.in_place:
            return f"{reversal.said}. The two trade places, each pair once."
        told = " and ".join(o.name for o in outs)
        done = f"{told} {'get' if len(outs) > 1 else 'gets'} that element"
        if scatter:
            done = f"Element i goes to that place of {told}"
        return f"{reversal.said}. {done}."

    def _swap(self, i: Var, place: Expr) -> None:
        k, several = self.k, len(self.sources) > 1
        with k.if_(i < place if k.draw.shape.chance(0.5) else place > i):
            for n, x in enumerate(self.sources):
                kept = k.let(f"t{n} tmp{n}" if several else "tmp kept", x[self.at(i)])
                k.store(x, self.at(i), x[self.at(place)])
                k.store(x, self.at(place), kept)


class _Reversal:
    """The place with reversed bits: of a table, by a loop, or by swaps of groups of bits."""

    def __init__(self, k: KernelBuilder, bits: int, level: int) -> None:
        self.k, self.bits = k, bits
        self.way = k.draw.shape.weighted({"loop": 3, "table": 2, "swaps": 1 + level, "divide": 2})
        self.said = (
            f"element i belongs with the one whose index has the {bits} bits of i in reverse order"
        )
        self.helped = k.draw.shape.chance(0.6)
        if self.way == "table":
            self.table = k.array("rev reversed_index", INT32, str(2**bits), init="permutation")
            self.said = f"element i belongs with the one that {self.table.name} names"
        elif self.way == "swaps" and self.helped:
            params = (("word", _UNSIGNED),)
            self.called = helper(k, "reverse_bits bit_reverse", params, _reversed_bits)

    def of(self, i: Var) -> Expr:
        k = self.k
        if self.way == "table":
            return k.let("j src_i partner", self.table[i])
        if self.way == "swaps":
            word = cast(i, _UNSIGNED)
            whole = k.call(self.called, word) if self.helped else _reversed_bits(k, word)
            return k.let("j partner rev", cast(whole >> (32 - self.bits), INT32))
        rest = k.let("rest m", i)
        place = k.let("rev j partner", k.lift(0, INT32))
        with k.for_("bit s", self.bits):
            if self.way == "loop":
                k.assign(place, (place << 1) | (rest & 1))
                k.assign(rest, rest >> 1)
            else:
                k.assign(place, 2 * place + rest % 2)
                k.assign(rest, rest // 2)
        return place


@idiom
def bit_reversal(k: KernelBuilder, level: int) -> Title:
    """The permutation by reversed bits in front of a Fourier transform."""
    shape = k.draw.shape
    bits = shape.choice((4, 5))
    count = 2**bits
    type_ = k.draw.wide_float_type()
    element = Vec(2, type_) if shape.chance(0.3) else type_
    parts = 1 if element != type_ else shape.choice((1, 2))
    k.size("lines", 24, 40)
    last = shape.chance(0.6)
    (b,) = k.thread("lines", names=(k.name("line row tid" if last else "line col tid"),))
    where = lambda place: (b, place) if last else (place, b)  # noqa: E731
    dims = ("lines", str(count)) if last else (str(count), "lines")
    in_place = shape.chance(0.4)
    stems = ("x_re", "x_im") if parts == 2 else (k.draw.word.choice(("x", "signal", "data")),)
    role = "inout" if in_place else "in"
    sources = [k.array(s, element, dims, role=role, low=-1.0, high=1.0) for s in stems]
    moves = _Lines(k, sources, where, in_place, level).permute(dims, bits)
    of = " and ".join(x.name for x in sources)
    axis = "rows" if last else "columns"
    text = f"Bit-reversal permutation of the {axis} of {of}, of {count} elements each: {moves}"
    return Title(k.name("bit_reversal bit_reverse_permute"), text)

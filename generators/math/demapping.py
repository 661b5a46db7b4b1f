"""Soft bits of received symbols: log-likelihood ratios of Gray-mapped PSK and QAM.

F. Tosato, P. Bisaglia, ICC 2002; mappings as in 3GPP TS 38.211.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, log, most
from generators.kit.naming import BY_LEVEL, held, local, routine
from generators.kit.sites import Site, over
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Component, Expr, Operand, Var

_FAR = 1.0e30
_PAIR = Vec(2, FLOAT32)
_STEPS = {2: 0.707107, 4: 0.316228, 6: 0.154303}
"""Half the distance of two neighbouring amplitudes, at unit mean power, by bits a symbol."""
_CALLED = {1: "BPSK", 2: "QPSK", 4: "16-QAM", 6: "64-QAM"}


@dataclass
class _Received:
    """Symbols of a thread: real and imaginary part, noise variance, and what is said of them."""

    s: Site
    level: int
    re: Var
    im: Var
    noise: Expr
    said: str
    noise_said: str
    notes: list[str] = field(default_factory=list)


def _site(k: KernelBuilder) -> Site:
    if k.draw.shape.chance(0.6):
        return over(k, "num_symbols", k.draw.word.choice(("i", "n", "tid")), ((60, 90),))
    names = k.draw.word.choice(("l sc", "t f"))
    return over(k, "ofdm_symbols subcarriers", names, ((5, 7), (12, 16)))


def _complex(s: Site, stems: str, low: float, high: float) -> tuple[Expr, Expr, str]:
    """A complex number of each thread, as a pair or as two arrays."""
    k = s.k
    stem = k.draw.word.choice(stems.split())
    if k.draw.shape.chance(0.5):
        value = k.let(f"{stem[0]} {stem}_val", s.read(f"{stem} {stem}_iq", _PAIR, low, high))
        return value[0], value[1], stem
    ends = k.draw.word.choice((("re", "im"), ("i", "q")))
    re, im = (s.read(f"{stem}_{end}", FLOAT32, low, high) for end in ends)
    return re, im, f"{stem}_{ends[0]} and {stem}_{ends[1]}"


def _received(k: KernelBuilder, level: int) -> _Received:
    """A symbol of each thread; the noise is one number or each subcarrier's own."""
    s = _site(k)
    re, im, said = _complex(s, "rx equalized symbols", -1.3, 1.3)
    noise: Expr
    if k.draw.shape.chance(0.5):
        noise = k.scalar("noise_var n0", FLOAT32, 0.05, 0.4)
        told = noise.name
    else:
        variances = s.array("noise_vars eff_noise", FLOAT32, 0.05, 0.4, axes=s.axes("last"))
        noise, told = held(k, "nv n0", variances[s.at[-1]]), variances.name
    names = k.draw.word.choice((("x", "y"), ("re", "im"), ("yi", "yq")))
    parts = [k.let(name, part) for name, part in zip(names, (re, im), strict=True)]
    return _Received(s, level, parts[0], parts[1], noise, said, told)


def _stored(r: _Received, values: Sequence[Expr]) -> str:
    """Store the soft bits of a symbol beside each other, descrambled or as they are."""
    s, k, count = r.s, r.s.k, len(values)
    flat = s.rank == 1 and k.draw.shape.chance(0.5)
    dims = (f"{count}*num_symbols",) if flat else (*s.dims, str(count))
    base = k.let("base first", count * s.at[0]) if flat else None

    def at(bit: int) -> tuple[Operand, ...]:
        if base is None:
            return s.index(bit)
        return (base + bit if bit else base,)

    out = k.out("llrs soft_bits", FLOAT32, dims)
    code = None
    if r.level > 1 and k.draw.shape.chance(0.3):
        code = k.array("scrambling scramble_bits", INT32, dims, low=0, high=1)
    for bit, value in enumerate(values):
        if code is not None:
            value = cast(1 - 2 * code[at(bit)], FLOAT32) * value
        k.store(out, at(bit), value)
    place = f"at {count} * {s.where} + b" if flat else "at b in the last axis"
    tail = f", negated where {code.name} there is 1" if code is not None else ""
    return f"{out.name} gets the ratio of bit b {place}{tail}"


_MEANING = "log(P(bit = 0) / P(bit = 1))"


def _binary(k: KernelBuilder, level: int) -> Title:
    """BPSK, of a real sample; after a matched filter the channel's gain comes in."""
    s = _site(k)
    y = s.read("samples matched_out", FLOAT32, -1.5, 1.5)
    noise = k.scalar("noise_var sigma_sq", FLOAT32, 0.1, 0.5)
    scale: Expr = k.lift(2.0, FLOAT32)
    said = ""
    if k.draw.shape.chance(0.5):
        gains = s.array("gains channel_gain", FLOAT32, 0.3, 1.5)
        scale, said = 2.0 * gains[s.at], f" * {gains.name}"
    out = s.put("llrs soft_bits", scale * y / noise)
    text = "Soft bits of BPSK, 0 sent as 1 and 1 as -1, in real Gaussian noise of variance "
    text += f"{noise.name}: {out.name} gets {_MEANING} = 2{said} * {y.array.name} / {noise.name}."
    return Title(k.name("bpsk_llr demap_bpsk bpsk_soft_bits"), text)


def _quadrature(k: KernelBuilder, level: int) -> Title:
    """QPSK: each part is a bit by itself."""
    r = _received(k, level)
    slope = k.let("slope scale", 2.828427 / r.noise)
    stored = _stored(r, (slope * r.re, slope * r.im))
    text = (
        f"Soft bits of Gray-mapped QPSK, ((1 - 2 * b0) + (1 - 2 * b1) * i) / sqrt(2), of {r.said}"
    )
    text += f" in complex noise of variance {r.noise_said}: {stored}, {_MEANING} = 2 * sqrt(2) * "
    text += "part / variance, of the real part for bit 0 and the imaginary one for bit 1."
    return Title(k.name("qpsk_llr demap_qpsk qpsk_soft_bits"), text)


def _outer_bit(b: BodyBuilder, u: Expr, a: float, pieces: bool) -> Expr:
    """The sign bit of an amplitude of 16-QAM: three straight pieces, or their middle one."""
    if not pieces:
        return u
    steep = b.let("soft lifted", u)
    with b.if_(u > 2.0 * a):
        b.assign(steep, 2.0 * (u - a))
    with b.elif_(u < -2.0 * a):
        b.assign(steep, 2.0 * (u + a))
    return steep


def _square(k: KernelBuilder, level: int) -> Title:
    """16-QAM and 64-QAM: bits of each part by straight pieces."""
    shape = k.draw.shape
    r = _received(k, level)
    bits = 4 if level < 3 else shape.weighted({4: 1, 6: 3})
    a = _STEPS[bits]
    pieces = bits == 4 and shape.chance(0.6)
    slope = k.let("slope scale", k.lift(4.0 * a, FLOAT32) / r.noise)
    sign = routine(
        k,
        BY_LEVEL[level] if pieces else 0.0,
        "sign_bit_metric first_bit",
        {"u": FLOAT32},
        lambda b, u: _outer_bit(b, u, a, pieces),
    )
    values: list[list[Expr]] = []
    inner_names = k.draw.word.choice(("inner_{}", "band_{}", "mid_{}"))
    for part in (r.re, r.im):
        inner = k.let(inner_names.format(part.name), 2.0 ** (bits // 2 - 1) * a - abs(part))
        found: list[Expr] = [slope * sign(part), slope * inner]
        if bits == 6:
            found.append(slope * (2.0 * a - abs(inner)))
        values.append(found)
    stored = _stored(r, [v for pair in zip(*values, strict=True) for v in pair])
    text = f"Soft bits of Gray-mapped {_CALLED[bits]} of {r.said} in complex noise of variance "
    text += f"{r.noise_said}: {stored}. Even bits are of the real part, odd ones of the imaginary "
    text += f"one; with a = {a} and u a part, each pair of bits has 4 * a / variance times: "
    first = "u"
    if pieces:
        first = "u where |u| <= 2 * a, 2 * (u - a) above and 2 * (u + a) below (max-log)"
    rules = [first, "2 * a - |u|" if bits == 4 else "4 * a - |u|", "2 * a - ||u| - 4 * a|"]
    text += "; then ".join(rules[: bits // 2]) + "."
    return Title(k.name(f"demap_qam{2**bits} qam{2**bits}_llr qam{2**bits}_soft_bits"), text)


@dataclass(frozen=True)
class _Points:
    """The points of a constellation, point m standing for the bits of m."""

    data: Var
    bits: int

    @property
    def said(self) -> str:
        return (
            f"point {self.data.name}[m] standing for the {self.bits} bits of m, bit 0 the lowest, "
        )


def _points(k: KernelBuilder, bits: int) -> _Points:
    data = k.array("constellation points_iq", _PAIR, str(2**bits), low=-1.2, high=1.2)
    return _Points(data, bits)


def _noise_of(k: KernelBuilder, size: str, at: Var) -> tuple[Expr, str]:
    """The variance of the complex noise, one for all or each thread's own."""
    if k.draw.shape.chance(0.5):
        noise = k.scalar("noise_var n0", FLOAT32, 0.2, 0.8)
        return noise, noise.name
    variances = k.array("noise_vars eff_noise", FLOAT32, size, low=0.2, high=0.8)
    return k.let("nv n0", variances[at]), variances.name


def _distance(k: KernelBuilder, re: Expr, im: Expr, point: Expr) -> Expr:
    """The square of the distance of a symbol, a pair or two numbers, to a point."""
    if isinstance(re, Component):
        gap = k.let("diff gap", re.value - point)
        return fn("dot", gap, gap)
    dx, dy = k.let("dx", re - point[0]), k.let("dy", im - point[1])
    return dx * dx + dy * dy


def _searched(k: KernelBuilder, level: int) -> Title:
    """Any constellation: the nearest point of each value of a bit, or all of them."""
    shape = k.draw.shape
    bits = shape.choice((3, 4))
    exact = level > 3
    k.size("num_symbols", 14, 18)
    i, bit = k.thread("num_symbols", str(bits), names=(k.name("i n"), k.name("b bit")))
    s = Site(k, "list", ("num_symbols",), (i,))
    re, im, said = _complex(s, "received equalized", -1.3, 1.3)
    points = _points(k, bits)
    noise, noise_said = _noise_of(k, "num_symbols", i)
    prior = None
    if level > 3 and shape.chance(0.5):
        prior = k.array("prior_llrs extrinsic", FLOAT32, ("num_symbols", str(bits)), low=-2, high=2)
    sums = _Sums(k, level, exact)
    sums.start()
    with k.for_("m label", 2**bits) as m:
        metric: Expr = -_distance(k, re, im, points.data[m]) / noise
        if prior is not None:
            metric = local(k, "metric score", metric)
            with k.for_("q other", bits) as q, k.if_(fn("eq", (m >> q) & 1, 1)):
                k.augment(metric, "sub", prior[i, q])
        sums.take(k.let("metric score", metric), fn("eq", (m >> bit) & 1, 0))
    value = sums.zero - sums.one
    out = k.out("llrs soft_bits", FLOAT32, ("num_symbols", str(bits)))
    if prior is not None:
        value = value - prior[i, bit]
    k.store(out, (i, bit), value)
    score = f"-|y - point|^2 / {noise_said}"
    if prior is not None:
        score += f", less {prior.name}[{i.name}, q] for each bit q of m that is 1"
    text = f"Soft bits by {sums.said}: the element of {out.name} of a symbol and a bit is that "
    text += "over the points with that bit 0 less that over those with it 1, of the score "
    text += f"{score}, y being "
    text += f"{said}, {points.said.strip().rstrip(',')}."
    if prior is not None:
        text += f" {prior.name} of the bit itself is taken off, so that the rest is new."
    return Title(k.name(f"{sums.short}_demap soft_demap {sums.short}_llr"), text)


class _Sums:
    """The best score, or the logarithm of the sum of their exponentials, for 0 and for 1."""

    def __init__(self, k: KernelBuilder, level: int, exact: bool) -> None:
        self.k, self.exact = k, exact
        self.said = "the Jacobian logarithm (log-sum-exp)" if exact else "the best score (max-log)"
        self.short = "log_map" if exact else "max_log"
        self.join = most
        if exact:

            def build(b: BodyBuilder, p: Expr, q: Expr) -> Expr:
                gap = b.let("gap d", abs(p - q))
                return most(p, q) + log(1.0 + exp(-gap))

            names = "max_star jacobian_log log_add"
            self.join = routine(k, BY_LEVEL[level], names, {"p": FLOAT32, "q": FLOAT32}, build)

    def start(self) -> None:
        k, last = self.k, "lse{}" if self.exact else "top{}"
        stem = k.draw.word.choice(("best{}", "score{}", last))
        self.zero, self.one = (k.let(stem.format(n), k.lift(-_FAR, FLOAT32)) for n in (0, 1))

    def take(self, score: Expr, is_zero: Expr) -> None:
        with self.k.if_(is_zero):
            self.k.assign(self.zero, self.join(self.zero, score))
        with self.k.else_():
            self.k.assign(self.one, self.join(self.one, score))


def _times(b: BodyBuilder, p: Expr, q: Expr) -> Expr:
    return make(_PAIR, p[0] * q[0] - p[1] * q[1], p[0] * q[1] + p[1] * q[0])


def _best_pairs(
    k: KernelBuilder,
    sums: _Sums,
    at: tuple[Var, Var],
    given: tuple[Var, Var],
    points: _Points,
    noise: Expr,
) -> str:
    """The scores of all pairs of points, what the first leaves taken out of the inner loop."""
    (t, bit), (y, h) = at, given
    size = 2**points.bits
    times = routine(k, 1.0, "cmul complex_mul", {"p": _PAIR, "q": _PAIR}, _times)
    sums.start()
    # Loops up to a literal would be unrolled, all pairs of them.
    count = extent(points.data, 0)
    names = k.draw.word.choice((("m0", "m1"), ("first", "second")))
    with k.for_(names[0], count) as first:
        left = [
            k.let(f"rest{r} left{r}", y[t, r] - times(h[t, r, 0], points.data[first]))
            for r in (0, 1)
        ]
        with k.for_(names[1], count) as second:
            gaps = [
                k.let(f"e{r} gap{r}", left[r] - times(h[t, r, 1], points.data[second]))
                for r in (0, 1)
            ]
            total = fn("dot", gaps[0], gaps[0]) + fn("dot", gaps[1], gaps[1])
            score = k.let("metric score", -total / noise)
            label = k.let("label word", first + size * second)
            sums.take(score, fn("eq", (label >> bit) & 1, 0))
    return f"{first.name} + {size} * {second.name}"


def _streams(k: KernelBuilder, level: int) -> Title:
    """Two streams that two antennas receive together: all pairs of points."""
    bits = k.draw.shape.choice((2, 3))
    looped = bits == 3 or k.draw.shape.chance(0.15)
    k.size("tones", 12, 16)
    dims = ("tones",) if looped else ("tones", str(2 * bits))
    at = k.thread(
        *dims, names=(k.name("tone t sc"), "" if looped else k.name("b bit"))[: len(dims)]
    )
    t = at[0]
    y = k.array("received rx", _PAIR, ("tones", "2"), low=-1.5, high=1.5)
    h = k.array("channel h_matrix", _PAIR, ("tones", "2", "2"), low=-1.0, high=1.0)
    points = _points(k, bits)
    noise, noise_said = _noise_of(k, "tones", t)
    sums = _Sums(k, level, k.draw.shape.chance(0.4))
    out = k.out("llrs soft_bits", FLOAT32, ("tones", str(2 * bits)))

    def search(bit: Var) -> str:
        labels = _best_pairs(k, sums, (t, bit), (y, h), points, noise)
        k.store(out, (t, bit), sums.zero - sums.one)
        return labels

    if looped:
        with k.for_("b bit", extent(out, 1)) as bit:
            labels = search(bit)
    else:
        labels = search(at[1])
    text = f"Soft bits of two streams over a 2 x 2 channel, by {sums.said}: the element of "
    text += f"{out.name} of a tone and a bit is that over the pairs of points with the bit 0 less "
    text += "that over those with the bit 1, of the score -|y - H x|^2 / "
    text += f"{noise_said}, y being the complex pair "
    text += f"{y.name}[{t.name}], H the matrix {h.name}[{t.name}] and x the points whose numbers "
    text += f"in {points.data.name} make up the label {labels}, of which bit 0 is the lowest."
    return Title(k.name(f"mimo_{sums.short} mimo_soft_demap joint_demap"), text)


_FORMS = {
    1: (_binary, _quadrature),
    2: (_square,),
    3: (_square, _searched),
    4: (_searched,),
    5: (_streams,),
}


@idiom
def soft_demapping(k: KernelBuilder, level: int) -> Title:
    """Log-likelihood ratios of bits: PSK, QAM, any constellation, two streams at once."""
    return k.draw.shape.choice(_FORMS[level])(k, level)

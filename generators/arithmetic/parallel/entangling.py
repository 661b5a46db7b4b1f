"""Quantum gates on two qubits and more: exchanges, phases of bits, 4x4 matrices, Pauli strings."""

from __future__ import annotations

from generators.arithmetic.parallel.qubits import VEC2, State, Value, spread, times, turned
from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, sin
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var

_VEC4 = Vec(4, FLOAT32)


@idiom
def two_qubit_gate(k: KernelBuilder, level: int) -> Title:
    """A gate on two qubits: exchanges, phases of bits, a 4x4 matrix; strings of Pauli gates."""
    shape = k.draw.shape
    kinds = {
        1: {"swap": 2, "cz": 2},
        2: {"swap": 1, "cphase": 3, "rzz": 3},
        3: {"fsim": 4, "rzz": 2, "iswap": 2},
        4: {"fsim": 2, "u4": 4, "string": 2},
        5: {"u4": 3, "string": 4},
    }[level]
    kind = shape.weighted(kinds)
    if kind == "string":
        return _pauli_string(k, level)
    if kind == "rzz":
        return _zz_rotation(k, level)
    s = State(k, level, 4)
    names = k.draw.word.choice(("q_lo q_hi", "qubit_lo qubit_hi", "low_qubit high_qubit")).split()
    near, far = (k.scalar(n, INT32, *r) for n, r in zip(names, ((0, 1), (2, 3)), strict=True))
    a, b = (near, far) if shape.chance(0.5) else (far, near)
    base = spread(k, spread(k, s.thread, near, "mid_index"), far, "base i00")
    one = k.lift(1, INT32)
    bits = (one << a, one << b)
    how, name = {
        "u4": lambda: _by_four(s, base, (a, b)),
        "cz": lambda: _on_last(s, base, bits, ""),
        "cphase": lambda: _on_last(s, base, bits, "phi"),
    }.get(kind, lambda: _exchanged(s, kind, base, bits))()
    text = f"Apply the {how} to each four amplitudes whose indices differ in bits {near.name} and "
    text += f"{far.name} (the higher) alone; the digits of a01 are bits {a.name} and {b.name} of "
    text += "its index"
    return Title(k.name(name), f"{text}.{s.stored}")


def _on_last(s: State, base: Expr, bits: Value, angle: str) -> tuple[str, str]:
    """Turn the amplitude of which both bits are set."""
    k = s.k
    place = k.let("i11", base | bits[0] | bits[1])
    if not angle:
        re, im = s.read(place, "a11")
        s.put(place, (-re, -im))
        return "controlled Z gate (a11 becomes -a11)", "cz_gate apply_cz"
    phi, said = s.angle("phi phase")
    turn = (k.let("c cos_phi", cos(phi)), k.let("sn sin_phi", sin(phi)))
    s.put(place, times(s.read(place, "a11"), turn))
    return (
        f"controlled phase gate (a11 is multiplied by exp(i * {said}))",
        "cphase_gate apply_cphase",
    )


def _exchanged(s: State, kind: str, base: Expr, bits: Value) -> tuple[str, str]:
    """Gates that mix the two amplitudes of which one bit is set."""
    k = s.k
    at_b, at_a = k.let("i01", base | bits[1]), k.let("i10", base | bits[0])
    (ar, ai), (br, bi) = s.read(at_b, "a01"), s.read(at_a, "a10")
    if kind == "swap":
        s.put(at_b, (br, bi))
        s.put(at_a, (ar, ai))
        return "swap gate (a01 and a10 are exchanged)", "swap_gate apply_swap"
    if kind == "iswap":
        s.put(at_b, (-bi, br))
        s.put(at_a, (-ai, ar))
        return "iSWAP gate (a01 becomes i * a10, a10 becomes i * a01)", "iswap_gate apply_iswap"
    theta, said = s.angle("theta")
    c, sn = k.let("c cos_theta", cos(theta)), k.let("sn sin_theta", sin(theta))
    new = turned("rx", (c, sn), (ar, ai), (br, bi))
    for place, value in zip((at_b, at_a), new, strict=True):
        s.put(place, value)
    text = f"fSim gate (with c = cos({said}) and s = sin({said}), a01 becomes c * a01 - i * s * a10"
    text += " and a10 becomes c * a10 - i * s * a01"
    if k.draw.shape.chance(0.7):
        phi, told = s.angle("phi")
        last = k.let("i11", base | bits[0] | bits[1])
        turn = (k.let("turn_re", cos(phi)), k.let("turn_im", -sin(phi)))
        s.put(last, times(s.read(last, "a11"), turn))
        text += f", and a11 is multiplied by exp(-i * {told})"
    return f"{text})", "fsim_gate apply_fsim"


def _by_four(s: State, base: Expr, qubits: tuple[Var, Var]) -> tuple[str, str]:
    """Four amplitudes times a complex 4x4 matrix; the rows in a loop."""
    k = s.k
    one = k.lift(1, INT32)
    places = [base]
    for n in (1, 2, 3):
        parts = [one << q for q, bit in zip(qubits, (2, 1), strict=True) if n & bit]
        place = base
        for part in parts:
            place = place | part
        places.append(k.let(f"i{n // 2}{n % 2}", place))
    many = bool(s.batch) and k.draw.shape.chance(0.5)
    table = k.array(
        "gates" if many else "gate",
        VEC2,
        (*s.batch, "4", "4") if many else ("4", "4"),
        low=-1.0,
        high=1.0,
    )
    lead = s.lead if many else ()
    values = [s.read(p, f"a{n // 2}{n % 2}") for n, p in enumerate(places)]
    re, im = (
        k.let(f"v_{part}", make(_VEC4, *(v[n] for v in values)))
        for n, part in enumerate(("re", "im"))
    )
    zero = k.lift(0.0, FLOAT32)
    with k.for_("r row", 4) as r:
        out_re, out_im = k.let("acc_re", zero), k.let("acc_im", zero)
        with k.for_("col c", 4) as c:
            g = k.let("g", table[lead + (r, c)])
            k.augment(out_re, "add", g[0] * re[c] - g[1] * im[c])
            k.augment(out_im, "add", g[0] * im[c] + g[1] * re[c])
        place = base | ((r >> one) << qubits[0]) | ((r & 1) << qubits[1])
        s.put(k.let("dst", place), (out_re, out_im))
    row = f"{table.name}[{s.lead[0].name}]" if many else table.name
    return (
        f"4x4 gate {row}, of pairs (re, im), rows and columns in the order a00, a01, a10, a11,",
        "two_qubit_gate apply_gate4",
    )


def _zz_rotation(k: KernelBuilder, level: int) -> Title:
    """exp(-i theta ZZ / 2): each amplitude is turned, which way its two bits say."""
    s = State(k, level, 1)
    swapped = k.draw.shape.chance(0.5)
    ranges = ((2, s.qubits - 1), (0, 1))
    if not swapped:
        ranges = ranges[::-1]
    a, b = (k.scalar(n, INT32, *r) for n, r in zip(("qubit_a", "qubit_b"), ranges, strict=True))
    c, sn, said = s.halves()
    odd = k.let("parity odd", ((s.thread >> a) ^ (s.thread >> b)) & 1)
    turn = k.let("signed_sin", fn("where", fn("eq", odd, 1), sn, -sn))
    s.put(s.thread, times(s.read(s.thread, "a"), (c, turn)))
    text = (
        f"Apply the rotation exp(-i * {said} * Z * Z / 2) to qubits {a.name} and {b.name}, which "
    )
    text += f"differ: multiply each amplitude by exp(-i * {said} / 2) where these two bits of its "
    text += f"index are equal, and by exp(i * {said} / 2) elsewhere.{s.stored}"
    return Title(k.name("rzz_gate zz_rotation"), text)


def _pauli_string(k: KernelBuilder, level: int) -> Title:
    """exp(-i theta P / 2) of a product P of Pauli gates, which two masks say."""
    in_place = k.draw.shape.chance(0.5)
    s = State(k, level, 1, in_place)
    i, top = s.thread, 2**s.qubits - 1
    flips, signs = (k.scalar(n, INT32, 1, top) for n in ("x_mask", "z_mask"))
    phase = k.scalar("phase", VEC2, -1.0, 1.0)
    j = k.let("partner j", i ^ flips)
    if in_place:
        with k.if_(j < i):
            k.return_()
    c, sn, said = s.halves()
    own, other = s.read(i, "a"), s.read(j, "b")
    for place, (mine, theirs), source in ((i, (own, other), j), (j, (other, own), i)):
        if place is j and not in_place:
            break
        odd = fn("eq", fn("bit_count", source & signs) & 1, 1)
        weight = k.let("w_own w_a" if place is i else "w_partner w_b", fn("where", odd, -sn, sn))
        added = times((weight * phase[0], weight * phase[1]), theirs)
        s.put(place, (c * mine[0] + added[0], c * mine[1] + added[1]))
    text = (
        f"Apply the rotation exp(-i * {said} * P / 2), P being a string of Pauli gates: X on the "
    )
    text += f"qubits of {flips.name} (not 0), Z on those of {signs.name}, Y where both have a bit. "
    text += "Amplitude n becomes c * a[n] + s * phase * a[m] with m = n ^ "
    text += (
        f"{flips.name}, the second term negated where m & {signs.name} has an odd number of set "
    )
    text += (
        f"bits; c and s are the cosine and sine of {said} / 2, and phase (re, im) is -i times i "
    )
    text += "to the number of Ys."
    if in_place:
        text += " The thread of the lower of two partners changes both, the other one ends."
    return Title(k.name("pauli_rotation rotate_pauli_string"), text + s.stored)

"""Matrices of whole numbers: ciphers, random streams, symmetries, permuted images, walks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import reduce

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import routine
from generators.matrix.parts import Place, place, transpose
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Expr, Operand, Var, literal

_WIDE = Scalar("uint64")
_MERSENNE = 2147483647
"""The prime 2^31 - 1: three products of residues still fit 64 bits without a sign."""
_PRIMES = (998244353, 1000000007)


def _by_modulus(v: Expr, modulus: Operand) -> Expr:
    """Every entry of a vector or a matrix of non-negative integers by the modulus."""
    if isinstance(v.type, Mat):
        cells = ((r, c) for r in range(v.type.rows) for c in range(v.type.cols))
        return make(v.type, *(v[r, c] % modulus for r, c in cells))
    assert isinstance(v.type, Vec)
    return make(v.type, *(v[c] % modulus for c in range(v.type.size)))


def _cipher(g: Place, level: int) -> tuple[Var, str]:
    """Hill's cipher: blocks of letters times a key; or back, with the inverse of the key."""
    k, size = g.k, g.shape.choice((2, 3))
    modulus = k.draw.value.choice((26, 29, 31, 37, 97, 256))
    vec, mat = Vec(size, INT32), Mat(size, size, INT32)
    back = g.chance(0.35)
    blocks = g.read("coded_blocks" if back else "blocks plain_blocks", vec, 0, modulus - 1)
    key = k.scalar("inverse_key" if back else "key cipher_key", mat, 0, modulus - 1)
    shifted = level >= 2 and g.chance(0.5)
    shift = k.scalar("shift offset", vec, 0, modulus - 1) if shifted else None
    b: Expr = k.let("block b", blocks)
    text, end = g.tell(blocks), ""
    if shift is not None and back:
        # The modulus keeps differences from being negative.
        b, text = make(vec, *(b[c] + modulus - shift[c] for c in range(size))), f"({text} - s)"
    value: Expr = key * b
    text = f"{key.name} * {text}"
    if shift is not None:
        end = f"; s = {shift.name}" if back else ""
        text += "" if back else f" + {shift.name}"
        value = value if back else value + shift
    c = k.let("reduced residues", _by_modulus(k.let("mixed product", value), modulus))
    what = "Decode blocks of a Hill cipher" if back else "Encode blocks by a Hill cipher"
    return c, f"{what}: c = {text}, each component modulo {modulus}{end}"


def _stream(g: Place, level: int) -> tuple[Var, str]:
    """States of a linear generator, each so many numbers ahead by a matrix that skips them."""
    k, size = g.k, g.shape.choice((2, 3, 3))
    vec, mat = Vec(size, _WIDE), Mat(size, size, _WIDE)
    states = g.read("states seeds", vec, 1, _MERSENNE - 1)
    jump = k.scalar("jump skip_matrix", mat, 0, _MERSENNE - 1)
    s = k.let("s state", states)
    text = "Move the states of a multiple recursive generator ahead by the matrix of a jump: "
    again = level >= 2 and g.chance(0.6)
    if again:
        times = g.read("num_jumps jump_counts", INT32, 0, 6)
        with k.for_("r turn", times):
            k.assign(s, _by_modulus(k.let("moved q", jump * s), _MERSENNE))
        text += f"from c = {g.tell(states)}, {g.tell(times)} times c = {jump.name} * c"
    else:
        k.assign(s, _by_modulus(k.let("moved q", jump * s), _MERSENNE))
        text += f"c = {jump.name} * {g.tell(states)}"
    return s, f"{text}, each component modulo 2^31 - 1"


def _power(g: Place, level: int) -> tuple[Var, str]:
    """A matrix to a power by square and multiply, modulo a prime or wrapping."""
    k, terms = g.k, g.chance(0.4)
    modulus = k.draw.value.choice(_PRIMES) if terms or g.chance(0.6) else None
    scalar = _WIDE if modulus else g.shape.choice((Scalar("uint32"), _WIDE))
    mat = Mat(2, 2, scalar)
    base = None if terms else g.read("bases mats", mat, 0, 50)
    power = g.read("indices terms" if terms else "powers exponents", INT32, 0, 40)
    step = make(mat, *(literal(e, scalar) for e in (1, 1, 1, 0)))
    b, e = k.let("b base", step if base is None else base), k.let("e power", power)
    result = k.let("result acc", make(mat, *(literal(bit, scalar) for bit in (1, 0, 0, 1))))

    def build(body: BodyBuilder, x: Expr, y: Expr) -> Expr:
        return x * y if modulus is None else _by_modulus(body.let("p prod", x * y), modulus)

    args = {"x": mat, "y": mat}
    product = routine(k, float(bool(modulus)), "mul_mod modular_product", args, build)
    with k.while_(e > 0):
        with k.if_(fn("eq", e & 1, 1)):
            k.assign(result, product(result, b))
        k.assign(b, product(b, b))
        k.assign(e, e >> 1)
    how = f"modulo {modulus}" if modulus else f"wrapping at the width of {scalar}"
    if base is None:
        text = f"Fibonacci numbers {how}: c is number {g.tell(power)} of 0, 1, 1, 2, ..., the upper"
        text += " right entry of ((1, 1), (1, 0)) to that power, by square and multiply"
        return k.let("term fib", result[0, 1]), text
    text = f"Matrix powers by square and multiply: c = {g.tell(base)}^{g.tell(power)}, entries"
    return result, f"{text} {how}"


def _sites(g: Place, level: int) -> tuple[Var, str]:
    """Sites of a lattice: whole steps along the basis of a cell, from an origin."""
    k, size = g.k, g.shape.choice((2, 3))
    vec, mat = Vec(size, INT32), Mat(size, size, INT32)
    cells = g.read("cells cell_coords", vec, -20, 20)
    basis = k.scalar("basis lattice", mat, -3, 3)
    value: Expr = basis * g.k.let("cell step", cells)
    text = f"Grid points of the sites of a lattice: c = {basis.name} * {g.tell(cells)}"
    if level >= 2:
        offset = k.scalar("origin anchor", vec, -20, 20)
        value, text = value + offset, f"{text} + {offset.name}"
    return k.let("site pos", value), f"{text}; the basis vectors are the columns of {basis.name}"


def _miller(g: Place, level: int) -> tuple[Var, str]:
    """Reflections of a crystal under a symmetry: rows of indices times a rotation."""
    k, vec = g.k, Vec(3, INT32)
    hkl = g.read("hkl miller", vec, -12, 12)
    rotation = k.scalar("rotation sym_op", Mat(3, 3, INT32), -1, 1)
    value: Expr = transpose(rotation) * k.let("h refl", hkl)
    text = f"transpose({rotation.name}) * {g.tell(hkl)}"
    if level >= 2 and g.chance(0.4):
        value, text = -value, f"-{text}"
        return k.let(
            "mate friedel", value
        ), f"Friedel mates of reflections under a symmetry: c = {text}"
    return k.let("turned equiv", value), f"Equivalent reflections under a symmetry: c = {text}"


def _walks(g: Place, level: int) -> tuple[Var, str]:
    """Walks of given length between the nodes of a small graph, or those that are closed."""
    k, size = g.k, g.shape.choice((4, 4, 5, 6))
    mat = Mat(size, size, INT32)
    source = g.read("adjacency graphs", mat, 0, 1)
    a = k.let("a adj", source)
    length = k.draw.value.integer(3, 6)
    walks = k.let("walks w", a * a)
    with k.for_("step hop", length - 2):
        k.assign(walks, walks * a)
    about = f"of {length} steps"
    power = f"{g.tell(source)}^{length}, {g.tell(source)} being the adjacency matrix of"
    power += f" {size} nodes"
    if g.chance(0.4):
        diagonal: list[Expr] = [walks[i, i] for i in range(size)]
        total = k.let("closed loops", reduce(lambda all_, one: all_ + one, diagonal))
        return total, f"Count the closed walks {about} in small graphs: c is the trace of {power}"
    return walks, f"Count the walks {about} between all nodes of small graphs: c = {power}"


_CATS = ((1, 1, 1, 2), (2, 1, 1, 1), (1, 2, 1, 3), (3, 2, 1, 1))
"""Matrices of determinant 1, which only permute the pixels of a square."""


def _cat(g: Place, level: int) -> tuple[Var, str]:
    """Arnold's cat map and its relatives: pixels moved by a matrix modulo the side of the image."""
    k, vec, mat = g.k, Vec(2, INT32), Mat(2, 2, INT32)
    pixels = g.read("pixels coords", vec, 0, 40)
    side = k.scalar("side image_size", INT32, 32, 64)
    rows = k.draw.value.choice(_CATS)
    m = k.let("mix cat", make(mat, *(literal(e, INT32) for e in rows)))
    p = k.let("p at", pixels)
    rounds = 1 if level < 2 or g.chance(0.3) else k.draw.value.integer(2, 8)
    with k.for_("turn round_id", rounds) if rounds > 1 else nullcontext():
        k.assign(p, _by_modulus(k.let("q to", m * p), side))
    text = "Move pixels of a square image by a cat map: "
    text += f"from c = {g.tell(pixels)}, {rounds} times c =" if rounds > 1 else "c ="
    told = "c" if rounds > 1 else g.tell(pixels)
    return p, f"{text} ({rows[:2]}, {rows[2:]}) * {told}, each component modulo {side.name}"


_FORMS: dict[str, tuple[Callable[[Place, int], tuple[Var, str]], str, str]] = {
    "cipher": (_cipher, "hill_cipher", "coded cipher_blocks"),
    "stream": (_stream, "jump_streams skip_ahead", "states_out moved_states"),
    "power": (_power, "matrix_power power_by_squaring", "powers_out results"),
    "sites": (_sites, "lattice_points lattice_sites", "positions sites_out"),
    "miller": (_miller, "equivalent_reflections turn_indices", "hkl_out reflections"),
    "cat": (_cat, "cat_map", "moved scrambled"),
    "walks": (_walks, "count_walks graph_walks", "walk_counts counts"),
}


_ELSE = {
    "Fibonacci": ("fibonacci fibonacci_mod", "fibs terms_out"),
    "Decode": ("hill_decode", "decoded plain_blocks"),
}
"""Names of a kernel and its output by the first word of the text, where a form does two things."""


@idiom(depth=2)
def integer_matrices(k: KernelBuilder, level: int) -> Title:
    """Small matrices of whole numbers, exact or by a modulus."""
    g = place(k, "i tid idx")
    build, names, outs = _FORMS[k.draw.shape.choice(sorted(_FORMS))]
    c, text = build(g, level)
    names, outs = _ELSE.get(text.split()[0], (names, outs))
    g.spoken[c.name] = "c", text
    return Title(k.name(names), f"{text}.{g.gets(outs, c)}")

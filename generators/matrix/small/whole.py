"""Vectors and matrices of whole numbers: ciphers, recurrences, powers, lattices, walks."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.kit.pieces import helper
from generators.matrix.small.grid import Grid, Names, say
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Expr, literal

UNSIGNED = {Scalar("uint8"): 3, Scalar("uint16"): 2, Scalar("uint32"): 4, Scalar("uint64"): 3}


SIGNED = {Scalar("int8"): 1, Scalar("int16"): 2, INT32: 4, Scalar("int64"): 3}


def _modulo(v: Expr, modulus: int) -> Expr:
    """Every component of a vector of non-negative integers by the modulus."""
    assert isinstance(v.type, Vec)
    return make(v.type, *(v[c] % modulus for c in range(v.type.size)))


def _cipher(k: KernelBuilder, g: Grid, level: int) -> tuple[Expr, str]:
    """Hill's cipher: blocks times a key, by a modulus or by the width of the type."""
    size = k.draw.shape.choice((2, 3))
    modulus = k.draw.value.choice((26, 29, 31, 97))
    wraps = k.draw.shape.chance(0.4)
    scalar = k.draw.shape.weighted(
        UNSIGNED
        if wraps
        else {INT32: 3, Scalar("int64"): 2, Scalar("uint32"): 2, Scalar("uint16"): 1}
    )
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    top = min(255, modulus - 1) if not wraps else 200
    blocks = g.array(("blocks", "plain", "message"), vec, 0, top)
    keys, named = _integer_matrix(
        k, g, mat, ("key", "cipher_key"), ("keys", "session_keys"), 1, top if wraps else modulus - 1
    )
    b = k.let(("block", "b"), blocks[g.index])
    value = k.let(("mixed", "c"), keys * b)
    text = f"{named} * {blocks.name}"
    if level >= 2 and k.draw.shape.chance(0.6):
        shift = _integer_vector(k, g, vec, ("shift", "nonce"), ("shifts", "nonces"), 0, top)
        k.augment(value, "add", shift)
        text += f" + {say(shift)}"
    if wraps:
        return value, f"{text}, wrapping at the width of {scalar}"
    reduced = k.let(("reduced", "cipher"), _modulo(value, modulus))
    return reduced, f"{text}, each component modulo {modulus}"


def _integer_matrix(
    k: KernelBuilder, g: Grid, mat: Mat, one: Names, many: Names, low: int, high: int
) -> tuple[Expr, str]:
    """One for all, one for each thread, or one written out; and its text."""
    way = k.draw.shape.weighted({"all": 3, "each": 2, "literal": 2})
    if way == "all":
        given = k.scalar(one, mat, low, high)
        return given, given.name
    if way == "each":
        several = g.array(many, mat, low, high)
        return k.let(one, several[g.index]), several.name
    size = mat.rows * mat.cols
    entries = [k.draw.value.integer(max(low, -9), min(high, 9)) for _ in range(size)]
    written = k.let(one, make(mat, *(literal(entry, mat.scalar) for entry in entries)))
    rows = [tuple(entries[r * mat.cols : (r + 1) * mat.cols]) for r in range(mat.rows)]
    return written, f"the matrix with rows {', '.join(map(str, rows))}"


def _integer_vector(
    k: KernelBuilder,
    g: Grid,
    vec: Vec,
    one: tuple[str, ...],
    many: tuple[str, ...],
    low: int,
    high: int,
) -> Expr:
    if k.draw.shape.chance(0.5):
        return k.scalar(one, vec, low, high)
    return g.array(many, vec, low, high)[g.index]


def _recurrence(k: KernelBuilder, g: Grid, level: int) -> tuple[Expr, str]:
    """State times matrix, again and again: generators, Fibonacci numbers, shift registers."""
    scalar = k.draw.shape.weighted(UNSIGNED)
    size = k.draw.shape.choice((2, 2, 3))
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    states = g.array(("states", "seeds", "start"), vec, 1, 200)
    s = k.let(("s", "state"), states[g.index])
    step, named = _integer_matrix(k, g, mat, ("step", "transition"), ("steps", "transitions"), 0, 9)
    add = None
    if k.draw.shape.chance(0.5):
        add = k.scalar(("increment", "inc"), vec, 1, 99)
    rounds = k.draw.value.integer(2, 5)
    mixing = level >= 3 and k.draw.shape.chance(0.6)
    shift = k.draw.value.integer(2, scalar.bits - 3)
    with k.for_(("r", "turn"), rounds):
        k.assign(s, step * s if add is None else step * s + add)
        if mixing:
            k.assign(s, make(vec, *(s[c] ^ (s[c] >> shift) for c in range(size))))
    text = f"the last s: from s = {states.name}, {rounds} times s = {named} * s"
    text += "" if add is None else f" + {add.name}"
    if mixing:
        text += f", and every component xored with itself shifted right by {shift}"
    return s, f"{text}, all wrapping"


def _power(k: KernelBuilder, g: Grid, level: int) -> tuple[Expr, str]:
    """A matrix to a power given by its bits: square and multiply, wrapping or modulo a prime."""
    scalar = k.draw.shape.weighted({Scalar("uint32"): 3, Scalar("uint64"): 3, Scalar("int64"): 2})
    mat = Mat(2, 2, scalar)
    modulus = k.draw.value.choice((997, 1009, 10007))
    bases = g.array(("bases", "mats"), mat, 0, 50)
    powers = g.array(("powers", "exponents"), INT32, 0, 31)
    bits = k.draw.value.integer(4, 5)
    b, e = k.let(("b", "base"), bases[g.index]), k.let(("e", "power"), powers[g.index])
    result = k.let(("result", "acc"), make(mat, *(literal(bit, scalar) for bit in (1, 0, 0, 1))))
    reduced = scalar == Scalar("int64") or k.draw.shape.chance(0.4)

    def product(x: Expr, y: Expr) -> Expr:
        return x * y

    name = ""
    if reduced:

        def build(body: BodyBuilder, x: Expr, y: Expr) -> Expr:
            p = body.let(("p", "prod"), product(x, y))
            return make(mat, *(p[r, c] % modulus for r in range(2) for c in range(2)))

        name = helper(k, ("mul_mod", "modular_product"), (("x", mat), ("y", mat)), build)
    with k.for_(("bit", "q"), bits):
        with k.if_(fn("eq", e & 1, 1)):
            k.assign(result, k.call(name, result, b) if name else result * b)
        k.assign(b, k.call(name, b, b) if name else b * b)
        k.assign(e, e >> 1)
    how = f", entries modulo {modulus} after every product" if reduced else ", wrapping"
    text = f"{bases.name} to the power given by the low {bits} bits of {powers.name}"
    return result, f"{text} (square and multiply{how})"


def _lattice(k: KernelBuilder, g: Grid, level: int) -> tuple[Expr, str]:
    """Places of a lattice: whole steps along its basis vectors, an origin, a parity."""
    scalar = k.draw.shape.weighted(SIGNED)
    size = k.draw.shape.choice((2, 3))
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    span = 3 if scalar.bits == 8 else 20
    cells = g.array(("cells", "sites", "coords"), vec, -span, span)
    basis, named = _integer_matrix(k, g, mat, ("basis", "lattice"), ("bases", "lattices"), -3, 3)
    c = k.let(("cell", "site"), cells[g.index])
    value: Expr = basis * c
    text = f"{named} * {cells.name}"
    if level >= 2:
        origin = _integer_vector(
            k, g, vec, ("origin", "anchor"), ("origins", "anchors"), -span, span
        )
        value = value + origin
        text += f" + {say(origin)}"
    return k.let(("place", "pos"), value), text


def _walks(k: KernelBuilder, g: Grid, level: int) -> tuple[Expr, str]:
    """Walks of given length between the nodes of a small graph."""
    scalar = k.draw.shape.weighted(
        {INT32: 3, Scalar("int64"): 2, Scalar("uint16"): 1, Scalar("uint32"): 1}
    )
    size = k.draw.shape.choice((3, 4))
    mat = Mat(size, size, scalar)
    graphs = g.array(("adjacency", "graphs", "edges"), mat, 0, 2)
    a = k.let(("a", "adj"), graphs[g.index])
    if k.draw.shape.chance(0.5):
        a = k.let(("both", "undirected"), a + fn("transpose", a))
        text = f"A = {graphs.name} + its transpose"
    else:
        text = f"A = {graphs.name}"
    length = k.draw.value.integer(2, 3)
    walks = k.let(("walks", "w"), a * a)
    if length > 2:
        with k.for_(("step", "hop"), length - 2):
            k.assign(walks, walks * a)
    return walks, f"the matrix A to the power of {length}, {text}"


FORMS: dict[str, Callable[[KernelBuilder, Grid, int], tuple[Expr, str]]] = {
    "cipher": _cipher,
    "recurrence": _recurrence,
    "power": _power,
    "lattice": _lattice,
    "walks": _walks,
}

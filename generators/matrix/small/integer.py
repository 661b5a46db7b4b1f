"""Matrices of integers: ciphers, recurrences, lattices, permuted images, walks in graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.build import BodyBuilder, KernelBuilder, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import routine
from generators.kit.sites import Names
from generators.kit.sources import given
from generators.matrix.parts import Place, place, transpose
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Expr, Load, Var, literal

_UNSIGNED = {Scalar("uint8"): 3, Scalar("uint16"): 2, Scalar("uint32"): 4, Scalar("uint64"): 3}
_SIGNED = {Scalar("int8"): 1, Scalar("int16"): 2, INT32: 4, Scalar("int64"): 3}


def _by_modulus(v: Expr, modulus: int) -> Expr:
    """Every entry of a vector or a 2 x 2 matrix of non-negative integers by the modulus."""
    if isinstance(v.type, Mat):
        return make(v.type, *(v[r, c] % modulus for r in range(2) for c in range(2)))
    assert isinstance(v.type, Vec)
    return make(v.type, *(v[c] % modulus for c in range(v.type.size)))


def _matrix(g: Place, mat: Mat, one: str, many: str, low: int, high: int) -> tuple[Expr, str]:
    """One for all, one for each thread, or one written out; and its text."""
    way = g.shape.weighted({"all": 3, "each": 2, "literal": 2})
    if way == "all":
        shared = g.k.scalar(one, mat, low, high)
        return shared, shared.name
    if way == "each":
        source = g.read(many, mat, low, high)
        return g.k.let(one, source), g.tell(source)
    value = g.k.draw.value
    entries = [value.integer(max(low, -9), min(high, 9)) for _ in range(mat.rows * mat.cols)]
    rows = [tuple(entries[r * mat.cols : (r + 1) * mat.cols]) for r in range(mat.rows)]
    written = g.k.let(one, make(mat, *(literal(entry, mat.scalar) for entry in entries)))
    return written, f"the matrix with rows {', '.join(map(str, rows))}"


def _shift(g: Place, vec: Vec, names: Names, low: int, high: int) -> Expr:
    """A vector for all, or each thread's own."""
    return given(g, names, vec, low, high, shared=3, each=1)


def _cipher(g: Place, level: int) -> tuple[Var, str]:
    """Hill's cipher: blocks times a key, by a modulus or by the width of the type."""
    k, size = g.k, g.shape.choice((2, 3))
    modulus = k.draw.value.choice((26, 29, 31, 97))
    wraps = g.chance(0.4)
    narrow = {INT32: 3, Scalar("int64"): 2, Scalar("uint32"): 2, Scalar("uint16"): 1}
    scalar = g.shape.weighted(_UNSIGNED if wraps else narrow)
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    top = 200 if wraps else min(255, modulus - 1)
    blocks = g.read("blocks plain_blocks", vec, 0, top)
    keys, named = _matrix(g, mat, "key cipher_key", "keys session_keys", 1, top)
    value = k.let("mixed c", keys * k.let("block b", blocks))
    text = f"{named} * {g.tell(blocks)}"
    if level >= 2 and g.chance(0.6):
        shift = _shift(g, vec, "shift nonce", 0, top)
        k.augment(value, "add", shift)
        text += f" + {g.tell(shift)}"
    if wraps:
        return (
            value,
            f"Hill cipher without a modulus: c = {text}, wrapping at the width of {scalar}",
        )
    reduced = k.let("reduced cipher", _by_modulus(value, modulus))
    return reduced, f"Hill cipher: c = {text}, each component modulo {modulus}"


def _recurrence(g: Place, level: int) -> tuple[Var, str]:
    """State times matrix, again and again: generators, Fibonacci numbers, shift registers."""
    k, scalar = g.k, g.shape.weighted(_UNSIGNED)
    size = g.shape.choice((2, 2, 3))
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    state = g.read("states seeds start", vec, 1, 200)
    s = k.let("s state", state)
    step, named = _matrix(g, mat, "step transition", "steps transitions", 0, 9)
    add = k.scalar("increment inc", vec, 1, 99) if g.chance(0.5) else None
    rounds = k.draw.value.integer(2, 5)
    mixing = level >= 3 and g.chance(0.6)
    shift = k.draw.value.integer(2, scalar.bits - 3)
    text = f"Linear recurrence of vectors: from c = {g.tell(state)}, {rounds} times c = {named} * c"
    text += "" if add is None else f" + {add.name}"
    with k.for_("r turn", rounds):
        k.assign(s, step * s if add is None else step * s + add)
        if mixing:
            k.assign(s, make(vec, *(s[c] ^ (s[c] >> shift) for c in range(size))))
    if mixing:
        text += f", after which every component is xored with itself shifted right by {shift}"
    return s, f"{text}; everything wraps at the width of {scalar}"


def _power(g: Place, level: int) -> tuple[Var, str]:
    """A matrix to a power given by its bits: square and multiply, wrapping or modulo a prime."""
    k = g.k
    scalar = g.shape.weighted({Scalar("uint32"): 3, Scalar("uint64"): 3, Scalar("int64"): 2})
    mat = Mat(2, 2, scalar)
    modulus = k.draw.value.choice((997, 1009, 10007))
    base, power = g.read("bases mats", mat, 0, 50), g.read("powers exponents", INT32, 0, 31)
    bits = k.draw.value.integer(4, 5)
    b, e = k.let("b base", base), k.let("e power", power)
    result = k.let("result acc", make(mat, *(literal(bit, scalar) for bit in (1, 0, 0, 1))))
    reduced = scalar == Scalar("int64") or g.chance(0.4)

    def build(body: BodyBuilder, x: Expr, y: Expr) -> Expr:
        return _by_modulus(body.let("p prod", x * y), modulus) if reduced else x * y

    args = {"x": mat, "y": mat}
    product = routine(k, float(reduced), "mul_mod modular_product", args, build)
    with k.for_("bit q", bits):
        with k.if_(fn("eq", e & 1, 1)):
            k.assign(result, product(result, b))
        k.assign(b, product(b, b))
        k.assign(e, e >> 1)
    how = f", entries modulo {modulus} after every product" if reduced else ", wrapping"
    text = f"Matrix power by square and multiply: c = {g.tell(base)} to the low {bits} bits of"
    return result, f"{text} {g.tell(power)}{how}"


def _lattice(g: Place, level: int) -> tuple[Var, str]:
    """Places of a lattice: whole steps along its basis vectors, an origin, a parity."""
    scalar, size = g.shape.weighted(_SIGNED), g.shape.choice((2, 3))
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    span = 3 if scalar.bits == 8 else 20
    cells = g.read("cells sites coords", vec, -span, span)
    basis, named = _matrix(g, mat, "basis lattice", "bases lattices", -3, 3)
    value: Expr = basis * g.k.let("cell site", cells)
    text = f"Positions of lattice sites: c = {named} * {g.tell(cells)}"
    if level >= 2:
        origin = _shift(g, vec, "origin anchor", -span, span)
        value = value + origin
        text += f" + {g.tell(origin)}"
    return g.k.let("place pos", value), text


def _walks(g: Place, level: int) -> tuple[Var, str]:
    """Walks of given length between the nodes of a small graph."""
    k, size = g.k, g.shape.choice((3, 4))
    wide = {INT32: 3, Scalar("int64"): 2, Scalar("uint16"): 1, Scalar("uint32"): 1}
    a: Expr = g.read("adjacency graphs edges", Mat(size, size, g.shape.weighted(wide)), 0, 2)
    if g.chance(0.5):
        a = g.part("adj directed", a)
        a = a + transpose(a)
    a = g.let("a adj" if isinstance(a, Load) else "a both", a)
    length = k.draw.value.choice((2, 4, 5))
    walks = k.let("walks w", a * a)
    if length > 2:
        with k.for_("step hop", length - 2):
            k.assign(walks, walks * a)
    return (
        walks,
        f"Count the walks of length {length} in small graphs: c = A^{length} with {g.told(a)}",
    )


_FORMS: dict[str, tuple[Callable[[Place, int], tuple[Var, str]], str, str]] = {
    "cipher": (_cipher, "hill_cipher encode_blocks", "coded cipher_blocks"),
    "recurrence": (_recurrence, "advance_states linear_recurrence", "states_out next_states"),
    "power": (_power, "matrix_power power_by_squaring", "powers_out results"),
    "lattice": (_lattice, "lattice_points site_positions", "positions sites_out"),
    "walks": (_walks, "count_walks graph_walks", "walks counts"),
}


@idiom(depth=2)
def integer_matrices(k: KernelBuilder, level: int) -> Title:
    """Small matrices of whole numbers, exact or wrapping."""
    shape = k.draw.shape
    if shape.chance(0.2):
        return _cat_map(k, level)
    g = place(k, "i tid row_id")
    build, names, outs = _FORMS[shape.choice(sorted(_FORMS))]
    c, text = build(g, level)
    g.spoken[c.name] = "c", text
    done = f"{text}."
    done += g.gets(outs, c)
    return Title(k.name(names), done)


def _cat_map(k: KernelBuilder, level: int) -> Title:
    """Arnold's cat map and its relatives: pixels moved by a matrix modulo the size of the image."""
    shape = k.draw.shape
    types = {Scalar("uint8"): 4, INT32: 2, Scalar("uint16"): 2, Scalar("int16"): 1}
    pixel = shape.weighted(types)
    dims = (k.size("h", 7, 9), k.size("w", 7, 9))
    image = k.array("image picture tile", pixel, dims, low=0, high=100)
    y, x = k.thread(*dims, names=k.draw.word.choice((("y", "x"), ("r", "c"), ("i", "j"))))
    g = Place(k, "grid", dims, (y, x))
    sizes: list[Expr] = [extent(image, 0), extent(image, 1)]
    if shape.chance(0.5):
        sizes = [k.size_param("height rows", "h"), k.size_param("width cols", "w")]
    p, text = _moved(g, level, sizes)
    value: Expr = image[p[0], p[1]]
    told = f"{image.name} at p"
    if level >= 2 and shape.chance(0.4):
        other = g.read("key_stream pad", pixel, 0, 100)
        value = k.let("mixed coded", value ^ other)
        told += f" xor {g.tell(other)}"
    done = f"Scramble an image with a cat map: start at p = ({g.where}) and {text}; all numbers are"
    done += " at least 0."
    done += g.gets("scrambled permuted", value, told)
    return Title(k.name("cat_map scramble_image"), done)


def _moved(g: Place, level: int, sizes: Sequence[Expr]) -> tuple[Var, str]:
    """The place of a pixel times a matrix, modulo the sizes, once or more often."""
    k, mat, vec = g.k, Mat(2, 2, INT32), Vec(2, INT32)
    rows = k.draw.value.choice(((1, 1, 1, 2), (2, 1, 1, 1), (1, 2, 1, 3), (3, 2, 1, 1)))
    if g.chance(0.5):
        m: Expr = k.scalar("mix warp_by", mat, 1, 5)
        name = g.tell(m)
    else:
        m = k.let("mix cat", make(mat, *(literal(e, INT32) for e in rows)))
        name = f"({rows[:2]}, {rows[2:]})"
    p = k.let("p at", make(vec, *g.at))
    g.spoken[p.name] = "p", ""
    rounds = 1 if level < 2 or g.chance(0.5) else k.draw.value.integer(2, 3)
    shift = k.scalar("shift offset", vec, 0, 6) if level >= 2 and g.chance(0.5) else None

    def step() -> None:
        q = k.let("q to", m * p if shift is None else m * p + shift)
        k.assign(p, make(vec, q[0] % sizes[0], q[1] % sizes[1]))

    if rounds == 1:
        step()
    else:
        with k.for_("turn round_id", rounds):
            step()
    times = f"{rounds} times " if rounds > 1 else ""
    text = f"{times}replace p by {name} * p{'' if shift is None else f' + {shift.name}'}"
    return p, f"{text}, its components modulo height and width"

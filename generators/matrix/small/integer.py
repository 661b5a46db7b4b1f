"""Matrices of integers: ciphers, recurrences, lattices, permuted images, walks in graphs."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.masks import flag
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import zero
from generators.kit.words import say
from generators.matrix.large.core import Names
from generators.matrix.small.parts import POINTS, gets
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Expr, Var, literal

UNSIGNED = {Scalar("uint8"): 3, Scalar("uint16"): 2, Scalar("uint32"): 4, Scalar("uint64"): 3}


SIGNED = {Scalar("int8"): 1, Scalar("int16"): 2, INT32: 4, Scalar("int64"): 3}


def _modulo(v: Expr, modulus: int) -> Expr:
    """Every component of a vector of non-negative integers by the modulus."""
    assert isinstance(v.type, Vec)
    return make(v.type, *(v[c] % modulus for c in range(v.type.size)))


def _cipher(k: KernelBuilder, g: Site, level: int) -> tuple[Expr, str]:
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
    blocks = g.array("blocks plain message", vec, 0, top)
    keys, named = _integer_matrix(
        k, g, mat, "key cipher_key", "keys session_keys", 1, top if wraps else modulus - 1
    )
    b = k.let("block b", blocks[g.at])
    value = k.let("mixed c", keys * b)
    text = f"{named} * {blocks.name}"
    if level >= 2 and k.draw.shape.chance(0.6):
        shift = _integer_vector(k, g, vec, "shift nonce", "shifts nonces", 0, top)
        k.augment(value, "add", shift)
        text += f" + {say(k, shift)}"
    if wraps:
        return value, f"{text}, wrapping at the width of {scalar}"
    reduced = k.let("reduced cipher", _modulo(value, modulus))
    return reduced, f"{text}, each component modulo {modulus}"


def _integer_matrix(
    k: KernelBuilder, g: Site, mat: Mat, one: Names, many: Names, low: int, high: int
) -> tuple[Expr, str]:
    """One for all, one for each thread, or one written out; and its text."""
    way = k.draw.shape.weighted({"all": 3, "each": 2, "literal": 2})
    if way == "all":
        given = k.scalar(one, mat, low, high)
        return given, given.name
    if way == "each":
        several = g.array(many, mat, low, high)
        return k.let(one, several[g.at]), several.name
    size = mat.rows * mat.cols
    entries = [k.draw.value.integer(max(low, -9), min(high, 9)) for _ in range(size)]
    written = k.let(one, make(mat, *(literal(entry, mat.scalar) for entry in entries)))
    rows = [tuple(entries[r * mat.cols : (r + 1) * mat.cols]) for r in range(mat.rows)]
    return written, f"the matrix with rows {', '.join(map(str, rows))}"


def _integer_vector(
    k: KernelBuilder,
    g: Site,
    vec: Vec,
    one: tuple[str, ...],
    many: tuple[str, ...],
    low: int,
    high: int,
) -> Expr:
    if k.draw.shape.chance(0.5):
        return k.scalar(one, vec, low, high)
    return g.array(many, vec, low, high)[g.at]


def _recurrence(k: KernelBuilder, g: Site, level: int) -> tuple[Expr, str]:
    """State times matrix, again and again: generators, Fibonacci numbers, shift registers."""
    scalar = k.draw.shape.weighted(UNSIGNED)
    size = k.draw.shape.choice((2, 2, 3))
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    states = g.array("states seeds start", vec, 1, 200)
    s = k.let("s state", states[g.at])
    step, named = _integer_matrix(k, g, mat, "step transition", "steps transitions", 0, 9)
    add = None
    if k.draw.shape.chance(0.5):
        add = k.scalar("increment inc", vec, 1, 99)
    rounds = k.draw.value.integer(2, 5)
    mixing = level >= 3 and k.draw.shape.chance(0.6)
    shift = k.draw.value.integer(2, scalar.bits - 3)
    with k.for_("r turn", rounds):
        k.assign(s, step * s if add is None else step * s + add)
        if mixing:
            k.assign(s, make(vec, *(s[c] ^ (s[c] >> shift) for c in range(size))))
    text = f"the last s: from s = {states.name}, {rounds} times s = {named} * s"
    text += "" if add is None else f" + {add.name}"
    if mixing:
        text += f", and every component xored with itself shifted right by {shift}"
    return s, f"{text}, all wrapping"


def _power(k: KernelBuilder, g: Site, level: int) -> tuple[Expr, str]:
    """A matrix to a power given by its bits: square and multiply, wrapping or modulo a prime."""
    scalar = k.draw.shape.weighted({Scalar("uint32"): 3, Scalar("uint64"): 3, Scalar("int64"): 2})
    mat = Mat(2, 2, scalar)
    modulus = k.draw.value.choice((997, 1009, 10007))
    bases = g.array("bases mats", mat, 0, 50)
    powers = g.array("powers exponents", INT32, 0, 31)
    bits = k.draw.value.integer(4, 5)
    b, e = k.let("b base", bases[g.at]), k.let("e power", powers[g.at])
    result = k.let("result acc", make(mat, *(literal(bit, scalar) for bit in (1, 0, 0, 1))))
    reduced = scalar == Scalar("int64") or k.draw.shape.chance(0.4)

    def product(x: Expr, y: Expr) -> Expr:
        return x * y

    name = ""
    if reduced:

        def build(body: BodyBuilder, x: Expr, y: Expr) -> Expr:
            p = body.let("p prod", product(x, y))
            return make(mat, *(p[r, c] % modulus for r in range(2) for c in range(2)))

        name = helper(k, "mul_mod modular_product", (("x", mat), ("y", mat)), build)
    with k.for_("bit q", bits):
        with k.if_(fn("eq", e & 1, 1)):
            k.assign(result, k.call(name, result, b) if name else result * b)
        k.assign(b, k.call(name, b, b) if name else b * b)
        k.assign(e, e >> 1)
    how = f", entries modulo {modulus} after every product" if reduced else ", wrapping"
    text = f"{bases.name} to the power given by the low {bits} bits of {powers.name}"
    return result, f"{text} (square and multiply{how})"


def _lattice(k: KernelBuilder, g: Site, level: int) -> tuple[Expr, str]:
    """Places of a lattice: whole steps along its basis vectors, an origin, a parity."""
    scalar = k.draw.shape.weighted(SIGNED)
    size = k.draw.shape.choice((2, 3))
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    span = 3 if scalar.bits == 8 else 20
    cells = g.array("cells sites coords", vec, -span, span)
    basis, named = _integer_matrix(k, g, mat, "basis lattice", "bases lattices", -3, 3)
    c = k.let("cell site", cells[g.at])
    value: Expr = basis * c
    text = f"{named} * {cells.name}"
    if level >= 2:
        origin = _integer_vector(k, g, vec, "origin anchor", "origins anchors", -span, span)
        value = value + origin
        text += f" + {say(k, origin)}"
    return k.let("place pos", value), text


def _walks(k: KernelBuilder, g: Site, level: int) -> tuple[Expr, str]:
    """Walks of given length between the nodes of a small graph."""
    scalar = k.draw.shape.weighted(
        {INT32: 3, Scalar("int64"): 2, Scalar("uint16"): 1, Scalar("uint32"): 1}
    )
    size = k.draw.shape.choice((3, 4))
    mat = Mat(size, size, scalar)
    graphs = g.array("adjacency graphs edges", mat, 0, 2)
    a = k.let("a adj", graphs[g.at])
    if k.draw.shape.chance(0.5):
        a = k.let("both undirected", a + fn("transpose", a))
        text = f"A = {graphs.name} + its transpose"
    else:
        text = f"A = {graphs.name}"
    length = k.draw.value.integer(2, 3)
    walks = k.let("walks w", a * a)
    if length > 2:
        with k.for_("step hop", length - 2):
            k.assign(walks, walks * a)
    return walks, f"the matrix A to the power of {length}, {text}"


FORMS: dict[str, Callable[[KernelBuilder, Site, int], tuple[Expr, str]]] = {
    "cipher": _cipher,
    "recurrence": _recurrence,
    "power": _power,
    "lattice": _lattice,
    "walks": _walks,
}


def _menu(k: KernelBuilder, g: Site, value: Expr) -> dict[str, Extra]:
    """Numbers that are read off a vector or a matrix of integers."""
    type_ = value.type
    if isinstance(type_, Mat):
        return {
            "trace": Extra("traces closed", lambda: fn("trace", value), "its trace"),
            "corner": Extra(
                "corners first_to_last",
                lambda: value[0, type_.cols - 1],
                f"its entry [0, {type_.cols - 1}]",
            ),
            "row": Extra(
                "row_sums from_first",
                lambda: value[0, 0] + value[0, 1],
                "the sum of its entries [0, 0] and [0, 1]",
            ),
            "parity": Extra(
                "parity odd", lambda: fn("trace", value) & 1, "the lowest bit of its trace"
            ),
            "twice": Extra(
                "asymmetry balance",
                lambda: fn("max", value[0, 1], value[1, 0]),
                "the larger of its entries [0, 1] and [1, 0]",
            ),
        }
    assert isinstance(type_, Vec)
    return {
        "checksum": Extra("checks checksums", lambda: value[0] ^ value[1], "c[0] xor c[1]"),
        "low": Extra("low_bits buckets", lambda: (value[0] + value[1]) & 7, "(c[0] + c[1]) & 7"),
        "larger": Extra("peaks largest", lambda: fn("max", value[0], value[1]), "max(c[0], c[1])"),
        "mask": Extra("masked joint_bits", lambda: value[0] & value[1], "c[0] & c[1]"),
        "either": Extra("either any_bits", lambda: value[0] | value[1], "c[0] | c[1]"),
        "smaller": Extra(
            "floors smallest", lambda: fn("min", value[0], value[1]), "min(c[0], c[1])"
        ),
        "least": Extra("least min_entries", lambda: fn("min_element", value), "the least of c"),
        "top": Extra(
            "where_max top_index",
            lambda: fn("argmax", value),
            "the index of the greatest component of c, the first of equals",
        ),
    }


@idiom
def integer_matrices(k: KernelBuilder, level: int) -> Title:
    """Small matrices of whole numbers, exact or wrapping."""
    shape = k.draw.shape
    if shape.chance(0.2):
        return _cat_map(k, level)
    g = launch(k, POINTS, "i tid row_id")
    key = shape.choice(sorted(FORMS))
    value, text = FORMS[key](k, g, level)
    done = f"Let c be {text}."
    if level >= 3:
        done += _second(k, g, value, level)
    if level >= 2 and shape.chance(0.4) and isinstance(value, Var):
        there = flag(g, "enabled selected")
        with k.if_(there.unless):
            k.assign(value, zero(value.type))
        done += f" c is zero where {there.off}."
    done += gets(g, "results out coded", value, "c")
    done += extras(g, _menu(k, g, value), (shape.integer(0, 1), 1, 1, 2, 3)[level - 1])
    names = {"cipher": "hill_cipher encode_blocks", "recurrence": "advance_states"}
    names |= {"power": "matrix_power power_mod", "lattice": "lattice_points place_sites"}
    return Title(k.name(names.get(key, "count_walks graph_walks")), done)


def _second(k: KernelBuilder, g: Site, value: Expr, level: int) -> str:
    """A sum over several vectors that the result is compared or combined with."""
    type_ = value.type
    if isinstance(type_, Mat):
        vec = Vec(type_.cols, type_.scalar)
        probes = g.array("probes loads", vec, 0, 5)
        return gets(g, "reached weighted", value * probes[g.at], f"c * {probes.name}")
    assert isinstance(type_, Vec)
    k.size("m", 3, 5)
    count = k.trip_count("num_rules rule_count", "m")
    low = 0 if type_.scalar.is_unsigned else -1
    rules = k.array("rules forms checks_m", type_, "m", low=low, high=2)
    total = k.let("total syndrome", literal(0, type_.scalar))
    with k.for_("rule q", count) as q:
        if level >= 4 and type_.scalar.is_unsigned:
            k.assign(total, (total << 1) ^ fn("dot", rules[q], value))
            text = f"starting from 0, for each of {rules.name}: twice itself xor dot(that, c)"
        else:
            k.augment(total, "add", fn("dot", rules[q], value))
            text = f"the sum of dot(r, c) over r of {rules.name}"
    return gets(g, "syndromes sums_out", total, f"{text}")


def _cat_map(k: KernelBuilder, level: int) -> Title:
    """Arnold's cat map and its relatives: pixels moved by a matrix modulo the size of the image."""
    pixel = k.draw.shape.weighted(
        {Scalar("uint8"): 4, INT32: 2, Scalar("uint16"): 2, Scalar("int16"): 1}
    )
    k.size("h", 7, 9)
    k.size("w", 7, 9)
    image = k.array("image picture tile", pixel, ("h", "w"), low=0, high=100)
    out = k.out("scrambled permuted moved", pixel, ("h", "w"))
    names = k.draw.word.choice((("y", "x"), ("r", "c"), ("i", "j")))
    y, x = k.thread("h", "w", names=names)
    g = Site(k, "grid", ("h", "w"), (y, x))
    rows: Expr = extent(image, 0)
    cols: Expr = extent(image, 1)
    if k.draw.shape.chance(0.5):
        rows, cols = k.size_param("height rows", "h"), k.size_param("width cols", "w")
    mat, vec = Mat(2, 2, INT32), Vec(2, INT32)
    given = k.draw.shape.chance(0.5)
    entries = k.draw.value.choice(((1, 1, 1, 2), (2, 1, 1, 1), (1, 2, 1, 3), (3, 2, 1, 1)))
    m: Expr = (
        k.scalar("mix warp_by", mat, 1, 5)
        if given
        else k.let("mix cat", make(mat, *(literal(e, INT32) for e in entries)))
    )
    p = k.let("p at", make(vec, y, x))
    rounds = 1 if level < 3 else k.draw.value.integer(2, 3)
    shift: Expr | None = None
    if level >= 2 and k.draw.shape.chance(0.5):
        shift = k.scalar("shift offset", vec, 0, 6)

    def step() -> None:
        q = k.let("q to", m * p if shift is None else m * p + shift)
        k.assign(p, make(vec, q[0] % rows, q[1] % cols))

    if rounds == 1:
        step()
    else:
        with k.for_("turn round_id", rounds):
            step()
    value: Expr = image[p[0], p[1]]
    text = ""
    if level >= 3:
        other = k.array("mask pad stream", pixel, ("h", "w"), low=0, high=100)
        value = k.let("mixed value", value ^ other[y, x])
        text = f" xor {other.name}[{g.where}]"
    k.store(out, (y, x), value)
    name = say(k, m) if given else f"(({entries[0]}, {entries[1]}), ({entries[2]}, {entries[3]}))"
    more = "" if shift is None else f" + {say(k, shift)}"
    done = (
        f"Start at p = ({y.name}, {x.name}) and {rounds} times replace p by {name} * p{more}, its"
        f" components modulo height and width. {out.name}[{g.where}] gets {image.name} at p{text}."
    )
    menu = {
        "source": Extra("rows_from source_rows", lambda: p[0], "p[0]"),
        "column": Extra("cols_from source_cols", lambda: p[1], "p[1]"),
        "moved": Extra(
            "distance_l1 travel",
            lambda: fn("abs", p[0] - y) + fn("abs", p[1] - x),
            f"|p[0] - {y.name}| + |p[1] - {x.name}|",
        ),
        "flat": Extra("flat_index linear", lambda: p[0] * cols + p[1], "p[0] * width + p[1]"),
        "plain": Extra("gain plus", lambda: cast(value, INT32) + p[0], "the stored value + p[0]"),
        "place": Extra("sources origin_pixels", lambda: p, "p"),
    }
    done += extras(g, menu, (k.draw.shape.integer(0, 1), 1, 1, 2, 3)[level - 1])
    return Title(k.name("cat_map scramble_image permute_pixels"), done)

"""Arithmetic: element-wise sums, stencils, fixed point, bit mixing, index arithmetic."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var
from generators.formula import formula
from generators.holes import float_hole
from generators.registry import Category, Title
from generators.stages import refine

CATEGORY = Category("arithmetic", "sums, products, stencils, integer and bit arithmetic")

_INPUTS = ("x", "y", "a", "b", "values", "samples", "left", "right", "base", "delta")
_OUTPUTS = ("out", "result", "dst", "output")
_LOCALS = ("value", "combined", "scaled", "v", "adjusted")


def _and_then(phrase: str) -> str:
    return f" The value is {phrase}." if phrase else ""


@CATEGORY.idiom
def combine_elements(k: KernelBuilder, level: int) -> Title:
    """out[i] from the same element of several arrays and a scalar factor."""
    type_ = k.draw.float_type()
    n = k.size("n", 48, 96)
    count = k.draw.shape.integer(1, 2 if level < 3 else 3)
    arrays = [k.array(_INPUTS, type_, n, low=-2.0, high=2.0) for _ in range(count)]
    leaves: list[Expr] = []
    if k.draw.shape.chance(0.6):
        leaves.append(k.scalar(("alpha", "factor", "scale", "weight"), type_, 0.5, 2.0))
    out = k.out(_OUTPUTS, type_, n)
    (i,) = k.thread(n)
    leaves += [array[i] for array in arrays]
    hole = float_hole(k, leaves, depth=1 if level < 3 else 2)
    signal = refine(k, hole, level, _LOCALS, scale=2.0)
    k.store(out, i, signal.value)
    name = k.name("combine_arrays", "blend_elements", "mix_signals", "weighted_update", "axpy_like")
    about = f"Compute {formula(hole)} element by element."
    return Title(name, about + _and_then(signal.phrase))


@CATEGORY.idiom
def stencil(k: KernelBuilder, level: int) -> Title:
    """A finite difference over the neighbours of a grid point, with clamped edges."""
    type_ = k.draw.wide_float_type()
    ndim = k.draw.shape.integer(1, 1 if level == 1 else 2 if level < 4 else 3)
    low, high = {1: (48, 96), 2: (7, 10), 3: (4, 5)}[ndim]
    symbols = [k.size(s, low, high) for s in ("n", "m", "p")[:ndim]]
    u = k.array(("u", "field", "height", "temperature", "phi"), type_, symbols, low=-1.0, high=1.0)
    out = k.out(("out", "laplacian", "smoothed", "next_field"), type_, symbols)
    threads = k.thread(*symbols)
    extents = [
        k.size_param((f"n{t.name}", f"{t.name}_count"), s)
        for t, s in zip(threads, symbols, strict=True)
    ]
    center = k.let(("center", "c", "here"), u[threads])
    form = k.draw.shape.choice(("laplacian", "average", "gradient"))
    total: Expr | None = None
    for axis, thread in enumerate(threads):
        before = k.let((f"{thread.name}_prev", f"{thread.name}m"), fn("max", thread - 1, 0))
        after = k.let(
            (f"{thread.name}_next", f"{thread.name}p"), fn("min", thread + 1, extents[axis] - 1)
        )
        low_side = u[threads[:axis] + (before,) + threads[axis + 1 :]]
        high_side = u[threads[:axis] + (after,) + threads[axis + 1 :]]
        if form == "gradient":
            slope = k.let((f"d{thread.name}", f"slope_{thread.name}"), 0.5 * (high_side - low_side))
            term: Expr = slope * slope
        elif form == "average":
            term = low_side + high_side
        else:
            term = low_side - 2.0 * center + high_side
        total = term if total is None else total + term
    assert total is not None
    rate = float(k.draw.value.constant(0.05, 0.25))
    if form == "gradient":
        value: Expr = total
    elif form == "average":
        value = (1.0 - 2.0 * ndim * rate) * center + rate * total
    else:
        value = center + rate * total
    signal = refine(k, value, level, ("updated", "value", "relaxed"))
    k.store(out, threads, signal.value)
    what = {
        "laplacian": f"Take one explicit diffusion step of rate {rate} on",
        "average": f"Smooth with neighbour weight {rate}",
        "gradient": "Compute the squared central-difference gradient of",
    }[form]
    name = k.name(*_STENCIL_NAMES[form])
    edges = "neighbours outside are replaced by the edge value"
    return Title(name, f"{what} a {ndim}-dimensional grid; {edges}.{_and_then(signal.phrase)}")


_STENCIL_NAMES = {
    "laplacian": ("diffuse_step", "heat_step", "explicit_diffusion"),
    "average": ("smooth_grid", "box_relax", "jacobi_smooth"),
    "gradient": ("gradient_energy", "edge_strength", "squared_gradient"),
}


@CATEGORY.idiom
def bit_mixing(k: KernelBuilder, level: int) -> Title:
    """Rounds of shifts, exclusive ors and multiplications, as integer hashes have them."""
    type_ = k.draw.shape.weighted({Scalar("uint32"): 4, Scalar("uint64"): 2, Scalar("uint16"): 1})
    assert isinstance(type_, Scalar)
    n = k.size("n", 48, 96)
    top = 2**type_.bits - 1
    keys = k.array(("keys", "ids", "codes", "words"), type_, n, low=0, high=top)
    out = k.out(("hashes", "mixed", "digest", "out"), type_, n)
    (i,) = k.thread(n)
    h = k.let(("h", "state", "word"), keys[i])
    steps = []
    if level >= 2 and k.draw.shape.chance(0.6):
        salt = k.scalar(("salt", "seed", "key"), type_, 0, top)
        k.assign(h, h ^ salt)
        steps.append(f"exclusive or with {salt.name}")
    for _ in range(k.draw.shape.integer(1, 1 + level // 2)):
        for step in k.draw.shape.sample(sorted(_MIX_STEPS), k.draw.shape.integer(2, 3)):
            steps.append(_MIX_STEPS[step](k, h, type_))
    if level >= 4:
        spins, shift = k.draw.value.integer(2, 4), k.draw.value.integer(2, 5)
        with k.for_(("r", "turn"), spins) as turn:
            k.assign(h, (h ^ (h >> shift)) + cast(turn, type_))
        steps.append(f"for r below {spins}: h = (h ^ (h >> {shift})) + r")
    if level >= 3 and k.draw.shape.chance(0.5):
        bits = k.draw.value.integer(4, 10)
        k.assign(h, h & (2**bits - 1))
        steps.append(f"keep the low {bits} bits")
    k.store(out, i, h)
    name = k.name("mix_bits", "scramble_keys", "hash_words", "avalanche")
    return Title(name, f"Scramble each {type_} word h of {keys.name}: {'; '.join(steps)}.")


def _xor_shift_right(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    shift = k.draw.value.integer(2, type_.bits - 3)
    k.assign(h, h ^ (h >> shift))
    return f"h ^= h >> {shift}"


def _xor_shift_left(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    shift = k.draw.value.integer(2, type_.bits - 3)
    k.assign(h, h ^ (h << shift))
    return f"h ^= h << {shift}"


def _multiply_odd(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    factor = k.draw.value.integer(2 ** (type_.bits - 2), 2 ** (type_.bits - 1)) | 1
    k.assign(h, h * factor)
    return f"h *= {factor}"


def _rotate(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    left = k.draw.value.integer(3, type_.bits - 4)
    k.assign(h, (h << left) | (h >> (type_.bits - left)))
    return f"rotate left by {left}"


def _add_constant(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    increment = k.draw.value.integer(1000, 2 ** (type_.bits - 1))
    k.assign(h, h + increment)
    return f"h += {increment}"


_MIX_STEPS = {
    "xor_shift_right": _xor_shift_right,
    "xor_shift_left": _xor_shift_left,
    "multiply_odd": _multiply_odd,
    "rotate": _rotate,
    "add_constant": _add_constant,
}


@CATEGORY.idiom
def fixed_point(k: KernelBuilder, level: int) -> Title:
    """Multiply and blend integers that stand for numbers with a fixed number of fraction bits."""
    type_ = k.draw.shape.weighted({Scalar("int32"): 3, Scalar("int64"): 2, Scalar("int16"): 1})
    bits = k.draw.value.integer(4, 6)
    one = 2**bits
    n = k.size("n", 48, 96)
    a = k.array(("gain_q", "a_q", "left_q"), type_, n, low=0, high=2 * one)
    b = k.array(("level_q", "b_q", "right_q"), type_, n, low=0, high=2 * one)
    out = k.out(("out_q", "product_q", "result_q"), type_, n)
    (i,) = k.thread(n)
    product = k.let(("product", "wide"), a[i] * b[i])
    rounded = product + one // 2 if level >= 2 and k.draw.shape.chance(0.5) else product
    q = k.let(("q", "scaled"), rounded >> bits)
    done = f"Multiply fixed-point numbers of {bits} fraction bits"
    if level >= 2:
        weight = k.draw.value.integer(1, one - 1)
        k.assign(q, (weight * q + (one - weight) * a[i]) >> bits)
        done += f" and blend the product with {a.name} by {weight}/{one}"
    if level >= 3:
        ceiling = k.draw.value.integer(one, 2 * one)
        fall = k.draw.value.integer(1, 2)
        with k.if_(q > ceiling):
            k.assign(q, ceiling + ((q - ceiling) >> fall))
        done += f", shifting what exceeds {ceiling} right by {fall}"
    if level >= 4:
        taps = k.draw.value.integer(2, 4)
        total = k.let(("total", "echo", "acc"), k.lift(0, type_))
        with k.for_(("tap", "shift"), taps) as tap:
            k.augment(total, "add", q >> cast(tap, type_))
        q = total
        done += f", then sum the value shifted right by 0 to {taps - 1} bits"
    if level >= 5:
        headroom = k.draw.value.integer(1, one)
        k.assign(q, fn("min", q, b[i] + headroom))
        done += f", limited by {b.name} + {headroom}"
    k.store(out, i, q)
    return Title(k.name("fixed_multiply", "q_multiply", "fixed_point_blend"), done + ".")


@CATEGORY.idiom
def strided_gather(k: KernelBuilder, level: int) -> Title:
    """Read a flat array through two-dimensional index arithmetic."""
    type_ = k.draw.float_type()
    rows, cols = k.size("rows", 6, 10), k.size("cols", 6, 10)
    flat = k.array(("flat", "buffer", "packed", "src"), type_, "rows*cols", low=-2.0, high=2.0)
    out = k.out(("grid", "table", "dst"), type_, (rows, cols))
    i, j = k.thread(rows, cols, names=("row", "col"))
    width = k.size_param(("width", "stride", "pitch"), cols)
    order = k.draw.shape.choice(("reversed_rows", "reversed_cols", "shifted"))
    if order == "reversed_cols":
        index: Expr = i * width + (width - 1 - j)
    elif order == "shifted":
        index = i * width + (j + k.draw.value.integer(1, 4)) % width
    else:
        height = k.size_param(("height", "row_count"), rows)
        index = (height - 1 - i) * width + j
    at = k.let(("index", "at", "offset", "idx"), index)
    value: Expr = flat[at]
    done = f"Read a packed matrix into {out.name} with {order.replace('_', ' ')}"
    if level >= 2:
        weights = k.array(("weights", "row_gain", "column_scale"), type_, cols, low=0.5, high=1.5)
        value = value * weights[j]
        done += ", weighting each column"
    if level >= 3:
        checker = k.let(("parity", "tile"), (i + j) % k.draw.value.integer(2, 3))
        with k.if_(fn("eq", checker, 0)):
            k.store(out, (i, j), -value)
        with k.else_():
            signal = refine(k, value, level, _LOCALS, scale=2.0)
            k.store(out, (i, j), signal.value)
        done += ", negating a checkerboard of cells" + (
            f" (others {signal.phrase})" if signal.phrase else ""
        )
    else:
        k.store(out, (i, j), value)
    return Title(k.name("unpack_rows", "gather_strided", "flip_layout", "repack"), done + ".")


@CATEGORY.idiom
def integer_split(k: KernelBuilder, level: int) -> Title:
    """Quotient and remainder: digits, calendar-like fields, cyclic patterns."""
    type_ = k.draw.shape.weighted(
        {INT32: 4, Scalar("int64"): 2, Scalar("uint32"): 2, Scalar("uint8"): 1}
    )
    n = k.size("n", 48, 96)
    top = 250 if type_.bits == 8 else 100_000
    ticks = k.array(("ticks", "counts", "numbers", "stamps"), type_, n, low=0, high=top)
    high_part = k.out(("quotient", "major", "blocks"), type_, n)
    (i,) = k.thread(n)
    base = k.draw.value.integer(3, 12)
    t = k.let(("t", "tick", "number"), ticks[i])
    done = f"Split each number by {base}"
    if level == 1:
        k.store(high_part, i, t // base)
        return Title(
            k.name("divide_ticks", "whole_parts"), f"Divide each number by {base}, rounding down."
        )
    low_part = k.out(("remainder", "minor", "offsets"), type_, n)
    quotient = k.let(("q", "whole"), t // base)
    remainder = k.let(("r", "rest"), t % base)
    if level >= 3:
        base2 = k.draw.value.integer(3, 12)
        k.assign(remainder, remainder + (quotient % base2))
        done += f", add the quotient modulo {base2} to the remainder"
    if level >= 4:
        digits = k.let(("digit_sum", "total"), k.lift(0, type_))
        rest = k.let(("left", "todo"), quotient)
        with k.while_(rest > 0):
            k.augment(digits, "add", rest % base)
            k.assign(rest, rest // base)
        k.assign(quotient, digits)
        done += f", replace the quotient by its digit sum in base {base}"
    if level >= 5:
        with k.if_(remainder > base // 2):
            k.augment(quotient, "add", 1)
        done += f", and add one to it where the remainder exceeds {base // 2}"
    k.store(high_part, i, quotient)
    k.store(low_part, i, remainder)
    return Title(k.name("split_ticks", "divmod_fields", "decompose_numbers"), done + ".")

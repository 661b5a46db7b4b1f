"""Quotients and remainders of whole numbers: every way of rounding, alignment, divisors."""

from __future__ import annotations

from generators.arithmetic.tasks import EITHER, ONE, Input, Task, perform
from generators.arithmetic.types import INT64, UINT32
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import either, least, where
from generators.kit.sites import launch
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var


def _half_even(body: BodyBuilder, v: Expr, unit: Expr) -> Expr:
    q = body.let("q quotient", v // unit)
    twice = body.let("twice doubled_rest", 2 * (v - q * unit))
    up = fn("and", fn("eq", twice, unit), fn("eq", q % 2, 1))
    with body.if_(fn("or", twice > unit, up)):
        body.augment(q, "add", 1)
    return q


def _divisor(body: BodyBuilder, v: Expr, unit: Expr) -> Var:
    """The greatest common divisor of two numbers."""
    a, c = body.let("a g", v), body.let("b rest", unit)
    with body.while_(fn("ne", c, 0)):
        r = body.let("r remainder", a % c)
        body.assign(a, c)
        body.assign(c, r)
    return a


def _power(body: BodyBuilder, base: Expr, exponent: Expr, p: Expr) -> Expr:
    result = body.let("result product", body.lift(1, base.type))
    square = body.let("square factor", base % p)
    rest = body.let("rest e", exponent)
    with body.while_(rest > 0):
        with body.if_(fn("eq", rest % 2, 1)):
            body.assign(result, result * square % p)
        body.assign(square, square * square % p)
        body.assign(rest, rest // 2)
    return result


def _floor_modulo(body: BodyBuilder, v: Expr, unit: Expr) -> Expr:
    rest = body.let("r rest", fn("abs", v) % unit)
    return where(v >= 0, rest, (unit - rest) % unit)


def _multiple(body: BodyBuilder, v: Expr, unit: Expr) -> Expr:
    return either(body, (v + unit - 1) // unit * unit, v + (unit - v % unit) % unit)


def _root(body: BodyBuilder, v: Expr) -> Expr:
    guess = body.let("guess root", v)
    lower = body.let("lower better", v // 2 + v % 2)
    with body.while_(lower < guess):
        body.assign(guess, lower)
        body.assign(lower, (guess + v // guess) // 2)
    return guess


_AMOUNTS = Input("counts sizes amounts", 1, 900)

_TASKS = (
    Task(
        "ceil_div num_blocks blocks_needed",
        {
            "v": Input("counts sizes num_items", 1, 900),
            "unit": Input("block_size tile_size", 3, 24, ONE),
        },
        {"num_blocks blocks_needed": lambda v, unit: (v + unit - 1) // unit},
        "Store in {out0} how many blocks of {unit} items each of {v} needs, the last one being "
        "partly filled.",
    ),
    Task(
        "align_up round_up_to padded_size",
        {
            "v": Input("sizes num_bytes", 1, 900),
            "unit": Input("alignment", 4, 32, EITHER, many="alignments"),
        },
        {"aligned padded_sizes": _multiple},
        "Round each of {v} up to the next multiple of {unit}. Store it in {out0}.",
    ),
    Task(
        "tail_padding padding_needed",
        {
            "v": Input("lengths row_lengths", 1, 900),
            "unit": Input("alignment pad_to", 4, 32, ONE),
        },
        {"padding pad_lengths": lambda v, unit: (unit - v % unit) % unit},
        "Store in {out0} how many elements have to follow each of {v} until the length is a "
        "multiple of {unit}.",
    ),
    Task(
        "round_div divide_rounded",
        {"v": _AMOUNTS, "unit": Input("divisor unit", 3, 24, EITHER)},
        {"quotients rounded": lambda v, unit: (v + unit // 2) // unit},
        "Divide {v} by {unit}, rounded to the nearest whole number, halves up. Store it in {out0}.",
    ),
    Task(
        "nearest_multiple round_to_multiple",
        {"v": _AMOUNTS, "unit": Input("step unit", 3, 24, ONE)},
        {"rounded snapped": lambda v, unit: (v + unit // 2) // unit * unit},
        "Round each of {v} to the nearest multiple of {unit}, halves up. Store it in {out0}.",
    ),
    Task(
        "bankers_rounding round_half_even",
        {"v": _AMOUNTS, "unit": Input("divisor unit", 3, 24, EITHER)},
        {"quotients rounded": _half_even},
        "Divide {v} by {unit}, rounded to the nearest whole number, halves to the even one. Store "
        "it in {out0}.",
    ),
    Task(
        "floor_modulo python_remainder",
        {"v": Input("values offsets", -900, 900), "unit": Input("modulus period", 3, 24, ONE)},
        {
            "remainders wrapped": _floor_modulo,
        },
        "Store in {out0} the remainder of {v} by {unit} that lies from 0 to {unit} - 1, also where "
        "the number is negative.",
    ),
    Task(
        "ring_slots ring_buffer_slot",
        {
            "v": Input("heads write_counts", 0, 900),
            "back": Input("lag delay", 1, 9, ONE),
            "unit": Input("capacity ring_size", 10, 24, ONE),
        },
        {"slots": lambda v, back, unit: (v + unit - back) % unit},
        "Store in {out0} the slot of a ring buffer of {unit} slots that lies {back} slots behind "
        "that of write number {v}.",
    ),
    Task(
        "block_owner owner_of_index",
        {
            "v": Input("indices ids", 0, 900),
            "n": Input("num_items total_items", 901, 1_500, ONE),
            "p": Input("num_workers num_ranks", 3, 12, ONE),
        },
        {"owners ranks": lambda v, n, p: v // ((n + p - 1) // p)},
        "Block distribution of {n} items over {p} workers, each having {n} / {p} of them rounded "
        "up: store in {out0} the worker that has item {v}.",
    ),
    Task(
        "cyclic_owner block_cyclic",
        {
            "v": Input("indices columns", 0, 900),
            "nb": Input("block_size nb", 3, 16, ONE),
            "p": Input("num_workers num_ranks", 3, 12, ONE),
        },
        {
            "owners ranks": lambda v, nb, p: v // nb % p,
            "local_indices local": lambda v, nb, p: v // (nb * p) * nb + v % nb,
        },
        "Block-cyclic distribution over {p} workers in blocks of {nb}: store in {out0} the worker "
        "that has index {v}, and in {out1} the index that it has there.",
    ),
    Task(
        "tiled_index blocked_column",
        {
            "v": Input("columns cols", 0, 900),
            "tile": Input("tile_width tile", 4, 16, ONE),
            "stride": Input("tile_stride tile_elements", 64, 256, ONE),
        },
        {"addresses offsets": lambda v, tile, stride: v // tile * stride + v % tile},
        "Address of each of {v} in a tiled layout: tile {v} // {tile} begins at {stride} times its "
        "number, and the column lies {v} % {tile} behind that. Store it in {out0}.",
    ),
    Task(
        "chunk_bounds work_range",
        {
            "v": Input("worker_ids ranks", 0, 60, local="worker"),
            "n": Input("num_items total_items", 100, 900, ONE),
            "p": Input("num_workers num_chunks", 61, 90, ONE),
        },
        {
            "starts begins": lambda v, n, p: v * (n // p) + least(v, n % p),
            "lengths sizes": lambda v, n, p: n // p + where(v < n % p, v * 0 + 1, v * 0),
        },
        "Split {n} items into {p} ranges that differ in length by at most one, the longer ones "
        "first: store in {out0} where that of {v} begins, in {out1} how long it is.",
    ),
    Task(
        "reduce_fraction lowest_terms",
        {"v": Input("numerators", 1, 900), "unit": Input("denominators", 1, 900)},
        {
            "numerators_out reduced_num": lambda body, v, unit: v // _divisor(body, v, unit),
        },
        "Store in {out0} the numerators of the fractions {v} / {unit} in lowest terms: {v} over "
        "the greatest common divisor of both, which Euclid's algorithm finds.",
    ),
    Task(
        "gcd_pairs euclid_gcd",
        {"v": Input("a first", 1, 900), "unit": Input("b second", 1, 900)},
        {"gcd divisors": _divisor},
        "Store in {out0} the greatest common divisor of {v} and {unit}, by Euclid's algorithm.",
    ),
    Task(
        "lcm_pairs common_multiple",
        {"v": Input("periods_a", 1, 60), "unit": Input("periods_b", 1, 60)},
        {"common_periods lcm": lambda body, v, unit: v // _divisor(body, v, unit) * unit},
        "Store in {out0} the least common multiple of {v} and {unit}, by Euclid's algorithm.",
    ),
    Task(
        "power_mod modular_power",
        {
            "base": Input("bases", 2, 900),
            "exponent": Input("exponents", 1, 900),
            "p": Input("modulus prime", 97, 997, ONE),
        },
        {"powers residues": _power},
        "Store in {out0} the power of each of {base} to {exponent} modulo {p}, below 2^15, by "
        "repeated squaring.",
    ),
    Task(
        "integer_sqrt isqrt_newton",
        {"v": Input("values numbers", 1, 60_000)},
        {"roots": _root},
        "Store in {out0} the integer square root of each of {v}: the largest number whose square "
        "does not exceed it, by Newton's method.",
    ),
)


@idiom(depth=1)
def rounding_division(k: KernelBuilder, level: int) -> Title:
    """Integer division rounded up, to nearest, to even; alignment, distribution, divisors."""
    shape = k.draw.shape
    task = shape.choice(_TASKS)
    signed = any(source.low < 0 for source in task.inputs.values())
    type_ = shape.weighted({INT32: 4, INT64: 1, UINT32: 0 if signed else 1})
    return perform(launch(k, list=1), task, type_)

"""Arithmetic: formulas by element, packed matrices, stencils, bits, fixed point, digits."""

from __future__ import annotations

from generators._arithmetic_bits import bit_mixing
from generators._arithmetic_blas import vector_update
from generators._arithmetic_blending import byte_blend
from generators._arithmetic_calendar import calendar
from generators._arithmetic_checksums import checksum
from generators._arithmetic_complex import complex_arithmetic
from generators._arithmetic_curves import spline_curve
from generators._arithmetic_differences import finite_difference
from generators._arithmetic_digits import integer_split
from generators._arithmetic_division import rounding_division
from generators._arithmetic_dots import mixed_dot
from generators._arithmetic_elements import combine_elements
from generators._arithmetic_filters import fir_filter
from generators._arithmetic_finance import interest
from generators._arithmetic_fixed import fixed_point
from generators._arithmetic_gather import CELLS, PLACES, STORAGE, stored_as
from generators._arithmetic_hashing import hash_words
from generators._arithmetic_means import weighted_mean
from generators._arithmetic_morton import morton_code
from generators._arithmetic_narrow import saturating
from generators._arithmetic_permute import permute_copy
from generators._arithmetic_pixels import pixel_packing
from generators._arithmetic_polynomials import polynomial
from generators._arithmetic_quantised import quantize
from generators._arithmetic_random import random_step
from generators._arithmetic_rounding import real_rounding
from generators._arithmetic_sampling import grid_sample
from generators._arithmetic_series import orthogonal_series
from generators._arithmetic_stencil import stencil
from generators._arithmetic_tricks import bit_tricks
from generators._arithmetic_waves import grid_step
from generators.build import KernelBuilder
from generators.dtypes import Scalar
from generators.expr import Expr, Var
from generators.registry import Category, Title
from generators.touches import finished

CATEGORY = Category("arithmetic", "sums, products, stencils, integer and bit arithmetic")


@CATEGORY.idiom
def strided_gather(k: KernelBuilder, level: int) -> Title:
    """Read a flat array through two-dimensional index arithmetic."""
    shape, type_ = k.draw.shape, k.draw.float_type()
    rows, cols = k.size("rows", 6, 10), k.size("cols", 6, 10)
    names = ("flat", "buffer", "packed", "src")
    storage = shape.weighted(STORAGE)
    first, apart, size, held = stored_as(k, storage)
    flat = k.array(names, type_, size, low=-2.0, high=2.0)
    out = k.out(("grid", "table", "dst"), type_, (rows, cols))
    row, col = k.thread(rows, cols, names=("row", "col"))
    form = shape.choice(sorted(PLACES))
    index, text = PLACES[form](k, row, col)
    major = "column" if form == "unpack_columns" else "row"
    done = f"Unpack the {major}-major matrix in {flat.name}{held} into {out.name}{text}"
    if storage != "dense":
        index = first + (index if apart == 1 else apart * index)
    value: Expr = flat[k.let(("index", "at", "offset", "idx"), index)]
    if level <= 2 and shape.chance(0.92):
        value, phrase = finished(k, value, ("raw", "stored", "code"))
        done += f", with each value v decoded as {phrase}"
    if level >= 2:
        value, said = _weighted(k, value, type_, row, col)
        done += said
    if level >= 3:
        done += _two_ways(k, value, out, (row, col))
    else:
        k.store(out, (row, col), value)
        done += "."
    return Title(k.name(form, f"{form}_into", f"gather_{form}"), done)


def _weighted(k: KernelBuilder, value: Expr, type_: Scalar, row: Var, col: Var) -> tuple[Expr, str]:
    side = k.draw.shape.choice(("row", "column"))
    names = (f"{side}_weights", f"{side}_gain", f"{side}_scale")
    size, at = ("rows", row) if side == "row" else ("cols", col)
    weights = k.array(names, type_, size, low=0.5, high=1.5)
    return value * weights[at], f", and multiply each {side} by its entry of {weights.name}"


def _two_ways(k: KernelBuilder, value: Expr, out: Var, place: tuple[Var, Var]) -> str:
    """Some cells are stored negated or halved; says so."""
    cells, where = CELLS[k.draw.shape.choice(sorted(CELLS))]
    modulus = k.draw.value.integer(2, 3)
    value = k.let(("entry", "cell", "weighted"), value)
    negated = k.draw.shape.chance(0.5)
    with k.if_(where(*place, modulus)):
        k.store(out, place, -value if negated else 0.5 * value)
    with k.else_():
        k.store(out, place, value)
    done = f". Where {cells.format(modulus)} it is {'negated' if negated else 'halved'}"
    return f"{done}."


_IDIOMS = (
    combine_elements,
    stencil,
    bit_mixing,
    fixed_point,
    integer_split,
    vector_update,
    weighted_mean,
    polynomial,
    orthogonal_series,
    spline_curve,
    bit_tricks,
    morton_code,
    pixel_packing,
    hash_words,
    random_step,
    checksum,
    calendar,
    saturating,
    rounding_division,
    byte_blend,
    quantize,
    mixed_dot,
    permute_copy,
    complex_arithmetic,
    finite_difference,
    grid_step,
    grid_sample,
    fir_filter,
    interest,
    real_rounding,
)
for _idiom in _IDIOMS:
    CATEGORY.idiom(_idiom)

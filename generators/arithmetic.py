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
from generators._arithmetic_gather import strided_gather
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
from generators.registry import Category

CATEGORY = Category("arithmetic", "sums, products, stencils, integer and bit arithmetic")


_IDIOMS = (
    strided_gather,
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

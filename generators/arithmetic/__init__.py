"""Arithmetic: formulas by element, packed matrices, stencils, bits, fixed point, digits."""

ABOUT = "sums, products, stencils, integer and bit arithmetic"

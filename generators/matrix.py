"""Matrices: algebra of small ones, and rows, products and windows of two-dimensional arrays."""

from __future__ import annotations

from generators._matrix_array_batch import batched_product
from generators._matrix_array_conv import convolve_planes, temporal_convolution
from generators._matrix_array_pairs import pairwise_matrix
from generators._matrix_array_pool import image_gradient, pool_planes
from generators._matrix_array_sparse import ell_product, gather_rows
from generators._matrix_array_update import mask_scores, rank_update
from generators._matrix_array_whole import quantised_product
from generators._matrix_arrays import array_product
from generators._matrix_normals import row_normalize
from generators._matrix_rows import row_reduce
from generators._matrix_small_camera import project_points
from generators._matrix_small_cholesky import cholesky_small
from generators._matrix_small_color import color_transform
from generators._matrix_small_cramer import cramer_solve
from generators._matrix_small_eigen import eigen_symmetric
from generators._matrix_small_fit import normal_equations
from generators._matrix_small_forms import quadratic_form
from generators._matrix_small_gauss import gauss_eliminate
from generators._matrix_small_inertia import rigid_inertia
from generators._matrix_small_integer import integer_matrices
from generators._matrix_small_invariants import tensor_invariants
from generators._matrix_small_kalman import kalman_step
from generators._matrix_small_markov import markov_step
from generators._matrix_small_plane import plane_map
from generators._matrix_small_points import point_covariance
from generators._matrix_small_power import power_iteration
from generators._matrix_small_products import small_product
from generators._matrix_small_rotation import rotation_matrix
from generators._matrix_small_schulz import newton_schulz
from generators._matrix_small_series import matrix_series
from generators._matrix_small_solve import small_solve
from generators._matrix_small_strain import deformation_strain
from generators._matrix_small_stress import hyperelastic_stress
from generators._matrix_small_tensors import congruence
from generators._matrix_small_view import view_transform
from generators._matrix_windows import sliding_window
from generators.registry import Category

CATEGORY = Category("matrix", "small-matrix algebra, matrix products, row reductions, windows")

for _idiom in (
    small_product,
    small_solve,
    congruence,
    array_product,
    row_reduce,
    row_normalize,
    sliding_window,
    deformation_strain,
    hyperelastic_stress,
    tensor_invariants,
    kalman_step,
    cramer_solve,
    gauss_eliminate,
    cholesky_small,
    point_covariance,
    normal_equations,
    eigen_symmetric,
    rotation_matrix,
    project_points,
    plane_map,
    integer_matrices,
    rigid_inertia,
    matrix_series,
    newton_schulz,
    markov_step,
    color_transform,
    quadratic_form,
    power_iteration,
    batched_product,
    convolve_planes,
    temporal_convolution,
    pairwise_matrix,
    pool_planes,
    image_gradient,
    ell_product,
    gather_rows,
    rank_update,
    mask_scores,
    quantised_product,
    view_transform,
):
    CATEGORY.idiom(_idiom)
